/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The passes of ordered.h, for files that define WIDTH and build them for one instruction set. */
#include "backends/cpu/ordered.h"

#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))

typedef float vec __attribute__((vector_size(4 * WIDTH)));

/* W complex values. Samples of a vector are in the order that loading makes cheap; see lane_of(). */
typedef struct {
    vec re, im;
} cvec;

/* ---------------------------------------------------------------- vectors --------------------- */

#if WIDTH == 16
#define SPLAT(x)                ((vec)_mm512_set1_ps(x))
#define LOW_PAIRS(a, b)         ((vec)_mm512_unpacklo_ps((__m512)(a), (__m512)(b)))
#define HIGH_PAIRS(a, b)        ((vec)_mm512_unpackhi_ps((__m512)(a), (__m512)(b)))
#define PICK(a, b, which)       ((vec)_mm512_shuffle_ps((__m512)(a), (__m512)(b), which))
#define PICK_FOURS(a, b, which) ((vec)_mm512_shuffle_f32x4((__m512)(a), (__m512)(b), which))
#define LOAD(from)              ((vec)_mm512_loadu_ps(from))
#define STORE(to, v)            _mm512_storeu_ps(to, (__m512)(v))
#else
#define SPLAT(x)                ((vec)_mm256_set1_ps(x))
#define LOW_PAIRS(a, b)         ((vec)_mm256_unpacklo_ps((__m256)(a), (__m256)(b)))
#define HIGH_PAIRS(a, b)        ((vec)_mm256_unpackhi_ps((__m256)(a), (__m256)(b)))
#define PICK(a, b, which)       ((vec)_mm256_shuffle_ps((__m256)(a), (__m256)(b), which))
#define PICK_FOURS(a, b, which) ((vec)_mm256_permute2f128_ps((__m256)(a), (__m256)(b), which))
#define LOAD(from)              ((vec)_mm256_loadu_ps(from))
#define STORE(to, v)            _mm256_storeu_ps(to, (__m256)(v))
#endif

/* What goes in, and what is made of it: all constants or NULL wherever functions are inlined. A reverse transform is a
 * forward one of values with real and imaginary parts exchanged. */
struct ends {
    const penstock_cf32 *in;
    const float *window; /* in the order of lanes */
    penstock_cf32 *out;
    double *sums; /* of powers, in place of `out` */
    bool reverse;
};

INLINE cvec load_samples(const struct ends *ends, size_t at)
{
    const float *from = (const float *)(const void *)(ends->in + at);
    vec a = LOAD(from), b = LOAD(from + WIDTH), even = PICK(a, b, 0x88), odd = PICK(a, b, 0xdd);
    if (ends->window) {
        vec factors = LOAD(ends->window + at);
        even *= factors;
        odd *= factors;
    }
    return ends->reverse ? (cvec){odd, even} : (cvec){even, odd};
}

INLINE void add_power(double *sums, cvec v)
{
    vec power = v.re * v.re + v.im * v.im;
#if WIDTH == 16
    __m256 low = _mm512_castps512_ps256((__m512)power), high = _mm512_extractf32x8_ps((__m512)power, 1);
    _mm512_storeu_pd(sums, _mm512_add_pd(_mm512_loadu_pd(sums), _mm512_cvtps_pd(low)));
    _mm512_storeu_pd(sums + 8, _mm512_add_pd(_mm512_loadu_pd(sums + 8), _mm512_cvtps_pd(high)));
#else
    __m128 low = _mm256_castps256_ps128((__m256)power), high = _mm256_extractf128_ps((__m256)power, 1);
    _mm256_storeu_pd(sums, _mm256_add_pd(_mm256_loadu_pd(sums), _mm256_cvtps_pd(low)));
    _mm256_storeu_pd(sums + 4, _mm256_add_pd(_mm256_loadu_pd(sums + 4), _mm256_cvtps_pd(high)));
#endif
}

INLINE void store_bins(penstock_cf32 *out, cvec v, bool reverse)
{
    float *to = (float *)(void *)out;
    vec re = reverse ? v.im : v.re, im = reverse ? v.re : v.im;
    STORE(to, LOW_PAIRS(re, im));
    STORE(to + WIDTH, HIGH_PAIRS(re, im));
}

INLINE cvec plus(cvec a, cvec b)
{
    return (cvec){a.re + b.re, a.im + b.im};
}

INLINE cvec minus(cvec a, cvec b)
{
    return (cvec){a.re - b.re, a.im - b.im};
}

/* a - i b */
INLINE cvec plus_quarter(cvec a, cvec b)
{
    return (cvec){a.re + b.im, a.im - b.re};
}

/* a + i b */
INLINE cvec minus_quarter(cvec a, cvec b)
{
    return (cvec){a.re - b.im, a.im + b.re};
}

INLINE cvec times(cvec a, vec re, vec im)
{
    return (cvec){a.re * re - a.im * im, a.re * im + a.im * re};
}

/* ---------------------------------------------------------------- short transforms ------------ */

/* In place, in the order of bins. */
#define DFT4(a, b, c, d)                                                                     \
    do {                                                                                     \
        cvec even0 = plus(a, c), even1 = minus(a, c), odd0 = plus(b, d), odd1 = minus(b, d); \
        a = plus(even0, odd0);                                                               \
        b = plus_quarter(even1, odd1);                                                       \
        c = minus(even0, odd0);                                                              \
        d = minus_quarter(even1, odd1);                                                      \
    } while (0)

INLINE void dft8(cvec x[8])
{
    vec half = SPLAT(0.70710678118654752f);
    cvec e0 = x[0], e1 = x[2], e2 = x[4], e3 = x[6], o0 = x[1], o1 = x[3], o2 = x[5], o3 = x[7];
    DFT4(e0, e1, e2, e3);
    DFT4(o0, o1, o2, o3);
    o1 = (cvec){(o1.re + o1.im) * half, (o1.im - o1.re) * half};
    o3 = (cvec){(o3.im - o3.re) * half, (o3.im + o3.re) * -half};
    x[0] = plus(e0, o0), x[4] = minus(e0, o0);
    x[1] = plus(e1, o1), x[5] = minus(e1, o1);
    x[2] = plus_quarter(e2, o2), x[6] = minus_quarter(e2, o2);
    x[3] = plus(e3, o3), x[7] = minus(e3, o3);
}

INLINE void dft4(cvec x[4])
{
    DFT4(x[0], x[1], x[2], x[3]);
}

/* ---------------------------------------------------------------- down the lanes -------------- */

/* For `radix` a constant, all of these loops unroll. */
#define EACH(q, radix) _Pragma("GCC unroll 16") for (unsigned q = 0; q < (radix); q++)

INLINE void dft(cvec *x, unsigned radix)
{
    if (radix == 8)
        dft8(x);
    else
        dft4(x);
}

/* One butterfly: legs `span` vectors apart, each but the first times its root. With `ends` the legs are samples, of
 * which the first is number `at`. */
INLINE void split(cvec *data, const struct ends *ends, size_t at, size_t span, const float *roots, unsigned radix)
{
    cvec x[8];
    EACH(q, radix) x[q] = ends ? load_samples(ends, at + q * span * WIDTH) : data[q * span];
    dft(x, radix);
    EACH(q, radix)
    {
        if (q && roots)
            x[q] = times(x[q], SPLAT(roots[2 * q - 2]), SPLAT(roots[2 * q - 1]));
        data[q * span] = x[q];
    }
}

/* One pass over one block. */
INLINE void split_block(cvec *data, const struct ends *ends, const struct ordered_pass *pass, unsigned radix)
{
    for (size_t j = 0; j < pass->span; j++)
        split(data + j, ends, j * WIDTH, pass->span, pass->roots ? pass->roots + 2 * (radix - 1) * j : NULL, radix);
}

INLINE void split_any(cvec *data, const struct ends *ends, const struct ordered_pass *pass)
{
    if (pass->radix == 8)
        split_block(data, ends, pass, 8);
    else
        split_block(data, ends, pass, 4);
}

#define NEAR_VECTORS (32768 / sizeof(cvec)) /* of which the nearest cache has room */

/* The passes from `pass` on of one block of the pass before: all of them for a part that the nearest cache holds,
 * before the next part. */
static void descend(cvec *data, const struct ordered_pass *pass, const struct ordered_pass *end)
{
    size_t count = pass->radix * pass->span;
    if (count > NEAR_VECTORS) {
        split_any(data, NULL, pass);
        for (unsigned q = 0; q < pass->radix && pass + 1 < end; q++)
            descend(data + q * pass->span, pass + 1, end);
        return;
    }
    for (; pass < end; pass++)
        for (size_t at = 0; at < count; at += pass->radix * pass->span)
            split_any(data + at, NULL, pass);
}

/* ---------------------------------------------------------------- across the lanes ------------ */

#if WIDTH == 16

INLINE void transpose(vec x[16])
{
    vec y[16];
    EACH(q, 4)
    {
        vec a = LOW_PAIRS(x[4 * q], x[4 * q + 1]), b = LOW_PAIRS(x[4 * q + 2], x[4 * q + 3]);
        vec c = HIGH_PAIRS(x[4 * q], x[4 * q + 1]), d = HIGH_PAIRS(x[4 * q + 2], x[4 * q + 3]);
        y[q] = PICK(a, b, 0x44), y[4 + q] = PICK(a, b, 0xee);
        y[8 + q] = PICK(c, d, 0x44), y[12 + q] = PICK(c, d, 0xee);
    }
    EACH(q, 4)
    {
        vec a = PICK_FOURS(y[4 * q], y[4 * q + 1], 0x88), b = PICK_FOURS(y[4 * q + 2], y[4 * q + 3], 0x88);
        vec c = PICK_FOURS(y[4 * q], y[4 * q + 1], 0xdd), d = PICK_FOURS(y[4 * q + 2], y[4 * q + 3], 0xdd);
        x[q] = PICK_FOURS(a, b, 0x88), x[8 + q] = PICK_FOURS(a, b, 0xdd);
        x[4 + q] = PICK_FOURS(c, d, 0x88), x[12 + q] = PICK_FOURS(c, d, 0xdd);
    }
}

#define ROOT1 0.92387953251128674f /* cos(pi / 8), sin(pi / 8) */
#define ROOT2 0.38268343236508977f

INLINE cvec times_root(cvec a, float re, float im)
{
    return times(a, SPLAT(re), SPLAT(im));
}

INLINE void dft_across(cvec x[16])
{
    const float half = 0.70710678118654752f;
    EACH(q, 4) DFT4(x[q], x[4 + q], x[8 + q], x[12 + q]);
    x[5] = times_root(x[5], ROOT1, -ROOT2), x[6] = times_root(x[6], half, -half);
    x[7] = times_root(x[7], ROOT2, -ROOT1), x[9] = times_root(x[9], half, -half);
    x[10] = (cvec){x[10].im, -x[10].re}, x[11] = times_root(x[11], -half, -half);
    x[13] = times_root(x[13], ROOT2, -ROOT1), x[14] = times_root(x[14], -half, -half);
    x[15] = times_root(x[15], -ROOT1, ROOT2);
    EACH(q, 4) DFT4(x[4 * q], x[4 * q + 1], x[4 * q + 2], x[4 * q + 3]);
}

/* Bin at place q after dft_across(), which leaves them in the order of digits reversed. */
#define BIN_AT(q) ((q) / 4 + 4 * ((q) % 4))

#else

INLINE void transpose(vec x[8])
{
    vec y[8];
    EACH(q, 2)
    {
        vec a = LOW_PAIRS(x[4 * q], x[4 * q + 1]), b = LOW_PAIRS(x[4 * q + 2], x[4 * q + 3]);
        vec c = HIGH_PAIRS(x[4 * q], x[4 * q + 1]), d = HIGH_PAIRS(x[4 * q + 2], x[4 * q + 3]);
        y[4 * q] = PICK(a, b, 0x44), y[4 * q + 1] = PICK(a, b, 0xee);
        y[4 * q + 2] = PICK(c, d, 0x44), y[4 * q + 3] = PICK(c, d, 0xee);
    }
    EACH(q, 4)
    {
        x[q] = PICK_FOURS(y[q], y[4 + q], 0x20);
        x[4 + q] = PICK_FOURS(y[q], y[4 + q], 0x31);
    }
}

#define dft_across dft8
#define BIN_AT(q)  (q)

#endif

/* The lane of a vector that holds sample i of its W: by fours, two of the first half and two of the second; and the
 * sample in a lane. */
#define LANE_OF(i)   ((i) % (WIDTH / 2) / 2 * 4 + (i) / (WIDTH / 2) * 2 + (i) % 2)
#define SAMPLE_IN(l) ((l) / 4 * 2 + (l) % 2 + (l) % 4 / 2 * (WIDTH / 2))

INLINE void transpose_all(cvec x[WIDTH])
{
    vec part[WIDTH];
    EACH(q, WIDTH) part[q] = x[q].re;
    transpose(part);
    EACH(q, WIDTH) x[q].re = part[q];
    EACH(q, WIDTH) part[q] = x[q].im;
    transpose(part);
    EACH(q, WIDTH) x[q].im = part[q];
}

/* The transforms across the W vectors with the bins from `bin` on. For bins they are transposed in such an order that
 * storing, which mixes lanes as loading does, leaves them in a row. */
INLINE void across(const struct ordered_fft *fft, const cvec *data, const struct ends *ends, size_t bin)
{
    const cvec *between = (const cvec *)(const void *)fft->middle + bin;
    const uint32_t *places = fft->places + bin;
    cvec x[WIDTH], y[WIDTH];
    EACH(q, WIDTH)
    {
        unsigned which = ends->sums ? q : SAMPLE_IN(q);
        x[q] = times(data[places[which]], between[which].re, between[which].im);
    }
    transpose_all(x);
    EACH(q, WIDTH) y[q] = x[LANE_OF(q)];
    dft_across(y);
    EACH(q, WIDTH)
    {
        size_t at = BIN_AT(q) * fft->vectors + bin;
        if (ends->sums)
            add_power(ends->sums + at, y[q]);
        else
            store_bins(ends->out + at, y[q], ends->reverse);
    }
}

INLINE void transform(const struct ordered_fft *fft, const struct ends *ends, cvec *data)
{
    const struct ordered_pass *pass = fft->passes, *end = pass + fft->pass_count;
    split_any(data, ends, pass);
    for (unsigned q = 0; q < pass->radix && pass + 1 < end; q++)
        descend(data + q * pass->span, pass + 1, end);
    for (size_t bin = 0; bin < fft->vectors; bin += WIDTH)
        across(fft, data, ends, bin);
}

static void forward(const struct ordered_fft *fft, penstock_cf32 *out, const penstock_cf32 *in, void *work)
{
    if (fft->window)
        transform(fft, &(struct ends){.in = in, .out = out, .window = fft->window}, work);
    else
        transform(fft, &(struct ends){.in = in, .out = out}, work);
}

static void reverse(const struct ordered_fft *fft, penstock_cf32 *out, const penstock_cf32 *in, void *work)
{
    transform(fft, &(struct ends){.in = in, .out = out, .reverse = true}, work);
}

static void power(const struct ordered_fft *fft, double *sums, const penstock_cf32 *in, void *work)
{
    if (fft->window)
        transform(fft, &(struct ends){.in = in, .sums = sums, .window = fft->window}, work);
    else
        transform(fft, &(struct ends){.in = in, .sums = sums}, work);
}
