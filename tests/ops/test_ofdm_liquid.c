/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The sign of every soft bit against the hard decision of liquid-dsp's modem, which labels square QAM in the same way.
 */
#include "ops/ofdm/ofdm_kernels.h"
#include "test.h"

#include <complex.h>
#include <liquid/liquid.h>

#define COUNT 4096

static _Alignas(64) float re[COUNT], im[COUNT], weight[COUNT];
static _Alignas(64) uint32_t words[3 * COUNT];
static int8_t soft[COUNT * 10];

static void check_scheme(modulation_scheme scheme, int bits)
{
    struct ofdm_carriers carriers = {.count = COUNT, .padded = COUNT};
    modem demodulator = modem_create(scheme);
    uint64_t seed = (uint64_t)bits;
    for (int k = 0; k < COUNT; k++) {
        re[k] = (float)(1.2 * test_uniform(&seed));
        im[k] = (float)(1.2 * test_uniform(&seed));
        weight[k] = 1e6f;
    }
    penstock__ofdm_kernels()->demap((penstock_constellation)bits, 1, &carriers, weight, re, im, words, soft, 10);
    for (int k = 0; k < COUNT; k++) {
        unsigned decision = 0;
        modem_demodulate(demodulator, re[k] + im[k] * _Complex_I, &decision);
        for (int b = 0; b < bits; b++) {
            int llr = soft[10 * k + b];
            bool sent = decision & 1u << (bits - 1 - b);
            if (llr)
                CHECK(llr < 0 ? sent : !sent, "%d bits, point (%g, %g), bit %d: soft bit %d", bits, (double)re[k],
                      (double)im[k], b, llr);
        }
    }
    modem_destroy(demodulator);
}

int main(void)
{
    check_scheme(LIQUID_MODEM_QAM4, 2);
    check_scheme(LIQUID_MODEM_QAM16, 4);
    check_scheme(LIQUID_MODEM_QAM64, 6);
    check_scheme(LIQUID_MODEM_QAM256, 8);
    return test_finish();
}
