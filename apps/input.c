/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* From the options of an input to an open source. */
#include "input.h"

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

static int check_raw(const struct input *input, const char *command_name)
{
    if (input_is_radio(input) || ends_with(input->source, ".sigmf-meta") || ends_with(input->source, ".sigmf-data"))
        return EXIT_DONE;
    if (!input->format)
        return fail(EXIT_USAGE, "%s: raw samples from '%s' need --format (cf32, cs16, cs8 or cu8)", command_name,
                    input->source);
    if (!(input->rate_hz > 0))
        return fail(EXIT_USAGE, "%s: raw samples from '%s' need --rate HZ, above zero", command_name, input->source);
    return EXIT_DONE;
}

static bool check_numbers(const struct input *input, uint64_t *count, uint64_t *channel, int *code)
{
    return option_range("--rate", input->rate_hz, 0, 1e10, code) &&
           option_range("--frequency", input->frequency_hz, 0, 1e12, code) &&
           option_range("--bandwidth", input->bandwidth_hz, 0, 1e10, code) &&
           (isnan(input->seconds) || option_range("--seconds", input->seconds, 1e-9, 1e9, code)) &&
           (isnan(input->count) || option_whole("--count", input->count, 1, 9e15, count, code)) &&
           option_whole("--channel", input->channel, 0, 1023, channel, code);
}

int input_open(penstock_source **source, penstock_context *context, const struct input *input, const char *command_name)
{
    penstock_format format = PENSTOCK_CF32;
    uint64_t count = 0, channel = 0;
    int code = EXIT_DONE;
    if (!input->source)
        return fail(EXIT_USAGE, "%s: --input is missing: a file, - or soapy:ARGS", command_name);
    if (!check_numbers(input, &count, &channel, &code))
        return code;
    if (input->format && (code = parse_format(&format, input->format)))
        return code;
    if ((code = check_raw(input, command_name)))
        return code;
    int status = penstock_source_open(
        source, context, input->source,
        &PENSTOCK_SOURCE_DESC(.raw = input->format != NULL, .format = format, .rate_hz = input->rate_hz,
                              .frequency_hz = input->frequency_hz, .gain_set = !isnan(input->gain_db),
                              .gain_db = isnan(input->gain_db) ? 0 : input->gain_db, .antenna = input->antenna,
                              .bandwidth_hz = input->bandwidth_hz, .channel = (unsigned)channel, .count = count,
                              .seconds = isnan(input->seconds) ? 0 : input->seconds, .soapy_log = true));
    return status ? fail_status(status) : EXIT_DONE;
}

int input_check_end(const penstock_source *source)
{
    penstock_source_counters counters = PENSTOCK_SOURCE_COUNTERS;
    if (penstock_source_get_counters(source, &counters) || !counters.trailing_bytes)
        return EXIT_DONE;
    warn("the input ends with %" PRIu64 " bytes that make no whole sample", counters.trailing_bytes);
    return EXIT_DATA;
}
