/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock resample: a signal of any length at another rate. */
#include "convert.h"
#include "shared/interrupt.h"
#include "shared/progress.h"

#include <inttypes.h>
#include <string.h>

#define LARGEST_WHOLE 2147483648.0 /* 2^31 */

struct resampling {
    struct conversion conversion;
    char *ratio_text;
    double to_hz, attenuation_db, passband, transition;
    double ratio;                       /* as a number, or */
    uint64_t interpolation, decimation; /* as a fraction; 0: not given so */
    penstock_stream_info stream_info;
    penstock_resampler_info info;
};

static int read_ratio(struct resampling *r)
{
    const char *slash = strchr(r->ratio_text, '/'), *must_be = "a number from 1/1024 to 1024, or two whole ones: 24/25";
    double whole[2];
    if (!slash)
        return number_read(r->ratio_text, strlen(r->ratio_text), &r->ratio) && r->ratio > 0
                   ? EXIT_DONE
                   : option_fail("ratio", r->ratio_text, must_be);
    if (!number_read_list(r->ratio_text, '/', whole, 2) || !(whole[0] >= 1 && whole[0] <= LARGEST_WHOLE) ||
        !(whole[1] >= 1 && whole[1] <= LARGEST_WHOLE) || floor(whole[0]) < whole[0] || floor(whole[1]) < whole[1])
        return option_fail("ratio", r->ratio_text, must_be);
    r->interpolation = (uint64_t)whole[0];
    r->decimation = (uint64_t)whole[1];
    return EXIT_DONE;
}

static int check_options(struct resampling *r)
{
    int code = conversion_check(&r->conversion, "resample");
    if (code)
        return code;
    if ((r->ratio_text != NULL) == !isnan(r->to_hz))
        return fail(EXIT_USAGE, "resample: one of --to HZ and --ratio R says the new rate");
    return r->ratio_text ? read_ratio(r) : EXIT_DONE;
}

static int open_resampler(struct resampling *r)
{
    if (!r->ratio_text)
        r->ratio = r->to_hz / r->conversion.info.rate_hz;
    progress_wait(PROGRESS_PLAN);
    int status =
        penstock_resampler_open(&r->conversion.stream, r->conversion.context,
                                &PENSTOCK_RESAMPLER_DESC(.format = r->conversion.info.format, .ratio = r->ratio,
                                                         .interpolation = r->interpolation, .decimation = r->decimation,
                                                         .attenuation_db = r->attenuation_db, .passband = r->passband,
                                                         .transition = isnan(r->transition) ? 0 : r->transition),
                                r->conversion.device);
    progress_arrived();
    r->info = PENSTOCK_RESAMPLER_INFO;
    if (!status)
        status = penstock_resampler_get_info(r->conversion.stream, &r->info);
    r->conversion.real = r->conversion.info.format == PENSTOCK_F32;
    return status ? fail_status(status) : EXIT_DONE;
}

static int open_all(struct resampling *r)
{
    int code = conversion_open_source(&r->conversion);
    if (code || (code = open_resampler(r)))
        return code;
    const penstock_source_info *in = &r->conversion.info;
    double rate_hz = in->rate_hz * (double)r->info.interpolation / (double)r->info.decimation;
    return conversion_open_sink(&r->conversion, "penstock resample", r->ratio_text ? rate_hz : r->to_hz,
                                in->frequency_hz, r->info.interpolation, r->info.decimation);
}

static void note(void *owner)
{
    struct resampling *r = owner;
    r->stream_info = PENSTOCK_STREAM_INFO;
    penstock_stream_get_info(r->conversion.stream, &r->stream_info);
}

static void print_summary(void *owner)
{
    const struct resampling *r = owner;
    printf("%s: %" PRIu64 " samples from %" PRIu64 ", %" PRIu64 "/%" PRIu64 " of the rate, %zu taps in %zu arms%s",
           r->conversion.output, r->stream_info.given, r->stream_info.taken, r->info.interpolation, r->info.decimation,
           r->info.taps, r->info.arms, r->info.exact ? "" : " and lines between them");
}

static int resample(struct resampling *r)
{
    int code = check_options(r);
    if (code || (code = open_all(r)))
        return code;
    return conversion_run(&r->conversion, &(struct conversion_kind){r, note, print_summary});
}

static int run(const struct command *command, int argc, const char **argv)
{
    struct resampling r = {
        .conversion = CONVERSION_DEFAULTS, .to_hz = NAN, .attenuation_db = 80, .passband = 0.4, .transition = NAN};
    const struct option_row table[] = {
        CONVERSION_OPTIONS(r.conversion),
        OPTION_NUMBER("to", 't', "HZ", &r.to_hz, 1e-3, 1e12, "Hz", "The new rate"),
        OPTION_TEXT("ratio", 0, "R", &r.ratio_text, "Or the new rate over the old one: 0.96, or 24/25"),
        OPTION_NUMBER("attenuation", 0, "DB", &r.attenuation_db, 20, 120, "dB", "Of images and of what would alias"),
        OPTION_NUMBER("passband", 0, "P", &r.passband, 0.001, 0.499, "", "What is passed, in parts of the lower rate"),
        OPTION_NUMBER(
            "transition", 0, "T", &r.transition, 0.002, 1, "",
            "From there to the stop band, likewise; if not given 1 - 2 P: what aliases lies beside the pass band"),
        OPTIONS_END,
    };
    struct options options;
    int code = EXIT_DONE;
    if (options_parse(&options, command, table, argc, argv, &code) && options_no_arguments(&options, command, &code))
        code = resample(&r);
    interrupt_end(code);
    conversion_free(&r.conversion);
    options_free(&options);
    return code;
}

const struct command command_resample = {
    .name = "resample",
    .synopsis = "--input SRC --output F --to HZ|--ratio R [OPTION...]",
    .summary = "Bring a signal to another rate",
    .notes = "Any ratio from 1/1024 to 1024: a fraction exactly, a rate to the last bit of its quotient. No delay is\n"
             "added: output k stands at sample k / R. T samples give T R, rounded up.\n",
    .run = run,
};
