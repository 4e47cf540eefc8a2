/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Tables of transforms by vectors. */
#include "vector/vector_fft.h"

/* From this length on a product costs less than a table as large as the samples, which takes their place in the caches.
 */
#define LONG_LENGTH 4096

bool penstock__vector_fft_fits(size_t n)
{
    return !(n & (n - 1)) && n >= VECTOR_FFT_SHORTEST && n <= VECTOR_FFT_LONGEST;
}

/* Eights first; a rest of one or two factors of two is taken from the last one or two of them: 8 2 = 4 4, 8 8 2 2 =
 * 8 8 4. */
static void choose_passes(struct vector_fft *fft)
{
    unsigned twos = 0;
    size_t span = fft->vectors;
    while ((size_t)1 << twos < fft->vectors)
        twos++;
    size_t fours = twos % 3 == 1 ? 2 : twos % 3 == 2 ? 1 : 0;
    fft->pass_count = (twos - 2 * fours) / 3 + fours;
    for (size_t i = 0; i < fft->pass_count; i++) {
        unsigned radix = i + fours < fft->pass_count ? 8 : 4;
        span /= radix;
        fft->passes[i] = (struct vector_pass){.radix = radix, .span = span};
    }
}

static void fill_roots(struct vector_fft *fft)
{
    float *to = fft->roots;
    for (size_t i = 0; i + 1 < fft->pass_count; i++) {
        struct vector_pass *pass = &fft->passes[i];
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

static void fill_factors(const struct vector_fft *fft, float *to, size_t bin)
{
    for (size_t lane = 0; lane < fft->width; lane++) {
        double re, im;
        penstock__unit_root(&re, &im, vector_sample_in(lane, fft->width) * bin, fft->n);
        to[lane] = (float)re;
        to[fft->width + lane] = (float)-im;
    }
}

static void fill_middle(struct vector_fft *fft, enum vector_order order)
{
    const size_t width = fft->width;
    for (size_t place = 0; place < fft->vectors; place++) {
        size_t bin = penstock__vector_fft_bin(fft, place), at = order == VECTOR_BY_BIN ? bin : place;
        if (!fft->coarse || at < width)
            fill_factors(fft, fft->middle + 2 * width * at, bin);
        if (fft->coarse && at % width == 0)
            fill_factors(fft, fft->coarse + 2 * at, bin);
    }
}

int penstock__vector_fft_init(struct vector_fft *fft, size_t n, size_t width, enum vector_order order)
{
    *fft = (struct vector_fft){.n = n, .width = width, .vectors = n / width};
    const bool split = order == VECTOR_BY_BIN && n >= LONG_LENGTH;
    const size_t factors = split ? width : fft->vectors;
    fft->middle = penstock__alloc(2 * width * factors * sizeof *fft->middle);
    fft->coarse = split ? penstock__alloc(2 * fft->vectors * sizeof *fft->coarse) : NULL;
    fft->roots = penstock__alloc(4 * fft->vectors * sizeof *fft->roots);
    if (!fft->roots || !fft->middle || (split && !fft->coarse))
        return PENSTOCK_ERR_MEMORY;
    choose_passes(fft);
    fill_roots(fft);
    fill_middle(fft, order);
    return PENSTOCK_OK;
}

void penstock__vector_fft_free(struct vector_fft *fft)
{
    penstock__free(fft->roots);
    penstock__free(fft->middle);
    penstock__free(fft->coarse);
}

/* The digits of a place, the longest span's first, are the bin's from its lowest on. */
size_t penstock__vector_fft_bin(const struct vector_fft *fft, size_t place)
{
    size_t bin = 0, weight = 1;
    for (size_t i = 0; i < fft->pass_count; i++) {
        const struct vector_pass *pass = &fft->passes[i];
        bin += place / pass->span % pass->radix * weight;
        weight *= pass->radix;
    }
    return bin;
}
