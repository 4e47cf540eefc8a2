/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock filter: a signal of any length through an FIR filter, shifted and decimated if asked. */
#include "flow.h"
#include "input.h"
#include "interrupt.h"
#include "outfile.h"
#include "progress.h"
#include "tally.h"
#include "taps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NOT_GIVEN UINT64_MAX

struct filtering {
    struct input input;
    char *output, *output_format, *taps_text, *device;
    double shift_hz, attenuation_db;
    uint64_t decimation, advance;
    penstock_format format; /* of the output */
    struct taps taps;
    penstock_context *context;
    penstock_source *source;
    penstock_source_info info;
    penstock_stream *filter;
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
    if ((code = taps_check(f->taps_text)) || (code = input_check(&f->input, "filter")))
        return code;
    return f->output_format ? parse_format(&f->format, f->output_format) : EXIT_DONE;
}

static int open_filter(struct filtering *f)
{
    double half_hz = f->info.rate_hz / 2;
    int code =
        option_check("shift", f->shift_hz, &(struct number_range){.low = -half_hz, .high = half_hz, .unit = "Hz"});
    if (code || (code = taps_read(&f->taps, f->taps_text, f->info.rate_hz, f->attenuation_db)))
        return code;
    if (f->advance == NOT_GIVEN)
        f->advance = f->taps.designed ? (f->taps.count - 1) / 2 : 0;
    if (f->advance >= f->taps.count)
        return fail(EXIT_USAGE, "--advance %" PRIu64 " is impossible: there are %zu taps", f->advance, f->taps.count);
    progress_wait(PROGRESS_PLAN);
    int status = penstock_filter_open(
        &f->filter, f->context,
        &PENSTOCK_FILTER_DESC(.format = f->info.format, .taps = f->taps.complex_taps, .real_taps = f->taps.real_taps,
                              .tap_count = f->taps.count, .decimation = (size_t)f->decimation,
                              .shift = f->shift_hz / f->info.rate_hz, .advance = (size_t)f->advance),
        f->device);
    progress_arrived();
    f->filter_info = PENSTOCK_FILTER_INFO;
    if (!status)
        status = penstock_filter_get_info(f->filter, &f->filter_info);
    return status ? fail_status(status) : EXIT_DONE;
}

static int open_sink(struct filtering *f)
{
    interrupt_hold();
    int status = penstock_sink_open(
        &f->sink, f->output,
        &PENSTOCK_SINK_DESC(.format = f->format, .rate_hz = f->info.rate_hz / (double)f->decimation,
                            .frequency_hz = f->info.frequency_hz > 0 ? f->info.frequency_hz - f->shift_hz : 0,
                            .description = "penstock filter", .files = outfile_set(), .source = f->source,
                            .decimation = f->decimation));
    interrupt_release();
    return status ? fail_status(status) : EXIT_DONE;
}

static int open_all(struct filtering *f)
{
    int code, status;
    f->info = PENSTOCK_SOURCE_INFO;
    if ((code = open_stream_context(&f->context)) || (code = input_open(&f->source, f->context, &f->input)))
        return code;
    if ((status = penstock_source_get_info(f->source, &f->info)))
        return fail_status(status);
    if (strcmp(f->output, "-") && (code = outfile_protect(f->taps_text)))
        return code;
    if ((code = open_sink(f)) || (code = open_filter(f)))
        return code;
    f->values = malloc(FLOW_BLOCK * sizeof *f->values);
    return f->values ? EXIT_DONE : fail(EXIT_DATA, "out of memory");
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
        int status = penstock_stream_pull(f->filter, f->values, FLOW_BLOCK, wait, &count);
        if (!status && f->filter_info.real)
            widen(f->values, count);
        interrupt_hold();
        if (!status && count)
            status = penstock_sink_write(f->sink, f->values, count);
        penstock_filter_get_info(f->filter, &f->filter_info);
        interrupt_release();
        if (status)
            return status;
    } while (count);
    return PENSTOCK_OK;
}

static int push(void *owner, const void *samples, size_t count, size_t *taken)
{
    return penstock_stream_push(((struct filtering *)owner)->filter, samples, count, taken);
}

static int finish(void *owner)
{
    return penstock_stream_finish(((struct filtering *)owner)->filter);
}

static void print_summary(const struct filtering *f)
{
    struct tally tally = {0};
    tally_source(&tally, f->source);
    tally_sink(&tally, f->sink);
    tally_warn(&tally);
    if (!strcmp(f->output, "-"))
        return;
    printf("%s: %" PRIu64 " samples from %" PRIu64 ", %zu taps on %s by transforms of %zu; delay left: %g samples",
           f->output, f->filter_info.values, f->filter_info.samples, f->taps.count, f->filter_info.device,
           f->filter_info.n, f->filter_info.delay);
    tally_print(stdout, &tally);
    putchar('\n');
}

static int conclude(void *owner, int code)
{
    struct filtering *f = owner;
    int status = penstock_sink_close(f->sink);
    int closing = status ? outfile_fail(status) : outfile_complete();
    if (!code && !status && !closing)
        print_summary(f);
    return code ? code : closing;
}

static int filter(struct filtering *f)
{
    int code = check_options(f);
    if (code || (code = open_all(f)))
        return code;
    code = flow_run(&(struct flow){
        .source = f->source, .owner = f, .push = push, .pull = pull, .finish = finish, .conclude = conclude});
    return code ? code : input_check_end(f->source);
}

static int run(const struct command *command, int argc, const char **argv)
{
    struct filtering f = {.input = INPUT_DEFAULTS, .decimation = 1, .attenuation_db = 80, .advance = NOT_GIVEN};
    const struct option_row table[] = {
        INPUT_OPTIONS(f.input),
        OPTION_TEXT("output", 'o', "F", &f.output, "SigMF if it ends in .sigmf-meta, else raw; - for stdout"),
        OPTION_WORD("output-format", 0, "FORMAT", &f.output_format, input_formats, "format", "If not given the first"),
        OPTION_TEXT("taps", 't', "TAPS", &f.taps_text, "A design in hertz, or a file (below)"),
        OPTION_NUMBER("attenuation", 0, "DB", &f.attenuation_db, 0, 200, "dB", "Of a design's stop band"),
        OPTION_WHOLE("decimate", 0, "D", &f.decimation, 1, 1 << 20, "", "Keep one of D samples"),
        OPTION_NUMBER("shift", 0, "HZ", &f.shift_hz, -5e9, 5e9, "Hz",
                      "Move the signal by this before the filter, half the rate at most"),
        OPTION_WHOLE("advance", 0, "N", &f.advance, 0, 1 << 20, "samples",
                     "Leave out the first of the response; if not given, a design's delay"),
        OPTION_TEXT("device", 'd', "NAME", &f.device, "auto, NAME or prefer:NAME (penstock devices)"),
        OPTIONS_END,
    };
    struct options options;
    int code = EXIT_DONE;
    if (options_parse(&options, command, table, argc, argv, &code) && options_no_arguments(&options, command, &code))
        code = filter(&f);
    interrupt_end(code);
    free(f.values);
    taps_free(&f.taps);
    penstock_sink_free(f.sink);
    penstock_stream_free(f.filter);
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
