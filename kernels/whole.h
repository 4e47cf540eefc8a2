/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Blocks of any code, a work-group for each, a work-item for each state: exact, without a guess. All blocks of a batch
 * or, with LISTED, those that kernels/viterbi.cl was not sure of. Decisions of 32 steps are a word a state.
 */
#if LISTED
#ifndef CHECK_GROUP /* as ROWS_GROUP */
#define CHECK_GROUP 64
#endif

/* Whether a window's way and metrics are not those that the one before it went on with. */
K_FUNCTION k_u32 differs(K_GLOBAL const k_u32 *K_RESTRICT work, const k_i32 count, k_u32 window, k_u32 all_windows)
{
    k_u32 wrong = (work[WINDOWS_AT + window] & 255u) ^ (work[WINDOWS_AT + window - 1u] >> 8 & 255u);
    K_UNROLL
    for (k_u32 i = 0; i < 32u; i++)
        wrong |= work[DUMPS_AT + (k_u64)i * all_windows + window] ^
                 work[DUMPS_AT + (k_u64)(32u + i) * all_windows + window - 1u];
    return wrong;
}

/* A work-item for each window; lists blocks that are to be done again, each once. */
K_KERNEL(CHECK_GROUP, 1)
check(BLOCK_ARGUMENTS)
{
    const k_u32 window = (k_u32)K_GROUP() * CHECK_GROUP + (k_u32)K_LANE_X(), all_windows = (k_u32)count * windows;
    const k_u32 block = window / windows, part = window - block * windows;
    K_EARLY();
    if (block < (k_u32)count && (k_i32)(part * length) < ROW_STEPS(BLOCK_BITS(block))) {
        k_u32 wrong = work[WINDOWS_AT + window] >> 16;
        if (part)
            wrong |= differs(work, count, window, all_windows);
        if (wrong && K_COUNT_UP(work + LISTED_AT + block) == 0u)
            work[LIST_AT + K_COUNT_UP(work)] = block;
    }
}
#endif

#define TILE        32
#define UNREACHED   (-(1 << 30)) /* no sum of soft bits makes up for that */
#define METRICS     board
#define SOFTS_AT    (3 * STATES)
#define WHOLE_WORDS (SOFTS_AT + TILE * STRIDE / 4 + 1)

#define LABEL_BIT(window, g) (parity((window) & (k_u32)GENERATOR_##g))

K_FUNCTION k_u32 parity(k_u32 x)
{
    x ^= x >> 8;
    x ^= x >> 4;
    x ^= x >> 2;
    x ^= x >> 1;
    return x & 1u;
}

/* What a branch adds: soft bits that its label has as 0. */
#define ADD_SOFT(g, inverted) sum += label >> g & 1u ? 0 : inverted ? -(k_i32)soft[g] : (k_i32)soft[g];
#define ADD_LABEL(g, inverted) label |= LABEL_BIT(window, g) << g;

K_FUNCTION k_u32 label_of(k_u32 window)
{
    k_u32 label = 0;
    EACH_GENERATOR(ADD_LABEL)
    return label;
}

K_FUNCTION k_i32 branch(K_LOCAL const k_i8 *soft, k_u32 label)
{
    k_i32 sum = 0;
    EACH_GENERATOR(ADD_SOFT)
    return sum;
}

K_KERNEL(STATES, 1)
whole(BLOCK_ARGUMENTS)
{
    K_LOCAL_ARRAY(k_i32, board, WHOLE_WORDS);
    K_LOCAL k_u32 *words = (K_LOCAL k_u32 *)board + 2 * STATES;
    K_LOCAL k_i8 *softs = (K_LOCAL k_i8 *)(board + SOFTS_AT);
    K_LOCAL k_u32 *decoded = (K_LOCAL k_u32 *)board + SOFTS_AT + TILE * STRIDE / 4;
    const k_i32 s = (k_i32)K_LANE_X(), even = 2 * (s & (STATES / 2 - 1)), input = s / (STATES / 2);
    const k_u32 from_even = label_of((k_u32)(even + input * STATES)), from_odd = label_of((k_u32)(even + 1 + input * STATES));
    K_EARLY();
    const k_u32 todo = LISTED ? work[0] : (k_u32)count;
    K_GLOBAL k_u32 *kept = decisions + (k_u64)K_GROUP() * (((ROW_STEPS(BITS) + TILE - 1) / TILE) * STATES);
    K_ROLLED
    for (k_u32 entry = (k_u32)K_GROUP(); entry < todo; entry += groups_given) {
        const k_u32 block = LISTED ? work[LIST_AT + entry] : entry;
        const k_i32 bits = BLOCK_BITS(block), steps = ROW_STEPS(bits), tiles = (steps + TILE - 1) / TILE;
        K_GLOBAL const k_u8 *row = ROWS + ROW_AT(block);
        k_u32 state = 0;
        METRICS[s] = START_ZERO && s ? UNREACHED : 0;
        K_ROLLED
        for (k_i32 tile = 0; tile < tiles; tile++) {
            const k_i32 here = steps - tile * TILE < TILE ? steps - tile * TILE : TILE;
            k_u32 word = 0;
            for (k_i32 i = s; i < here * STRIDE; i += STATES)
                softs[i] = (k_i8)row[(k_u64)tile * (TILE * STRIDE) + (k_u64)i];
            K_BARRIER();
            K_ROLLED
            for (k_i32 t = 0; t < here; t++) {
                K_LOCAL k_i32 *from = METRICS + (t & 1) * STATES, *to = METRICS + (1 - (t & 1)) * STATES;
                const k_i32 lower = from[even] + branch(softs + t * STRIDE, from_even);
                const k_i32 upper = from[even + 1] + branch(softs + t * STRIDE, from_odd);
                to[s] = upper > lower ? upper : lower;
                word |= (k_u32)(upper > lower) << t;
                K_BARRIER();
            }
            kept[tile * STATES + s] = word;
        }
        if (!END_ZERO && s == 0) {
            K_LOCAL const k_i32 *last = METRICS + (steps & 1) * STATES;
            for (k_u32 i = 1; i < STATES; i++) {
                k_u32 reversed = 0;
                for (k_u32 b = 0; b < CONSTRAINT - 1; b++)
                    reversed |= (i >> b & 1u) << (CONSTRAINT - 2 - b);
                state = last[reversed] > last[state] ? reversed : state;
            }
        }
        K_ROLLED
        for (k_i32 tile = tiles - 1; tile >= 0; tile--) {
            const k_i32 first = tile * TILE - FIRST, here = steps - tile * TILE < TILE ? steps - tile * TILE : TILE;
            words[s] = kept[tile * STATES + s];
            K_BARRIER();
            if (s == 0) {
                k_u32 result = 0;
                for (k_i32 t = here - 1; t >= 0; t--) {
                    result |= (state >> (CONSTRAINT - 2)) << t;
                    state = (state << 1 & (STATES - 1)) | (words[state] >> t & 1u);
                }
                *decoded = bits - first < TILE ? (bits > first ? result & ((1u << (bits - first)) - 1u) : 0u) : result;
            }
            K_BARRIER();
            K_GLOBAL k_u8 *to = out + (k_u64)block * OUT_BYTES;
#if RESULT == 2
            for (k_i32 i = s; i < TILE; i += STATES)
                if (first + i >= 0 && first + i < bits)
                    to[first + i] = (k_u8)(*decoded >> i & 1u);
#else
            if (s < 4 && first + 8 * s >= 0 && first + 8 * s < bits)
                to[(first + 8 * s) / 8] = ORDERED(*decoded >> 8 * s & 255u);
#endif
        }
        K_BARRIER();
    }
}
