/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Low-density parity-check codes by layered min-sum: a work-item has check `place` of each base row for two blocks, with
 * its messages in registers, and the word's values lie in local memory. Where a work-group has fewer work-items than
 * a base row has checks, each has several, ITEMS apart. The rule, and so each bit of the result, is
 * that of penstock_ldpc_plan().
 *
 * Where registers are few (PAIRED), two edges share one, and what then does not fit lies in memory; and a base row's
 * values are read twice, so that none is kept meanwhile.
 *
 * The host generates (lib/gpu/fused_ldpc.c): LEVEL, LEAST, FACTOR and ROUNDING of the rule; LIFTING, ITEMS for a pair
 * of blocks and CHECKS that each has of a base row, WORD, PAIRS of blocks in a work-group, GROUP, RESIDENT, BITS, SENT,
 * OUT_BYTES, IN_BYTES, REPORT_AT; PAIRED, STORED words of messages for a check of each base row, in the slot's memory
 * where SCRATCH is 1; ITERATIONS, EARLY, REPORT; HARD, FLOATS and SCALE; SOFT_RESULT, UNPACKED, MSB_FIRST;
 * FIRST_AT, FIRST_END, SECOND_AT, SECOND_END, SECOND_FROM, the parts of a word that are sent; DECLARE_MESSAGES;
 * LAYERS, which goes through the base rows once; CLEAR, in one of them behind the first, and PARITY_FIRST and
 * PARITY_OTHERS, which add up checks of them.
 */
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

/* Compilers would keep the addresses of all edges, and of their messages in global memory, through base rows and
 * iterations, in as many registers. Nothing is added: there are no negative rows. */
#if SCRATCH
#define STORE_ANEW stored += rows >> 31;
#else
#define STORE_ANEW
#endif
#if defined(__OPENCL_VERSION__) && !defined(__NV_CL_C_VERSION)
#define PLACE_ANEW       \
    place += rows >> 31; \
    here = word + place; \
    before = here - LIFTING; \
    STORE_ANEW
#define ONE_BY_ONE _Pragma("unroll 1")
#else
#define PLACE_ANEW
#define ONE_BY_ONE
#endif

/* A base row's checks of a work-item, one after the other; or side by side, where messages are registers. */
#define EACH_CHECK                                \
    for (k_index part = 0; part < CHECKS; part++) \
        if (CHECKS == 1 || place + part * ITEMS < LIFTING)
#define CHECKS_OF_ROW PLACE_ANEW EACH_CHECK
#define ROLLED_CHECKS PLACE_ANEW ONE_BY_ONE EACH_CHECK

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
#define DECLARE(i, none) \
    k_u32 m##i[CHECKS]; \
    EACH_CHECK m##i[part] = none;
#define BYTES         ((BASE - 128) * 0x10001u)
#define LOWER         0x00ff00ffu
#define MESSAGE(i)    DECLARE(i, BASES)
#define HELD(i)       m##i[part]
#define KEEP(i)       m##i[part] = given_;
#define NONE          0x80808080u
#define MESSAGES(i)   DECLARE(i, NONE)
#define HELD_LOWER(i) ((m##i[part] & LOWER) + BYTES)
#define HELD_UPPER(i) ((m##i[part] >> 8 & LOWER) + BYTES)
#define KEEP_LOWER(i) m##i[part] = (m##i[part] & ~LOWER) | (given_ - BYTES);
#define KEEP_UPPER(i) m##i[part] = (m##i[part] & LOWER) | (given_ - BYTES) << 8;
#if PAIRED
/* A base row: what T there are, the two least sizes and the product of signs; then each T again, and its message. */
#define LOWEST k_u32 low = MOST_LEAST, high = MOST_LEAST, signs = 0;
#define LOOK(at, shift, held)                                \
    {                                                        \
        const k_u32 t_ = difference(PLACE(at, shift), held); \
        high = second_least(size_of(t_), low, high);         \
        low = least(size_of(t_), low);                       \
        signs ^= t_;                                         \
    }
#define AGAIN PLACE_ANEW const k_u32 factors = FACTORS(signs);
#define ANSWER(at, shift, held, keep)                                                  \
    {                                                                                  \
        const k_u32 t_ = difference(PLACE(at, shift), held);                           \
        const k_u32 given_ = message(other_least(size_of(t_), low, high), t_, factors); \
        keep                                                                           \
        if (active)                                                                    \
            PLACE(at, shift) = limited_sum(t_, given_);                                \
    }
#endif

/* Those of base rows that have no registers lie in memory, two in a word likewise, of which a row has its own. Nobody but
 * their work-item touches them; neighbours' lie side by side. */
#if STORED
#define STORED_AT(i)     stored[((i) * CHECKS + part) * GROUP]
#define FETCH(i)         const k_u32 r##i = STORED_AT(i); k_u32 n##i;
#define PUT(i)           STORED_AT(i) = n##i;
#define FETCHED_LOWER(i) ((r##i & LOWER) + BYTES)
#define FETCHED_UPPER(i) ((r##i >> 8 & LOWER) + BYTES)
#define RENEW_LOWER(i)   n##i = given_ - BYTES;
#define RENEW_UPPER(i)   n##i |= (given_ - BYTES) << 8;
#if SCRATCH
#define STORE_AT K_GLOBAL k_u32 *stored = scratch + (k_u64)K_GROUP() * (STORED * CHECKS * GROUP) + lane;
#else
#define STORE_AT K_LOCAL k_u32 *stored = memory + PAIRS * WORD + 2 + lane;
#endif
#define DECLARE_STORED                               \
    STORE_AT                                         \
    for (k_index i_ = 0; i_ < STORED * CHECKS; i_++) \
        stored[i_ * GROUP] = NONE;
#else
#define DECLARE_STORED
#endif
#if SCRATCH
#define NUMBER (K_GROUP() + (k_index)start) /* of the group in the batch, of which a launch has a part */
#else
#define NUMBER K_GROUP()
#endif

#define PARITY(at, shift) sum ^= POSITIVE(PLACE(at, shift));
#define PARITY_ROW(degree, edges)            \
    ROLLED_CHECKS                            \
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
ldpc(K_GLOBAL const k_u8 *K_RESTRICT in, K_GLOBAL k_u32 *K_RESTRICT scratch, K_GLOBAL const float *K_RESTRICT factors_,
     K_GLOBAL const float *K_RESTRICT table, K_GLOBAL k_u8 *K_RESTRICT out, const k_i32 rows, const k_u32 start,
     const k_u32 spacing)
{
    K_LOCAL_ARRAY(k_u32, memory, PAIRS * WORD + 2 + (SCRATCH ? 0 : STORED * CHECKS * GROUP));
    const k_index lane = K_LANE_X(), mine = lane / ITEMS;
    const k_u32 active = GROUP == PAIRS * ITEMS || mine < PAIRS;
    const k_index pair = NUMBER * PAIRS + (active ? mine : 0);
    k_index place = lane % ITEMS;
    K_LOCAL k_u32 *word = memory + (active ? mine : 0) * WORD, *here = word + place, *before = here - LIFTING;
    K_LOCAL k_i32 *wrong = (K_LOCAL k_i32 *)(memory + PAIRS * WORD); /* by the first base row, and by others */
    const k_index one = 2 * pair < rows ? 2 * pair : rows - 1, other = 2 * pair + 1 < rows ? 2 * pair + 1 : rows - 1;
    K_GLOBAL const k_u8 *first = in + (k_u64)one * IN_BYTES, *second = in + (k_u64)other * IN_BYTES;
    k_u32 odd = 0, bad = 0, left = ALL;
    DECLARE_MESSAGES
    DECLARE_STORED
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
