/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock spectrum: a waterfall picture of any length of signal. */
#include "flow.h"
#include "picture/canvas.h"
#include "shared/input.h"
#include "shared/interrupt.h"
#include "shared/outfile.h"
#include "shared/progress.h"
#include "tally.h"
#include "waterfall.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 1 << 23, MOST_HOPS = 64 }; /* of a transform; a hop in transform lengths */

struct analysis {
    struct input input;
    char *png, *window, *device;
    double low_db, high_db;
    uint64_t n, hop, average; /* hop: n if not given */
    bool peak;
    float scale; /* of the window */
    penstock_context *context;
    penstock_source *source;
    penstock_source_info info;
    bool real; /* samples, which have the upper half of the spectrum alone */
    penstock_stream *spectrum;
    struct waterfall waterfall;
    float *vectors;
    size_t vector_capacity;
    FILE *file;
};

static size_t vector_length(const struct analysis *a)
{
    return a->real ? a->n / 2 + 1 : a->n;
}

/* A sine at full scale shows as 0 dB in its bin, whatever the window. */
static int window_gain(struct analysis *a)
{
    float *window = malloc(a->n * sizeof *window);
    double sum = 0;
    if (!window)
        return fail(EXIT_DATA, "out of memory");
    int status = penstock_window_fill(window, a->n, a->window ? a->window : "hann");
    for (size_t i = 0; !status && i < a->n; i++)
        sum += window[i];
    free(window);
    a->scale = (float)(1 / sum);
    return status ? fail_status(status) : EXIT_DONE;
}

static int check_options(struct analysis *a)
{
    int code = EXIT_DONE;
    if (!a->png)
        return fail(EXIT_USAGE, "spectrum: --png is missing: the picture's file");
    a->hop = a->hop ? a->hop : a->n;
    if ((code = option_check(
             "hop", (double)a->hop,
             &(struct number_range){.low = 1, .high = MOST_HOPS * (double)a->n, .unit = "samples", .whole = true})))
        return code;
    if (a->low_db >= a->high_db)
        return fail(EXIT_USAGE, "--low %g and --high %g are impossible: the first must be less", a->low_db, a->high_db);
    if ((code = window_gain(a)))
        return code;
    return input_check(&a->input, "spectrum");
}

static int open_analysis(struct analysis *a)
{
    int code = png_available("--png"), status;
    a->info = PENSTOCK_SOURCE_INFO;
    if (code || (code = open_stream_context(&a->context)) || (code = input_open(&a->source, a->context, &a->input)))
        return code;
    if ((status = penstock_source_get_info(a->source, &a->info)))
        return fail_status(status);
    interrupt_hold();
    code = outfile_open(&a->file, a->png);
    interrupt_release();
    if (code)
        return code;
    a->real = a->info.format == PENSTOCK_F32;
    progress_wait(PROGRESS_PLAN);
    status = penstock_spectrum_open(&a->spectrum, a->context,
                                    &PENSTOCK_SPECTRUM_DESC(.n = a->n, .hop = a->hop, .format = a->info.format,
                                                            .window = a->window ? a->window : "hann",
                                                            .output = PENSTOCK_OUTPUT_POWER, .centered = !a->real,
                                                            .scale = a->real ? 2 * a->scale : a->scale,
                                                            .average = (unsigned)a->average),
                                    a->device);
    progress_arrived();
    if (status)
        return fail_status(status);
    uint64_t expected = a->info.total_samples / (a->hop * a->average);
    size_t length = vector_length(a);
    a->vector_capacity = FLOW_VALUES / length + 1;
    a->vectors = malloc(a->vector_capacity * length * sizeof *a->vectors);
    if (!a->vectors || !waterfall_init(&a->waterfall, length, expected, a->peak))
        return fail(EXIT_DATA, "out of memory");
    return EXIT_DONE;
}

static int pull(void *owner, bool wait)
{
    struct analysis *a = owner;
    size_t count = 0, length = vector_length(a);
    do {
        int status = penstock_stream_pull(a->spectrum, a->vectors, a->vector_capacity, wait, &count);
        if (status)
            return status;
        interrupt_hold();
        for (size_t i = 0; i < count; i++)
            waterfall_add(&a->waterfall, a->vectors + i * length);
        interrupt_release();
    } while (count);
    return PENSTOCK_OK;
}

static int push(void *owner, const void *samples, size_t count, size_t *taken)
{
    return penstock_stream_push(((struct analysis *)owner)->spectrum, samples, count, taken);
}

static int finish(void *owner)
{
    return penstock_stream_finish(((struct analysis *)owner)->spectrum);
}

/* A bin's colour lies about its middle: the picture begins half a bin lower, and with an odd number of bins it is the
 * middle one that has the centre. */
static int write_picture(struct analysis *a)
{
    char title[160];
    const double bin_hz = a->info.rate_hz / (double)a->n, width_hz = bin_hz * (double)vector_length(a);
    const double middle_hz = a->real ? bin_hz * (double)(a->n / 2) / 2 : -(a->n % 2 ? 0 : bin_hz / 2);
    snprintf(title, sizeof title, "%.80s: %" PRIu64 "-point FFT, %s, on %s", a->info.description, a->n,
             a->window ? a->window : "hann", penstock_stream_device(a->spectrum));
    return waterfall_write(
        &a->waterfall,
        &(struct waterfall_labels){.width_hz = width_hz,
                                   .frequency_hz = middle_hz + (a->real ? 0 : a->info.frequency_hz),
                                   .seconds_per_spectrum = (double)(a->hop * a->average) / a->info.rate_hz,
                                   .low_db = a->low_db,
                                   .high_db = a->high_db,
                                   .title = title},
        a->file, a->png);
}

static void print_summary(const struct analysis *a)
{
    struct tally tally = {0};
    tally_source(&tally, a->source);
    tally_warn(&tally);
    printf("%s: %" PRIu64 " spectra of %" PRIu64 " samples on %s, %zu rows", a->png, a->waterfall.spectra, a->n,
           penstock_stream_device(a->spectrum), a->waterfall.rows);
    tally_print(stdout, &tally);
    putchar('\n');
}

static int conclude(void *owner, int code)
{
    struct analysis *a = owner;
    if (!a->waterfall.spectra && interrupted())
        return fail(EXIT_DONE, "interrupted before a whole transform was read: nothing is written");
    if (!a->waterfall.spectra)
        return code ? code
                    : fail(EXIT_DATA, "'%s' is too short: no whole transform of %" PRIu64 " samples%s", a->input.source,
                           a->n, a->average > 1 ? ", averaged" : "");
    int picture = write_picture(a), closing = outfile_close(a->file);
    a->file = NULL;
    if (picture || closing || (picture = outfile_complete()))
        return picture ? picture : closing;
    print_summary(a);
    return EXIT_DONE;
}

static int spectrum(struct analysis *a)
{
    int code = check_options(a);
    if (code || (code = open_analysis(a)))
        return code;
    code = flow_run(&(struct flow){
        .source = a->source, .owner = a, .push = push, .pull = pull, .finish = finish, .conclude = conclude});
    return code ? code : input_check_end(a->source);
}

static int run(const struct command *command, int argc, const char **argv)
{
    struct analysis a = {.input = INPUT_DEFAULTS, .n = 1024, .average = 1, .low_db = NAN, .high_db = NAN};
    const struct option_row table[] = {
        INPUT_OPTIONS(a.input),
        OPTION_TEXT("png", 'o', "OUT.png", &a.png, "The picture"),
        OPTION_WHOLE("fft", 0, "N", &a.n, 2, MOST_POINTS, "samples", "Transform length"),
        OPTION_WHOLE("hop", 0, "H", &a.hop, 1, MOST_HOPS * (double)MOST_POINTS, "samples",
                     "From one transform to the next; N if not given, 64 N at most"),
        OPTION_TEXT("window", 'w', "NAME", &a.window, "rectangular, hann (if not given), hamming, blackman, ..."),
        OPTION_WHOLE("average", 0, "K", &a.average, 1, 1e6, "", "Transforms averaged into one spectrum"),
        OPTION_FLAG("peak", 0, &a.peak, "Show the largest of what shares a pixel, not the mean"),
        OPTION_NUMBER("low", 0, "DB", &a.low_db, -1000, 1000, "dB", "Lower end of the colour scale"),
        OPTION_NUMBER("high", 0, "DB", &a.high_db, -1000, 1000, "dB", "Upper end of the colour scale"),
        OPTION_TEXT("device", 'd', "NAME", &a.device, "auto, NAME or prefer:NAME (penstock devices)"),
        OPTIONS_END,
    };
    struct options options;
    int code = EXIT_DONE;
    if (options_parse(&options, command, table, argc, argv, &code) && options_no_arguments(&options, command, &code))
        code = spectrum(&a);
    interrupt_end(code);
    outfile_close(a.file);
    waterfall_free(&a.waterfall);
    free(a.vectors);
    penstock_stream_free(a.spectrum);
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
