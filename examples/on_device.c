/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Two plans one after the other with the samples on the device: 16-bit samples go there once, are transformed, and
 * transformed back at a quarter of the rate by keeping the lowest quarter of each spectrum; only that comes back.
 *
 *     cc on_device.c $(pkg-config --cflags --libs penstock) -lm -o on_device && ./on_device cuda:0
 */
#include <penstock/penstock.h>

#include <math.h>
#include <stdio.h>

enum { LENGTH = 1024, QUARTER = LENGTH / 4, FRAMES = 64 };

static int16_t samples[FRAMES * LENGTH][2];
static penstock_cf32 slow[FRAMES * QUARTER];

struct chain {
    penstock_context *context;
    penstock_plan *forward, *back;
    penstock_queue *queue;
    penstock_buffer *in, *spectra, *out;
};

static int open_chain(struct chain *chain, const char *device)
{
    int status;
    if ((status = penstock_context_new(&chain->context, NULL)) ||
        (status = penstock_fft_plan(&chain->forward, chain->context,
                                    &PENSTOCK_FFT_DESC(.n = LENGTH, .load = {.format = PENSTOCK_CS16}), device)) ||
        (status = penstock_fft_plan(&chain->back, chain->context,
                                    &PENSTOCK_FFT_DESC(.n = QUARTER, .direction = PENSTOCK_REVERSE,
                                                       .load = {.spacing = LENGTH}, .store = {.scale = 1.0f / LENGTH}),
                                    device)) ||
        (status = penstock_queue_new(&chain->queue, chain->context, device)) ||
        (status = penstock_buffer_new(&chain->in, chain->context, device, sizeof samples)) ||
        (status =
             penstock_buffer_new(&chain->spectra, chain->context, device, FRAMES * LENGTH * sizeof(penstock_cf32))))
        return status;
    return penstock_buffer_new(&chain->out, chain->context, device, sizeof slow);
}

/* Nothing between the two plans is waited for, or leaves the device. */
static int run_chain(struct chain *chain)
{
    int status;
    if ((status = penstock_buffer_upload(chain->in, samples, sizeof samples, chain->queue)) ||
        (status = penstock_plan_enqueue(chain->forward, chain->in, chain->spectra, FRAMES, chain->queue)) ||
        (status = penstock_plan_enqueue(chain->back, chain->spectra, chain->out, FRAMES, chain->queue)))
        return status;
    return penstock_buffer_download(chain->out, slow, sizeof slow, chain->queue);
}

static void close_chain(struct chain *chain)
{
    penstock_queue_free(chain->queue);
    penstock_buffer_free(chain->in);
    penstock_buffer_free(chain->spectra);
    penstock_buffer_free(chain->out);
    penstock_plan_free(chain->forward);
    penstock_plan_free(chain->back);
    penstock_context_free(chain->context);
}

/* A tone in bin 100, and one in bin 600 that the quarter leaves out. */
static void fill_samples(void)
{
    for (int i = 0; i < FRAMES * LENGTH; i++)
        for (int tone = 100; tone <= 600; tone += 500) {
            double angle = 2 * 3.14159265358979 * tone * (i % LENGTH) / LENGTH;
            samples[i][0] = (int16_t)(samples[i][0] + lrint(8000 * cos(angle)));
            samples[i][1] = (int16_t)(samples[i][1] + lrint(8000 * sin(angle)));
        }
}

/* How far the values are from the tone that is left, relative to it. */
static double error_of(void)
{
    double worst = 0, level = 8000.0 / 32768;
    for (int i = 0; i < FRAMES * QUARTER; i++) {
        double angle = 2 * 3.14159265358979 * 100 * (i % QUARTER) / QUARTER;
        worst = fmax(worst, hypot((double)slow[i].re - level * cos(angle), (double)slow[i].im - level * sin(angle)));
    }
    return worst / level;
}

int main(int argc, char **argv)
{
    const char *device = argc > 1 ? argv[1] : "cpu";
    struct chain chain = {0};
    fill_samples();
    int status = open_chain(&chain, device);
    if (!status)
        status = run_chain(&chain);
    if (status)
        fprintf(stderr, "%s\n", penstock_error_text());
    else
        printf("%s: %d frames, the tone that is left is off by %.1e at most\n", device, FRAMES, error_of());
    close_chain(&chain);
    return status || !(error_of() < 1e-3);
}
