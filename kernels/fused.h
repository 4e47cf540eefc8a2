/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The words in which lib/gpu/fused_pass.c writes a transform of a power of two into a kernel that does more than the
 * transform. LANES work-items share a transform of N points; work-item `lane` holds points lane + s LANES in v0, v1,
 * ... (float2), before and after it; PER_GROUP transforms share a work-group.
 *
 * Decimation in time in self-sorting (Stockham) order: a pass of radix R after passes of product S does, for butterfly
 * j = 0 .. N/R-1, a DFT over k = 0 .. R-1 of point j + k N/R times exp(-2 pi i k (j % S) / (S R)), and gives value k
 * to place (j / S) S R + j % S + k S. A DFT of radix R is log2 R layers of two points each, whose factor takes in the
 * twiddle factor: (e, o) becomes (e + z o, e - z o) in six multiply-adds, the second as 2 e - (e + z o); C. Linzer,
 * E. Feig, "Implementation of efficient FFT algorithms on fused multiply-add architectures", IEEE Trans. SP 41(1), 1993.
 */
#if defined(__OPENCL_VERSION__)
#define K_FMA(a, b, c)   mad(a, b, c)
#define K_FLOAT2(x, y)   ((float2)(x, y))
#define K_AS_UINT(x)     as_uint(x)
#define K_AS_FLOAT(x)    as_float(x)
#define K_ABS(x)         fabs(x)
#define K_MIN(a, b)      fmin(a, b)
#define K_MAX(a, b)      fmax(a, b)
#define K_SIGN(x, of)    copysign(x, of)
#define K_LOW_BYTES(a, b) (((a) & 255u) | ((b) & 255u) << 8)
#define K_KEEP(p)        (*(p))                  /* what others read too */
#define K_PASS(p)        (*(p))                  /* what nobody reads again */
#define K_PUT(p, x)      (*(p) = (x))            /* what nobody reads soon */
#define K_BARRIER_LANES() K_BARRIER()
#define K_BARRIER_FEW()  K_BARRIER()             /* of 16 neighbours */
#define K_DENSE_KERNEL(x, groups) __kernel __attribute__((reqd_work_group_size(x, 1, 1))) void
#else
#define K_FMA(a, b, c)   fmaf(a, b, c)
#define K_FLOAT2(x, y)   make_float2(x, y)
#define K_AS_UINT(x)     __float_as_uint(x)
#define K_AS_FLOAT(x)    __uint_as_float(x)
#define K_ABS(x)         fabsf(x)
#define K_MIN(a, b)      fminf(a, b)
#define K_MAX(a, b)      fmaxf(a, b)
#define K_SIGN(x, of)    copysignf(x, of)
#define K_LOW_BYTES(a, b) (__byte_perm(a, b, 0x0040) & 0xffffu)
#define K_KEEP(p)        __ldg(p)
#define K_PASS(p)        __ldcs(p)
#define K_PUT(p, x)      __stcs(p, x)
#if LANES <= 32 /* the lanes of a transform are in one warp */
#define K_BARRIER_LANES() __syncwarp()
#else
#define K_BARRIER_LANES() __syncthreads()
#endif
#define K_BARRIER_FEW() __syncwarp()
/* `groups` of them shall fit on a multiprocessor: a bound for the compiler's use of registers. */
#define K_DENSE_KERNEL(x, groups) extern "C" __global__ __launch_bounds__(x, groups) void
#endif

#if defined(__CUDACC__)
#define K_UNROLL _Pragma("unroll")
#else
#define K_UNROLL
#endif

/* A sample as the number that is in memory, cu8 less 127.5: what it is a part of is in the factors that follow. */
#if FORMAT == FORMAT_CF32
#define RAW(at) K_FLOAT2(source[at].re, source[at].im)
#elif FORMAT == FORMAT_CU8
#define RAW(at) K_FLOAT2((float)source[at].re - 127.5f, (float)source[at].im - 127.5f)
#else
#define RAW(at) K_FLOAT2((float)source[at].re, (float)source[at].im)
#endif
#define LOAD_RAW(s) SET(v##s, RAW(s * LANES))

/* Variables v0, v1, ... of a work-item. A kernel that lets ptx.h say these words does nothing else to them. */
#define DECLARE(s)    float2 v##s;
#define DECLARE_ALL   EACH_SLOT(DECLARE)
#define SET(v, value) v = value;
#define TIMES(v, by) \
    {                \
        v.x *= by;   \
        v.y *= by;   \
    }

/* The work-item's number, which the compiler sees is not negative: its parts are bits then. */
#define ITEM() ((k_index)((k_u32)K_LANE_X() % GROUP))

/* (e, o) = (e + z o, e - z o), z = re + i im */
#undef PAIR /* of load.h */
#define PAIR(e, o, re, im)                                                \
    {                                                                     \
        const float re_ = K_FMA(re, o.x, K_FMA(-(im), o.y, e.x));         \
        const float im_ = K_FMA(re, o.y, K_FMA(im, o.x, e.y));            \
        o.x = K_FMA(2.0f, e.x, -re_);                                     \
        o.y = K_FMA(2.0f, e.y, -im_);                                     \
        e.x = re_;                                                        \
        e.y = im_;                                                        \
    }

/* The same for z = 1, -i and i. */
#define PAIR_ONE(e, o)                          \
    {                                           \
        const float re_ = o.x, im_ = o.y;       \
        o.x = e.x - re_;                        \
        o.y = e.y - im_;                        \
        e.x += re_;                             \
        e.y += im_;                             \
    }
#define PAIR_DOWN(e, o)                         \
    {                                           \
        const float re_ = o.y, im_ = -o.x;      \
        o.x = e.x - re_;                        \
        o.y = e.y - im_;                        \
        e.x += re_;                             \
        e.y += im_;                             \
    }
#define PAIR_UP(e, o)                           \
    {                                           \
        const float re_ = -o.y, im_ = o.x;      \
        o.x = e.x - re_;                        \
        o.y = e.y - im_;                        \
        e.x += re_;                             \
        e.y += im_;                             \
    }

#define PAIR_BY(e, o, z, re, im)   PAIR(e, o, z.re, z.im)  /* parts of a factor, as x and y */
#define PAIR_BACK(e, o, z, re, im) PAIR(e, o, z.re, -z.im) /* re - i im */

K_FUNCTION float2 product(const float2 a, const float2 b)
{
    return K_FLOAT2(K_FMA(a.x, b.x, -(a.y * b.y)), K_FMA(a.x, b.y, a.y * b.x));
}

K_FUNCTION float2 square(const float2 a)
{
    return K_FLOAT2(K_FMA(a.x, a.x, -(a.y * a.y)), (a.x + a.x) * a.y);
}

/* A butterfly's factors: two of the table, and what comes of them. */
#define FACTORS(a, b, table_at)                            \
    const float4 a##b##_ = K_KEEP(table + table_at + at_); \
    const float2 a = K_FLOAT2(a##b##_.x, a##b##_.y), b = K_FLOAT2(a##b##_.z, a##b##_.w);
#define FACTOR_SAME(z, p)          const float2 z = p;
#define FACTOR_SQUARED(z, p)       const float2 z = square(p);
#define FACTOR_ROTATED(z, p, c, s) const float2 z = product(p, K_FLOAT2(c, s));

/* Values, or parts of them, in local memory from a place on. Two at once: places are even. */
#define LOCAL_PLACE(name, type, memory, at) K_LOCAL type *name = (K_LOCAL type *)memory + at;
#define LOCAL_GIVE(to, at, v)               (to)[at] = v;
#define LOCAL_GIVE_PART(to, at, v, part)    (to)[at] = v.part;
#define LOCAL_GIVE_TWO(to, at, a, b)        *(K_LOCAL float4 *)(to + at) = K_FLOAT4(a.x, a.y, b.x, b.y);
#define LOCAL_TAKE(v, from, at)             v = (from)[at];
#define LOCAL_TAKE_PART(v, part, from, at)  v.part = (from)[at];
#define LOCAL_SWAP(v, with, at)           \
    {                                     \
        const float2 other_ = (with)[at]; \
        (with)[at] = v;                   \
        v = other_;                       \
    }

/* A value of global memory, and two that follow each other, of which the second goes to local memory. */
#define READ(v, from, at) SET(v, (from)[at])
#define READ_TWO(v, to, at, from, from_at)     \
    {                                          \
        const float4 both_ = (from)[from_at];  \
        (to)[at] = K_FLOAT2(both_.z, both_.w); \
        SET(v, K_FLOAT2(both_.x, both_.y))     \
    }

/* A value to global memory; and the sum of a value of local memory and v turn (c + i s), and their difference. */
#define WRITE(to, at, v, scale) K_PUT(to + at, K_FLOAT2(v.x * scale, v.y * scale));
#define WRITE_TWO(to, at, less_at, v, with, with_at, turn, c, s, scale)                         \
    {                                                                                           \
        const float2 even_ = (with)[with_at], odd_ = product(v, product(turn, K_FLOAT2(c, s))); \
        K_PUT(to + at, K_FLOAT2((even_.x + odd_.x) * scale, (even_.y + odd_.y) * scale));       \
        K_PUT(to + less_at, K_FLOAT2((even_.x - odd_.x) * scale, (even_.y - odd_.y) * scale));  \
    }
#if defined(__OPENCL_VERSION__)
#define K_FLOAT4(x, y, z, w) ((float4)(x, y, z, w))
#else
#define K_FLOAT4(x, y, z, w) make_float4(x, y, z, w)
#endif

/*
 * exp(2 pi i turns / 2^32): the quadrant from the two top bits after rounding, then the polynomials of
 * Cephes sinf and cosf (S. Moshier) on [-pi/4, pi/4], which are exact to less than one unit in the last place.
 */
K_FUNCTION float2 unit(const k_u32 turns)
{
    const k_u32 quadrant = (turns + 0x20000000u) >> 30;
    const float x = (float)(k_i32)(turns - (quadrant << 30)) * 1.46291807926715968e-9f, z = x * x;
    const float sine = x + x * z * ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f);
    const float cosine =
        1.0f - 0.5f * z +
        z * z * ((2.443315711809948e-5f * z - 1.388731625493765e-3f) * z + 4.166664568298827e-2f);
    const float even = (quadrant & 1u) ? sine : cosine, odd = (quadrant & 1u) ? cosine : sine;
    return K_FLOAT2((quadrant + 1u) & 2u ? -even : even, quadrant & 2u ? -odd : odd);
}
