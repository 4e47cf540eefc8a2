/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * OFDM symbols from samples to soft bits in one pass through memory: guard interval skipped, carrier offset taken out,
 * transform, one-tap equaliser, common phase and slope taken out, exact max-log soft bits, staged in local memory so
 * that they leave in whole pieces. The transform is in the words of fused.h.
 *
 * A frame's gain of a bin is chosen so that the equalised point has its decision levels at odd multiples of `level`,
 * the soft bit's value at the distance of one: level = |gain|^2 times the frame's ratio, which stands behind the row.
 *
 * The host generates (lib/gpu/fused_ofdm.c): FORMAT; BITS a carrier, HALF an axis; CARRIERS; TRANSFORM; CARRY, which
 * calls CARRIER(variable, first bin of the slot, place in the output less lane) for the carriers of each slot; COPY_LANES
 * work-items that store COPY_ROWS symbols together; k_piece and PIECE bytes of it. The file is compiled three times, as
 * NAME with DEMAP: LISTED with a list of symbols, or with a first one that the others follow from; without, when the
 * symbols stand evenly and no rotation is to be taken out; and NARROW besides, when all levels are small.
 */
#if !defined(OFDM_ONCE)
#define OFDM_ONCE

#define LOAD_TURN_OUT(s) v##s = product(v##s, unit(phase_ + (k_u32)(s * LANES) * step_));

#define ROUNDER 12582912.0f
#define LIMIT   127.0f

/*
 * Two soft bits, rounded to integers, ties to even, as the low bytes of a word whose upper half is the lower one of
 * `above`. From sm_86 on that is one instruction, F2IP.S8.F32, which limits to -128 .. 127 besides; the compiler makes
 * it of these three where no sign is left to be changed on the way, hence AGAINST.
 */
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 860
K_FUNCTION k_u32 two_bytes(const float first, const float second, const k_u32 above)
{
    k_u32 bytes;
    asm("{.reg .s32 first, second; cvt.rni.s32.f32 first, %1; cvt.rni.s32.f32 second, %2;"
        " cvt.pack.sat.s8.s32.b32 %0, second, first, %3;}"
        : "=r"(bytes)
        : "f"(first), "f"(second), "r"(above));
    return bytes;
}
#define BELOW(value) (value)
/* `value`, at least 0, with the sign that `u` has not. */
#define AGAINST(value, u) K_AS_FLOAT(K_AS_UINT(value) | (~K_AS_UINT(u) & 0x80000000u))
#else
#define BYTE(value) K_AS_UINT((value) + ROUNDER)
K_FUNCTION k_u32 two_bytes(const float first, const float second, const k_u32 above)
{
    return K_LOW_BYTES(BYTE(first), BYTE(second)) | above << 16;
}
#define BELOW(value) K_MIN(value, LIMIT)
#define AGAINST(value, u) (-K_SIGN(value, u))
#endif
#define LIMITED(value) BELOW(K_MAX(value, -LIMIT))
#endif

#undef ABOVE
#if NARROW
/* A frame's levels are at most 127/6, so that only what grows without bound needs a limit. */
#define ABOVE(value) BELOW(value)
#else
#define ABOVE(value) LIMITED(value)
#endif

/*
 * Soft bits of one axis, not yet rounded: levels stand at odd multiples of half of `two`. The first bit is -sign(u) times the sum of max(0, |u| - q two) over q < half the levels; the Gray code is symmetric about
 * zero, so each next bit is the first bit of the coordinate folded there.
 */
#if HALF == 1
K_FUNCTION void DEMAP(const float u, const float two, float *soft)
{
    soft[0] = LIMITED(-u);
}
#elif HALF == 2
K_FUNCTION void DEMAP(const float u, const float two, float *soft)
{
    const float inner = K_MAX(K_MIN(u, two), -two);
    soft[0] = LIMITED(K_FMA(-2.0f, u, inner));
    soft[1] = ABOVE(K_ABS(u) - two);
}
#elif HALF == 3
/* `rest` is what d has outside of [-two, two]; the first sum is 2 |u| - two and -rest or d + rest, the larger one. */
K_FUNCTION void DEMAP(const float u, const float two, float *soft)
{
    const float d = K_FMA(-2.0f, two, K_ABS(u)), rest = d - K_MAX(K_MIN(d, two), -two), second = d + rest;
    const float first = K_FMA(2.0f, K_ABS(u), K_MAX(second, -rest)) - two;
    soft[0] = AGAINST(K_MIN(first, LIMIT), u);
    soft[1] = ABOVE(second);
    soft[2] = ABOVE(K_ABS(d) - two);
}
#else
K_FUNCTION void DEMAP(const float u, const float two, float *soft)
{
    float x = u;
    for (int b = 0; b < HALF; b++) {
        const int levels = 1 << (HALF - 1 - b);
        float sum = 0.0f;
        for (int q = 0; q < levels; q++)
            sum += K_MAX(K_FMA(-(float)q, two, K_ABS(x)), 0.0f);
        soft[b] = LIMITED(-K_SIGN(sum, x));
        x = K_FMA(0.5f * (float)levels, two, -K_ABS(x));
    }
}
#endif

#if !defined(OFDM_CARRIER)
#define OFDM_CARRIER
/* Where a carrier's bits are staged: BITS is 1, 2, 4, 6, 8 or 10. */
#if BITS == 1
#define STAGE_BITS(at) staged[at] = (k_u8)two_bytes(soft_[0], 0.0f, 0);
#else
#define TWO(b) (k_u16)two_bytes(soft_[b], soft_[(b) + 1], 0)
#define FOUR(b) two_bytes(soft_[b], soft_[(b) + 1], two_bytes(soft_[(b) + 2], soft_[(b) + 3], 0))
#define AT_TWO(at, b) ((K_LOCAL k_u16 *)(staged + (at)*BITS))[(b) / 2] = TWO(b);
#define AT_FOUR(at, b) ((K_LOCAL k_u32 *)(staged + (at)*BITS))[(b) / 4] = FOUR(b);
#if BITS == 2
#define STAGE_BITS(at) AT_TWO(at, 0)
#elif BITS == 4
#define STAGE_BITS(at) AT_FOUR(at, 0)
#elif BITS == 6
#define STAGE_BITS(at) AT_TWO(at, 0) AT_TWO(at, 2) AT_TWO(at, 4)
#elif BITS == 8
#define STAGE_BITS(at) AT_FOUR(at, 0) AT_FOUR(at, 4)
#else
#define STAGE_BITS(at) AT_TWO(at, 0) AT_TWO(at, 2) AT_TWO(at, 4) AT_TWO(at, 6) AT_TWO(at, 8)
#endif
#endif

#if BITS == 1
#define DEMAP_OTHER
#else
#define DEMAP_OTHER DEMAP(y_.y, two_, soft_ + HALF);
#endif
#define CARRIER(v, position, place)                                       \
    {                                                                     \
        const float2 g_ = K_KEEP(gain + position);                        \
        const float2 y_ = product(TURNED(v, position), g_);               \
        const float two_ = ratio * K_FMA(g_.x, g_.x, g_.y * g_.y);        \
        float soft_[2 * HALF];                                            \
        DEMAP(y_.x, two_, soft_);                                         \
        DEMAP_OTHER                                                       \
        STAGE_BITS(place)                                                 \
    }

#if defined(__CUDACC__) && COPY_LANES == 32
#define BARRIER_COPY() __syncwarp()
#else
#define BARRIER_COPY() K_BARRIER()
#endif
#endif

#undef TURNED
#if LISTED
/* A bin from N/2 on stands for a negative carrier. */
#define TURNED(v, position)                                                                              \
    product(v, unit(common + slope * (k_u32)(lane + position < N / 2 ? lane + position : lane + position - N)))
#else
#define TURNED(v, position) v
#endif

K_DENSE_KERNEL(GROUP, DENSE)
NAME(K_GLOBAL const k_sample *K_RESTRICT in, K_GLOBAL const k_symbol *K_RESTRICT symbols,
     K_GLOBAL const float2 *K_RESTRICT gains, K_GLOBAL const float4 *K_RESTRICT table, K_GLOBAL k_piece *K_RESTRICT out,
     const k_i32 rows, const k_u32 start, const k_u32 spacing)
{
    K_LOCAL_ARRAY(float4, memory, LOCAL_PIECES);
#if PER_GROUP == 1 /* fewer operations than if the compiler had to find out */
    const k_index item = ITEM(), lane = item, member = 0, wanted = K_GROUP(), row = wanted;
#else
    const k_index item = ITEM(), lane = item % LANES, member = item / LANES;
    const k_index wanted = K_GROUP() * PER_GROUP + member, row = wanted < rows ? wanted : rows - 1;
#endif
    K_LOCAL float2 *shared = (K_LOCAL float2 *)memory + member * REGION;
    K_LOCAL k_u8 *staged = (K_LOCAL k_u8 *)((K_LOCAL float2 *)memory + PER_GROUP * REGION) + member * (CARRIERS * BITS);
    EACH_SLOT(DECLARE)
    K_EARLY();
#if LISTED
    k_symbol symbol = symbols[spacing ? 0 : row];
    if (spacing)
        FOLLOW(symbol, symbols[1], row, spacing)
    K_GLOBAL const float2 *gain = gains + (k_size)symbol.frame * (N + 2);
    const k_u32 common = symbol.common, slope = symbol.slope;
    K_GLOBAL const k_sample *source = in + symbol.start + lane;
#else
    K_GLOBAL const float2 *gain = gains;
    K_GLOBAL const k_sample *source = in + start + (k_size)row * spacing + lane;
#endif
    const float ratio = 2.0f * K_KEEP(gain + N).x;
    gain += lane;
    staged += lane * BITS;
    EACH_SLOT(LOAD_RAW)
#if LISTED
    if (symbol.step | symbol.phase) {
        const k_u32 step_ = symbol.step, phase_ = symbol.phase + (k_u32)lane * step_;
        EACH_SLOT(LOAD_TURN_OUT)
    }
#endif
    TRANSFORM
    CARRY
    BARRIER_COPY();
    {
        const k_index part = item / COPY_LANES, first = K_GROUP() * PER_GROUP + part * COPY_ROWS;
        const k_index pieces = COPY_ROWS * CARRIERS * BITS / PIECE;
        K_LOCAL const k_piece *from = (K_LOCAL const k_piece *)((K_LOCAL float2 *)memory + PER_GROUP * REGION) + part * pieces;
        K_GLOBAL k_piece *to = out + (k_size)first * (CARRIERS * BITS / PIECE);
        if (PER_GROUP == 1 || first + COPY_ROWS <= rows) {
            K_UNROLL
            for (k_index i = 0; i < (pieces + COPY_LANES - 1) / COPY_LANES; i++)
                if (item % COPY_LANES + i * COPY_LANES < pieces)
                    K_PUT(to + item % COPY_LANES + i * COPY_LANES, from[item % COPY_LANES + i * COPY_LANES]);
        } else {
            for (k_index i = item % COPY_LANES; i < (rows - first) * (CARRIERS * BITS / PIECE); i += COPY_LANES)
                to[i] = from[i];
        }
    }
}
