/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A batch of windowed transforms of 16-bit samples on a device of your choice.
 *
 *     cc fft_batch.c $(pkg-config --cflags --libs penstock) -lm -o fft_batch && ./fft_batch opencl:0
 */
#include <penstock/penstock.h>

#include <math.h>
#include <stdio.h>

enum { LENGTH = 1024, FRAMES = 256 };

int main(int argc, char **argv)
{
    static int16_t samples[FRAMES][LENGTH][2];
    static float decibels[FRAMES][LENGTH];
    static float window[LENGTH];
    const char *device = argc > 1 ? argv[1] : "auto";
    penstock_context *context = NULL;
    penstock_plan *plan = NULL;
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    int status = 1;

    /* Frame f holds a tone in bin f. */
    for (int f = 0; f < FRAMES; f++)
        for (int i = 0; i < LENGTH; i++) {
            double angle = 2 * 3.14159265358979 * f * i / LENGTH;
            samples[f][i][0] = (int16_t)lrint(10000 * cos(angle));
            samples[f][i][1] = (int16_t)lrint(10000 * sin(angle));
        }

    if (penstock_window_fill(window, LENGTH, "hann") || penstock_context_new(&context, NULL) ||
        penstock_fft_plan(&plan, context,
                          &PENSTOCK_FFT_DESC(.n = LENGTH, .batch = FRAMES,
                                             .load = {.format = PENSTOCK_CS16, .window = window},
                                             .store = {.output = PENSTOCK_OUTPUT_DECIBEL, .scale = 2.0f / LENGTH}),
                          device) ||
        penstock_plan_get_info(plan, &info) || penstock_plan_run(plan, samples, decibels, FRAMES)) {
        fprintf(stderr, "%s\n", penstock_error_text());
        goto done;
    }
    printf("%s, %s\n", info.device, info.variant);
    for (int f = 0; f < FRAMES; f += 64)
        printf("frame %3d: bin %3d has %6.1f dB, bin %3d %6.1f dB\n", f, f, decibels[f][f], f + 100,
               decibels[f][f + 100]);
    status = 0;
done:
    penstock_plan_free(plan);
    penstock_context_free(context);
    return status;
}
