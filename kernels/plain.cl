/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A batch of complex transforms in one pass through memory, windowed or not, in the words of fused.h.
 *
 * TWO: the transform is twice as long as those words' N points, the even samples' and the odd samples', of which one is
 * in registers while the other lies in local memory, where each work-item finds its own points again. At the end
 * X[k] = E[k] + exp(-2 pi i k / 2N) O[k] and X[k + N] is their difference.
 *
 * The host generates (lib/gpu/fused_plain.c): FORMAT, SPACING, SKIP, AHEAD, WINDOWED with the window WINDOW_AT floats
 * into the table, SCALE, CENTER, where zero frequency goes, TRANSFORM and STORE_ALL; with TWO also SWAP_ALL, TRANSFORM_ODD
 * and TURNS_AT, where the table has exp(-+2 pi i lane / 2N), of the direction.
 */
#if WINDOWED
#define LOAD_WINDOWED(s)                                        \
    {                                                           \
        const float w_ = K_KEEP(window + WINDOW_AT + s * LANES); \
        v##s.x *= w_;                                           \
        v##s.y *= w_;                                           \
    }
#else
#define LOAD_WINDOWED(s)
#endif

#define STORE(to_at, v) K_PUT(to + (to_at), K_FLOAT2((v).x * SCALE, (v).y * SCALE));

#if TWO
#define LOAD_EVEN(s)                                                \
    {                                                               \
        const float4 both_ = ((K_GLOBAL const float4 *)source)[s * LANES]; \
        v##s = K_FLOAT2(both_.x, both_.y);                          \
        parked[s * LANES] = K_FLOAT2(both_.z, both_.w);             \
    }
#define SWAP_PARKED(s, v)                      \
    {                                          \
        const float2 odd_ = parked[s * LANES]; \
        parked[s * LANES] = v;                 \
        v = odd_;                              \
    }
#define STORE_TWO(s, v, c, d)                                                       \
    {                                                                               \
        const float2 even_ = parked[s * LANES], odd_ = product(v, product(turn_, K_FLOAT2(c, d))); \
        STORE(s * LANES, K_FLOAT2(even_.x + odd_.x, even_.y + odd_.y))              \
        STORE(s * LANES + N, K_FLOAT2(even_.x - odd_.x, even_.y - odd_.y))          \
    }
#endif

K_DENSE_KERNEL(GROUP, DENSE)
plain(K_GLOBAL const k_sample *K_RESTRICT in, K_GLOBAL const k_gather *K_RESTRICT unused,
      K_GLOBAL const float *K_RESTRICT window, K_GLOBAL const float4 *K_RESTRICT table, K_GLOBAL float2 *K_RESTRICT out,
      const k_i32 rows, const k_u32 start, const k_u32 spacing)
{
    K_LOCAL_ARRAY(float4, memory, LOCAL_PIECES);
    const k_index item = K_LANE_X(), lane = item % LANES, member = item / LANES;
    const k_index wanted = K_GROUP() * PER_GROUP + member, row = wanted < rows ? wanted : rows - 1;
    K_LOCAL float2 *shared = (K_LOCAL float2 *)memory + member * REGION;
    EACH_SLOT(DECLARE)
    K_EARLY();
#if TWO
    K_LOCAL float2 *parked = (K_LOCAL float2 *)memory + PER_GROUP * REGION + lane;
    K_GLOBAL const k_sample *source = in + ((k_u64)row * SPACING + SKIP) + 2 * lane;
    EACH_SLOT(LOAD_EVEN)
#else
    K_GLOBAL const k_sample *source = in + ((k_u64)row * SPACING + SKIP) + lane;
    EACH_SLOT(LOAD_RAW)
#endif
#if AHEAD
    if (row + AHEAD * PER_GROUP < rows) {
        K_GLOBAL const k_u8 *next_ =
            (K_GLOBAL const k_u8 *)(in + ((k_u64)row + AHEAD * PER_GROUP) * SPACING + SKIP) + 128 * lane;
        K_UNROLL
        for (k_index at_ = 0; at_ < (TWO + 1) * N * (k_index)sizeof(k_sample); at_ += 128 * LANES)
            if (at_ + 128 * lane < (TWO + 1) * N * (k_index)sizeof(k_sample))
                K_FETCH(next_ + at_);
    }
#endif
#if WINDOWED
    window += lane;
    EACH_SLOT(LOAD_WINDOWED)
#endif
    TRANSFORM
#if TWO
    SWAP_ALL
    TRANSFORM_ODD
    const float2 turn_ = K_KEEP((K_GLOBAL const float2 *)window + TURNS_AT + lane);
#endif
    if (wanted < rows) {
        K_GLOBAL float2 *to = out + (k_u64)row * ((TWO + 1) * N) + (TWO ? lane : 0);
        STORE_ALL
    }
}
