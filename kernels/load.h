/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The load stage: one sample of any format to a complex float, times the window, times the rotation.
 * Folded, a point is the sum of FOLD samples, LENGTH apart, times their factors; `turn` is the frame's. FOLD_TOGETHER:
 * fold.h has made it.
 * Constants: FORMAT, WINDOW (0 none, 1 real factors, 2 complex factors), WINDOW_SIDE (neighbours with the same factor),
 * GATHERED, REVERSE_IN (exchange real and imaginary parts), REAL, METHOD, COLUMNS, IN_COUNT (points that there are
 * samples for; the others are 0), table offsets.
 */
#define REAL_PACKED  1 /* samples 2j and 2j + 1 are point j */
#define REAL_WHOLE   2 /* each sample is a point */
#define METHOD_PLAIN     0
#define METHOD_BLUESTEIN 1
#define METHOD_RADER     2

#define FORMAT_CF32   0
#define FORMAT_CS16   1
#define FORMAT_CS8    2
#define FORMAT_CU8    3
#define FORMAT_PLANAR 4
#define FORMAT_F32    5
#define FORMAT_CF16   6

/* Where samples are, and the first of a frame; IMAGE_IN: an image made of a buffer, TEXEL points to a texel. */
#if IMAGE_IN
#define IN_MEMORY __read_only image1d_buffer_t
#define SOURCE    const k_i32 source = (k_i32)
#else
#define IN_MEMORY K_GLOBAL const k_sample *K_RESTRICT
#define SOURCE    K_GLOBAL const k_sample *source = in +
#endif

/* A GPU reads a sample in one piece; a CPU takes it from wherever the caller has it. */
#if CPU
#define SAMPLE_ALIGNED(bytes)
#else
#define SAMPLE_ALIGNED(bytes) K_ALIGNED(bytes)
#endif

typedef struct SAMPLE_ALIGNED(8) {
    float re, im;
} k_cf32;

/* struct penstock_gather */
typedef struct SAMPLE_ALIGNED(16) {
    k_u32 start, phase, step, reserved;
} k_gather;

/* struct penstock_ofdm_place */
typedef struct SAMPLE_ALIGNED(16) {
    k_u32 start, phase, step, frame, common, slope, pilot_row, phase_low;
} k_symbol;

/* A first symbol turns into the one `i` symbols later; `each` has what is added to the phase. */
#define FOLLOW(symbol, each, i, spacing)                                                           \
    {                                                                                              \
        const k_u64 each_ = (k_u64)each.phase << 32 | each.phase_low;                              \
        const k_u64 first_ = (k_u64)symbol.phase << 32 | symbol.phase_low;                         \
        symbol.start += (k_u32)(i)*spacing;                                                        \
        symbol.phase = (k_u32)((first_ + (k_u64)(i)*each_) >> 32);                                 \
    }

#if FORMAT == FORMAT_CF32 && IMAGE_IN && TEXEL == 1 /* `source` is a place then */
#define SAMPLE_RE(at) (read_imagef(in, source + (k_i32)(at)).x)
#define SAMPLE_IM(at) (read_imagef(in, source + (k_i32)(at)).y)
typedef k_cf32 k_sample;
#elif FORMAT == FORMAT_CF32 && IMAGE_IN
#define TEXEL_OF(at)  read_imagef(in, (source + (k_i32)(at)) >> 1)
#define SAMPLE_RE(at) ((source + (k_i32)(at)) & 1 ? TEXEL_OF(at).z : TEXEL_OF(at).x)
#define SAMPLE_IM(at) ((source + (k_i32)(at)) & 1 ? TEXEL_OF(at).w : TEXEL_OF(at).y)
typedef k_cf32 k_sample;
#elif FORMAT == FORMAT_CF32
typedef k_cf32 k_sample;
#define SAMPLE_RE(at) (source[at].re)
#define SAMPLE_IM(at) (source[at].im)
#elif FORMAT == FORMAT_CS16
typedef struct SAMPLE_ALIGNED(4) {
    k_i16 re, im;
} k_sample;
#define SAMPLE_RE(at) ((float)source[at].re * (1.0f / 32768.0f))
#define SAMPLE_IM(at) ((float)source[at].im * (1.0f / 32768.0f))
#elif FORMAT == FORMAT_CS8
typedef struct SAMPLE_ALIGNED(2) {
    k_i8 re, im;
} k_sample;
#define SAMPLE_RE(at) ((float)source[at].re * (1.0f / 128.0f))
#define SAMPLE_IM(at) ((float)source[at].im * (1.0f / 128.0f))
#elif FORMAT == FORMAT_CU8
typedef struct SAMPLE_ALIGNED(2) {
    k_u8 re, im;
} k_sample;
#define SAMPLE_RE(at) (((float)source[at].re - 127.5f) * (1.0f / 128.0f))
#define SAMPLE_IM(at) (((float)source[at].im - 127.5f) * (1.0f / 128.0f))
#elif FORMAT == FORMAT_CF16
typedef struct SAMPLE_ALIGNED(4) {
    k_u16 re, im;
} k_sample;
#define SAMPLE_RE(at) K_HALF(&source[at].re)
#define SAMPLE_IM(at) K_HALF(&source[at].im)
#elif FORMAT == FORMAT_PLANAR
typedef float k_sample;
#define SAMPLE_RE(at) (source[at])
#define SAMPLE_IM(at) (source[(at) + plane])
#elif FORMAT == FORMAT_F32 && REAL == REAL_WHOLE
typedef float k_sample;
#define SAMPLE_RE(at) (source[at])
#define SAMPLE_IM(at) 0.0f
#elif FORMAT == FORMAT_F32 /* an even sample and the odd one after it are one complex point */
typedef float k_sample;
#define SAMPLE_RE(at) (source[2 * (at)])
#define SAMPLE_IM(at) (source[2 * (at) + 1])
#endif

/* Point s, to be multiplied by (factor_re + i factor_im). */
#define TURN(s, factor_re, factor_im)                   \
    {                                                   \
        const float c_ = (factor_re), s_ = (factor_im); \
        const float re_ = re##s, im_ = im##s;           \
        re##s = re_ * c_ - im_ * s_;                    \
        im##s = re_ * s_ + im_ * c_;                    \
    }

/* A pair of the table, cosine and sine, in one piece on a GPU; `at` is even. */
#if CPU
#define TURN_BY(s, at)                           \
    {                                            \
        const k_index pair_ = at;                \
        TURN(s, table[pair_], table[pair_ + 1])  \
    }
#else
#define PAIR(at) (((K_GLOBAL const k_cf32 *)table)[(at) >> 1])
#define TURN_BY(s, at)              \
    {                               \
        const k_cf32 pair_ = PAIR(at); \
        TURN(s, pair_.re, pair_.im) \
    }
#endif

#if FOLD_TOGETHER
#define READ_SAMPLE(s, at)                                                               \
    {                                                                                    \
        const k_index from_ = (row - K_GROUP() * PER_GROUP) * MEMBER_STEP + (at);        \
        re##s = exchange[from_].re;                                                      \
        im##s = exchange[from_].im;                                                      \
    }
#elif FOLD
/* Sample i, i < LENGTH, and those LENGTH, 2 LENGTH, ... further, times their factors, are point (i + turn) % LENGTH. */
#define READ_SAMPLE(s, at)                                                    \
    {                                                                         \
        k_index from_ = (at) - turn;                                          \
        from_ += from_ < 0 ? LENGTH : 0;                                      \
        re##s = im##s = 0.0f;                                                 \
        for (k_index part_ = 0; part_ < FOLD; part_++, from_ += LENGTH) {     \
            const float factor_ = table[FOLD_AT + from_];                     \
            re##s += factor_ * SAMPLE_RE(from_);                              \
            im##s += factor_ * SAMPLE_IM(from_);                              \
        }                                                                     \
    }
#else
#define READ_SAMPLE(s, at)   \
    {                        \
        re##s = SAMPLE_RE(at); \
        im##s = SAMPLE_IM(at); \
    }
#endif

#if WINDOW == 0
#define LOAD_WINDOW(s, at)
#elif WINDOW == 1 && FORMAT == FORMAT_F32 && REAL == REAL_PACKED
#define LOAD_WINDOW(s, at)                \
    re##s *= table[WINDOW_AT + 2 * (at)]; \
    im##s *= table[WINDOW_AT + 2 * (at) + 1];
#elif WINDOW == 1
#if WINDOW_SIDE > 1
#define WINDOW_PLACE(at) ((k_index)((k_size)(at) / WINDOW_SIDE))
#else
#define WINDOW_PLACE(at) (at)
#endif
#define LOAD_WINDOW(s, at)                        \
    {                                             \
        const float w_ = table[WINDOW_AT + WINDOW_PLACE(at)]; \
        re##s *= w_;                              \
        im##s *= w_;                              \
    }
#else
#define LOAD_WINDOW(s, at) TURN_BY(s, WINDOW_AT + 2 * (at))
#endif

#if GATHERED
/*
 * exp(2 pi i turns / 2^32): the quadrant from the two top bits after rounding, then the polynomials of
 * Cephes sinf and cosf (S. Moshier) on [-pi/4, pi/4], which are exact to less than one unit in the last place.
 */
#define LOAD_TURN(s, at)                                                                                          \
    {                                                                                                             \
        const k_u32 turns_ = phase + (k_u32)(at)*step;                                                            \
        const k_u32 quadrant_ = (turns_ + 0x20000000u) >> 30;                                                     \
        const float x_ = (float)(k_i32)(turns_ - (quadrant_ << 30)) * 1.46291807926715968e-9f;                    \
        const float z_ = x_ * x_;                                                                                 \
        const float sine_ = x_ + x_ * z_ * ((-1.9515295891e-4f * z_ + 8.3321608736e-3f) * z_ - 1.6666654611e-1f); \
        const float cosine_ =                                                                                     \
            1.0f - 0.5f * z_ +                                                                                    \
            z_ * z_ * ((2.443315711809948e-5f * z_ - 1.388731625493765e-3f) * z_ + 4.166664568298827e-2f);        \
        const float even_ = (quadrant_ & 1u) ? sine_ : cosine_, odd_ = (quadrant_ & 1u) ? cosine_ : sine_;        \
        TURN(s, (quadrant_ + 1u) & 2u ? -even_ : even_, quadrant_ & 2u ? -odd_ : odd_)                            \
    }
#else
#define LOAD_TURN(s, at)
#endif

/* The reverse transform is the forward one with real and imaginary parts exchanged, here and in the store stage. */
#if REVERSE_IN
#define LOAD_EXCHANGE(s)         \
    {                            \
        const float re_ = re##s; \
        re##s = im##s;           \
        im##s = re_;             \
    }
#else
#define LOAD_EXCHANGE(s)
#endif

#if REAL == REAL_PACKED && REVERSE_IN
/*
 * Half spectrum X to the spectrum Z of x[2j] + i x[2j+1], a transform of half the length:
 * Z[k] = X[k] + conj X[N-k] + i exp(2 pi i k / 2N) (X[k] - conj X[N-k]), the imaginary parts of X[0] and X[N] left out.
 */
#define LOAD_SAMPLE(s, at)                                                                      \
    {                                                                                           \
        const k_index j_ = at;                                                                  \
        const float keep_ = j_ ? 1.0f : 0.0f;                                                   \
        const float a_ = SAMPLE_RE(j_), b_ = SAMPLE_IM(j_) * keep_;                             \
        const float c_ = SAMPLE_RE(N - j_), d_ = -SAMPLE_IM(N - j_) * keep_;                    \
        const float cosine_ = table[HALF_AT + 2 * j_], sine_ = table[HALF_AT + 2 * j_ + 1];     \
        re##s = a_ + c_ - sine_ * (a_ - c_) - cosine_ * (b_ - d_);                              \
        im##s = b_ + d_ + cosine_ * (a_ - c_) - sine_ * (b_ - d_);                              \
        LOAD_EXCHANGE(s)                                                                        \
    }
#elif REAL == REAL_WHOLE && REVERSE_IN
/* Half spectrum to the whole one, the imaginary parts of bins 0 and n/2 left out. */
#define LOAD_SAMPLE(s, at)                                                        \
    {                                                                             \
        const k_index j_ = at, mate_ = LENGTH - j_, from_ = mate_ < j_ ? mate_ : j_; \
        re##s = SAMPLE_RE(from_);                                                 \
        im##s = SAMPLE_IM(from_);                                                 \
        im##s = from_ == 0 || mate_ == j_ ? 0.0f : mate_ < j_ ? -im##s : im##s;   \
        LOAD_WINDOW(s, j_)                                                        \
        LOAD_EXCHANGE(s)                                                          \
    }
#else
#define LOAD_SAMPLE(s, at)       \
    {                            \
        const k_index j_ = at;   \
        READ_SAMPLE(s, j_)       \
        LOAD_WINDOW(s, j_)       \
        LOAD_TURN(s, j_)         \
        LOAD_EXCHANGE(s)         \
    }
#endif

#define ZERO(s) re##s = im##s = 0.0f;

/* The sample that point lane + offset of this pass's transform comes from. */
#if METHOD == METHOD_RADER
#define LOAD_AT(offset) ((k_index)table[ORDER_IN_AT + lane + (offset)])
#elif COLUMNS > 1
#define LOAD_AT(offset) ((lane + (offset)) * COLUMNS + column)
#else
#define LOAD_AT(offset) (lane + (offset))
#endif

#define LOAD(s, offset) LOAD_SAMPLE(s, LOAD_AT(offset))
#define LOAD_IF_ANY(s, offset)      \
    if (LOAD_AT(offset) < IN_COUNT) \
        LOAD(s, offset)             \
    else {                          \
        ZERO(s)                     \
    }
