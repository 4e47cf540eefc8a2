/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Soft bits against brute force over all points of the constellation, for every build of the loops, which must also
 * agree to the bit.
 */
#include "constellations.h"
#include "ops/ofdm/ofdm_kernels.h"
#include "test.h"

#define COUNT  2000
#define PADDED 2000

static _Alignas(64) float re[PADDED], im[PADDED], weight[PADDED];
static _Alignas(64) uint32_t words[3 * PADDED];
static int8_t soft[COUNT * 10 + 16], other[COUNT * 10 + 16];

static void draw(uint64_t *seed, int bits)
{
    for (int k = 0; k < COUNT; k++) {
        double spread = k % 5 == 4 ? 4 : 1.3; /* now and then far outside the constellation */
        re[k] = (float)(spread * test_uniform(seed));
        im[k] = (float)(spread * test_uniform(seed));
        weight[k] = (float)(constellation_root[bits] * constellation_root[bits] * pow(10, 1.5 * test_uniform(seed)));
    }
    re[0] = im[0] = weight[1] = 0;
    re[2] = im[2] = 1e6f;
    re[3] = im[3] = -INFINITY;
}

static void check_one(const struct ofdm_kernels *kernels, int bits, size_t pitch, float scale)
{
    struct ofdm_carriers carriers = {.count = COUNT, .padded = PADDED};
    memset(soft, 99, sizeof soft);
    kernels->demap((penstock_constellation)bits, scale, &carriers, weight, re, im, words, soft, pitch);
    for (int k = 0; k < COUNT; k++) {
        double llr[10] = {0};
        if (k != 3)
            constellation_llr(llr, bits, (double)re[k], (double)im[k], (double)weight[k]);
        for (int b = 0; b < (int)pitch; b++) {
            double want = b < bits ? (double)scale * llr[b] : 0;
            int got = soft[(size_t)k * pitch + (size_t)b];
            want = want > 127 ? 127 : want < -127 ? -127 : want;
            if (k == 3) /* infinite: any value in range */
                CHECK(got >= -127, "bit %d of %d of an infinite point is %d", b, bits, got);
            else
                CHECK(fabs(got - want) <= 0.5 + 1e-3, "%d-bit point %d (%g, %g) bit %d: %d, expected %.4f", bits, k,
                      (double)re[k], (double)im[k], b, got, want);
        }
    }
    for (size_t i = COUNT * pitch; i < sizeof soft; i++)
        CHECK(soft[i] == 99, "wrote %zu bytes beyond the result", i - COUNT * pitch);
}

int main(void)
{
    static const int sizes[] = {1, 2, 4, 6, 8, 10};
    const struct ofdm_kernels *fast = penstock__ofdm_kernels();
    uint64_t seed = 1;
    for (int s = 0; s < 6; s++)
        for (int p = s; p < 6; p++) {
            draw(&seed, sizes[s]);
            check_one(fast, sizes[s], (size_t)sizes[p], p % 2 ? 1.0f : 7.5f);
            memcpy(other, soft, sizeof soft);
            check_one(&penstock__ofdm_kernels_plain, sizes[s], (size_t)sizes[p], p % 2 ? 1.0f : 7.5f);
            CHECK(!memcmp(other, soft, sizeof soft), "builds of the loops differ for %d bits", sizes[s]);
        }
    return test_finish();
}
