/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock filter: a signal of any length through an FIR filter, shifted and decimated if asked. */
#include "flow.h"
#include "input.h"
#include "interrupt.h"
#include "progress.h"
#include "taps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct filtering {
    struct input input;
    char *output, *output_format, *taps_text, *device;
    double decimation, shift_hz, attenuation_db, advance;
    uint64_t whole_decimation, whole_advance;
    penstock_format format; /* of the output */
    struct taps taps;
    penstock_context *context;
    penstock_source *source;
    penstock_source_info info;
    penstock_filter *filter;
    penstock_filter_info filter_info;
    penstock_sink *sink;
    penstock_cf32 *values;
};

static int check_options(struct filtering *f)
{
    int code = EXIT_DONE;
    if (!f->output)
        return fail(EXIT_USAGE, "filter: --output is missing: the file for the result, or -");
    if (!f->taps_text)
        return fail(EXIT_USAGE, "filter: --taps is missing: a file or a design such as lowpass:CUT:TRANS");
    if (!option_whole("--decimate", f->decimation, 1, 1 << 20, &f->whole_decimation, &code) ||
        !option_range("--attenuation", f->attenuation_db, 0, 200, &code) ||
        (!isnan(f->advance) && !option_whole("--advance", f->advance, 0, 1 << 20, &f->whole_advance, &code)))
        return code;
    return f->output_format ? parse_format(&f->format, f->output_format) : EXIT_DONE;
}

static int open_filter(struct filtering *f)
{
    int code = taps_read(&f->taps, f->taps_text, f->info.rate_hz, f->attenuation_db);
    if (code)
        return code;
    if (isnan(f->advance) && f->taps.designed)
        f->whole_advance = (f->taps.count - 1) / 2;
    if (f->whole_advance >= f->taps.count)
        return fail(EXIT_USAGE, "--advance %" PRIu64 " is impossible: there are %zu taps", f->whole_advance,
                    f->taps.count);
    if (!option_range("--shift", f->shift_hz, -f->info.rate_hz / 2, f->info.rate_hz / 2, &code))
        return code;
    int status = penstock_filter_new(
        &f->filter, f->context,
        &PENSTOCK_FILTER_DESC(.format = f->info.format, .taps = f->taps.complex_taps, .real_taps = f->taps.real_taps,
                              .tap_count = f->taps.count, .decimation = (size_t)f->whole_decimation,
                              .shift = f->shift_hz / f->info.rate_hz, .advance = (size_t)f->whole_advance),
        f->device);
    f->filter_info = PENSTOCK_FILTER_INFO;
    if (!status)
        status = penstock_filter_get_info(f->filter, &f->filter_info);
    return status ? fail_status(status) : EXIT_DONE;
}

static int open_all(struct filtering *f)
{
    int code, status;
    f->info = PENSTOCK_SOURCE_INFO;
    if ((code = open_context(&f->context, 0)) || (code = input_open(&f->source, f->context, &f->input, "filter")))
        return code;
    if ((status = penstock_source_get_info(f->source, &f->info)))
        return fail_status(status);
    if ((code = open_filter(f)))
        return code;
    f->values = malloc(FLOW_BLOCK * sizeof *f->values);
    if (!f->values)
        return fail(EXIT_DATA, "out of memory");
    status = penstock_sink_open(
        &f->sink, f->output,
        &PENSTOCK_SINK_DESC(.format = f->format, .rate_hz = f->info.rate_hz / (double)f->whole_decimation,
                            .frequency_hz = f->info.frequency_hz > 0 ? f->info.frequency_hz - f->shift_hz : 0,
                            .description = "penstock filter"));
    return status ? fail_status(status) : EXIT_DONE;
}

/* Floats become complex values where they lie, from the last one on. */
static void widen(penstock_cf32 *values, size_t count)
{
    const float *floats = (const float *)(const void *)values;
    while (count--)
        values[count] = (penstock_cf32){floats[count], 0};
}

static int pull(void *owner, bool wait)
{
    struct filtering *f = owner;
    size_t count = 0;
    do {
        int status = penstock_filter_pull(f->filter, f->values, FLOW_BLOCK, wait, &count);
        if (!status && f->filter_info.real)
            widen(f->values, count);
        if (!status && count)
            status = penstock_sink_write(f->sink, f->values, count);
        if (status)
            return status;
    } while (count);
    return PENSTOCK_OK;
}

static int push(void *owner, const void *samples, size_t count, size_t *taken)
{
    return penstock_filter_push(((struct filtering *)owner)->filter, samples, count, taken);
}

static int finish(void *owner)
{
    return penstock_filter_finish(((struct filtering *)owner)->filter);
}

static int filter(struct filtering *f)
{
    int code = check_options(f);
    if (code || (code = open_all(f)))
        return code;
    interrupt_watch(f->source);
    code = flow_run(&(struct flow){.source = f->source, .owner = f, .push = push, .pull = pull, .finish = finish});
    interrupt_watch(NULL);
    int status = penstock_sink_close(f->sink);
    if (status && !code)
        code = fail_status(status);
    penstock_filter_get_info(f->filter, &f->filter_info);
    if (!code && strcmp(f->output, "-"))
        printf("%s: %" PRIu64 " samples from %" PRIu64
               ", %zu taps on %s by transforms of %zu; delay left: %g samples\n",
               f->output, f->filter_info.values, f->filter_info.samples, f->taps.count, f->filter_info.device,
               f->filter_info.n, f->filter_info.delay);
    return code ? code : input_check_end(f->source);
}

static int run(const struct command *command, int argc, const char **argv)
{
    struct filtering f = {.input = INPUT_DEFAULTS, .decimation = 1, .attenuation_db = 80, .advance = NAN};
    const struct poptOption table[] = {
        INPUT_OPTIONS(f.input),
        {"output", 'o', POPT_ARG_STRING, &f.output, 0, "SigMF if it ends in .sigmf-meta, else raw; - for stdout", "F"},
        {"output-format", 0, POPT_ARG_STRING, &f.output_format, 0, "cf32 (if not given), cs16, cs8 or cu8", "FORMAT"},
        {"taps", 't', POPT_ARG_STRING, &f.taps_text, 0, "A design in hertz, or a file (below)", "TAPS"},
        {"attenuation", 0, POPT_ARG_DOUBLE, &f.attenuation_db, 0, "Of a design's stop band (80)", "DB"},
        {"decimate", 0, POPT_ARG_DOUBLE, &f.decimation, 0, "Keep one of D samples (1)", "D"},
        {"shift", 0, POPT_ARG_DOUBLE, &f.shift_hz, 0, "Move the signal by this before the filter", "HZ"},
        {"advance", 0, POPT_ARG_DOUBLE, &f.advance, 0,
         "Leave out the first N samples of the response; if not given, a design's delay", "N"},
        {"device", 'd', POPT_ARG_STRING, &f.device, 0, "auto, NAME or prefer:NAME (penstock devices)", "NAME"},
        OPTIONS_END,
    };
    struct options options;
    int code = EXIT_DONE;
    if (options_parse(&options, command, table, argc, argv, &code) && options_no_arguments(&options, command, &code))
        code = filter(&f);
    free(f.values);
    taps_free(&f.taps);
    penstock_sink_free(f.sink);
    penstock_filter_free(f.filter);
    penstock_source_free(f.source);
    penstock_context_free(f.context);
    options_free(&options);
    return code;
}

const struct command command_filter = {
    .name = "filter",
    .synopsis = "--input SRC --output F --taps TAPS [OPTION...]",
    .summary = "Filter a signal; shift and decimate it",
    .notes = TAPS_NOTES "The output has as many samples as the input, over D. --shift -F moves what is F above\n"
                        "the centre to zero.\n",
    .run = run,
};
