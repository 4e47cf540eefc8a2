/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Outputs of a polyphase filter at any ratio of rates (struct penstock_resample_problem says what each is). A
 * work-group makes BLOCK outputs. Where the samples of a block, `span`, fit, they go into local memory once, and each
 * work-item makes every GROUP-th output. Else, the taps being many, SHARES neighbours make an output together, each
 * from every SHARES-th sample, so that they read side by side; their sums change hands through local memory.
 *
 * Places are counted in whole numbers of 64 bits: a block is so short that no sum of steps overflows, and how many
 * units it is comes from a float, which is off by one at most, and a look.
 *
 * Taps of one sample lie side by side for all arms, so that neighbouring work-items, which want other arms of the same
 * tap, read few lines of the cache. Sums go on for PART taps and are added up then, so that long ones keep their bits;
 * taps are a multiple of UNROLLED.
 *
 * The host generates (lib/gpu/fused_resample.c): FORMAT, REAL_SAMPLES, COMPLEX_TAPS, BLOCK, GROUP, TILE, samples of
 * local memory, and SHARES.
 */
#if defined(__OPENCL_VERSION__)
#define K_FMA(a, b, c)    mad(a, b, c)
#define K_HIGH(a, b)      mul_hi(a, b)
#define K_UNROLL
#else
#define K_FMA(a, b, c)    fmaf(a, b, c)
#define K_HIGH(a, b)      __umul64hi(a, b)
#define K_UNROLL          _Pragma("unroll")
#endif

#define PART     128
#define UNROLLED 8

/* struct penstock_resample_start */
typedef struct K_ALIGNED(16) {
    k_u32 at, reserved;
    k_u64 part;
} k_start;

/* struct penstock_resample_head */
typedef struct K_ALIGNED(16) {
    k_u32 taps, arms, whole, shift;
    k_u64 unit, part, scale;
    float inverse;
    k_u32 span, reserved[4];
} k_head;

#if REAL_SAMPLES
typedef float k_point;
#define IS_ZERO(x)      x = 0.0f;
#define IS_SAMPLE(x, i) x = source[i];
#define ADD(x)          re += x;
#define PUT(to, a, b)   \
    {                   \
        (void)(b);      \
        to = a;         \
    }
#else
typedef k_cf32 k_point;
#define ADD(x)          \
    {                   \
        re += (x).re;   \
        im += (x).im;   \
    }
#define PUT(to, a, b)                 \
    {                                 \
        const k_point put_ = {a, b};  \
        to = put_;                    \
    }
#define IS_ZERO(x)     x.re = x.im = 0.0f;
#define IS_SAMPLE(x, i)      \
    {                        \
        x.re = SAMPLE_RE(i); \
        x.im = SAMPLE_IM(i); \
    }
#endif

/* Sample i of the job, as a point. */
#define POINT(x, i)                     \
    if ((i)-first < end - first)        \
        IS_SAMPLE(x, i)                 \
    else {                              \
        IS_ZERO(x)                      \
    }

#if COMPLEX_TAPS
#define PAIRS 2
#define PRODUCT(x)                                                                                        \
    {                                                                                                     \
        const k_cf32 cos_ = taps[0], sin_ = taps[1];                                                      \
        const float c_ = K_FMA(between, cos_.im, cos_.re), s_ = K_FMA(between, sin_.im, sin_.re);         \
        sum_re = K_FMA(c_, x.re, K_FMA(-s_, x.im, sum_re));                                               \
        sum_im = K_FMA(c_, x.im, K_FMA(s_, x.re, sum_im));                                                \
    }
#elif REAL_SAMPLES
#define PAIRS 1
#define PRODUCT(x)                                           \
    {                                                        \
        const k_cf32 tap_ = taps[0];                         \
        sum_re = K_FMA(K_FMA(between, tap_.im, tap_.re), x, sum_re); \
    }
#else
#define PAIRS 1
#define PRODUCT(x)                                           \
    {                                                        \
        const k_cf32 tap_ = taps[0];                         \
        const float h_ = K_FMA(between, tap_.im, tap_.re);   \
        sum_re = K_FMA(h_, x.re, sum_re);                    \
        sum_im = K_FMA(h_, x.im, sum_im);                    \
    }
#endif

#define FROM_TILE(x, i)   x = tile[i];
#define FROM_MEMORY(x, i) POINT(x, i)

/* All products of an output, the first one with sample `from`. */
#define SUM(READ, from)                                             \
    for (k_u32 k_ = 0; k_ < tap_count; k_ += PART) {                \
        const k_u32 stop_ = k_ + PART < tap_count ? k_ + PART : tap_count; \
        float sum_re = 0.0f, sum_im = 0.0f;                         \
        K_ROLLED                                                    \
        for (k_u32 at_ = k_; at_ < stop_; at_ += UNROLLED) {        \
            K_UNROLL                                                \
            for (k_u32 more_ = 0; more_ < UNROLLED; more_++) {      \
                k_point x_;                                         \
                READ(x_, (from) + at_ + more_)                      \
                PRODUCT(x_)                                         \
                taps += PAIRS * arms;                               \
            }                                                       \
        }                                                           \
        re += sum_re;                                               \
        im += sum_im;                                               \
    }

/* Where output i of a block stands: `place` samples behind the block's first, and its taps. */
#define FIND(i)                                                                                     \
    const k_u64 sum_ = start.part + (k_u64)(i)*step;                                                \
    k_u32 units_ = (k_u32)((float)sum_ * inverse);                                                  \
    k_i64 part_ = (k_i64)(sum_ - units_ * unit);                                                    \
    if (part_ < 0) {                                                                                \
        part_ += (k_i64)unit;                                                                       \
        units_--;                                                                                   \
    }                                                                                               \
    if ((k_u64)part_ >= unit) {                                                                     \
        part_ -= (k_i64)unit;                                                                       \
        units_++;                                                                                   \
    }                                                                                               \
    const k_u32 place = (k_u32)(i)*whole + units_;                                                  \
    const k_u64 arm_ = K_HIGH((k_u64)part_ << shift, scale);                                        \
    const float between = (float)(k_u32)arm_ * 2.3283064365386963e-10f; /* 2^-32 */                 \
    K_GLOBAL const k_cf32 *taps = (K_GLOBAL const k_cf32 *)(head + 1) + PAIRS * (k_size)(arm_ >> 32);

K_KERNEL(GROUP, 1)
resample(K_GLOBAL const k_sample *K_RESTRICT in, K_GLOBAL const k_start *K_RESTRICT starts,
         K_GLOBAL const k_head *K_RESTRICT head, K_GLOBAL const float *K_RESTRICT unused,
         K_GLOBAL k_point *K_RESTRICT out, const k_i32 outputs, const k_u32 first, const k_u32 end)
{
    K_LOCAL_ARRAY(k_point, tile, TILE);
    const k_index lane = K_LANE_X(), row = K_GROUP(), left = outputs - row * BLOCK;
    const k_index count = left < BLOCK ? left : BLOCK;
    K_GLOBAL const k_sample *source = in;
    K_EARLY();
    (void)unused;
    const k_start start = starts[row];
    const k_u32 tap_count = head->taps, arms = head->arms, span = head->span, whole = head->whole, shift = head->shift;
    const k_u64 unit = head->unit, step = head->part, scale = head->scale;
    const float inverse = head->inverse;
    const k_u32 tiled = span <= TILE ? span : 0;
    const k_index shares = BLOCK * SHARES <= TILE && !tiled ? SHARES : 0;
    for (k_u32 i = (k_u32)lane; i < tiled; i += GROUP) {
        k_point x;
        POINT(x, start.at + i)
        tile[i] = x;
    }
    for (k_index i = lane; i < count * shares; i += GROUP) {
        FIND(i / SHARES)
        float sum_re = 0.0f, sum_im = 0.0f;
        taps += (k_size)(i % SHARES) * (PAIRS * arms);
        for (k_u32 at = (k_u32)(i % SHARES); at < tap_count; at += SHARES) {
            k_point x;
            POINT(x, start.at + place + at)
            PRODUCT(x)
            taps += SHARES * PAIRS * arms;
        }
        PUT(tile[i], sum_re, sum_im)
    }
    K_BARRIER();
    for (k_index i = lane; i < count; i += GROUP) {
        float re = 0.0f, im = 0.0f;
        if (shares) {
            for (k_index other = 0; other < SHARES; other++)
                ADD(tile[i * SHARES + other])
        } else {
            FIND(i)
            if (tiled) {
                SUM(FROM_TILE, place)
            } else {
                SUM(FROM_MEMORY, start.at + place)
            }
        }
        PUT(out[row * BLOCK + i], re, im)
    }
}
