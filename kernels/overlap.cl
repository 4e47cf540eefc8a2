/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Weighted sums over rows of N values (struct penstock_fft_problem says of which, as an overlapped problem): value i of
 * frame f is the sum over t < DEPTH of weight t HOP + i times value (turn + f HOP + i) modulo N of row f + DEPTH - 1 - t.
 * A work-group makes PER_GROUP frames, a work-item every GROUP-th of their values, so that neighbours read side by side.
 * Each row is read by the groups of all frames it is part of, from the cache.
 *
 * The host generates (lib/gpu/fused_overlap.c): N, at most 2^16, HOP, DEPTH, GROUP, PER_GROUP.
 */
#if defined(__OPENCL_VERSION__)
#define K_FMA(a, b, c) mad(a, b, c)
#else
#define K_FMA(a, b, c) fmaf(a, b, c)
#endif

K_KERNEL(GROUP, 1)
overlap(K_GLOBAL const k_cf32 *K_RESTRICT in, K_GLOBAL const k_cf32 *K_RESTRICT unused,
        K_GLOBAL const float *K_RESTRICT unused_factors, K_GLOBAL const float *K_RESTRICT weights,
        K_GLOBAL k_cf32 *K_RESTRICT out, const k_i32 frames, const k_u32 start, const k_u32 turn)
{
    const k_u32 first = (k_u32)K_GROUP() * PER_GROUP, left = (k_u32)frames - first;
    const k_u32 count = (left < PER_GROUP ? left : PER_GROUP) * HOP;
    K_EARLY();
    (void)unused;
    (void)unused_factors;
    (void)start;
    for (k_u32 v = (k_u32)K_LANE_X(); v < count; v += GROUP) {
        const k_u32 frame = first + v / HOP, i = v % HOP, place = (frame % N * HOP % N + turn + i) % N;
        K_GLOBAL const k_cf32 *row = in + ((k_size)(frame + DEPTH - 1) * N + place);
        K_GLOBAL const float *weight = weights + i;
        float re = 0.0f, im = 0.0f;
        K_ROLLED
        for (k_u32 t = 0; t < DEPTH; t++) {
            const k_cf32 x = *row;
            re = K_FMA(*weight, x.re, re);
            im = K_FMA(*weight, x.im, im);
            row -= N;
            weight += HOP;
        }
        const k_cf32 sum = {re, im};
        out[(k_size)first * HOP + v] = sum;
    }
}
