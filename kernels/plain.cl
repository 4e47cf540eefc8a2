/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A batch of complex transforms in one pass through memory, windowed or not, in the words of fused.h and of ptx.h.
 *
 * TWO: the transform is twice as long as those words' N points, the even samples' and the odd samples', of which one is
 * in registers while the other lies in local memory, where each work-item finds its own points again. At the end
 * X[k] = E[k] + exp(-2 pi i k / 2N) O[k] and X[k + N] is their difference.
 *
 * The host generates (lib/gpu/fused_plain.c): PTX, FORMAT, SPACING, SKIP, AHEAD, WINDOWED with the window WINDOW_AT
 * floats into the table, SCALE, TRANSFORM and STORE_ALL, which puts zero frequency where it belongs; with TWO also
 * TURNS_AT, where the table has exp(-+2 pi i lane / 2N), of the direction.
 */
#if WINDOWED
#define LOAD_WINDOWED(s)                                        \
    {                                                           \
        const float w_ = K_KEEP(window + WINDOW_AT + s * LANES); \
        TIMES(v##s, w_)                                         \
    }
#else
#define LOAD_WINDOWED(s)
#endif

#if FORMAT == FORMAT_CF32
#define LOAD_POINT(s) READ(v##s, (K_GLOBAL const float2 *)source, s * LANES)
#else
#define LOAD_POINT(s) LOAD_RAW(s)
#endif
#define STORE(at, v) WRITE(to, at, v, SCALE)

/* Even points stay, odd ones wait. Variable for variable they change places, and odd points come in order. */
#define LOAD_EVEN(s)                   READ_TWO(v##s, parked, s * LANES, (K_GLOBAL const float4 *)source, s * LANES)
#define SWAP_PARKED(s)                 LOCAL_SWAP(v##s, parked, s * LANES)
#define STORE_TWO(at, v, parked_at, c, s) WRITE_TWO(to, at, at + N, v, parked, parked_at, turn_, c, s, SCALE)

K_DENSE_KERNEL(GROUP, DENSE)
plain(K_GLOBAL const k_sample *K_RESTRICT in, K_GLOBAL const k_gather *K_RESTRICT unused,
      K_GLOBAL const float *K_RESTRICT window, K_GLOBAL const float4 *K_RESTRICT table, K_GLOBAL float2 *K_RESTRICT out,
      const k_i32 rows, const k_u32 start, const k_u32 spacing)
{
    K_LOCAL_ARRAY(float4, memory, LOCAL_PIECES);
    const k_index item = K_LANE_X(), member = item / LANES;
    k_index lane = item % LANES;
    const k_index wanted = K_GROUP() * PER_GROUP + member, row = wanted < rows ? wanted : rows - 1;
    K_LOCAL float2 *shared = (K_LOCAL float2 *)memory + member * REGION;
    DECLARE_ALL
    K_EARLY();
#if TWO
    LOCAL_PLACE(parked, float2, memory, PER_GROUP * REGION + lane)
    K_GLOBAL const k_sample *source = in + ((k_u64)row * SPACING + SKIP) + 2 * lane;
    EACH_SLOT(LOAD_EVEN)
#else
    K_GLOBAL const k_sample *source = in + ((k_u64)row * SPACING + SKIP) + lane;
    EACH_SLOT(LOAD_POINT)
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
#if TWO
    K_ROLLED /* of two copies compilers take more than twice as long */
    for (k_index half_ = 0; half_ < 2; half_++) {
        K_ANEW(lane);
        TRANSFORM
        if (!half_) {
            EACH_SLOT(SWAP_PARKED)
        }
    }
    const float2 turn_ = K_KEEP((K_GLOBAL const float2 *)window + TURNS_AT + lane);
#else
    TRANSFORM
#endif
    if (wanted < rows) {
        K_GLOBAL float2 *to = out + (k_u64)row * ((TWO + 1) * N) + lane;
        STORE_ALL
    }
}
