/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Windows against liquid-dsp's, whose form is symmetric: ours of n factors is the start of its window of n + 1. (Its
 * Hamming window has other coefficients.) */
#include "test.h"

#include <complex.h>
#include <liquid/liquid.h>
#include <penstock/penstock.h>

static float kaiser_5(unsigned i, unsigned length)
{
    return liquid_kaiser(i, length, 5.0f);
}

static float kaiser_12(unsigned i, unsigned length)
{
    return liquid_kaiser(i, length, 12.0f);
}

static const struct {
    const char *name;
    float (*liquid)(unsigned i, unsigned length);
} windows[] = {
    {"kaiser:5", kaiser_5},
    {"kaiser:12", kaiser_12},
};

int main(void)
{
    static const unsigned lengths[] = {2, 9, 64, 255, 1024};
    float window[1024];
    for (size_t w = 0; w < sizeof windows / sizeof windows[0]; w++)
        for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
            CHECK_OK(penstock_window_fill(window, lengths[l], windows[w].name));
            for (unsigned i = 0; i < lengths[l]; i++) {
                float want = windows[w].liquid(i, lengths[l] + 1);
                CHECK(fabsf(window[i] - want) <= 2e-5f, "%s, n = %u: %.9g at %u, liquid has %.9g", windows[w].name,
                      lengths[l], (double)window[i], i, (double)want);
            }
        }
    return test_finish();
}
