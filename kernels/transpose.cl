/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Frames of HEIGHT rows of WIDTH samples to WIDTH rows of HEIGHT values: load stage, store stage, and a tile in local
 * memory between them, so that both sides move through memory along rows.
 */
#define TILE  16
#define ACROSS ((WIDTH + TILE - 1) / TILE)
#define TILES  (ACROSS * ((HEIGHT + TILE - 1) / TILE))

#if GATHERED
#define LOCATE_SOURCE                                                 \
    const k_u32 phase = gather[row].phase, step = gather[row].step;   \
    K_GLOBAL const k_sample *source = in + gather[row].start;         \
    (void)phase, (void)step;
#else
#define LOCATE_SOURCE K_GLOBAL const k_sample *source = in + ((k_u64)row * SPACING + SKIP);
#endif

K_KERNEL(TILE, TILE)
fft(K_GLOBAL const k_sample *K_RESTRICT in, K_GLOBAL const k_gather *K_RESTRICT gather,
    K_GLOBAL const float *K_RESTRICT table, K_GLOBAL k_value *K_RESTRICT out, const k_i32 rows, const k_u64 plane,
    const k_i32 first)
{
    K_LOCAL_ARRAY(k_cf32, tile, TILE * (TILE + 1));
    const k_index x = K_LANE_X(), y = K_LANE_Y();
    const k_index row = (k_index)((k_size)K_GROUP() / TILES), at = (k_index)((k_size)K_GROUP() % TILES);
    const k_index left = (k_index)((k_size)at % ACROSS) * TILE, top = (k_index)((k_size)at / ACROSS) * TILE;
    K_EARLY();
    LOCATE_SOURCE
    K_GLOBAL k_value *target = out + (k_u64)row * BINS;
    if (left + x < WIDTH && top + y < HEIGHT) {
        float re0, im0;
        LOAD_SAMPLE(0, (top + y) * WIDTH + left + x)
        const k_cf32 point = {re0, im0};
        tile[y * (TILE + 1) + x] = point;
    }
    K_BARRIER();
    if (left + y < WIDTH && top + x < HEIGHT) {
        const k_cf32 value = tile[x * (TILE + 1) + y];
        STORE_VALUE((left + y) * HEIGHT + top + x, value.re, value.im)
    }
}
