/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The transmitter at 54 Mb/s against a frame that somebody else's simulator made (openwifi's, among the recordings):
 * the same samples but for a factor, the scrambler's seed, the shape of the symbols' edges, and the last symbol, which
 * has only tail and pad bits: its pad bits are not those of 17.3.5.4 and annex I, and no receiver looks at them.
 */
#include <penstock/wifi.h>

#include "test.h"

#define FILE_NAME "simulated/ag_54M_len1537_pre100_post200_openwifi.txt"
#define LENGTH    1537
#define SAMPLES   8000

static penstock_cf32 recorded[SAMPLES], frame[SAMPLES];
static uint8_t psdu[LENGTH];

static int read_samples(const char *folder)
{
    char path[4096];
    int count = 0;
    FILE *file;
    snprintf(path, sizeof path, "%s/wifi/%s", folder, FILE_NAME);
    file = fopen(path, "r");
    CHECK(file, "cannot open %s", path);
    while (file && count < SAMPLES && fscanf(file, "%f %f", &recorded[count].re, &recorded[count].im) == 2)
        count++;
    if (file)
        fclose(file);
    return count;
}

/* The row's PSDU; returns the frame's first sample, or -1. */
static int read_truth(const char *folder)
{
    static char path[4096], line[40000];
    int start = -1;
    FILE *file;
    snprintf(path, sizeof path, "%s/wifi/truth.tsv", folder);
    file = fopen(path, "r");
    while (file && start < 0 && fgets(line, sizeof line, file)) {
        const char *hex = strrchr(line, '\t');
        if (strncmp(line, FILE_NAME "\t", sizeof FILE_NAME) || !hex)
            continue;
        for (size_t i = 0; i < LENGTH; i++) {
            unsigned value = 256;
            CHECK_EQ(sscanf(hex + 1 + 2 * i, "%2x", &value), 1);
            psdu[i] = (uint8_t)value;
        }
        CHECK_EQ(sscanf(line + sizeof FILE_NAME, "%*d %d", &start), 1);
    }
    if (file)
        fclose(file);
    return start;
}

/* Error in dB of the best fit of `frame`, times one factor, to `received`. The samples where fields meet are left out.
 */
static double misfit_db(const penstock_cf32 *received, size_t count)
{
    double cross_re = 0, cross_im = 0, ours = 0, theirs = 0;
    for (size_t i = 1; i < count; i++) {
        penstock_cf32 a = frame[i], b = received[i];
        if (i % 80 == 0)
            continue;
        cross_re += (double)a.re * b.re + (double)a.im * b.im;
        cross_im += (double)a.re * b.im - (double)a.im * b.re;
        ours += (double)a.re * a.re + (double)a.im * a.im;
        theirs += (double)b.re * b.re + (double)b.im * b.im;
    }
    return 10 * log10(1 - (cross_re * cross_re + cross_im * cross_im) / (ours * theirs) + 1e-15);
}

int main(void)
{
    const char *folder = test_recordings();
    double best = 0;
    int start, read;
    size_t count = 0;
    if (!folder)
        return 77;
    read = read_samples(folder);
    start = read_truth(folder);
    CHECK(start >= 0, "no row of " FILE_NAME);
    for (unsigned seed = 1; start >= 0 && seed < 128; seed++) {
        penstock_wifi_transmit_desc desc = PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = 54, .scrambler_seed = seed);
        count = penstock_wifi_frame_samples(&desc, LENGTH);
        CHECK(count && start + (int)count <= read, "%zu samples of %d", count, read);
        CHECK_OK(penstock_wifi_modulate(&desc, psdu, LENGTH, frame));
        best = fmin(best, misfit_db(recorded + start, count - 1 - 80));
    }
    CHECK(best < -60, "misfit %.1f dB", best);
    printf("misfit %.1f dB\n", best);
    return test_finish();
}
