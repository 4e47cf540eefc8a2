/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What a point's parts are between load and store: floats; or, PAIRED, two numbers of 16 bits, of two transforms that a
 * work-item does at once. K_REAL(x) is a constant, K_BOTH(x) a float for both, K_ONE and K_OTHER are floats again.
 */
#if !PAIRED
typedef float k_real;
typedef k_cf32 k_point;
#define K_REAL(x) (x)
#define K_BOTH(x) (x)
#define K_PRODUCT_SUM(a, b, c, d) ((a) * (b) + (c) * (d))

#elif defined(__OPENCL_VERSION__)
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef half k_one;
typedef half2 k_real;
#else /* a driver for tests says that it has them: more exact ones do */
typedef float k_one;
typedef float2 k_real;
#endif
#define K_REAL(x)       ((k_real)((k_one)(x)))
#define K_BOTH(x)       ((k_real)((k_one)(x)))
#define K_PAIR(x, y)    ((k_real)((k_one)(x), (k_one)(y)))
#define K_ONE(pair)     ((float)(pair).x)
#define K_OTHER(pair)   ((float)(pair).y)
#define K_PRODUCT_SUM(a, b, c, d) fma(a, b, (c) * (d))

#else
struct k_real {
    k_u32 bits;
};

K_FUNCTION k_real k_pair(float x, float y)
{
#if __CUDA_ARCH__ >= 800
    k_real pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair.bits) : "f"(y), "f"(x));
    return pair;
#else
    return k_real{k_half_of_float(x) | (k_u32)k_half_of_float(y) << 16};
#endif
}

/* Rounded to 11 bits by the compiler: normal numbers below 65504, and 0. */
__device__ constexpr k_u32 k_constant_bits(float x)
{
    k_u32 sign = 0, exponent = 15;
    if (x == 0.0f)
        return 0;
    if (x < 0.0f) {
        x = -x;
        sign = 0x8000u;
    }
    for (; x < 1.0f; exponent--)
        x *= 2.0f;
    for (; x >= 2.0f; exponent++)
        x *= 0.5f;
    return sign | ((exponent << 10) + (k_u32)((x - 1.0f) * 1024.0f + 0.5f));
}

template <k_u32 bits> K_FUNCTION k_real k_constant()
{
    return k_real{bits | bits << 16};
}

K_FUNCTION k_real operator+(k_real a, k_real b)
{
    k_real sum;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(sum.bits) : "r"(a.bits), "r"(b.bits));
    return sum;
}

K_FUNCTION k_real operator-(k_real a, k_real b)
{
    k_real difference;
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(difference.bits) : "r"(a.bits), "r"(b.bits));
    return difference;
}

K_FUNCTION k_real operator-(k_real a)
{
    return k_real{a.bits ^ 0x80008000u};
}

K_FUNCTION k_real operator*(k_real a, k_real b)
{
    k_real product;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(product.bits) : "r"(a.bits), "r"(b.bits));
    return product;
}

K_FUNCTION k_real k_product_sum(k_real a, k_real b, k_real c, k_real d)
{
    k_real sum = c * d;
    asm("fma.rn.f16x2 %0, %1, %2, %0;" : "+r"(sum.bits) : "r"(a.bits), "r"(b.bits));
    return sum;
}

K_FUNCTION void operator+=(k_real &a, k_real b)
{
    a = a + b;
}

K_FUNCTION void operator-=(k_real &a, k_real b)
{
    a = a - b;
}

#define K_REAL(x)       k_constant<k_constant_bits(x)>()
#define K_BOTH(x)       k_pair(x, x)
#define K_PAIR(x, y)    k_pair(x, y)
#define K_ONE(pair)     k_float_of_half((k_u16)(pair).bits)
#define K_OTHER(pair)   k_float_of_half((k_u16)((pair).bits >> 16))
#define K_PRODUCT_SUM(a, b, c, d) k_product_sum(a, b, c, d)
#endif

#if PAIRED
typedef struct K_ALIGNED(8) {
    k_real re, im;
} k_point;
#endif

/* Point s times (factor_re + i factor_im), and times a pair of the table. */
#if PAIRED
#define TURN_POINT(s, factor_re, factor_im)                                        \
    {                                                                              \
        const k_real c_ = K_BOTH(factor_re), s_ = K_BOTH(factor_im);               \
        const k_real re_ = re##s, im_ = im##s;                                     \
        re##s = K_PRODUCT_SUM(re_, c_, -im_, s_);                                  \
        im##s = K_PRODUCT_SUM(re_, s_, im_, c_);                                   \
    }
#define TURN_POINT_BY(s, at)                              \
    {                                                     \
        const k_index at_pair_ = at;                      \
        const float pair_re_ = table[at_pair_], pair_im_ = table[at_pair_ + 1]; \
        TURN_POINT(s, pair_re_, pair_im_)                 \
    }
#else
#define TURN_POINT(s, factor_re, factor_im) TURN(s, factor_re, factor_im)
#define TURN_POINT_BY(s, at)                TURN_BY(s, at)
#endif

/* Both transforms' samples to a point, and the point's values to both places. */
#if PAIRED
#undef ZERO
#undef LOAD
#undef FINISH_VALUE
#define ZERO(s) re##s = im##s = K_REAL(0.0f);
#if GATHERED
#define OTHER_FRAME                              \
    K_GLOBAL const k_sample *source = source_b;  \
    const k_u32 phase = phase_b, step = step_b;
#else
#define OTHER_FRAME K_GLOBAL const k_sample *source = source_b;
#endif
#define LOAD(s, offset)                     \
    {                                       \
        float re_a, im_a, re_b, im_b;       \
        LOAD_SAMPLE(_a, LOAD_AT(offset))    \
        {                                   \
            OTHER_FRAME                     \
            LOAD_SAMPLE(_b, LOAD_AT(offset)) \
        }                                   \
        re##s = K_PAIR(re_a, re_b);         \
        im##s = K_PAIR(im_a, im_b);         \
    }
#define FINISH_VALUE(s, at, re, im)                     \
    {                                                   \
        const k_index place_ = at;                      \
        STORE_VALUE(place_, K_ONE(re), K_ONE(im))       \
        {                                               \
            K_GLOBAL k_value *target = target_b;        \
            STORE_VALUE(place_, K_OTHER(re), K_OTHER(im)) \
        }                                               \
    }
#endif
