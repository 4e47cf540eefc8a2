/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock filter: a signal of any length through an FIR filter, shifted and decimated if asked. */
#include "convert.h"
#include "shared/interrupt.h"
#include "shared/outfile.h"
#include "shared/progress.h"
#include "taps.h"

#include <inttypes.h>
#include <string.h>

#define NOT_GIVEN UINT64_MAX

struct filtering {
    struct conversion conversion;
    char *taps_text;
    double shift_hz, attenuation_db;
    uint64_t decimation, advance;
    struct taps taps;
    penstock_filter_info info;
};

static int check_options(struct filtering *f)
{
    int code = conversion_check(&f->conversion, "filter");
    if (code)
        return code;
    if (!f->taps_text)
        return fail(EXIT_USAGE, "filter: --taps is missing: a file or a design such as lowpass:CUT:TRANS");
    return taps_check(f->taps_text);
}

static int open_filter(struct filtering *f)
{
    const penstock_source_info *in = &f->conversion.info;
    const struct number_range shifts = {.low = -in->rate_hz / 2, .high = in->rate_hz / 2, .unit = "Hz"};
    int code = option_check("shift", f->shift_hz, &shifts);
    if (code || (code = taps_read(&f->taps, f->taps_text, in->rate_hz, f->attenuation_db)))
        return code;
    if (f->advance == NOT_GIVEN)
        f->advance = f->taps.designed ? (f->taps.count - 1) / 2 : 0;
    if (f->advance >= f->taps.count)
        return fail(EXIT_USAGE, "--advance %" PRIu64 " is impossible: there are %zu taps", f->advance, f->taps.count);
    progress_wait(PROGRESS_PLAN);
    int status = penstock_filter_open(
        &f->conversion.stream, f->conversion.context,
        &PENSTOCK_FILTER_DESC(.format = in->format, .taps = f->taps.complex_taps, .real_taps = f->taps.real_taps,
                              .tap_count = f->taps.count, .decimation = (size_t)f->decimation,
                              .shift = f->shift_hz / in->rate_hz, .advance = (size_t)f->advance),
        f->conversion.device);
    progress_arrived();
    f->info = PENSTOCK_FILTER_INFO;
    if (!status)
        status = penstock_filter_get_info(f->conversion.stream, &f->info);
    f->conversion.real = f->info.real;
    return status ? fail_status(status) : EXIT_DONE;
}

static int open_all(struct filtering *f)
{
    const penstock_source_info *in = &f->conversion.info;
    int code = conversion_open_source(&f->conversion);
    if (code || (strcmp(f->conversion.output, "-") && (code = outfile_protect(f->taps_text))))
        return code;
    code = conversion_open_sink(&f->conversion, "penstock filter", in->rate_hz / (double)f->decimation,
                                in->frequency_hz > 0 ? in->frequency_hz - f->shift_hz : 0, 1, f->decimation);
    return code ? code : open_filter(f);
}

static void note(void *owner)
{
    struct filtering *f = owner;
    penstock_filter_get_info(f->conversion.stream, &f->info);
}

static void print_summary(void *owner)
{
    const struct filtering *f = owner;
    printf("%s: %" PRIu64 " samples from %" PRIu64 ", %zu taps on %s by transforms of %zu; delay left: %g samples",
           f->conversion.output, f->info.values, f->info.samples, f->taps.count, f->info.device, f->info.n,
           f->info.delay);
}

static int filter(struct filtering *f)
{
    int code = check_options(f);
    if (code || (code = open_all(f)))
        return code;
    return conversion_run(&f->conversion, &(struct conversion_kind){f, note, print_summary});
}

static int run(const struct command *command, int argc, const char **argv)
{
    struct filtering f = {
        .conversion = CONVERSION_DEFAULTS, .decimation = 1, .attenuation_db = 80, .advance = NOT_GIVEN};
    const struct option_row table[] = {
        CONVERSION_OPTIONS(f.conversion),
        OPTION_TEXT("taps", 't', "TAPS", &f.taps_text, "A design in hertz, or a file (below)"),
        OPTION_NUMBER("attenuation", 0, "DB", &f.attenuation_db, 0, 200, "dB", "Of a design's stop band"),
        OPTION_WHOLE("decimate", 0, "D", &f.decimation, 1, 1 << 20, "", "Keep one of D samples"),
        OPTION_NUMBER("shift", 0, "HZ", &f.shift_hz, -5e9, 5e9, "Hz",
                      "Move the signal by this before the filter, half the rate at most"),
        OPTION_WHOLE("advance", 0, "N", &f.advance, 0, 1 << 20, "samples",
                     "Leave out the first of the response; if not given, a design's delay"),
        OPTIONS_END,
    };
    struct options options;
    int code = EXIT_DONE;
    if (options_parse(&options, command, table, argc, argv, &code) && options_no_arguments(&options, command, &code))
        code = filter(&f);
    interrupt_end(code);
    taps_free(&f.taps);
    conversion_free(&f.conversion);
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
