/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* From the options of an input to an open source. */
#include "input.h"
#include "outfile.h"
#include "progress.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *const input_formats[] = {"cf32", "cs16", "cs8", "cu8", NULL};

int parse_format(penstock_format *format, const char *text)
{
    for (const char *const *known = input_formats; *known; known++)
        if (!strcmp(text, *known))
            return penstock_format_parse(format, text) ? fail_status(PENSTOCK_ERR_ARGUMENT) : EXIT_DONE;
    return fail_unknown("format", text, input_formats);
}

bool input_is_radio(const struct input *input)
{
    return input->source && !strncmp(input->source, "soapy:", 6);
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && !strcmp(text + length - end_length, end);
}

static void tell_unused(const struct input *input)
{
    const struct {
        bool given;
        const char *name;
    } options[] = {{!isnan(input->gain_db), "--gain"},
                   {input->antenna, "--antenna"},
                   {input->bandwidth_hz > 0, "--bandwidth"},
                   {input->channel > 0, "--channel"}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].given)
            warn("%s is for a radio, and '%s' is none", options[i].name, input->source);
}

int input_check(const struct input *input, const char *command_name)
{
    if (!input->source)
        return fail(EXIT_USAGE, "%s: --input is missing: a file, - or soapy:ARGS", command_name);
    if (input_is_radio(input))
        return EXIT_DONE;
    tell_unused(input);
    if (ends_with(input->source, ".sigmf-meta") || ends_with(input->source, ".sigmf-data"))
        return EXIT_DONE;
    if (!input->format)
        return fail(EXIT_USAGE, "%s: raw samples from '%s' need --format (cf32, cs16, cs8 or cu8)", command_name,
                    input->source);
    if (!(input->rate_hz > 0))
        return fail(EXIT_USAGE, "%s: raw samples from '%s' need --rate HZ", command_name, input->source);
    return EXIT_DONE;
}

int input_open(penstock_source **source, penstock_context *context, const struct input *input)
{
    penstock_format format = PENSTOCK_CF32;
    int code = input->format ? parse_format(&format, input->format) : EXIT_DONE;
    if (code)
        return code;
    bool gain_set = !isnan(input->gain_db);
    progress_wait(input_is_radio(input) ? "opening the radio" : PROGRESS_INPUT);
    int status = penstock_source_open(
        source, context, input->source,
        &PENSTOCK_SOURCE_DESC(.raw = input->format != NULL, .format = format, .rate_hz = input->rate_hz,
                              .frequency_hz = input->frequency_hz, .gain_set = gain_set,
                              .gain_db = gain_set ? input->gain_db : 0, .antenna = input->antenna,
                              .bandwidth_hz = input->bandwidth_hz, .channel = (unsigned)input->channel,
                              .count = input->count, .seconds = input->seconds, .soapy_log = true));
    progress_arrived();
    return status ? fail_status(status) : outfile_protect_source(*source);
}

int input_check_end(const penstock_source *source)
{
    penstock_source_counters counters = PENSTOCK_SOURCE_COUNTERS;
    if (penstock_source_get_counters(source, &counters) || !(counters.trailing_bytes || counters.missing_samples))
        return EXIT_DONE;
    if (counters.trailing_bytes)
        warn("the input ends with %" PRIu64 " bytes that make no whole sample", counters.trailing_bytes);
    return EXIT_DATA; /* of missing samples the library's log has told */
}
