/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Blocks of a convolutional code of 64 states, one work-item a block, or a window of one: A. J. Viterbi, "Error bounds
 * for convolutional codes and an asymptotically optimum decoding algorithm", IEEE Trans. Inf. Theory 13(2), 1967.
 *
 * All 64 metrics are in 32 registers, two of 16 bits in each. They stay in place: at step T of six the pairs of states
 * that differ in their oldest bit are at positions p that differ in bit T, where that bit gives way to the step's
 * input. After six steps each position is its state again, whose bits are the inputs of these steps, the first lowest.
 *
 * History. The lowest HISTORY bits of a metric say where it comes from: they are set to the inverse of the position's
 * own bits that the next HISTORY steps replace, and the maximum carries them along. After these steps they are
 * kept, six bits a position and group of six steps in local memory. Of equal metrics the maximum takes that with the
 * larger history: the bit of the step itself stands above those of steps before it, so that the older state with 0 as
 * its oldest bit wins, which is the rule for ties.
 *
 * Range. A step adds to each metric the soft bits that its label has as 0, moved up so that none is negative. At the
 * start of a group all are moved down so that state 0's is BASE. lib/gpu/viterbi_code.c shows that they stay within
 * 16 bits.
 *
 * The way back. LAG groups after a group its state is looked up, from whichever is best by then. What one such look-up
 * passes through the next one must meet, and the last one comes from the block's end, which is known: so the
 * decisions are those of the whole block, or the block is listed to be done again (whole.h). A window that is not its
 * block's first starts WARM steps early with all metrics equal; where its metrics are not those of the window before
 * it, but for a constant, or ways do not meet, the block is listed too.
 *
 * The host generates (lib/gpu/viterbi_code.c): GROUP, HISTORY, LAG, LEAD, WARM, BASE, FLOOR, STEP_0 .. STEP_5, WORDS_0
 * .. WORDS_5, AFTER_0 .. AFTER_5, DECLARE_WORDS, BEGIN_REGISTERS, BEGIN_KNOWN, EACH_REGISTER, and what blocks.h needs.
 * blocks.h and pairs.h come before.
 */
#define STEPS_CHUNK 24
#define CHUNK_WORDS (STEPS_CHUNK * STRIDE / 4)
#define GROUP_WORDS (6 * STRIDE / 4)
#define RING        (LAG + 3)
#define KNOWN_MASK  ((1u << HISTORY) - 1u)
#define METRIC_MASK (0xffffffffu ^ (KNOWN_MASK * 0x00010001u))

/* ---------------------------------------------------------------- input ----------------------- */

/* 16 bytes from a multiple of 16 on; behind the end there may be anything. */
K_FUNCTION PIECE load_piece(K_GLOBAL const k_u8 *from, k_u64 piece, k_u64 bytes)
{
    if (piece < bytes / 16) {
#if CPU
        return as_uint4(vload16((size_t)piece, from));
#else
        return ((K_GLOBAL const PIECE *)from)[piece];
#endif
    }
    k_u64 low = 0, high = 0;
    K_ROLLED
    for (k_i32 i = 15; i >= 0; i--) {
        high = high << 8 | low >> 56;
        low = low << 8 | (k_u64)(16 * piece + (k_u64)i < bytes ? from[16 * piece + (k_u64)i] : (k_u8)0);
    }
    return MAKE_PIECE((k_u32)low, (k_u32)(low >> 32), (k_u32)high, (k_u32)(high >> 32));
}

/* One of two values: where both are places of an array, compilers may choose the address, and keep the array in memory. */
K_FUNCTION k_u32 word_of(const k_u32 first, const k_u32 one, const k_u32 other)
{
    return first ? one : other;
}

/*
 * The soft bits of the next 24 steps: four pieces of 16 bytes for two bytes a step, which need not begin with the first;
 * those of the steps behind them are fetched meanwhile.
 */
#define PIECES (CHUNK_WORDS / 4)
#define FETCH(i) fetched[i] = load_piece(ROWS, piece + 1 + (i), bytes);
#define SPREAD(i, from)                                                                                     \
    raw[4 * (i)] = (from).x, raw[4 * (i) + 1] = (from).y, raw[4 * (i) + 2] = (from).z, raw[4 * (i) + 3] = (from).w;
#define LOAD_CHUNK                                                          \
    {                                                                       \
        k_u32 raw[CHUNK_WORDS + 4];                                         \
        SPREAD(0, carried)                                                  \
        K_UNROLL                                                            \
        for (k_i32 j = 0; j < PIECES; j++)                                  \
            SPREAD(1 + j, fetched[j])                                       \
        carried = fetched[PIECES - 1];                                      \
        piece += PIECES;                                                    \
        K_UNROLL                                                            \
        for (k_i32 j = 0; j < PIECES; j++)                                  \
            FETCH(j)                                                        \
        K_UNROLL                                                            \
        for (k_i32 j = 0; j < CHUNK_WORDS + 2; j++)                         \
            raw[j] = word_of(offset & 8u, raw[j + 2], raw[j]);              \
        K_UNROLL                                                            \
        for (k_i32 j = 0; j < CHUNK_WORDS + 1; j++)                         \
            raw[j] = word_of(offset & 4u, raw[j + 1], raw[j]);              \
        K_UNROLL                                                            \
        for (k_i32 j = 0; j < CHUNK_WORDS; j++)                             \
            q[j] = SHIFTED(raw[j], raw[j + 1], 8u * (offset & 3u));         \
    }
#define NEXT_WORDS                                                          \
    K_UNROLL                                                                \
    for (k_i32 j = 0; j < CHUNK_WORDS - GROUP_WORDS; j++)                   \
        q[j] = q[j + GROUP_WORDS];

/* A byte as the number that it is, times 2^HISTORY. */
#define SOFT(word, byte) SCALED_BYTE(word, (k_i32)((1u << HISTORY) << (8 * (byte))), byte)

/* ---------------------------------------------------------------- steps ----------------------- */

/* Metrics relative to state 0's, as they are compared with those of the window beside. */
#define DUMP_ONE(w, x)  \
    *dump_ = x - off_; \
    dump_ += pitch_;
#define DUMP(which)                                                                                 \
    if (windows > 1) {                                                                              \
        const k_u32 off_ = ((x0 & METRIC_MASK & 0xffffu) - ((k_u32)BASE << HISTORY)) * 0x00010001u; \
        k_u32 pitch_ = all_windows;                                                                 \
        K_ANEW(pitch_);                                                                             \
        K_GLOBAL k_u32 *dump_ = work + DUMPS_AT + (k_u64)(which) * 32u * pitch_ + window;           \
        EACH_REGISTER(DUMP_ONE)                                                                     \
    }

/* Of four positions, the history of the steps from `first` on; what is above it does not matter. */
#define KEEP_FOUR(h, a, b, first)                                                   \
    {                                                                               \
        const k_u32 bits_ = (KNOWN_MASK << (first)) * 0x01010101u;                  \
        h = (first) ? CHOSEN(bits_, LOW_BYTES(a, b) << (first), h) : LOW_BYTES(a, b); \
    }
#define STORE_FOUR(k, a, b, c, d)                                                                    \
    *(K_LOCAL PIECE *)(ring + slot * (64 * GROUP) + (k) * (16 * GROUP)) = MAKE_PIECE(a, b, c, d);

#define NEXT_SLOT(slot) ((slot) == RING - 1 ? 0 : (slot) + 1)
#define LAST_SLOT(slot) ((slot) == 0 ? RING - 1 : (slot) - 1)

/* The state before group `slot` from the one behind it. */
K_FUNCTION k_u32 look_up(K_LOCAL const k_u8 *ring, k_i32 slot, k_u32 state)
{
    K_LOCAL const k_u8 *kept = ring + slot * (64 * GROUP);
    K_UNROLL
    for (k_i32 first = 6 - HISTORY; first >= 0; first -= HISTORY) {
        const k_u32 byte = ~(k_u32)kept[(state & 0x30u) * GROUP + (state & 15u)];
        state ^= (state ^ byte) & (KNOWN_MASK << first);
    }
    return state & 63u;
}

#define BEST_GUESS(w, x) guess = max_pairs(guess, (x & guess_) | (2u * (w) | (2u * (w) + 1u) << 16));

/* Of position p after `stop` steps of a group; p's bits from behind are a constant. */
#define BEST_END_ONE(value, p)                                                                  \
    {                                                                                           \
        const k_u32 back_ = REVERSED(p), order_ = (back_ << stop | back_ >> (6 - stop)) & 63u;  \
        const k_u32 key_ = ((value) >> HISTORY) << 6 | (63u - order_);                          \
        best = key_ > best ? key_ : best;                                                       \
    }
#define BEST_END(w, x)                         \
    BEST_END_ONE(x & 0xffffu, 2u * (w))        \
    BEST_END_ONE(x >> 16, 2u * (w) + 1u)

/* 24 bits from bit `at` on, up to `end`. */
K_FUNCTION void emit(K_GLOBAL k_u8 *out, k_i32 at, k_u32 bits, k_i32 end)
{
    if (at < 0)
        return;
    if (end - at < STEPS_CHUNK)
        bits &= end > at ? (1u << (end - at)) - 1u : 0u;
#if RESULT == 2
    for (k_i32 i = 0; i < STEPS_CHUNK && at + i < end; i++)
        out[at + i] = (k_u8)(bits >> i & 1u);
#else
    for (k_i32 i = 0; i < 3 && at + 8 * i < end; i++)
        out[at / 8 + i] = ORDERED(bits >> 8 * i);
#endif
}

/* Soft bits of six steps lie in q0 ..; metrics of positions in x0 .. x31. */
#define SIX_STEPS(CONDITION)                                                                      \
    {                                                                                             \
        DECLARE_WORDS                                                                             \
        k_u32 h0 = 0, h1 = 0, h2 = 0, h3 = 0, h4 = 0, h5 = 0, h6 = 0, h7 = 0, h8 = 0, h9 = 0;     \
        k_u32 h10 = 0, h11 = 0, h12 = 0, h13 = 0, h14 = 0, h15 = 0;                               \
        const k_u32 off_ = ((x0 & METRIC_MASK & 0xffffu) - ((k_u32)BASE << HISTORY));             \
        WORDS_0                                                                                   \
        STEP_0                                                                                    \
        AFTER_0                                                                                   \
        CONDITION(1, WORDS_1 STEP_1)                                                              \
        AFTER_1                                                                                   \
        CONDITION(2, WORDS_2 STEP_2)                                                              \
        AFTER_2                                                                                   \
        CONDITION(3, WORDS_3 STEP_3)                                                              \
        AFTER_3                                                                                   \
        CONDITION(4, WORDS_4 STEP_4)                                                              \
        AFTER_4                                                                                   \
        CONDITION(5, WORDS_5 STEP_5)                                                              \
        AFTER_5                                                                                   \
        STORE_FOUR(0, h0, h1, h2, h3)                                                             \
        STORE_FOUR(1, h4, h5, h6, h7)                                                             \
        STORE_FOUR(2, h8, h9, h10, h11)                                                           \
        STORE_FOUR(3, h12, h13, h14, h15)                                                         \
        slot = NEXT_SLOT(slot);                                                                   \
    }
#define ALWAYS(t, steps) steps

/* Of a group that is not whole, which ends before its last step. */
#define IF_THERE(t, steps)   \
    if (t < 5 && t < stop) { \
        steps                \
    }

K_KERNEL_RESIDENT(GROUP, 1, RESIDENT)
decode(BLOCK_ARGUMENTS)
{
    K_LOCAL_ARRAY(PIECE, memory, 4 * RING * GROUP);
    K_LOCAL k_u8 *ring = (K_LOCAL k_u8 *)memory + 16 * K_LANE_X();
    const k_u32 all_windows = (k_u32)count * windows, window = (k_u32)K_GROUP() * GROUP + (k_u32)K_LANE_X();
    const k_u32 block = window / windows, part = window - block * windows;
    k_i32 steps = 0, bits = 0, begin = (k_i32)(part * length);
    k_u64 at = 0;
    K_EARLY();
    if (window == 0)
        work[0] = 0;
    if (block < (k_u32)count) {
        if (!part)
            work[LISTED_AT + block] = 0;
        bits = BLOCK_BITS(block);
        steps = ROW_STEPS(bits);
        at = ROW_AT(block);
    }
    const bool_t there = begin < steps;
    const k_i32 next = begin + (k_i32)length;                  /* the step with which the next window begins */
    const k_i32 first = begin - (part ? LEAD + WARM : LEAD);   /* of our own steps, those before 0 being left out */
    const bool_t whole = next >= steps - 6 * LAG;              /* it goes on to the block's end */
    const k_i32 end = there ? (whole ? steps : next + 6 * LAG) : first;
    const k_i32 limit = next < FIRST + bits ? next : FIRST + bits;
    const k_i32 groups = (end - first) / 6;
    const k_u32 stop = (k_u32)(end - first - 6 * groups);
    const k_i32 all_groups = groups + (stop ? 1 : 0), chunks = (all_groups + 3) / 4;
    k_u32 q[CHUNK_WORDS] = {0};
    k_i32 slot = 0, group = 0, pending = begin;
    k_u32 expected = 64u, first_state = 64u, next_state = 64u, wrong = 0;
    K_GLOBAL k_u8 *to = out + (k_u64)block * OUT_BYTES;
    const k_u64 from_byte = at + (k_u64)((k_i64)first * STRIDE);
    const k_u32 offset = (k_u32)from_byte & 15u;
    k_u64 piece = (k_u64)((k_i64)from_byte >> 4);
    PIECE carried = load_piece(ROWS, piece, bytes), fetched[PIECES];
    K_UNROLL
    for (k_i32 j = 0; j < PIECES; j++)
        FETCH(j)
    const k_u32 guess_ = metric_ & 0xffc0ffc0u;
    BEGIN_REGISTERS
    if (START_ZERO && first <= 0) {
        BEGIN_KNOWN
    }
    K_ROLLED
    for (k_i32 chunk = 0; chunk < chunks; chunk++) {
        LOAD_CHUNK
        K_ROLLED
        for (k_i32 i = 0; i < 4 && group < all_groups; i++) {
            const k_i32 step = first + 6 * group;
            if (step >= 0) {
                if (step == begin || step == next)
                    DUMP(step == next)
                if (group == groups)
                    break;
                SIX_STEPS(ALWAYS)
            }
            NEXT_WORDS
            group++;
        }
        if (first + 6 * group - 6 * LAG - STEPS_CHUNK >= begin && group == 4 * chunk + 4) {
            k_u32 guess = 0, state, word = 0;
            k_i32 from = slot;
            EACH_REGISTER(BEST_GUESS)
            state = (guess >> 16 > (guess & 0xffffu) ? guess >> 16 : guess) & 63u;
            K_ROLLED
            for (k_i32 i = 0; i < LAG - 1; i++) {
                from = LAST_SLOT(from);
                state = look_up(ring, from, state);
            }
            next_state = state;
            K_UNROLL
            for (k_i32 i = 3; i >= 0; i--) {
                from = LAST_SLOT(from);
                state = look_up(ring, from, state);
                word |= state << 6 * i;
            }
            wrong |= expected < 64u && expected != state;
            first_state = first_state < 64u ? first_state : state;
            expected = next_state;
            emit(to, pending - FIRST, word, limit - FIRST);
            pending += STEPS_CHUNK;
        }
    }
    if (there && whole) {
        k_i32 left = (end - pending + 5) / 6;
        k_u32 state = 0, word = 0;
        if (stop)
            SIX_STEPS(IF_THERE)
        if (!END_ZERO) {
            k_u32 best = 0, order;
            EACH_REGISTER(BEST_END)
            order = 63u - (best & 63u);
            order = (order >> stop | order << (6 - stop)) & 63u;
            state = REVERSED(order);
        }
        for (; left--; slot = LAST_SLOT(slot)) {
            word |= state << 6 * (left & 3);
            if (pending + 6 * left == next)
                next_state = state;
            if ((left & 3) == 0) {
                emit(to, pending + 6 * left - FIRST, word, limit - FIRST);
                word = 0;
            }
            if (!left) {
                wrong |= expected < 64u && expected != state;
                first_state = first_state < 64u ? first_state : state;
            } else {
                state = look_up(ring, LAST_SLOT(slot), state);
            }
        }
    }
    if (there)
        work[WINDOWS_AT + window] = first_state | next_state << 8 | wrong << 16;
}
