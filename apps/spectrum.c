/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock spectrum: a waterfall picture of any length of signal. */
#include "flow.h"
#include "input.h"
#include "interrupt.h"
#include "outfile.h"
#include "picture/canvas.h"
#include "progress.h"
#include "waterfall.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct analysis {
    struct input input;
    char *png, *window, *device;
    double n, hop, average, low_db, high_db;
    int peak;
    uint64_t whole_n, whole_hop, whole_average;
    penstock_context *context;
    penstock_source *source;
    penstock_source_info info;
    bool real; /* samples, which have the upper half of the spectrum alone */
    penstock_spectrum *spectrum;
    struct waterfall waterfall;
    float *vectors;
    size_t vector_capacity;
    FILE *file;
};

static int check_options(struct analysis *a)
{
    int code = EXIT_DONE;
    if (!a->png)
        return fail(EXIT_USAGE, "spectrum: --png is missing: the picture's file");
    if (!option_whole("--fft", a->n, 2, 1 << 23, &a->whole_n, &code) ||
        !option_whole("--hop", a->hop, 0, 64 * a->n, &a->whole_hop, &code) ||
        !option_whole("--average", a->average, 1, 1e6, &a->whole_average, &code))
        return code;
    if (!a->whole_hop)
        a->whole_hop = a->whole_n;
    if (a->low_db >= a->high_db)
        return fail(EXIT_USAGE, "--low %g and --high %g are impossible: the first must be less", a->low_db, a->high_db);
    return EXIT_DONE;
}

/* A sine at full scale shows as 0 dB in its bin, whatever the window. */
static int window_gain(const struct analysis *a, float *scale)
{
    float *window = malloc(a->whole_n * sizeof *window);
    double sum = 0;
    if (!window)
        return fail(EXIT_DATA, "out of memory");
    int status = penstock_window_fill(window, a->whole_n, a->window ? a->window : "hann");
    for (size_t i = 0; !status && i < a->whole_n; i++)
        sum += window[i];
    free(window);
    *scale = (float)(1 / sum);
    return status ? fail_status(status) : EXIT_DONE;
}

static int open_analysis(struct analysis *a)
{
    float scale = 1;
    int code = window_gain(a, &scale), status;
    a->info = PENSTOCK_SOURCE_INFO;
    if (code || (code = png_available("--png")) || (code = open_context(&a->context, 0)) ||
        (code = input_open(&a->source, a->context, &a->input, "spectrum")))
        return code;
    if ((status = penstock_source_get_info(a->source, &a->info)))
        return fail_status(status);
    a->real = a->info.format == PENSTOCK_F32;
    status = penstock_spectrum_new(
        &a->spectrum, a->context,
        &PENSTOCK_SPECTRUM_DESC(.n = a->whole_n, .hop = a->whole_hop, .format = a->info.format,
                                .window = a->window ? a->window : "hann", .output = PENSTOCK_OUTPUT_POWER,
                                .centered = !a->real, .scale = a->real ? 2 * scale : scale,
                                .average = (unsigned)a->whole_average),
        a->device);
    if (status)
        return fail_status(status);
    uint64_t expected = a->info.total_samples / (a->whole_hop * a->whole_average);
    size_t length = penstock_spectrum_length(a->spectrum);
    a->vector_capacity = FLOW_BLOCK / length + 1;
    a->vectors = malloc(a->vector_capacity * length * sizeof *a->vectors);
    if (!a->vectors || !waterfall_init(&a->waterfall, length, expected, a->peak))
        return fail(EXIT_DATA, "out of memory");
    return outfile_open(&a->file, a->png);
}

static int pull(void *owner, bool wait)
{
    struct analysis *a = owner;
    size_t count = 0, length = penstock_spectrum_length(a->spectrum);
    do {
        int status = penstock_spectrum_pull(a->spectrum, a->vectors, a->vector_capacity, wait, &count);
        if (status)
            return status;
        for (size_t i = 0; i < count; i++)
            waterfall_add(&a->waterfall, a->vectors + i * length);
    } while (count);
    return PENSTOCK_OK;
}

static int push(void *owner, const void *samples, size_t count, size_t *taken)
{
    return penstock_spectrum_push(((struct analysis *)owner)->spectrum, samples, count, taken);
}

static int finish(void *owner)
{
    return penstock_spectrum_finish(((struct analysis *)owner)->spectrum);
}

static int write_picture(struct analysis *a)
{
    char title[160];
    double width_hz = a->real ? a->info.rate_hz / 2 : a->info.rate_hz;
    snprintf(title, sizeof title, "%.80s: %" PRIu64 "-point FFT, %s, on %s", a->info.description, a->whole_n,
             a->window ? a->window : "hann", penstock_spectrum_device(a->spectrum));
    return waterfall_write(
        &a->waterfall,
        &(struct waterfall_labels){.width_hz = width_hz,
                                   .frequency_hz = a->real ? width_hz / 2 : a->info.frequency_hz,
                                   .seconds_per_spectrum = (double)(a->whole_hop * a->whole_average) / a->info.rate_hz,
                                   .low_db = a->low_db,
                                   .high_db = a->high_db,
                                   .title = title},
        a->file, a->png);
}

static int spectrum(struct analysis *a)
{
    int code = check_options(a);
    if (code || (code = open_analysis(a)))
        return code;
    interrupt_watch(a->source);
    code = flow_run(&(struct flow){.source = a->source, .owner = a, .push = push, .pull = pull, .finish = finish});
    interrupt_watch(NULL);
    if (!a->waterfall.spectra) {
        outfile_discard(a->file, a->png);
        return code ? code
                    : fail(EXIT_DATA, "'%s' is too short: no whole transform of %" PRIu64 " samples%s", a->input.source,
                           a->whole_n, a->whole_average > 1 ? ", averaged" : "");
    }
    int picture = outfile_finish(a->file, a->png, write_picture(a));
    code = code ? code : picture;
    if (!picture)
        printf("%s: %" PRIu64 " spectra of %" PRIu64 " samples on %s, %zu rows\n", a->png, a->waterfall.spectra,
               a->whole_n, penstock_spectrum_device(a->spectrum), a->waterfall.rows);
    return code ? code : input_check_end(a->source);
}

static int run(const struct command *command, int argc, const char **argv)
{
    struct analysis a = {.input = INPUT_DEFAULTS, .n = 1024, .average = 1, .low_db = NAN, .high_db = NAN};
    const struct poptOption table[] = {
        INPUT_OPTIONS(a.input),
        {"png", 'o', POPT_ARG_STRING, &a.png, 0, "The picture", "OUT.png"},
        {"fft", 0, POPT_ARG_DOUBLE, &a.n, 0, "Transform length (1024)", "N"},
        {"hop", 0, POPT_ARG_DOUBLE, &a.hop, 0, "Samples from one transform to the next (N)", "H"},
        {"window", 'w', POPT_ARG_STRING, &a.window, 0, "rectangular, hann (if not given), hamming, blackman, ...",
         "NAME"},
        {"average", 0, POPT_ARG_DOUBLE, &a.average, 0, "Transforms averaged into one spectrum (1)", "K"},
        {"peak", 0, POPT_ARG_NONE, &a.peak, 0, "Show the largest of what shares a pixel, not the mean", NULL},
        {"low", 0, POPT_ARG_DOUBLE, &a.low_db, 0, "Lower end of the colour scale", "DB"},
        {"high", 0, POPT_ARG_DOUBLE, &a.high_db, 0, "Upper end of the colour scale", "DB"},
        {"device", 'd', POPT_ARG_STRING, &a.device, 0, "auto, NAME or prefer:NAME (penstock devices)", "NAME"},
        OPTIONS_END,
    };
    struct options options;
    int code = EXIT_DONE;
    if (options_parse(&options, command, table, argc, argv, &code) && options_no_arguments(&options, command, &code))
        code = spectrum(&a);
    waterfall_free(&a.waterfall);
    free(a.vectors);
    penstock_spectrum_free(a.spectrum);
    penstock_source_free(a.source);
    penstock_context_free(a.context);
    options_free(&options);
    return code;
}

const struct command command_spectrum = {
    .name = "spectrum",
    .synopsis = "--input SRC --png OUT.png [OPTION...]",
    .summary = "Draw a waterfall: time down, frequency across, power as colour",
    .notes = "Windows: rectangular, hann, hamming, blackman, blackman-harris, nuttall, flat-top, bartlett,\n"
             "kaiser:BETA, gaussian:SIGMA. A sine at full scale is 0 dBFS. Long signals are reduced to the\n"
             "height of the picture; an interrupt draws what was read.\n",
    .run = run,
};
