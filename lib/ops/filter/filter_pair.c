/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Tables of convolutions by this processor's vectors, and their order. */
#include "ops/filter/filter_pair.h"
#include "vector/instructions.h"

#include <math.h>

const struct pair_kernels *penstock__pair_kernels(size_t index)
{
    const struct pair_kernels *builds[] = {AVX512_BUILD(&penstock__pair_kernels_avx512),
                                           AVX2_BUILD(&penstock__pair_kernels_avx2)};
    index += !builds[0];
    return index < 2 ? builds[index] : NULL;
}

bool penstock__filter_pair_fits(size_t n)
{
    return penstock__vector_fft_fits(n) && n <= PAIR_LONGEST;
}

/* A group of W vectors is transposed: lane l at place p is a bin of vector l of p's group. */
static void fill_bins(struct filter_pair *pair)
{
    const struct vector_fft *fft = &pair->fft;
    for (size_t place = 0; place < fft->n; place++) {
        size_t vector = place / fft->width, lane = place % fft->width, group = vector - vector % fft->width;
        pair->bins[place] = (uint32_t)(penstock__vector_fft_bin(fft, group + lane) +
                                       fft->vectors * vector_bin_at(vector % fft->width, fft->width));
    }
}

int penstock__filter_pair_new(struct filter_pair **pair, size_t n, const struct pair_kernels *kernels)
{
    struct filter_pair *made = penstock__calloc(1, sizeof *made);
    *pair = NULL;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->kernels = kernels;
    made->bins = penstock__alloc(n * sizeof *made->bins);
    if (penstock__vector_fft_init(&made->fft, n, kernels->width, VECTOR_BY_PLACE) || !made->bins) {
        penstock__filter_pair_free(made);
        return PENSTOCK_ERR_MEMORY;
    }
    fill_bins(made);
    *pair = made;
    return PENSTOCK_OK;
}

void penstock__filter_pair_free(struct filter_pair *pair)
{
    if (!pair)
        return;
    penstock__vector_fft_free(&pair->fft);
    penstock__free(pair->bins);
    penstock__free(pair);
}

void penstock__filter_pair_order(const struct filter_pair *pair, float *to, const penstock_cf32 *spectrum)
{
    size_t width = pair->kernels->width;
    for (size_t place = 0; place < pair->fft.n; place++) {
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
    double error = 0, norm = 0, most = 2e-7 * sqrt(log2((double)pair->fft.n));
    for (size_t j = 0; j < pair->fft.n; j++) {
        double re = (double)got[j].re - right[2 * j], im = (double)got[j].im - right[2 * j + 1];
        error += re * re + im * im;
        norm += right[2 * j] * right[2 * j] + right[2 * j + 1] * right[2 * j + 1];
    }
    if (error <= most * most * norm)
        return PENSTOCK_OK;
    return penstock__error(PENSTOCK_ERR_CHECK,
                           "self-check of convolution by %s, %zu points: relative error %.2g, at most %.2g is right",
                           pair->kernels->name, pair->fft.n, sqrt(error / norm), most);
}

int penstock__filter_pair_check(const struct filter_pair *pair)
{
    size_t n = pair->fft.n;
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
