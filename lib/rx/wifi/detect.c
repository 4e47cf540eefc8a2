/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The short training field repeats every 16 samples. Its covariance with itself 16 samples later, over a window of
 * 128 products, is compared with the power: T. Schmidl and D. Cox, "Robust frequency and timing synchronization
 * for OFDM", IEEE Trans. Comm. 45(12), 1997, with each window's own mean taken out, so that a DC offset, which
 * repeats at every lag, does not count. Windows start at multiples of 16 samples of the stream; one always lies
 * within the field's 160 samples.
 *
 * With white noise alone the squared metric exceeds t with probability exp(-128 t): the threshold's 6e-6 a window
 * makes some 400 triggers in 1e9 samples. At 0 dB its root has mean 0.5 and deviation 0.05.
 */
#include "rx/wifi/detect_kernels.h"
#include "vector/instructions.h"

static const struct detect_kernels *kernels(void)
{
    const struct detect_kernels *avx2 = AVX2_BUILD(&penstock__detect_kernels_avx2);
    return avx2 ? avx2 : &penstock__detect_kernels_plain;
}

void penstock__wifi_look(const penstock_cf32 *samples, size_t windows, float *strength)
{
    struct detect_sums sums;
    for (size_t done = 0; done < windows; done += DETECT_WINDOWS) {
        size_t count = windows - done < DETECT_WINDOWS ? windows - done : DETECT_WINDOWS;
        kernels()->sum(&sums, count, samples + done * GROUP);
        kernels()->measure(&sums, count, strength + done);
    }
}

struct penstock__wifi_window penstock__wifi_window(const penstock_cf32 *samples)
{
    struct detect_sums sums;
    kernels()->sum(&sums, 1, samples);
    const float re = sums.re[0], im = sums.im[0];
    return (struct penstock__wifi_window){
        .lag = penstock__detect_covariance(&sums, 0),
        .mean = {re / DETECT_PRODUCTS, im / DETECT_PRODUCTS},
        .power = (sums.power[0] - (re * re + im * im) / DETECT_PRODUCTS) / DETECT_PRODUCTS,
    };
}
