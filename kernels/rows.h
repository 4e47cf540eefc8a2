/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Rows of a batch's blocks, where the caller's soft bits are none as they lie. blocks.h comes before. */
#if !DIRECT
#ifndef ROWS_GROUP /* where the device has no such groups */
#define ROWS_GROUP 256
#endif
#define LEVEL_GROUP 8 /* sums that are made side by side, in the order that the cpu backend has */

K_TABLE(k_i16, PLACES) = {PLACE_VALUES};

#if OWN_SCALE
/* The factor that makes 32 of the mean absolute value of a block's finite numbers. */
K_KERNEL(LEVEL_GROUP, 1)
level(BLOCK_ARGUMENTS)
{
    K_LOCAL_ARRAY(double, sums, 2 * LEVEL_GROUP);
    const k_u32 block = (k_u32)K_GROUP(), lane = (k_u32)K_LANE_X();
    double sum = 0;
    k_u32 finite = 0;
    K_EARLY();
    const k_u32 coded = (k_u32)(BLOCK_BITS(block) + TAIL) * COUNT;
    k_u32 sent = coded / PERIOD * SENT;
    for (k_u32 i = 0; i < coded % PERIOD; i++)
        sent += PLACES[i] >= 0;
    K_GLOBAL const float *from = (K_GLOBAL const float *)in + BLOCK_AT(block);
    for (k_u32 i = lane; i < sent; i += LEVEL_GROUP) {
        const float size = fabs(from[i]);
        if (size <= 3.402823466e+38f) {
            sum += (double)size;
            finite++;
        }
    }
    sums[lane] = sum;
    sums[LEVEL_GROUP + lane] = (double)finite;
    K_BARRIER();
    if (lane == 0) {
        double all = 0, there = 0, scale;
        for (k_u32 i = 0; i < LEVEL_GROUP; i++) {
            all += sums[i];
            there += sums[LEVEL_GROUP + i];
        }
        scale = all > 0 ? 32.0 * there / all : 1.0;
        ((K_GLOBAL float *)work)[SCALES_AT + block] = scale < 3.402823466e+38 ? (float)scale : 3.402823466e+38f;
    }
}
#endif

/* What was sent, to the nearest whole number, of two the even one. */
#if SOFT_FORMAT == 0
#define SOFT_VALUE(i) ((k_i8)in[i])
#elif SOFT_FORMAT == 2
#define SOFT_VALUE(i) ((k_i8)(in[i] ? -32 : 32))
#else
K_FUNCTION k_i8 quantised(float value)
{
    value = value == value ? value : 0.0f;
    value = value < 127.0f ? value : 127.0f;
    value = value > -127.0f ? value : -127.0f;
    return (k_i8)(k_i32)rint(value);
}
#define SOFT_VALUE(i) quantised(((K_GLOBAL const float *)in)[i] * scale)
#endif

/* A work-item makes four bytes of a row. */
K_KERNEL(ROWS_GROUP, 1)
fill(BLOCK_ARGUMENTS)
{
    const k_u64 place = (k_u64)K_GROUP() * ROWS_GROUP + (k_u64)K_LANE_X();
    const k_u32 block = (k_u32)(place / (ROW_BYTES / 4)), word = (k_u32)(place - (k_u64)block * (ROW_BYTES / 4));
    K_EARLY();
    if (block < (k_u32)count) {
        const k_i32 own = BLOCK_BITS(block) + TAIL;
        const k_u64 from = BLOCK_AT(block);
#if SOFT_FORMAT == 1
        const float scale = OWN_SCALE ? ((K_GLOBAL const float *)work)[SCALES_AT + block] : SCALE;
#endif
        k_u32 value = 0;
        for (k_u32 i = 0; i < 4u; i++) {
            const k_u32 g = (4u * word + i) % STRIDE;
            k_i32 step = (k_i32)((4u * word + i) / STRIDE) - FIRST;
            const bool_t there = g < COUNT && step >= -DEPTH && step < own + DEPTH;
            step = DEPTH ? (step % own + own) % own : step;
            const k_u32 coded = (k_u32)(there ? step : 0) * COUNT + (there ? g : 0);
            const k_i32 rank = PLACES[coded % PERIOD];
            if (there && rank >= 0)
                value |= (k_u32)(k_u8)SOFT_VALUE(from + (k_u64)(coded / PERIOD) * SENT + (k_u32)rank) << 8 * i;
        }
        ((K_GLOBAL k_u32 *)rows)[place] = value;
    }
}
#endif
