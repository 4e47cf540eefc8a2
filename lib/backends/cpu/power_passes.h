/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The transforms of power.h, for files that define WIDTH and build them for one instruction set. */
#include "backends/cpu/power.h"
#include "vector/vector_passes.h"

/* ---------------------------------------------------------------- butterflies ----------------- */

/* a + w b */
INLINE cvec plus_product(cvec a, cvec w, cvec b)
{
    return (cvec){MINUS_FUSED(FUSED_PLUS(w.re, b.re, a.re), w.im, b.im),
                  FUSED_PLUS(w.im, b.re, FUSED_PLUS(w.re, b.im, a.im))};
}

/* a - i w b */
INLINE cvec plus_turned_product(cvec a, cvec w, cvec b)
{
    return (cvec){FUSED_PLUS(w.im, b.re, FUSED_PLUS(w.re, b.im, a.re)),
                  FUSED_PLUS(w.im, b.im, MINUS_FUSED(a.im, w.re, b.re))};
}

/* 2 a - b: the difference, where b is the sum, by one fused product. */
INLINE cvec other_side(cvec a, cvec b)
{
    vec two = SPLAT(2.0f);
    return (cvec){FUSED_MINUS(two, a.re, b.re), FUSED_MINUS(two, a.im, b.im)};
}

/* In place, in the order of bins: the transform of a, w1 b, w2 c, w1 w2 d; where `turned`, -i w2 stands for w2. */
#define ROOTED_DFT4(a, b, c, d, w2, w1, turned)                                                 \
    do {                                                                                        \
        cvec even0 = turned ? plus_turned_product(a, w2, c) : plus_product(a, w2, c);           \
        cvec odd0 = turned ? plus_turned_product(b, w2, d) : plus_product(b, w2, d);            \
        cvec even1 = other_side(a, even0), odd1 = other_side(b, odd0);                          \
        cvec sum0 = plus_product(even0, w1, odd0), sum1 = plus_turned_product(even1, w1, odd1); \
        a = sum0, b = sum1, c = other_side(even0, sum0), d = other_side(even1, sum1);           \
    } while (0)

/* A complex root for all lanes, or one for each. */
INLINE cvec root(const float *roots, unsigned i, bool each)
{
    return each ? (cvec){LOAD(roots + 2 * i * WIDTH), LOAD(roots + (2 * i + 1) * WIDTH)}
                : (cvec){SPLAT(roots[2 * i]), SPLAT(roots[2 * i + 1])};
}

INLINE void rooted_dft4(cvec x[4], const float *roots)
{
    cvec w2 = root(roots, 0, false), w1 = root(roots, 1, false);
    ROOTED_DFT4(x[0], x[1], x[2], x[3], w2, w1, false);
}

/* Bin power_bin_at(q, 8) is left in x[q]. */
INLINE void rooted_dft8(cvec x[8], const float *roots, bool each)
{
    cvec w4 = root(roots, 0, each), w2 = root(roots, 1, each), w1 = root(roots, 2, each), w1_1 = root(roots, 3, each);
    EACH(q, 4)
    {
        cvec sum = plus_product(x[q], w4, x[4 + q]);
        x[4 + q] = other_side(x[q], sum);
        x[q] = sum;
    }
    ROOTED_DFT4(x[0], x[1], x[2], x[3], w2, w1, false);
    ROOTED_DFT4(x[4], x[5], x[6], x[7], w2, w1_1, true);
}

#if WIDTH == 16

/* The first half of a butterfly of 16, of which this is the q-th quarter; and the second half. */
INLINE void rooted_quarter(cvec x[16], unsigned q, const float *roots, bool each)
{
    cvec w8 = root(roots, 0, each), w4 = root(roots, 1, each);
    ROOTED_DFT4(x[q], x[4 + q], x[8 + q], x[12 + q], w8, w4, false);
}

/* Bin power_bin_at(i, 16) is left in x[i], 4 q <= i < 4 q + 4. */
INLINE void last_rooted_quarter(cvec x[16], unsigned q, const float *roots, bool each)
{
    cvec w2 = root(roots, 2 + q % 2, each), w1 = root(roots, 4 + q, each);
    ROOTED_DFT4(x[4 * q], x[4 * q + 1], x[4 * q + 2], x[4 * q + 3], w2, w1, q >= 2);
}

#endif

/* ---------------------------------------------------------------- down the lanes -------------- */

/* The first pass, from samples. */
INLINE void first_pass(const struct power_fft *fft, cvec *data, const struct samples *samples, unsigned radix)
{
    const size_t span = fft->passes[0].span;
    for (size_t j = 0; j < span; j++) {
        cvec x[8];
        EACH(q, radix) x[q] = load_samples(samples, (j + q * span) * WIDTH);
        if (radix == 2) {
            cvec sum = plus(x[0], x[1]);
            x[1] = minus(x[0], x[1]);
            x[0] = sum;
        } else {
            dft(x, radix);
        }
        EACH(q, radix) data[j + q * span] = x[q];
    }
}

/* One pass over one block. */
INLINE void pass_over(cvec *data, size_t span, const float *roots, unsigned radix)
{
    for (size_t j = 0; j < span; j++) {
        cvec x[8];
        EACH(q, radix) x[q] = data[j + q * span];
        if (radix == 8)
            rooted_dft8(x, roots, false);
        else
            rooted_dft4(x, roots);
        EACH(q, radix) data[j + (radix == 8 ? power_bin_at(q, 8) : q) * span] = x[q];
    }
}

/* ---------------------------------------------------------------- groups ---------------------- */

/* Four vectors in a row: the first half of transposing W. */
INLINE void transpose_fours(vec x[4])
{
    vec a = LOW_PAIRS(x[0], x[1]), b = LOW_PAIRS(x[2], x[3]), c = HIGH_PAIRS(x[0], x[1]), d = HIGH_PAIRS(x[2], x[3]);
    x[0] = PICK(a, b, 0x44), x[1] = PICK(a, b, 0xee), x[2] = PICK(c, d, 0x44), x[3] = PICK(c, d, 0xee);
}

/* What is the same for all groups of a transform. */
struct adding {
    double *sums;
    float *parts;              /* of them, in float */
    bool begins, ends, first;  /* parts, or with them; the sums */
    const penstock_cf32 *next; /* samples of the transform that follows, or NULL */
};

INLINE void add_to_sums(double *sums, vec power, bool first)
{
#if WIDTH == 16
    __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256((__m512)power));
    __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)power, 1));
    _mm512_store_pd(sums, first ? low : _mm512_add_pd(_mm512_load_pd(sums), low));
    _mm512_store_pd(sums + 8, first ? high : _mm512_add_pd(_mm512_load_pd(sums + 8), high));
#else
    __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128((__m256)power));
    __m256d high = _mm256_cvtps_pd(_mm256_extractf128_ps((__m256)power, 1));
    _mm256_store_pd(sums, first ? low : _mm256_add_pd(_mm256_load_pd(sums), low));
    _mm256_store_pd(sums + 4, first ? high : _mm256_add_pd(_mm256_load_pd(sums + 4), high));
#endif
}

/* `begins` and `ends` are constants. */
INLINE void add_power(const struct adding *adding, size_t at, cvec v, bool begins, bool ends)
{
    vec power = begins ? FUSED_PLUS(v.re, v.re, v.im * v.im)
                       : FUSED_PLUS(v.im, v.im, FUSED_PLUS(v.re, v.re, LOAD(adding->parts + at)));
    if (ends)
        add_to_sums(adding->sums + at, power, adding->first);
    else
        STORE(adding->parts + at, power);
}

INLINE void add_powers(const struct adding *adding, size_t at, const cvec x[WIDTH], bool begins, bool ends)
{
    EACH(q, WIDTH) add_power(adding, at + power_bin_at(q, WIDTH) * WIDTH, x[q], begins, ends);
}

/* W samples that will be wanted soon, and may have to come from another core. */
INLINE void fetch(const penstock_cf32 *samples)
{
    EACH(part, WIDTH / 8)
    _mm_prefetch((const char *)(samples + 8 * part), _MM_HINT_T1);
}

#if WIDTH == 16

/* Four vectors each four from the next one: the second half, which leaves lanes q, 4 + q, 8 + q and 12 + q of all. */
INLINE void gather_fours(vec x[4])
{
    vec a = PICK_FOURS(x[0], x[1], 0x88), b = PICK_FOURS(x[2], x[3], 0x88);
    vec c = PICK_FOURS(x[0], x[1], 0xdd), d = PICK_FOURS(x[2], x[3], 0xdd);
    x[0] = PICK_FOURS(a, b, 0x88), x[1] = PICK_FOURS(c, d, 0x88);
    x[2] = PICK_FOURS(a, b, 0xdd), x[3] = PICK_FOURS(c, d, 0xdd);
}

INLINE void transpose_part(cvec x[16], unsigned q)
{
    vec re[4], im[4];
    EACH(i, 4) re[i] = x[4 * q + i].re, im[i] = x[4 * q + i].im;
    transpose_fours(re);
    transpose_fours(im);
    EACH(i, 4) x[4 * q + i] = (cvec){re[i], im[i]};
}

INLINE void gather_part(cvec lanes[16], const cvec x[16], unsigned q)
{
    vec re[4], im[4];
    EACH(i, 4) re[i] = x[4 * i + q].re, im[i] = x[4 * i + q].im;
    gather_fours(re);
    gather_fours(im);
    EACH(i, 4) lanes[vector_sample_in(q + 4 * i, WIDTH)] = (cvec){re[i], im[i]};
}

/* The last pass down the lanes over W vectors, and the transforms across them. The processor has one unit for shuffles
 * and two for arithmetic, so that both go on side by side only where they are mixed. */
INLINE void transform_group(cvec y[16], cvec x[16], const float *down, const float *across)
{
    EACH(q, 4) rooted_quarter(x, q, down, false);
    EACH(q, 4)
    {
        last_rooted_quarter(x, q, down, false);
        transpose_part(x, q);
    }
    EACH(q, 2)
    {
        gather_part(y, x, q);
        gather_part(y, x, q + 2);
        rooted_quarter(y, q, across, true);
        rooted_quarter(y, q + 2, across, true);
    }
    EACH(q, 4) last_rooted_quarter(y, q, across, true);
}

#else

INLINE void transform_group(cvec y[8], cvec x[8], const float *down, const float *across)
{
    rooted_dft8(x, down, false);
    transpose_all(x);
    EACH(q, 8) y[q] = x[vector_lane_of(q, 8)];
    rooted_dft8(y, across, true);
}

#endif

INLINE void add_group(const struct power_fft *fft, const struct adding *adding, size_t group, cvec x[WIDTH])
{
    const size_t at = group * WIDTH * WIDTH;
    cvec y[WIDTH];
    if (adding->next)
        EACH(q, WIDTH) fetch(adding->next + at + q * WIDTH);
    transform_group(y, x, fft->down + group * WIDTH, fft->across + at);
    if (adding->begins && adding->ends)
        add_powers(adding, at, y, true, true);
    else if (adding->begins)
        add_powers(adding, at, y, true, false);
    else if (adding->ends)
        add_powers(adding, at, y, false, true);
    else
        add_powers(adding, at, y, false, false);
}

/* The passes from `index` on over a block, then its groups. */
static void add_block(const struct power_fft *fft, const struct adding *adding, cvec *data, size_t block, size_t index)
{
    const struct power_pass *pass = &fft->passes[index];
    if (index == fft->pass_count) {
        cvec x[WIDTH];
        EACH(q, WIDTH) x[q] = data[q];
        add_group(fft, adding, block, x);
        return;
    }
    if (index && pass->radix == 8)
        pass_over(data, pass->span, pass->roots + block * 8, 8);
    else if (index)
        pass_over(data, pass->span, pass->roots + block * 4, 4);
    for (size_t q = 0; q < pass->radix; q++)
        add_block(fft, adding, data + q * pass->span, block * pass->radix + q, index + 1);
}

/* ---------------------------------------------------------------- one transform --------------- */

INLINE void transform(const struct power_fft *fft, const struct adding *adding, const struct samples *samples,
                      cvec *data)
{
    if (fft->pass_count == 0) {
        cvec x[WIDTH];
        EACH(q, WIDTH) x[q] = load_samples(samples, q * WIDTH);
        add_group(fft, adding, 0, x);
        return;
    }
    if (fft->passes[0].radix == 8)
        first_pass(fft, data, samples, 8);
    else if (fft->passes[0].radix == 4)
        first_pass(fft, data, samples, 4);
    else
        first_pass(fft, data, samples, 2);
    add_block(fft, adding, data, 0, 0);
}

/* Up to so many points a transform's samples are in so many short pieces that the processor does not see them coming
 * itself. */
#define FETCHED_LENGTH 2048

static void add(const struct power_fft *fft, void *sums, unsigned k, unsigned average, const penstock_cf32 *in,
                const penstock_cf32 *next, void *work)
{
    const struct adding adding = {.sums = sums,
                                  .parts = (float *)sums + 2 * fft->n,
                                  .begins = k % POWER_TOGETHER == 0,
                                  .ends = k % POWER_TOGETHER == POWER_TOGETHER - 1 || k + 1 == average,
                                  .first = k < POWER_TOGETHER,
                                  .next = fft->n <= FETCHED_LENGTH ? next : NULL};
    if (fft->window)
        transform(fft, &adding, &(struct samples){.in = in, .window = fft->window}, work);
    else
        transform(fft, &adding, &(struct samples){.in = in}, work);
}

/* ---------------------------------------------------------------- the mean -------------------- */

#if WIDTH == 16

INLINE vec mean_of(const double *sums, double factor)
{
    __m256 low = _mm512_cvtpd_ps(_mm512_mul_pd(_mm512_load_pd(sums), _mm512_set1_pd(factor)));
    __m256 high = _mm512_cvtpd_ps(_mm512_mul_pd(_mm512_load_pd(sums + 8), _mm512_set1_pd(factor)));
    return (vec)_mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}

/* Each four lanes so far from the four before. */
INLINE void store_fours(float *to, size_t apart, vec v)
{
    _mm_storeu_ps(to, _mm512_castps512_ps128((__m512)v));
    _mm_storeu_ps(to + apart, _mm512_extractf32x4_ps((__m512)v, 1));
    _mm_storeu_ps(to + 2 * apart, _mm512_extractf32x4_ps((__m512)v, 2));
    _mm_storeu_ps(to + 3 * apart, _mm512_extractf32x4_ps((__m512)v, 3));
}

/* Of one or two groups. */
INLINE void mean_of_few(float *out, const double *sums, double factor, size_t groups)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i from_low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i from_high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    __m512 even = _mm512_permutexvar_ps(order, (__m512)mean_of(sums, factor)), odd;
    if (groups == 1) {
        _mm512_storeu_ps(out, even);
        return;
    }
    odd = _mm512_permutexvar_ps(order, (__m512)mean_of(sums + WIDTH * WIDTH, factor));
    _mm512_storeu_ps(out, _mm512_permutex2var_ps(even, from_low, odd));
    _mm512_storeu_ps(out + WIDTH, _mm512_permutex2var_ps(even, from_high, odd));
}

#else

INLINE vec mean_of(const double *sums, double factor)
{
    __m128 low = _mm256_cvtpd_ps(_mm256_mul_pd(_mm256_load_pd(sums), _mm256_set1_pd(factor)));
    __m128 high = _mm256_cvtpd_ps(_mm256_mul_pd(_mm256_load_pd(sums + 4), _mm256_set1_pd(factor)));
    return (vec)_mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
}

INLINE void store_fours(float *to, size_t apart, vec v)
{
    _mm_storeu_ps(to, _mm256_castps256_ps128((__m256)v));
    _mm_storeu_ps(to + apart, _mm256_extractf128_ps((__m256)v, 1));
}

#endif

/* Of four groups with bins in a row, four by four lanes, which become fours of bins in a row. */
INLINE void mean_of_four(const struct power_fft *fft, float *out, const double *sums, double factor, size_t bin)
{
    vec x[4];
    EACH(i, 4) x[i] = mean_of(sums + fft->places[bin + i] * (size_t)(WIDTH * WIDTH), factor);
    transpose_fours(x);
    EACH(i, 4) store_fours(out + bin + i * (WIDTH / 4) * fft->groups, fft->groups, x[i]);
}

static void mean(const struct power_fft *fft, float *out, const double *sums, double factor, size_t first, size_t count)
{
    const double *end = sums + (first + count) * WIDTH;
    for (sums += first * WIDTH; sums < end; sums += WIDTH, out += WIDTH * fft->groups) {
#if WIDTH == 16
        if (fft->groups < 4)
            mean_of_few(out, sums, factor, fft->groups);
#endif
        for (size_t bin = 0; bin + 4 <= fft->groups; bin += 4)
            mean_of_four(fft, out, sums, factor, bin);
    }
}
