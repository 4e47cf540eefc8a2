/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Mean power of AVERAGE windowed transforms in one pass through memory. A frame's samples are read while the frame
 * before is transformed. The transform is in the words of fused.h.
 *
 * The host generates (lib/gpu/fused_spectrum.c): FORMAT, SPACING, SKIP, AVERAGE, WINDOWED with the window WINDOW_AT
 * floats into the table, FACTOR on the sum, TRANSFORM, ADD_ALL, which calls ADD(slot, variable) for each slot,
 * SUM_BARRIER and CENTER, where zero frequency goes.
 */
#if FORMAT == FORMAT_CF32
typedef float2 k_raw;
#define COOKED(raw) raw
#elif FORMAT == FORMAT_CS16
typedef k_u32 k_raw;
#define COOKED(raw) K_FLOAT2((float)(k_i16)(raw & 0xffffu), (float)((k_i32)raw >> 16))
#elif FORMAT == FORMAT_CS8
typedef k_u16 k_raw;
#define COOKED(raw) K_FLOAT2((float)(k_i8)(raw & 0xffu), (float)(k_i8)(raw >> 8))
#else
typedef k_u16 k_raw;
#define COOKED(raw) K_FLOAT2((float)(raw & 0xffu) - 127.5f, (float)(raw >> 8) - 127.5f)
#endif

#define DECLARE_RAW(s) k_raw raw##s; float sum##s = 0.0f;
#define FETCH(s) raw##s = K_PASS(source + s * LANES);
#if WINDOWED
#define KEEP(s) const float kept##s = K_KEEP(window + s * LANES);
#define COOK(s)                                              \
    {                                                        \
        const float w_ = kept##s;                            \
        const float2 x_ = COOKED(raw##s);                    \
        v##s = K_FLOAT2(x_.x * w_, x_.y * w_);               \
    }
#else
#define KEEP(s)
#define COOK(s) v##s = COOKED(raw##s);
#endif
#define ADD(s, v) sum##s = K_FMA(v.x, v.x, K_FMA(v.y, v.y, sum##s));
#define PUT(s) K_PUT(to + (lane + s * LANES + CENTER) % N, sum##s * FACTOR);

K_DENSE_KERNEL(GROUP, DENSE)
spectrum(K_GLOBAL const k_raw *K_RESTRICT in, K_GLOBAL const k_gather *K_RESTRICT unused,
         K_GLOBAL const float *K_RESTRICT window, K_GLOBAL const float4 *K_RESTRICT table, K_GLOBAL float *K_RESTRICT out,
         const k_i32 rows, const k_u32 start, const k_u32 spacing)
{
    K_LOCAL_ARRAY(float4, memory, LOCAL_PIECES);
    const k_index item = K_LANE_X(), lane = item % LANES, member = item / LANES;
    const k_index wanted = K_GROUP() * PER_GROUP + member, row = wanted < rows ? wanted : rows - 1;
    K_LOCAL float2 *shared = (K_LOCAL float2 *)memory + member * REGION;
    K_GLOBAL const k_raw *source = in + (k_u64)row * (AVERAGE * SPACING) + (SKIP + lane);
    EACH_SLOT(DECLARE)
    K_EARLY();
    EACH_SLOT(DECLARE_RAW)
    window += WINDOW_AT + lane;
    EACH_SLOT(FETCH)
    EACH_SLOT(KEEP)
    for (int part = 0; part < AVERAGE; part++) {
        EACH_SLOT(COOK)
        if (part + 1 < AVERAGE) {
            source += SPACING;
            EACH_SLOT(FETCH)
        }
        TRANSFORM
        ADD_ALL
        SUM_BARRIER
    }
    if (wanted < rows) {
        K_GLOBAL float *to = out + (k_size)row * N;
        EACH_SLOT(PUT)
    }
}
