/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The transforms of interleaved.h, for files that define WIDTH and build them for one instruction set. A vector has
 * four values of each of WIDTH / 4 transforms, in order. */
#include "backends/cpu/interleaved.h"
#include "vector/vector_passes.h"

#define TOGETHER (WIDTH / INTERLEAVED_LANES)

/* Samples are fetched so many ahead: short transforms are over before the processor sees which ones come next, and
 * those may have to come from another core. */
#define FETCHED_AHEAD 2048

/* Transforms that are done together. `window` and `exchanged` are constants or NULL wherever functions are inlined. */
struct group {
    const float *in[TOGETHER];
    const float *later[TOGETHER]; /* samples that will be wanted soon */
    float *out[TOGETHER];
    const float *window;
    bool exchanged; /* real and imaginary parts, of samples and of bins: the reverse transform */
};

/* ---------------------------------------------------------------- memory ---------------------- */

#if WIDTH == 16

/* Four floats for each of the transforms. */
INLINE vec spread(const float *from)
{
    return (vec)_mm512_broadcast_f32x4(_mm_loadu_ps(from));
}

INLINE __m512 load_two(const float *first, const float *second)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps(first)), _mm256_loadu_ps(second), 1);
}

INLINE cvec load_parts(const struct group *group, size_t at)
{
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    __m512 a = load_two(group->in[0] + at, group->in[1] + at), b = load_two(group->in[2] + at, group->in[3] + at);
    return (cvec){(vec)_mm512_permutex2var_ps(a, even, b), (vec)_mm512_permutex2var_ps(a, odd, b)};
}

INLINE void store_two(float *first, float *second, __m512 v)
{
    _mm256_storeu_ps(first, _mm512_castps512_ps256(v));
    _mm256_storeu_ps(second, _mm512_extractf32x8_ps(v, 1));
}

INLINE void store_parts(const struct group *group, size_t at, cvec v)
{
    const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    __m512 re = (__m512)v.re, im = (__m512)v.im;
    store_two(group->out[0] + at, group->out[1] + at, _mm512_permutex2var_ps(re, low, im));
    store_two(group->out[2] + at, group->out[3] + at, _mm512_permutex2var_ps(re, high, im));
}

#else

INLINE vec spread(const float *from)
{
    return (vec)_mm256_broadcast_ps((const __m128 *)(const void *)from);
}

INLINE vec load_two(const float *first, const float *second)
{
    return (vec)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(first)), _mm_loadu_ps(second), 1);
}

INLINE cvec load_parts(const struct group *group, size_t at)
{
    vec a = load_two(group->in[0] + at, group->in[1] + at), b = load_two(group->in[0] + at + 4, group->in[1] + at + 4);
    return (cvec){PICK(a, b, 0x88), PICK(a, b, 0xdd)};
}

INLINE void store_two(float *first, float *second, vec v)
{
    _mm_storeu_ps(first, _mm256_castps256_ps128((__m256)v));
    _mm_storeu_ps(second, _mm256_extractf128_ps((__m256)v, 1));
}

INLINE void store_parts(const struct group *group, size_t at, cvec v)
{
    store_two(group->out[0] + at, group->out[1] + at, LOW_PAIRS(v.re, v.im));
    store_two(group->out[0] + at + 4, group->out[1] + at + 4, HIGH_PAIRS(v.re, v.im));
}

#endif

/* Each transform's samples from `at` on. */
INLINE cvec load_interleaved(const struct group *group, size_t at)
{
    cvec v = load_parts(group, 2 * at);
    if (group->window) {
        vec factors = spread(group->window + at);
        v = (cvec){v.re * factors, v.im * factors};
    }
    return group->exchanged ? exchanged(v) : v;
}

INLINE void store_interleaved(const struct group *group, size_t at, cvec v)
{
    store_parts(group, 2 * at, group->exchanged ? exchanged(v) : v);
}

/* 16 of each transform's later samples. */
INLINE void fetch_interleaved(const struct group *group, size_t at)
{
    EACH(t, TOGETHER)
    {
        _mm_prefetch((const char *)(group->later[t] + 2 * at), _MM_HINT_T0);
        _mm_prefetch((const char *)(group->later[t] + 2 * at + 16), _MM_HINT_T0);
    }
}

/* ---------------------------------------------------------------- one group ------------------- */

/* The n / 4-point transforms down the lanes: up to eight points at once, or in eights or fours, then fours. */
INLINE void down_interleaved(const struct vector_fft *fft, const struct group *group, cvec *data, size_t vectors)
{
    const unsigned span = vectors <= 8 ? 1 : 4, radix = (unsigned)vectors / span;
    EACH(j, span)
    {
        const float *roots = roots_of(&fft->passes[0], j, radix);
        cvec x[8];
        EACH(q, radix) x[q] = load_interleaved(group, (j + q * span) * INTERLEAVED_LANES);
        dft(x, radix);
        EACH(q, radix)
        data[j + q * span] = j && q ? times(x[q], SPLAT(roots[2 * q - 2]), SPLAT(roots[2 * q - 1])) : x[q];
    }
    if (span == 4)
        EACH(q, radix) dft4(data + 4 * q);
}

/* Rows become columns, four lanes at a time. */
INLINE void transpose_fours(vec x[4])
{
    vec a = LOW_PAIRS(x[0], x[1]), b = LOW_PAIRS(x[2], x[3]), c = HIGH_PAIRS(x[0], x[1]), d = HIGH_PAIRS(x[2], x[3]);
    x[0] = PICK(a, b, 0x44), x[1] = PICK(a, b, 0xee), x[2] = PICK(c, d, 0x44), x[3] = PICK(c, d, 0xee);
}

/* The transforms across the four vectors with the bins from `bin` on. */
INLINE void across_interleaved(const struct vector_fft *fft, const struct group *group, const cvec *data,
                               size_t vectors, size_t bin)
{
    const size_t radix = vectors / 4;
    cvec x[4];
    vec re[4], im[4];
    EACH(q, 4)
    {
        const size_t at = bin + q, place = vectors <= 8 ? at : at % radix * 4 + at / radix;
        const float *between = fft->middle + 2 * INTERLEAVED_LANES * at;
        x[q] = at ? times(data[place], spread(between), spread(between + INTERLEAVED_LANES)) : data[place];
        re[q] = x[q].re;
        im[q] = x[q].im;
    }
    transpose_fours(re);
    transpose_fours(im);
    EACH(q, 4) x[q] = (cvec){re[q], im[q]};
    dft4(x);
    EACH(q, 4) store_interleaved(group, bin + q * vectors, x[q]);
}

INLINE void transform_interleaved(const struct vector_fft *fft, const struct group *group, size_t n)
{
    cvec data[INTERLEAVED_LONGEST / INTERLEAVED_LANES];
    const size_t vectors = n / INTERLEAVED_LANES;
    down_interleaved(fft, group, data, vectors);
    EACH(at, vectors / 4)
    {
        fetch_interleaved(group, 16 * at);
        across_interleaved(fft, group, data, vectors, 4 * at);
    }
}

/* ---------------------------------------------------------------- batches --------------------- */

/* Absent transforms of the last group have the first one's samples, and bins that nobody wants. */
INLINE void run_groups(const struct interleaved_fft *interleaved, struct group group, size_t n, const char *in,
                       size_t in_step, char *out, size_t out_step, size_t count, penstock_cf32 *spare)
{
    const size_t ahead = FETCHED_AHEAD / n;
    for (; count; in += TOGETHER * in_step, out += TOGETHER * out_step, count -= TOGETHER) {
        EACH(t, TOGETHER)
        {
            group.in[t] = (const float *)(const void *)(in + (t < count ? t * in_step : 0));
            group.out[t] = t < count ? (float *)(void *)(out + t * out_step) : (float *)(void *)spare;
            group.later[t] =
                ahead + t < count ? (const float *)(const void *)(in + (ahead + t) * in_step) : group.in[t];
        }
        transform_interleaved(&interleaved->fft, &group, n);
        if (count <= TOGETHER)
            break;
    }
}

INLINE void run_length(const struct interleaved_fft *interleaved, struct group group, const void *in, size_t in_step,
                       void *out, size_t out_step, size_t count, penstock_cf32 *spare)
{
    switch (interleaved->fft.n) {
    case 16:
        run_groups(interleaved, group, 16, in, in_step, out, out_step, count, spare);
        break;
    case 32:
        run_groups(interleaved, group, 32, in, in_step, out, out_step, count, spare);
        break;
    case 64:
        run_groups(interleaved, group, 64, in, in_step, out, out_step, count, spare);
        break;
    default:
        run_groups(interleaved, group, 128, in, in_step, out, out_step, count, spare);
    }
}

static void forward(const struct interleaved_fft *interleaved, const void *in, size_t in_step, void *out,
                    size_t out_step, size_t count, penstock_cf32 *spare)
{
    if (interleaved->window)
        run_length(interleaved, (struct group){.window = interleaved->window}, in, in_step, out, out_step, count,
                   spare);
    else
        run_length(interleaved, (struct group){0}, in, in_step, out, out_step, count, spare);
}

static void reverse(const struct interleaved_fft *interleaved, const void *in, size_t in_step, void *out,
                    size_t out_step, size_t count, penstock_cf32 *spare)
{
    run_length(interleaved, (struct group){.exchanged = true}, in, in_step, out, out_step, count, spare);
}
