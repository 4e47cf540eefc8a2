/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Frames with rows or columns on a device that computes in the host's memory, against sums in double precision; in
 * place, in chunks, and what is refused. */
#include "device.h"
#include <complex.h>
#include <stdlib.h>

enum { FRAMES = 3, MOST = 24 * 40 };

static penstock_context *context;
static const char *device;
static double factor = 1; /* of the error that is allowed */

/* The transform of one frame, bin by bin. */
static double complex sum(const penstock_cf32 *in, size_t height, size_t width, bool rows, size_t bin, double sign)
{
    double complex value = 0;
    size_t r = bin / width, c = bin % width;
    for (size_t j = 0; j < height; j++)
        for (size_t k = rows ? 0 : c; k < (rows ? width : c + 1); k++) {
            double turns =
                (double)(j * r % height) / (double)height + (rows ? (double)(k * c % width) / (double)width : 0);
            value += (in[j * width + k].re + I * in[j * width + k].im) * cexp(sign * 2 * M_PI * I * turns);
        }
    return value;
}

static void check_plane(size_t height, size_t width, bool rows, penstock_direction direction, bool centered)
{
    static penstock_cf32 in[FRAMES * MOST], out[FRAMES * MOST], again[FRAMES * MOST];
    size_t n = height * width;
    double error = 0, norm = 0;
    uint64_t seed = n;
    penstock_plan *plan;
    penstock_fft_desc desc = PENSTOCK_FFT_DESC(.n = n, .direction = direction, .store.centered = centered);
    desc.rows = rows ? height : 0;
    desc.columns = rows ? 0 : width;
    for (size_t i = 0; i < FRAMES * n; i++)
        in[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    CHECK_OK(penstock_fft_plan(&plan, context, &desc, device));
    CHECK_OK(penstock_plan_run(plan, in, out, FRAMES));
    for (size_t f = 0; f < FRAMES; f += 2)
        for (size_t bin = 0; bin < n; bin++) {
            double complex want = sum(in + f * n, height, width, rows, bin, direction == PENSTOCK_FORWARD ? -1 : 1);
            size_t r = bin / width, c = bin % width;
            if (centered) {
                r = (r + height / 2) % height;
                c = rows ? (c + width / 2) % width : c;
            }
            penstock_cf32 got = out[f * n + r * width + c];
            error += pow(cabs(got.re + I * got.im - want), 2);
            norm += pow(cabs(want), 2);
        }
    CHECK(sqrt(error / norm) <= factor * 1e-7 * sqrt(log2((double)n)), "%zu x %zu: error %g", height, width,
          sqrt(error / norm));
    memcpy(again, in, FRAMES * n * sizeof *in);
    for (size_t f = 0; f < FRAMES; f++) /* in place, one by one */
        CHECK_OK(penstock_plan_run(plan, again + f * n, again + f * n, 1));
    CHECK(!memcmp(again, out, FRAMES * n * sizeof *out), "%zu x %zu: other bits in place", height, width);
    penstock_plan_free(plan);
}

static void refused(penstock_fft_desc desc, const char *words)
{
    penstock_plan *plan;
    int status = penstock_fft_plan(&plan, context, &desc, device);
    CHECK(status == PENSTOCK_ERR_ARGUMENT || status == PENSTOCK_ERR_UNSUPPORTED, "%s: status %d", words, status);
    CHECK(strstr(penstock_error_text(), words), "'%s' is not in '%s'", words, penstock_error_text());
}

static void check_refusals(bool host)
{
    refused(PENSTOCK_FFT_DESC(.n = 64, .rows = 7), "7 rows");
    refused(PENSTOCK_FFT_DESC(.n = 64, .columns = 7), "7 columns");
    refused(PENSTOCK_FFT_DESC(.n = 64, .rows = 8, .columns = 8), "8 columns");
    refused(PENSTOCK_FFT_DESC(.n = 64, .rows = 8, .domain = PENSTOCK_REAL), "PENSTOCK_REAL");
    refused(PENSTOCK_FFT_DESC(.n = 64, .columns = 8, .load.shift = 0.1), "shift");
    refused(PENSTOCK_FFT_DESC(.n = 64, .rows = 8, .store = {.output = PENSTOCK_OUTPUT_POWER, .average = 4}), "average");
    refused(PENSTOCK_FFT_DESC(.n = 64, .options.radix = 3), "radix 3");
    refused(PENSTOCK_FFT_DESC(.n = 64, .options.scratch = (penstock_scratch)3), "scratch 3");
    refused(PENSTOCK_FFT_DESC(.n = 64, .options.column_way = (penstock_column_way)3), "column_way 3");
    refused(PENSTOCK_FFT_DESC(.n = 64, .options.items = 1025), "1025 work-items");
    refused(PENSTOCK_FFT_DESC(.n = 64, .options.group = 1025), "1025 transforms");
    if (host)
        refused(PENSTOCK_FFT_DESC(.n = 64, .options.radix = 4), "penstock_fft_options");
}

int main(int count, char **arguments)
{
    static const size_t sizes[][2] = {{2, 2}, {8, 8}, {5, 7}, {17, 12}, {24, 40}, {1, 16}, {16, 1}};
    size_t planes = 0;
    device = count > 1 ? arguments[1] : "cpu";
    factor = strcmp(device, "reference") ? 1 : 6;
    int exits = test_device(&context, device);
    if (exits)
        return exits;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int rows = 0; rows < 2; rows++, planes++)
            check_plane(sizes[i][0], sizes[i][1], rows, i % 2 ? PENSTOCK_REVERSE : PENSTOCK_FORWARD, i % 3 == 0);
    check_refusals(!strcmp(device, "cpu") || !strcmp(device, "reference"));
    penstock_context_free(context);
    CHECK_EQ(planes, 14);
    return test_finish();
}
