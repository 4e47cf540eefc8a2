/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Symbols of coded frames before and behind their decoder, one work-group each: what kernels/symbols.cl gives of them
 * lies at `in`, the soft bits of all symbols and then all points. A rate's row of `table` has its steps, what takes
 * points to levels at odd integers, the largest half of a level, whether it is BPSK, and from MAP_AT on the place of
 * each coded bit among the symbol's soft bits, or -1.
 *
 * The host generates (lib/gpu/fused_coded.c): CARRIERS, PITCH, POINTS_AT, the bytes of a symbol's soft bits with what
 * is between those of the last one and the points, TABLE_ROW, GENERATOR_0, GENERATOR_1, CONSTRAINT, BLOCK_BYTES, GROUP.
 */
#define MAP_AT 4
#define TAIL   (CONSTRAINT - 1)

typedef struct {
    k_u32 rate, coded, block, step, steps, packed, reserved[2];
} k_symbol;

typedef struct {
    float error;
    k_u32 wrong;
} k_count;

typedef struct {
    float re, im;
} k_value;

/* The sum of the bits, modulo 2. */
K_FUNCTION k_u32 parity(k_u32 x)
{
    x ^= x >> 8;
    x ^= x >> 4;
    return 0x6996u >> (x & 15u) & 1u;
}

#define CODED_ARGUMENTS                                                                               \
    K_GLOBAL const k_u8 *K_RESTRICT in, K_GLOBAL const k_symbol *K_RESTRICT symbols,                  \
        K_GLOBAL const k_u8 *K_RESTRICT decoded, K_GLOBAL const float *K_RESTRICT table,              \
        K_GLOBAL k_u8 *K_RESTRICT out, const k_i32 count, const k_u32 unused, const k_u32 unused_too

#if TALLY

/* A frame's decoded bit, 0 before and behind those that there are. */
K_FUNCTION k_u32 bit_of(K_GLOBAL const k_u8 *bits, const k_i32 at, const k_i32 end)
{
    return at >= 0 && at < end ? (k_u32)bits[at >> 3] >> (at & 7) & 1u : 0u;
}

/* Bits of one step that were received as others. */
K_FUNCTION k_u32 wrong_of(K_GLOBAL const k_i8 *soft, K_GLOBAL const float *map, const k_u32 coded)
{
    const k_i32 at = (k_i32)map[0];
    const k_i32 value = at < 0 ? 0 : soft[at];
    return coded ? value > 0 : value < 0;
}

/* Squared distance of one part of a point from the nearest level. */
K_FUNCTION float error_of(const float part, const float unit, const float limit)
{
    const float u = part * unit;
    float half_level = u * 0.5f;
    half_level = half_level > -limit ? half_level : -limit; /* NaN too */
    half_level = half_level < limit ? half_level : limit;
    const float error = u - (2.0f * (float)((k_i32)(half_level + 64.0f) - 64) + 1.0f);
    return error * error;
}

K_KERNEL(GROUP, 1)
tally(CODED_ARGUMENTS)
{
    K_LOCAL_ARRAY(k_count, sums, GROUP);
    const k_index lane = K_LANE_X(), number = K_GROUP();
    K_EARLY();
    (void)unused, (void)unused_too;
    const k_symbol symbol = symbols[number];
    K_GLOBAL const float *rate = table + (k_size)symbol.rate * TABLE_ROW;
    K_GLOBAL const k_i8 *soft = (K_GLOBAL const k_i8 *)in + (k_size)number * PITCH;
    K_GLOBAL const k_value *points =
        (K_GLOBAL const k_value *)(in + (k_size)count * POINTS_AT) + (k_size)number * CARRIERS;
    K_GLOBAL const k_u8 *bits = decoded + (k_size)symbol.block * BLOCK_BYTES;
    K_GLOBAL k_u8 *packed = out + (k_size)count * 8 + symbol.packed;
    const k_i32 steps = (k_i32)rate[0], step = (k_i32)symbol.step, end = (k_i32)symbol.steps - TAIL;
    const float unit = rate[1], limit = rate[2];
    const k_i32 binary = rate[3] != 0.0f;
    k_u32 wrong = 0, window = 0;
    float error = 0.0f;
    for (k_i32 i = 4 * (k_i32)lane; i < steps; i += 4 * GROUP) {
        for (k_i32 j = -TAIL; j < 0; j++)
            window = window >> 1 | bit_of(bits, step + i + j, end) << (CONSTRAINT - 1);
        for (k_i32 j = 0; j < 4; j++) {
            window = window >> 1 | bit_of(bits, step + i + j, end) << (CONSTRAINT - 1);
            if (step + i + j < end + TAIL) {
                wrong += wrong_of(soft, rate + MAP_AT + 2 * (i + j), parity(window & GENERATOR_0));
                wrong += wrong_of(soft, rate + MAP_AT + 2 * (i + j) + 1, parity(window & GENERATOR_1));
            }
        }
    }
    for (k_i32 i = (k_i32)lane; i < CARRIERS; i += GROUP) {
        const k_value point = points[i];
        error += error_of(point.re, unit, limit);
        error += binary ? point.im * unit * point.im * unit : error_of(point.im, unit, limit);
    }
    for (k_i32 i = (step + 7) / 8 + (k_i32)lane; 8 * i < step + steps && 8 * i < end; i += GROUP)
        packed[i] = bits[i];
    sums[lane].error = error;
    sums[lane].wrong = wrong;
    K_BARRIER();
    if (lane == 0) {
        k_count all = {0.0f, 0u};
        for (k_i32 i = 0; i < GROUP; i++) {
            all.error += sums[i].error;
            all.wrong += sums[i].wrong;
        }
        ((K_GLOBAL k_count *)out)[number] = all;
    }
}

#else

K_KERNEL(GROUP, 1)
deinterleave(CODED_ARGUMENTS)
{
    const k_index lane = K_LANE_X(), number = K_GROUP();
    K_EARLY();
    (void)count, (void)unused, (void)unused_too, (void)decoded;
    const k_symbol symbol = symbols[number];
    K_GLOBAL const float *rate = table + (k_size)symbol.rate * TABLE_ROW;
    K_GLOBAL const k_u8 *soft = in + (k_size)number * PITCH;
    K_GLOBAL k_u32 *to = (K_GLOBAL k_u32 *)(out + symbol.coded);
    const k_i32 words = (k_i32)rate[0] / 2;
    for (k_i32 i = (k_i32)lane; i < words; i += GROUP) {
        k_u32 word = 0;
        for (k_i32 j = 0; j < 4; j++) {
            const k_i32 at = (k_i32)rate[MAP_AT + 4 * i + j];
            word |= (at < 0 ? 0u : (k_u32)soft[at]) << 8 * j;
        }
        to[i] = word;
    }
}

#endif
