/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Tables of convolutions by this processor's vectors, and their order. */
#include "ops/filter_pair.h"

#include <math.h>

const struct pair_kernels *penstock__pair_kernels(size_t index)
{
    const struct pair_kernels *kernels[3] = {NULL};
    size_t count = 0;
#ifdef PENSTOCK_PAIR_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        kernels[count++] = &penstock__pair_kernels_avx512;
#endif
#ifdef PENSTOCK_PAIR_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        kernels[count++] = &penstock__pair_kernels_avx2;
#endif
    return index < count ? kernels[index] : NULL;
}

bool penstock__filter_pair_fits(size_t n)
{
    return !(n & (n - 1)) && n >= PAIR_SHORTEST && n <= PAIR_LONGEST;
}

/* Eights first; a rest of one or two factors of two is taken from the last one or two of them: 8 2 = 4 4, 8 8 2 2 =
 * 8 8 4. */
static void choose_passes(struct filter_pair *pair)
{
    unsigned twos = 0;
    size_t span = pair->vectors;
    while ((size_t)1 << twos < pair->vectors)
        twos++;
    size_t fours = twos % 3 == 1 ? 2 : twos % 3 == 2 ? 1 : 0;
    pair->pass_count = (twos - 2 * fours) / 3 + fours;
    for (size_t i = 0; i < pair->pass_count; i++) {
        unsigned radix = i + fours < pair->pass_count ? 8 : 4;
        span /= radix;
        pair->passes[i] = (struct pair_pass){.radix = radix, .span = span, .blocks = pair->vectors / (span * radix)};
    }
}

static void fill_roots(struct filter_pair *pair)
{
    float *to = pair->roots;
    for (size_t i = 0; i + 1 < pair->pass_count; i++) {
        struct pair_pass *pass = &pair->passes[i];
        pass->roots = to;
        for (size_t j = 0; j < pass->span; j++)
            for (unsigned q = 1; q < pass->radix; q++, to += 2) {
                double re, im;
                penstock__unit_root(&re, &im, j * q, pass->span * pass->radix);
                to[0] = (float)re;
                to[1] = (float)-im;
            }
    }
}

/* Bin of the transforms down the lanes that lies at place p: its digits in reverse order. */
static size_t bin_down(const struct filter_pair *pair, size_t p)
{
    size_t bin = 0, weight = 1;
    for (size_t i = 0; i < pair->pass_count; i++) {
        const struct pair_pass *pass = &pair->passes[i];
        bin += p / pass->span % pass->radix * weight;
        weight *= pass->radix;
    }
    return bin;
}

/* The sample of a vector in a lane, and the bin of the transform across at a place: filter_pair_passes.h. */
static size_t sample_in(size_t lane, size_t width)
{
    return lane / 4 * 2 + lane % 2 + lane % 4 / 2 * (width / 2);
}

static size_t bin_across(size_t place, size_t width)
{
    return width == 16 ? place / 4 + 4 * (place % 4) : place;
}

static void fill_middle(struct filter_pair *pair)
{
    size_t width = pair->kernels->width;
    for (size_t p = 0; p < pair->vectors; p++) {
        size_t group = p / width * width, down = bin_down(pair, p);
        for (size_t lane = 0; lane < width; lane++) {
            double re, im;
            penstock__unit_root(&re, &im, sample_in(lane, width) * down, pair->n);
            pair->middle[2 * p * width + lane] = (float)re;
            pair->middle[(2 * p + 1) * width + lane] = (float)-im;
            pair->bins[p * width + lane] =
                (uint32_t)(bin_down(pair, group + lane) + pair->vectors * bin_across(p % width, width));
        }
    }
}

int penstock__filter_pair_new(struct filter_pair **pair, size_t n, const struct pair_kernels *kernels)
{
    struct filter_pair *made = penstock__calloc(1, sizeof *made);
    *pair = NULL;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->n = n;
    made->kernels = kernels;
    made->vectors = n / kernels->width;
    made->middle = penstock__alloc(2 * n * sizeof *made->middle);
    made->roots = penstock__alloc(4 * made->vectors * sizeof *made->roots);
    made->bins = penstock__alloc(n * sizeof *made->bins);
    if (!made->middle || !made->roots || !made->bins) {
        penstock__filter_pair_free(made);
        return PENSTOCK_ERR_MEMORY;
    }
    choose_passes(made);
    fill_roots(made);
    fill_middle(made);
    *pair = made;
    return PENSTOCK_OK;
}

void penstock__filter_pair_free(struct filter_pair *pair)
{
    if (!pair)
        return;
    penstock__free(pair->middle);
    penstock__free(pair->roots);
    penstock__free(pair->bins);
    penstock__free(pair);
}

void penstock__filter_pair_order(const struct filter_pair *pair, float *to, const penstock_cf32 *spectrum)
{
    size_t width = pair->kernels->width;
    for (size_t place = 0; place < pair->n; place++) {
        size_t at = place / width * 2 * width + place % width;
        to[at] = spectrum[pair->bins[place]].re;
        to[at + width] = spectrum[pair->bins[place]].im;
    }
}

/* ---------------------------------------------------------------- check ----------------------- */

/* Of two values of each sample and bin: SplitMix64 (S. Vigna). */
static float noise(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (float)((double)(int64_t)(z ^ (z >> 31)) * 0x1p-63);
}

/* The convolution that is right, in place of n samples. */
static int convolve(double *data, const penstock_cf32 *spectrum, size_t n)
{
    int status = penstock__dft(data, n, PENSTOCK_FORWARD);
    for (size_t k = 0; k < n && !status; k++) {
        double re = data[2 * k], im = data[2 * k + 1], c = (double)spectrum[k].re, d = (double)spectrum[k].im;
        data[2 * k] = re * c - im * d;
        data[2 * k + 1] = re * d + im * c;
    }
    return status ? status : penstock__dft(data, n, PENSTOCK_REVERSE);
}

static int compare(const struct filter_pair *pair, const penstock_cf32 *got, const double *right)
{
    double error = 0, norm = 0, most = 2e-7 * sqrt(log2((double)pair->n));
    for (size_t j = 0; j < pair->n; j++) {
        double re = (double)got[j].re - right[2 * j], im = (double)got[j].im - right[2 * j + 1];
        error += re * re + im * im;
        norm += right[2 * j] * right[2 * j] + right[2 * j + 1] * right[2 * j + 1];
    }
    if (error <= most * most * norm)
        return PENSTOCK_OK;
    return penstock__error(PENSTOCK_ERR_CHECK,
                           "self-check of convolution by %s, %zu points: relative error %.2g, at most %.2g is right",
                           pair->kernels->name, pair->n, sqrt(error / norm), most);
}

int penstock__filter_pair_check(const struct filter_pair *pair)
{
    size_t n = pair->n;
    penstock_cf32 *in = penstock__alloc(2 * n * sizeof *in), *spectrum = in + n;
    float *work = penstock__alloc(4 * n * sizeof *work), *ordered = work + 2 * n;
    double *right = penstock__alloc(2 * n * sizeof *right);
    uint64_t state = n;
    int status = PENSTOCK_ERR_MEMORY;
    if (!in || !work || !right)
        goto done;
    for (size_t j = 0; j < 2 * n; j++)
        in[j] = (penstock_cf32){noise(&state), noise(&state)};
    for (size_t j = 0; j < n; j++) {
        right[2 * j] = (double)in[j].re;
        right[2 * j + 1] = (double)in[j].im;
    }
    if ((status = convolve(right, spectrum, n)))
        goto done;
    penstock__filter_pair_order(pair, ordered, spectrum);
    pair->kernels->forward(pair, work, in);
    pair->kernels->reverse(pair, work, work, ordered, in, 0, n);
    status = compare(pair, in, right);
done:
    penstock__free(right);
    penstock__free(work);
    penstock__free(in);
    return status;
}
