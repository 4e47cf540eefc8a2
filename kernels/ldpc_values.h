/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What ldpc.cl computes with, two blocks in a word.
 *
 * A value L of one block is the 16 bits BASE + L. These are also a half: 1 + (L - LEVEL) / 2048, in units of its last
 * place. So T = L - R is exact; the sum T + R is limited to LEVEL by saturation to 1, and to -LEVEL by a maximum; and
 * one fused product-sum of a message's least |T|, FACTOR / 8 and BASE rounds to units. Of FACTOR 6, ROUNDING 2 rounds to
 * the nearest one, of two to the smaller: the factor is 1/2048 less, and since 3/4 m is a tie or 1/4 beside one, what is
 * missing, less than 42/2048, only decides ties. With ROUNDING 0, |T| is half a unit less: 3/4 m - 3/8 and 7/8 m - 7/16
 * have no ties.
 * Where halves are not to be had, the same is done in whole numbers. Those of NVIDIA's GPUs are reached by PTX, in its
 * OpenCL too (PTX_HALVES).
 */
#define BASE   (0x3c00 - LEVEL)
#define BASES  (BASE * 0x10001u)
#define SIGNS  0x80008000u
#define ALWAYS K_FUNCTION

/* ---------------------------------------------------------------- two values in a word -------- */

#if (defined(__CUDACC__) && __CUDA_ARCH__ >= 800) || defined(PTX_HALVES)

ALWAYS k_u32 difference(const k_u32 a, const k_u32 b)
{
    k_u32 r;
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}

#if FACTOR == 6 && ROUNDING == 2
#define TIMES      0x39ff39ffu
#define LESS       0u
#define MOST_LEAST 0x25402540u /* 42 units of 1/2048 */
#elif FACTOR == 6 && ROUNDING == 0
#define TIMES      0x3a003a00u
#define LESS       0x0c000c00u /* half a unit */
#define MOST_LEAST 0x25302530u
#elif FACTOR == 7 && ROUNDING == 0
#define TIMES      0x3b003b00u
#define LESS       0x0c000c00u
#define MOST_LEAST 0x24902490u /* 36.5 units */
#endif

ALWAYS k_u32 size_of(const k_u32 t)
{
    k_u32 r;
    asm("abs.f16x2 %0, %1;" : "=r"(r) : "r"(t));
    return LESS ? difference(r, LESS) : r;
}

ALWAYS k_u32 least(const k_u32 a, const k_u32 b)
{
    k_u32 r;
    asm("min.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}

/* With the sign that a message has if its own T is positive. */
#define FACTORS(signs) (((signs)&SIGNS) ^ TIMES)

ALWAYS k_u32 message(const k_u32 m, const k_u32 t, const k_u32 factors)
{
    k_u32 r;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(m), "r"((t & SIGNS) ^ factors), "r"(BASES));
    return r;
}

ALWAYS k_u32 limited_sum(const k_u32 t, const k_u32 r)
{
    k_u32 sum;
    asm("add.rn.sat.f16x2 %0, %1, %2;\n\tmax.f16x2 %0, %0, %3;"
        : "=r"(sum)
        : "r"(t), "r"(r), "r"((BASE - LEVEL) * 0x10001u));
    return sum;
}

#else

#if defined(__OPENCL_VERSION__)
typedef short2 k_two;
#define TWO(word)          as_short2(word)
#define WORD_OF(two)       as_uint(two)
#define TWO_LESS(a, b)     min(a, b)
#define TWO_MORE(a, b)     max(a, b)
#define TWO_CONSTANT(x)    ((short2)((short)(x)))
#define TWO_NEGATED(x, by) (((x) ^ ((by) >> (short2)(15))) - ((by) >> (short2)(15)))
#else
struct k_two {
    k_i16 x, y;
};
ALWAYS k_two TWO(const k_u32 word)
{
    return k_two{(k_i16)(word & 0xffffu), (k_i16)(word >> 16)};
}
ALWAYS k_u32 WORD_OF(const k_two a)
{
    return (k_u32)(k_u16)a.x | (k_u32)(k_u16)a.y << 16;
}
#define TWO_BY_PARTS(name, part)                        \
    ALWAYS k_two name(const k_two a, const k_two b)     \
    {                                                   \
        const k_i32 ax = a.x, bx = b.x, ay = a.y, by = b.y; \
        return k_two{(k_i16)(part(ax, bx)), (k_i16)(part(ay, by))}; \
    }
#define PART_LESS(p, q)    ((p) < (q) ? (p) : (q))
#define PART_MORE(p, q)    ((p) > (q) ? (p) : (q))
#define PART_SUM(p, q)     ((p) + (q))
#define PART_LEFT(p, q)    ((p) - (q))
#define PART_NEGATED(p, q) ((q) < 0 ? -(p) : (p))
#define PART_TIMES(p, q)   ((p) * (q))
#define PART_SHIFTED(p, q) ((p) >> (q))
TWO_BY_PARTS(TWO_LESS, PART_LESS)
TWO_BY_PARTS(TWO_MORE, PART_MORE)
TWO_BY_PARTS(TWO_NEGATED, PART_NEGATED)
TWO_BY_PARTS(operator+, PART_SUM)
TWO_BY_PARTS(operator-, PART_LEFT)
TWO_BY_PARTS(operator*, PART_TIMES)
TWO_BY_PARTS(operator>>, PART_SHIFTED)
#define TWO_CONSTANT(x) (k_two{(k_i16)(x), (k_i16)(x)})
#endif

ALWAYS k_u32 difference(const k_u32 a, const k_u32 b)
{
    return WORD_OF(TWO(a) - TWO(b));
}

ALWAYS k_u32 size_of(const k_u32 t)
{
    return WORD_OF(TWO_NEGATED(TWO(t), TWO(t)));
}

ALWAYS k_u32 least(const k_u32 a, const k_u32 b)
{
    return WORD_OF(TWO_LESS(TWO(a), TWO(b)));
}

#define FACTORS(signs) (signs)

ALWAYS k_u32 message(const k_u32 m, const k_u32 t, const k_u32 factors)
{
    const k_two size = (TWO(m) * TWO_CONSTANT(FACTOR) + TWO_CONSTANT(ROUNDING)) >> TWO_CONSTANT(3);
    return WORD_OF(TWO_NEGATED(size, TWO(t ^ factors)) + TWO_CONSTANT(BASE));
}

ALWAYS k_u32 limited_sum(const k_u32 t, const k_u32 r)
{
    return WORD_OF(TWO_LESS(TWO_MORE(TWO(t) + TWO(r), TWO_CONSTANT(BASE - LEVEL)), TWO_CONSTANT(BASE + LEVEL)));
}

/*
 * Of the two least sizes in a row, `low` and `high`, the least of all but a given one is `low`, or `high` where `low` is
 * its own: neither is above MOST_LEAST, so that high - 128 (size - low) is below `low` for all others.
 */
ALWAYS k_u32 second_least(const k_u32 size, const k_u32 low, const k_u32 high)
{
    return WORD_OF(TWO_LESS(TWO(high), TWO_MORE(TWO(low), TWO(size))));
}

ALWAYS k_u32 other_least(const k_u32 size, const k_u32 low, const k_u32 high)
{
    return WORD_OF(TWO_MORE(TWO(low), TWO(high) + (TWO(low) - TWO(size)) * TWO_CONSTANT(128)));
}

#define MOST_LEAST (LEAST * 0x10001u)

#endif

#define LEAST3(a, b, c) least(least(a, b), c)

/* Bit 15 of both halves: whether L is not negative. */
#define POSITIVE(w) ((w) + (0x8000u - BASE) * 0x10001u)
