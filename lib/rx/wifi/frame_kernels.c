/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The loops of an examination and of the pilots. Sums are over lanes of their own, so that any vectors give them. */
#include "rx/wifi/frame_kernels.h"
#include "vector/angle.h"

#ifndef FRAME_KERNELS
#define FRAME_KERNELS penstock__frame_kernels_plain
#endif

#define LANES 8
#define TURN  0.70710678118654752F /* of an eighth, both parts */

/* ---------------------------------------------------------------- channel --------------------- */

/* Of each row eight lanes are added up apart, and then as ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)). */

#if defined(__AVX2__)

#include <immintrin.h>

static inline float add_up(__m256 lanes)
{
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps(lanes, 1)),
                 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

static float project(struct frame_carriers *out, const struct frame_carriers *in, const struct frame_carriers *rows,
                     unsigned count)
{
    __m256 left = _mm256_setzero_ps();
    for (unsigned r = 0; r < count; r++) {
        __m256 re = _mm256_setzero_ps(), im = re;
        for (unsigned c = 0; c < PADDED_CARRIERS; c += LANES) {
            const __m256 row_re = _mm256_loadu_ps(rows[r].re + c), row_im = _mm256_loadu_ps(rows[r].im + c),
                         in_re = _mm256_loadu_ps(in->re + c), in_im = _mm256_loadu_ps(in->im + c);
            re = _mm256_add_ps(re, _mm256_sub_ps(_mm256_mul_ps(row_re, in_re), _mm256_mul_ps(row_im, in_im)));
            im = _mm256_add_ps(im, _mm256_add_ps(_mm256_mul_ps(row_re, in_im), _mm256_mul_ps(row_im, in_re)));
        }
        re = _mm256_set1_ps(add_up(re));
        im = _mm256_set1_ps(add_up(im));
        for (unsigned c = 0; c < PADDED_CARRIERS; c += LANES) {
            const __m256 row_re = _mm256_loadu_ps(rows[r].re + c), row_im = _mm256_loadu_ps(rows[r].im + c),
                         kept_re = _mm256_add_ps(_mm256_mul_ps(row_re, re), _mm256_mul_ps(row_im, im)),
                         kept_im = _mm256_sub_ps(_mm256_mul_ps(row_re, im), _mm256_mul_ps(row_im, re));
            _mm256_storeu_ps(out->re + c, _mm256_add_ps(_mm256_loadu_ps(out->re + c), kept_re));
            _mm256_storeu_ps(out->im + c, _mm256_add_ps(_mm256_loadu_ps(out->im + c), kept_im));
        }
    }
    for (unsigned c = 0; c < PADDED_CARRIERS; c += LANES) {
        const __m256 re = _mm256_sub_ps(_mm256_loadu_ps(in->re + c), _mm256_loadu_ps(out->re + c)),
                     im = _mm256_sub_ps(_mm256_loadu_ps(in->im + c), _mm256_loadu_ps(out->im + c));
        left = _mm256_add_ps(left, _mm256_add_ps(_mm256_mul_ps(re, re), _mm256_mul_ps(im, im)));
    }
    return add_up(left);
}

#else

static inline __attribute__((always_inline)) float add_up(const float *lanes)
{
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

static float project(struct frame_carriers *restrict out, const struct frame_carriers *in,
                     const struct frame_carriers *rows, unsigned count)
{
    float left[LANES] = {0};
    for (unsigned r = 0; r < count; r++) {
        const struct frame_carriers *row = &rows[r];
        float sum_re[LANES] = {0}, sum_im[LANES] = {0};
        for (unsigned c = 0; c < PADDED_CARRIERS; c += LANES)
            for (unsigned i = 0; i < LANES; i++) {
                sum_re[i] += row->re[c + i] * in->re[c + i] - row->im[c + i] * in->im[c + i];
                sum_im[i] += row->re[c + i] * in->im[c + i] + row->im[c + i] * in->re[c + i];
            }
        const float re = add_up(sum_re), im = add_up(sum_im);
        for (unsigned c = 0; c < PADDED_CARRIERS; c++) {
            out->re[c] += row->re[c] * re + row->im[c] * im;
            out->im[c] += row->re[c] * im - row->im[c] * re;
        }
    }
    for (unsigned c = 0; c < PADDED_CARRIERS; c += LANES)
        for (unsigned i = 0; i < LANES; i++) {
            const float re = in->re[c + i] - out->re[c + i], im = in->im[c + i] - out->im[c + i];
            left[i] += re * re + im * im;
        }
    return add_up(left);
}

#endif

/* ---------------------------------------------------------------- transform ------------------- */

/* DFTs of eight rows, in place, a column each: by even and odd rows, these by radix 4. */
static inline __attribute__((always_inline)) void transform_columns(float (*re)[LANES], float (*im)[LANES])
{
    for (unsigned i = 0; i < LANES; i++) {
        penstock_cf32 x[8], even[4], odd[4];
        for (unsigned k = 0; k < 8; k++)
            x[k] = (penstock_cf32){re[k][i], im[k][i]};
        for (unsigned k = 0; k < 2; k++) {
            penstock_cf32 *half = k ? odd : even;
            const penstock_cf32 a = cf32_add(x[k], x[k + 4]), b = cf32_sub(x[k], x[k + 4]),
                                c = cf32_add(x[k + 2], x[k + 6]), d = cf32_sub(x[k + 2], x[k + 6]);
            half[0] = cf32_add(a, c);
            half[1] = (penstock_cf32){b.re + d.im, b.im - d.re};
            half[2] = cf32_sub(a, c);
            half[3] = (penstock_cf32){b.re - d.im, b.im + d.re};
        }
        odd[1] = cf32_scale((penstock_cf32){odd[1].re + odd[1].im, odd[1].im - odd[1].re}, TURN);
        odd[2] = (penstock_cf32){odd[2].im, -odd[2].re};
        odd[3] = cf32_scale((penstock_cf32){odd[3].im - odd[3].re, -odd[3].im - odd[3].re}, TURN);
        for (unsigned k = 0; k < 4; k++) {
            re[k][i] = even[k].re + odd[k].re;
            im[k][i] = even[k].im + odd[k].im;
            re[k + 4][i] = even[k].re - odd[k].re;
            im[k + 4][i] = even[k].im - odd[k].im;
        }
    }
}

static void transform(penstock_cf32 *out, const penstock_cf32 *in, const struct frame_turns *turns)
{
    float re[8][LANES], im[8][LANES], across_re[8][LANES], across_im[8][LANES];
    for (unsigned k = 0; k < 8; k++)
        for (unsigned i = 0; i < LANES; i++) {
            re[k][i] = in[k * LANES + i].re;
            im[k][i] = in[k * LANES + i].im;
        }
    transform_columns(re, im);
    for (unsigned k = 0; k < 8; k++)
        for (unsigned i = 0; i < LANES; i++) {
            const float turned = re[k][i] * turns->re[k][i] - im[k][i] * turns->im[k][i];
            im[k][i] = re[k][i] * turns->im[k][i] + im[k][i] * turns->re[k][i];
            re[k][i] = turned;
        }
    for (unsigned k = 0; k < 8; k++)
        for (unsigned i = 0; i < LANES; i++) {
            across_re[i][k] = re[k][i];
            across_im[i][k] = im[k][i];
        }
    transform_columns(across_re, across_im);
    for (unsigned k = 0; k < 8; k++)
        for (unsigned i = 0; i < LANES; i++)
            out[k * LANES + i] = (penstock_cf32){across_re[k][i], across_im[k][i]};
}

/* ---------------------------------------------------------------- synchronisation ------------- */

static void rotate(penstock_cf32 *restrict out, const penstock_cf32 *in, const penstock_cf32 *turns,
                   const penstock_cf32 *anchors, size_t count)
{
    for (size_t a = 0; a < count; a++, in += ROTATION, out += ROTATION) {
        const penstock_cf32 anchor = anchors[a];
        for (unsigned k = 0; k < ROTATION; k++) {
            const float re = anchor.re * turns[k].re - anchor.im * turns[k].im,
                        im = anchor.re * turns[k].im + anchor.im * turns[k].re;
            out[k].re = in[k].re * re - in[k].im * im;
            out[k].im = in[k].re * im + in[k].im * re;
        }
    }
}

static void correlate(float *restrict re, float *restrict im, size_t lags, const float *sample_re,
                      const float *sample_im, const penstock_cf32 *known)
{
    for (size_t at = 0; at < lags; at += LAGS_AT_ONCE) {
        float sum_re[LAGS_AT_ONCE] = {0}, sum_im[LAGS_AT_ONCE] = {0};
        for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++)
            for (unsigned i = 0; i < LAGS_AT_ONCE; i++) {
                sum_re[i] += sample_re[at + i + k] * known[k].re - sample_im[at + i + k] * known[k].im;
                sum_im[i] += sample_re[at + i + k] * known[k].im + sample_im[at + i + k] * known[k].re;
            }
        for (unsigned i = 0; i < LAGS_AT_ONCE; i++) {
            re[at + i] = sum_re[i];
            im[at + i] = sum_im[i];
        }
    }
}

static void slide(float *values, size_t count, size_t from, size_t to)
{
    for (size_t step = from; step < to; step *= 2)
        for (size_t i = 0; i < count + to - 2 * step; i++)
            values[i] += values[i + step];
}

/* ---------------------------------------------------------------- pilots ---------------------- */

/* Real and imaginary parts alternate in lanes, four samples of which are added up apart, and then in the order of
 * (0 + 2) + (1 + 3). */
enum { HALF = PENSTOCK__WIFI_FFT / 2 };

#if defined(__AVX2__)

/* Four samples times `re` + i `im`, of which `turned` has -im and im in turn. */
static inline __m256 turn(__m256 x, __m256 re, __m256 turned)
{
    return _mm256_add_ps(_mm256_mul_ps(x, re), _mm256_mul_ps(_mm256_permute_ps(x, 0xb1), turned));
}

static inline __m256 both_signs(float value)
{
    return _mm256_setr_ps(-value, value, -value, value, -value, value, -value, value);
}

static void see(struct frame_symbols *symbols, unsigned at, const penstock_cf32 *samples,
                const struct frame_pilots *pilots)
{
    const float *x = &samples->re;
    const __m256 half_re = _mm256_set1_ps(pilots->half.re), half_im = both_signs(pilots->half.im),
                 quarter_re = _mm256_set1_ps(pilots->quarter.re), quarter_im = both_signs(pilots->quarter.im);
    __m256 straight[PENSTOCK__WIFI_PILOTS], crossed[PENSTOCK__WIFI_PILOTS];
    for (unsigned n = 0; n < 2 * FOLDED; n += LANES) {
        const float *near = x + n, *far = near + 2 * FOLDED;
        const __m256 first =
                         _mm256_sub_ps(_mm256_loadu_ps(near), turn(_mm256_loadu_ps(near + 2 * HALF), half_re, half_im)),
                     second =
                         _mm256_sub_ps(_mm256_loadu_ps(far), turn(_mm256_loadu_ps(far + 2 * HALF), half_re, half_im)),
                     turned = turn(second, quarter_re, quarter_im);
        const __m256 folded[2] = {_mm256_add_ps(first, turned), _mm256_sub_ps(first, turned)};
        for (unsigned p = 0; p < PENSTOCK__WIFI_PILOTS; p++) {
            const __m256 a = _mm256_mul_ps(folded[p % 2], _mm256_loadu_ps(pilots->re[p] + n)),
                         b = _mm256_mul_ps(folded[p % 2], _mm256_loadu_ps(pilots->im[p] + n));
            straight[p] = n ? _mm256_add_ps(straight[p], a) : a;
            crossed[p] = n ? _mm256_add_ps(crossed[p], b) : b;
        }
    }
    for (unsigned p = 0; p < PENSTOCK__WIFI_PILOTS; p++) {
        const __m256 sum = _mm256_addsub_ps(straight[p], _mm256_permute_ps(crossed[p], 0xb1));
        const __m128 two = _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1)),
                     one = _mm_add_ps(two, _mm_movehl_ps(two, two));
        symbols->re[p][at] = _mm_cvtss_f32(one);
        symbols->im[p][at] = _mm_cvtss_f32(_mm_movehdup_ps(one));
    }
}

#else

static penstock_cf32 add(const penstock_cf32 *folded, const float *re, const float *im)
{
    float straight[LANES], crossed[LANES], sum[LANES];
    const float *x = &folded->re;
    for (unsigned n = 0; n < 2 * FOLDED; n += LANES)
        for (unsigned i = 0; i < LANES; i++) {
            straight[i] = n ? straight[i] + x[n + i] * re[n + i] : x[i] * re[i];
            crossed[i] = n ? crossed[i] + x[n + i] * im[n + i] : x[i] * im[i];
        }
    for (unsigned i = 0; i < LANES; i += 2) {
        sum[i] = straight[i] - crossed[i + 1];
        sum[i + 1] = straight[i + 1] + crossed[i];
    }
    return (penstock_cf32){(sum[0] + sum[4]) + (sum[2] + sum[6]), (sum[1] + sum[5]) + (sum[3] + sum[7])};
}

static void see(struct frame_symbols *symbols, unsigned at, const penstock_cf32 *x, const struct frame_pilots *pilots)
{
    penstock_cf32 differences[HALF], folded[2][FOLDED];
    for (unsigned n = 0; n < HALF; n++)
        differences[n] = cf32_sub(x[n], cf32_mul(x[n + HALF], pilots->half));
    for (unsigned n = 0; n < FOLDED; n++) {
        const penstock_cf32 turned = cf32_mul(differences[n + FOLDED], pilots->quarter);
        folded[0][n] = cf32_add(differences[n], turned);
        folded[1][n] = cf32_sub(differences[n], turned);
    }
    for (unsigned p = 0; p < PENSTOCK__WIFI_PILOTS; p++) {
        const penstock_cf32 seen = add(folded[p % 2], pilots->re[p], pilots->im[p]);
        symbols->re[p][at] = seen.re;
        symbols->im[p][at] = seen.im;
    }
}

#endif

static void combine(struct frame_symbols *symbols, const struct frame_pilots *pilots)
{
    for (unsigned i = 0; i < SYMBOLS_AT_ONCE; i++) {
        /* exp(-7 i slope) by Taylor's series: the angle is within 0.35. Pilots are at -21, -7, 7, 21. */
        const float angle = -7 * symbols->slope[i], z = angle * angle;
        const penstock_cf32 back = {1 + z * (-1 / 2.0F + z * (1 / 24.0F - z / 720)),
                                    angle * (1 + z * (-1 / 6.0F + z * (1 / 120.0F - z / 5040)))};
        const penstock_cf32 back3 = cf32_mul(cf32_mul(back, back), back);
        penstock_cf32 level[PENSTOCK__WIFI_PILOTS];
        for (unsigned p = 0; p < PENSTOCK__WIFI_PILOTS; p++) {
            const penstock_cf32 seen = {symbols->re[p][i], symbols->im[p][i]};
            level[p] = cf32_mul(cf32_sub(seen, pilots->constant[p]), pilots->expected[p]);
        }
        level[0] = cf32_mul_conj(level[0], back3);
        level[1] = cf32_mul_conj(level[1], back);
        level[2] = cf32_mul(level[2], back);
        level[3] = cf32_mul(level[3], back3);
        const penstock_cf32 sum = cf32_add(cf32_add(level[0], level[1]), cf32_add(level[2], level[3]));
        const penstock_cf32 outer = cf32_scale(cf32_sub(level[3], level[0]), 3);
        const penstock_cf32 apart = cf32_add(outer, cf32_sub(level[2], level[1]));
        symbols->rest[i] = 7 * cf32_mul_conj(apart, sum).im / sqrtf(cf32_power(sum)) * pilots->slope_scale;
        symbols->phase[i] = penstock__angle(sum.im, sum.re);
    }
}

/* ---------------------------------------------------------------- points ---------------------- */

static inline __attribute__((always_inline)) float add_strays(const float *x, float unit, float limit, bool real)
{
    float lanes[LANES] = {0};
    for (unsigned i = 0; i < 2 * PENSTOCK__WIFI_CARRIERS; i += LANES)
        for (unsigned j = 0; j < LANES; j++) {
            float u = x[i + j] * unit, half = u * 0.5F;
            half = half > -limit ? half : -limit; /* NaN too */
            half = half < limit ? half : limit;
            float level = 2 * (float)((int)(half + 64) - 64) + 1;
            float error = real && j % 2 ? u : u - level;
            lanes[j] += error * error;
        }
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

static float stray(const penstock_cf32 *points, float unit, float levels, bool real)
{
    const float limit = levels / 2 - 0.5F; /* keeps the outermost levels the nearest for what lies beyond */
    return real ? add_strays(&points->re, unit, limit, true) : add_strays(&points->re, unit, limit, false);
}

const struct frame_kernels FRAME_KERNELS = {.transform = transform,
                                            .project = project,
                                            .rotate = rotate,
                                            .correlate = correlate,
                                            .slide = slide,
                                            .see = see,
                                            .stray = stray,
                                            .combine = combine};
