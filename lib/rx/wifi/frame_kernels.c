/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The loops of an examination and of the pilots. Sums are over lanes of their own, so that any vectors give them. */
#include "rx/wifi/frame_kernels.h"
#include "rx/wifi/lanes.h"
#include "vector/angle.h"

#ifndef FRAME_KERNELS
#define FRAME_KERNELS penstock__frame_kernels_plain
#endif

/* ---------------------------------------------------------------- channel --------------------- */

static float project(struct penstock__wifi_bins *restrict out, const struct penstock__wifi_bins *in,
                     const struct penstock__wifi_bins *rows, unsigned count)
{
    lanes part_re[PENSTOCK__WIFI_TAPS], part_im[PENSTOCK__WIFI_TAPS], left = {0};
    for (unsigned r = 0; r < count; r++) {
        lanes sum_re = {0}, sum_im = {0}, re, im, row_re, row_im;
        for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k += LANES) {
            lanes_load_parts(&row_re, &row_im, rows[r].re + k, rows[r].im + k);
            lanes_load_parts(&re, &im, in->re + k, in->im + k);
            sum_re += row_re * re - row_im * im;
            sum_im += row_re * im + row_im * re;
        }
        lanes_fill(&part_re[r], lanes_add(&sum_re));
        lanes_fill(&part_im[r], lanes_add(&sum_im));
    }
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k += LANES) {
        lanes re, im, row_re, row_im;
        lanes_load_parts(&re, &im, out->re + k, out->im + k);
        for (unsigned r = 0; r < count; r++) {
            lanes_load_parts(&row_re, &row_im, rows[r].re + k, rows[r].im + k);
            re += row_re * part_re[r] + row_im * part_im[r];
            im += row_re * part_im[r] - row_im * part_re[r];
        }
        lanes_store_parts(out->re + k, out->im + k, &re, &im);
        lanes_load_parts(&row_re, &row_im, in->re + k, in->im + k);
        left += (row_re - re) * (row_re - re) + (row_im - im) * (row_im - im);
    }
    return lanes_add(&left);
}

static void mul_conj(struct penstock__wifi_bins *out, const struct penstock__wifi_bins *in,
                     const struct penstock__wifi_bins *by)
{
    struct penstock__wifi_bins made;
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++) {
        made.re[k] = in->re[k] * by->re[k] + in->im[k] * by->im[k];
        made.im[k] = in->im[k] * by->re[k] - in->re[k] * by->im[k];
    }
    *out = made;
}

static float compare(const struct penstock__wifi_bins *first, const struct penstock__wifi_bins *second,
                     const float *known)
{
    lanes sum_re = {0}, sum_im = {0}, left = {0}, a_re, a_im, b_re, b_im, used;
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k += LANES) {
        lanes_load_parts(&a_re, &a_im, first->re + k, first->im + k);
        lanes_load(&used, known + k);
        lanes_load_parts(&b_re, &b_im, second->re + k, second->im + k);
        used *= used;
        sum_re += (a_re * b_re + a_im * b_im) * used;
        sum_im += (a_im * b_re - a_re * b_im) * used;
    }
    const float re = lanes_add(&sum_re), im = lanes_add(&sum_im), size = sqrtf(re * re + im * im);
    lanes turn_re, turn_im;
    lanes_fill(&turn_re, size > 0 ? re / size : 1);
    lanes_fill(&turn_im, size > 0 ? im / size : 0);
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k += LANES) {
        lanes_load_parts(&a_re, &a_im, first->re + k, first->im + k);
        lanes_load(&used, known + k);
        lanes_load_parts(&b_re, &b_im, second->re + k, second->im + k);
        a_re = (a_re - (b_re * turn_re - b_im * turn_im)) * used;
        a_im = (a_im - (b_re * turn_im + b_im * turn_re)) * used;
        left += a_re * a_re + a_im * a_im;
    }
    return lanes_add(&left);
}

static void estimate(struct penstock__wifi_bins *restrict out, const struct penstock__wifi_bins *first,
                     const struct penstock__wifi_bins *second, const float *known,
                     const struct penstock__wifi_bins *later)
{
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++) {
        const float half = 0.5F * known[k], re = (first->re[k] + second->re[k]) * half,
                    im = (first->im[k] + second->im[k]) * half;
        out->re[k] = re * later->re[k] + im * later->im[k];
        out->im[k] = im * later->re[k] - re * later->im[k];
    }
}

/* ---------------------------------------------------------------- transform ------------------- */

/* In two steps of eight. */
static void transform(struct penstock__wifi_bins *out, const float *in_re, const float *in_im,
                      const struct frame_turns *turns)
{
    lanes re[8], im[8];
    for (unsigned k = 0; k < 8; k++)
        lanes_load_parts(&re[k], &im[k], in_re + LANES * k, in_im + LANES * k);
    lanes_transform_eight(re, im, 1);
    for (unsigned k = 1; k < 8; k++)
        lanes_turn(&re[k], &im[k], turns->re[k], turns->im[k]);
    lanes_transpose(re);
    lanes_transpose(im);
    lanes_transform_eight(re, im, 1);
    for (unsigned k = 0; k < 8; k++)
        lanes_store_parts(out->re + LANES * k, out->im + LANES * k, &re[k], &im[k]);
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
    float sums[LANES] = {0};
    for (unsigned i = 0; i < 2 * PENSTOCK__WIFI_CARRIERS; i += LANES)
        for (unsigned j = 0; j < LANES; j++) {
            float u = x[i + j] * unit, half = u * 0.5F;
            half = half > -limit ? half : -limit; /* NaN too */
            half = half < limit ? half : limit;
            float level = 2 * (float)((int)(half + 64) - 64) + 1;
            float error = real && j % 2 ? u : u - level;
            sums[j] += error * error;
        }
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

static float stray(const penstock_cf32 *points, float unit, float levels, bool real)
{
    const float limit = levels / 2 - 0.5F; /* keeps the outermost levels the nearest for what lies beyond */
    return real ? add_strays(&points->re, unit, limit, true) : add_strays(&points->re, unit, limit, false);
}

const struct frame_kernels FRAME_KERNELS = {.transform = transform,
                                            .mul_conj = mul_conj,
                                            .compare = compare,
                                            .estimate = estimate,
                                            .project = project,
                                            .see = see,
                                            .stray = stray,
                                            .combine = combine};
