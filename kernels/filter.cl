/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Overlap-save in one pass through memory: a transform of each N samples, SPACING apart, its product with the taps'
 * spectrum, the reverse transform, and of its values those from FIRST on, VALUES of them. The transforms are in the
 * words of fused.h. The forward one leaves each point with the work-item that the reverse one wants it from, so that
 * nothing is exchanged between them.
 *
 * The host generates (lib/gpu/fused_filter.c): FORMAT, SPACING, FIRST, VALUES; FORWARD; MULTIPLY, which calls
 * PRODUCT(variable, first point of the slot) for each slot; REVERSE_ALL; and STORE_ALL, which calls
 * STORE(variable, first point of the slot, whether all its points are stored).
 */
#define PRODUCT(v, position) v = product(v, K_KEEP(response + position));
#define STORE(v, position, all)                                                       \
    if (all || (lane + position >= FIRST && lane + position < FIRST + VALUES))        \
        K_PUT(to + (position - FIRST), v);

K_DENSE_KERNEL(GROUP, DENSE)
filter(K_GLOBAL const k_sample *K_RESTRICT in, K_GLOBAL const k_gather *K_RESTRICT unused,
       K_GLOBAL const float2 *K_RESTRICT response, K_GLOBAL const float4 *K_RESTRICT table, K_GLOBAL float2 *K_RESTRICT out,
       const k_i32 rows, const k_u32 start, const k_u32 spacing)
{
    K_LOCAL_ARRAY(float4, memory, LOCAL_PIECES);
    const k_index item = K_LANE_X(), lane = item % LANES, member = item / LANES;
    const k_index wanted = K_GROUP() * PER_GROUP + member, row = wanted < rows ? wanted : rows - 1;
    K_LOCAL float2 *shared = (K_LOCAL float2 *)memory + member * REGION;
    K_GLOBAL const k_sample *source = in + (k_size)row * SPACING + lane;
    EACH_SLOT(DECLARE)
    EACH_SLOT(LOAD_RAW)
    response += lane;
    FORWARD
    MULTIPLY
    REVERSE_ALL
    if (wanted < rows) {
        K_GLOBAL float2 *to = out + (k_size)row * VALUES + lane;
        STORE_ALL
    }
}
