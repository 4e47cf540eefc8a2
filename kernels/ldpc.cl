/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Low-density parity-check codes by layered min-sum: a work-item has check `place` of each base row for two blocks, with
 * all its messages in registers, and the word's values lie in local memory. Where a work-group has fewer work-items than
 * a base row has checks, each has several, ITEMS apart. The rule, and so each bit of the result, is
 * that of penstock_ldpc_plan().
 *
 * A value L of one block is the 16 bits BASE + L. These are also a half: 1 + (L - LEVEL) / 2048, in units of its last
 * place. So T = L - R is exact; the sum T + R is limited to LEVEL by saturation to 1, and to -LEVEL by a maximum; and
 * one fused product-sum of a message's least |T|, FACTOR / 8 and BASE rounds to units. Of FACTOR 6, ROUNDING 2 rounds to
 * the nearest one, of two to the smaller: the factor is 1/2048 less, and since 3/4 m is a tie or 1/4 beside one, what is
 * missing, less than 42/2048, only decides ties. With ROUNDING 0, |T| is half a unit less: 3/4 m - 3/8 and 7/8 m - 7/16
 * have no ties.
 * Where halves are not to be had, the same is done in whole numbers. Those of NVIDIA's GPUs are reached by PTX, in its
 * OpenCL too (PTX_HALVES).
 *
 * The host generates (lib/gpu/fused_ldpc.c): LEVEL, LEAST, FACTOR and ROUNDING of the rule; LIFTING, ITEMS for a pair
 * of blocks and CHECKS that each has of a base row, WORD, PAIRS of blocks in a work-group, GROUP, RESIDENT, BITS, SENT,
 * OUT_BYTES, IN_BYTES, REPORT_AT; ITERATIONS, EARLY, REPORT; HARD, FLOATS and SCALE; SOFT_RESULT, UNPACKED, MSB_FIRST;
 * FIRST_AT, FIRST_END, SECOND_AT, SECOND_END, SECOND_FROM, the parts of a word that are sent; DECLARE_MESSAGES;
 * LAYERS, which goes through the base rows once; CLEAR, in one of them behind the first, and PARITY_FIRST and
 * PARITY_OTHERS, which add up checks of them.
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

#define MOST_LEAST (LEAST * 0x10001u)

#endif

#define LEAST3(a, b, c) least(least(a, b), c)

/* Bit 15 of both halves: whether L is not negative. */
#define POSITIVE(w) ((w) + (0x8000u - BASE) * 0x10001u)

/* ---------------------------------------------------------------- in and out ------------------ */

#if FLOATS
#define SOFT_BYTES 4
ALWAYS k_i32 soft_at(K_GLOBAL const k_u8 *row, const k_index i)
{
    const float value = ((K_GLOBAL const float *)row)[i];
    const float known = value == value ? value : 0.0f;
    const float scaled = known * SCALE, rounder = 12582912.0f;
    const float within = scaled < 127.0f ? scaled > -127.0f ? scaled : -127.0f : 127.0f;
    const float whole = within + rounder;
    return (k_i32)(whole - rounder);
}
#elif HARD
#define SOFT_BYTES 1
#define soft_at(row, i) ((row)[i] ? -32 : 32)
#else
#define SOFT_BYTES 1
#if defined(__OPENCL_VERSION__) /* not read as signed ones, whose limits LLVM 15 in Mesa's llvmpipe crashes at */
#define soft_at(row, i) ((k_i32)((row)[i] ^ 0x80u) - 0x80)
#else
#define soft_at(row, i) ((k_i32)((K_GLOBAL const k_i8 *)(row))[i])
#endif
#endif

ALWAYS k_u32 entry(const k_i32 soft)
{
    const k_i32 below = soft < LEVEL ? soft : LEVEL;
    return (k_u32)(BASE + (below > -LEVEL ? below : -LEVEL));
}

/* The part [at, end) of a pair's words from what was sent. */
#define LOAD_PART(at, end, from)                                                                       \
    for (k_index i_ = (at) + place; i_ < (end); i_ += ITEMS)                                         \
        word[i_] = entry(soft_at(first, i_ - (at) + (from))) | entry(soft_at(second, i_ - (at) + (from))) << 16;
#define FILL_PART(at, end, value)                              \
    for (k_index i_ = (at) + place; i_ < (end); i_ += ITEMS) \
        word[i_] = (value)*0x10001u;

#if SOFT_RESULT
#define RESULTS BITS
#define RESULT(i, half) ((k_u8)((word[i] >> 16 * (half) & 0xffffu) - BASE))
#elif UNPACKED
#define RESULTS BITS
#define RESULT(i, half) ((k_u8)(~POSITIVE(word[i]) >> (15 + 16 * (half)) & 1u))
#else
#define RESULTS ((BITS + 7) / 8)
#define RESULT(i, half) eight_bits(word, i, half)
ALWAYS k_u8 eight_bits(K_LOCAL const k_u32 *word, const k_index i, const k_index part)
{
    k_u32 byte = 0;
    for (k_index k = 0; k < 8; k++)
        if (8 * i + k < BITS)
            byte |= (~POSITIVE(word[8 * i + k]) >> (15 + 16 * part) & 1u) << (MSB_FIRST ? 7 - k : k);
    return (k_u8)byte;
}
#endif

/* Both halves' results, those of the blocks in `which`. */
#define STORE(which, bad, iterations)                                                                              \
    for (k_index half_ = 0; half_ < 2; half_++)                                                               \
        if (active && ((which) >> half_ & 1u) && pair * 2 + half_ < rows) {                                   \
            K_GLOBAL k_u8 *to_ = out + (k_u64)(pair * 2 + half_) * OUT_BYTES;                                 \
            for (k_index i_ = place; i_ < RESULTS; i_ += ITEMS)                                             \
                to_[i_] = RESULT(i_, half_);                                                                  \
            STORE_REPORT(to_, iterations, (bad) >> half_ & 1u)                                                              \
        }
#if REPORT
#define STORE_REPORT(to, iterations, failed)                                \
    if (place == 0) {                                                       \
        for (k_index i = RESULTS; i < REPORT_AT; i++)                       \
            (to)[i] = 0;                                                    \
        (to)[REPORT_AT] = (k_u8)(iterations);                               \
        (to)[REPORT_AT + 1] = (k_u8)((iterations) >> 8);                    \
        (to)[REPORT_AT + 2] = (k_u8)!(failed);                              \
        (to)[REPORT_AT + 3] = 0;                                            \
    }
#else
#define STORE_REPORT(to, iterations, failed)
#endif

/* ---------------------------------------------------------------- checks ---------------------- */

#define ALL   ((k_u32)((1 << 2 * PAIRS) - 1))
#define CLEAR               \
    if (lane == 0) {        \
        wrong[0] = 0;       \
        wrong[1] = 0;       \
    }

/* A base row's checks of a work-item, one after the other. */
#define CHECKS_OF_ROW                                   \
    for (k_index part = 0; part < CHECKS; part++)       \
        if (CHECKS == 1 || place + part * ITEMS < LIFTING)

/* Compilers would keep the addresses of all edges through the iterations, in as many registers. No bit is added: there
 * are no negative rows. */
#if defined(__OPENCL_VERSION__) && !defined(__NV_CL_C_VERSION)
#define PLACE_ANEW                   \
    place += iteration & rows >> 31; \
    here = word + place;             \
    before = here - LIFTING;
#else
#define PLACE_ANEW
#endif

/* Edges of the base graph, each with its message, T as t and |T| as s. */
#define PLACE(at, shift) (place + part * ITEMS < LIFTING - (shift) ? here : before)[(at) + (shift) + part * ITEMS]
#define TAKE(e, at, shift, held) const k_u32 t##e = difference(PLACE(at, shift), held);
#define SIZE(e)                  const k_u32 s##e = size_of(t##e);
#define GIVE(e, at, shift, size, keep)                            \
    {                                                             \
        const k_u32 given_ = message(size, t##e, factors);        \
        keep                                                      \
        if (active)                                               \
            PLACE(at, shift) = limited_sum(t##e, given_);         \
    }

/* A message has a register; or, its size being 32 at most, a byte of each half of one, of which two edges have both. */
#define DECLARE(i, none)   \
    k_u32 m##i[CHECKS];    \
    CHECKS_OF_ROW m##i[part] = none;
#define BYTES         ((BASE - 128) * 0x10001u)
#define LOWER         0x00ff00ffu
#define MESSAGE(i)    DECLARE(i, BASES)
#define HELD(i)       m##i[part]
#define KEEP(i)       m##i[part] = given_;
#define MESSAGES(i)   DECLARE(i, 0x80808080u)
#define HELD_LOWER(i) ((m##i[part] & LOWER) + BYTES)
#define HELD_UPPER(i) ((m##i[part] >> 8 & LOWER) + BYTES)
#define KEEP_LOWER(i) m##i[part] = (m##i[part] & ~LOWER) | (given_ - BYTES);
#define KEEP_UPPER(i) m##i[part] = (m##i[part] & LOWER) | (given_ - BYTES) << 8;
#define PARITY(at, shift) sum ^= POSITIVE(PLACE(at, shift));
#define PARITY_ROW(degree, edges)            \
    CHECKS_OF_ROW                            \
    {                                        \
        k_u32 sum = (degree)&1 ? SIGNS : 0u; \
        edges                                \
        odd |= sum;                          \
    }

#if defined(__OPENCL_VERSION__)
#define TELL(where, bits) atomic_or(where, bits)
#else
#define TELL(where, bits) atomicOr(where, bits)
#endif
/* Blocks of the group, in bits, of which some check does not hold. */
#define TELL_ODD(where)                                            \
    if (active && odd)                                             \
        TELL(where, (k_i32)((odd >> 15 & 1u) | odd >> 31 << 1) << 2 * mine);

K_KERNEL_RESIDENT(GROUP, 1, RESIDENT)
ldpc(K_GLOBAL const k_u8 *K_RESTRICT in, K_GLOBAL const k_u8 *K_RESTRICT list, K_GLOBAL const float *K_RESTRICT factors_,
     K_GLOBAL const float *K_RESTRICT table, K_GLOBAL k_u8 *K_RESTRICT out, const k_i32 rows, const k_u32 start,
     const k_u32 spacing)
{
    K_LOCAL_ARRAY(k_u32, memory, PAIRS * WORD + 2);
    const k_index lane = K_LANE_X(), mine = lane / ITEMS;
    const k_u32 active = GROUP == PAIRS * ITEMS || mine < PAIRS;
    const k_index pair = K_GROUP() * PAIRS + (active ? mine : 0);
    k_index place = lane % ITEMS;
    K_LOCAL k_u32 *word = memory + (active ? mine : 0) * WORD, *here = word + place, *before = here - LIFTING;
    K_LOCAL k_i32 *wrong = (K_LOCAL k_i32 *)(memory + PAIRS * WORD); /* by the first base row, and by others */
    const k_index one = 2 * pair < rows ? 2 * pair : rows - 1, other = 2 * pair + 1 < rows ? 2 * pair + 1 : rows - 1;
    K_GLOBAL const k_u8 *first = in + (k_u64)one * IN_BYTES, *second = in + (k_u64)other * IN_BYTES;
    k_u32 odd = 0, bad = 0, left = ALL;
    DECLARE_MESSAGES
    K_EARLY();
    if (active) {
        LOAD_PART(FIRST_AT, FIRST_END, 0)
        LOAD_PART(SECOND_AT, SECOND_END, SECOND_FROM)
        FILL_PART(0, FIRST_AT, BASE)
        FILL_PART(FIRST_END, SECOND_AT, BASE + LEVEL)
        FILL_PART(SECOND_END, WORD, BASE)
    }
    K_BARRIER();
    K_ROLLED
    for (k_i32 iteration = 1; iteration <= ITERATIONS; iteration++) {
        PLACE_ANEW
        LAYERS
#if EARLY
        odd = 0;
        PARITY_FIRST
        TELL_ODD(&wrong[0])
        K_BARRIER();
        bad = (k_u32)wrong[0];
        if (left & ~bad) {
            PARITY_OTHERS
            TELL_ODD(&wrong[1])
        }
        K_BARRIER();
        bad |= (k_u32)wrong[1];
        {
            const k_u32 ended = iteration == ITERATIONS ? left : left & ~bad;
            STORE(ended >> 2 * mine, bad >> 2 * mine, iteration)
            left &= ~ended;
        }
        K_BARRIER();
        if (!left)
            iteration = ITERATIONS;
#endif
    }
#if !EARLY
#if REPORT
    odd = 0;
    PARITY_FIRST
    PARITY_OTHERS
    TELL_ODD(&wrong[0])
    K_BARRIER();
    bad = (k_u32)wrong[0];
#endif
    STORE(3u, bad >> 2 * mine, ITERATIONS)
#endif
}
