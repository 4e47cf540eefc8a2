/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock channelize: a signal of any length to channels of equal width, each to a file of its own, or to a picture.
 */
#include "flow.h"
#include "input.h"
#include "interrupt.h"
#include "outfile.h"
#include "picture/canvas.h"
#include "progress.h"
#include "waterfall.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CHANNELS = 65536 };

struct channelizing {
    struct input input;
    char *output, *output_format, *oversample_text, *keep_text, *png, *device;
    double channels, taps;
    uint64_t whole_channels, whole_taps, hop;
    penstock_format format; /* of the output */
    size_t *keep, kept;     /* channels, in the order of their frequencies where all are kept */
    penstock_context *context;
    penstock_source *source;
    penstock_source_info info;
    penstock_channelizer *channelizer;
    penstock_channelizer_info bank;
    penstock_sink **sinks;            /* one for each channel kept, or none */
    penstock_cf32 **streams, *values; /* `capacity` values of each channel */
    size_t capacity;
    struct waterfall waterfall;
    float *power; /* of a frame */
    FILE *picture;
};

/* ---------------------------------------------------------------- options --------------------- */

/* "2", "4/3": the hop is the channels over it. */
static int parse_oversample(struct channelizing *c)
{
    uint64_t over = 1, under = 1;
    char *end = NULL;
    if (c->oversample_text) {
        over = strtoull(c->oversample_text, &end, 10);
        if (*end == '/')
            under = strtoull(end + 1, &end, 10);
        if (end == c->oversample_text || *end || !over || !under || over > MOST_CHANNELS || under > MOST_CHANNELS)
            return fail(EXIT_USAGE, "--oversample '%s' is impossible: it is N or N/D", c->oversample_text);
    }
    c->hop = c->whole_channels * under / over;
    if (over < under || c->hop < 1 || c->hop * over != c->whole_channels * under)
        return fail(EXIT_USAGE,
                    "--oversample '%s' is impossible for %" PRIu64
                    " channels: it is 1 or more, and divides them to a whole number of samples",
                    c->oversample_text, c->whole_channels);
    return EXIT_DONE;
}

/* "0,3,-2": a negative one counts down from the centre. */
static int parse_keep(struct channelizing *c)
{
    long channels = (long)c->whole_channels;
    char *next = c->keep_text;
    for (;;) {
        char *end;
        long channel = strtol(next, &end, 10);
        if (end == next || (*end && *end != ',') || channel < -channels / 2 || channel >= channels)
            return fail(EXIT_USAGE, "--keep '%s' is impossible: it is a list of channels, %ld .. %ld, such as 0,3,-2",
                        c->keep_text, -channels / 2, channels - 1);
        if (c->kept == (size_t)channels)
            return fail(EXIT_USAGE, "--keep names more than the %ld channels", channels);
        c->keep[c->kept++] = (size_t)(channel < 0 ? channel + channels : channel);
        if (!*end)
            return EXIT_DONE;
        next = end + 1;
    }
}

/* All channels, the lowest frequency first. */
static void keep_all(struct channelizing *c)
{
    size_t channels = c->whole_channels, lowest = (channels + 1) / 2;
    for (c->kept = 0; c->kept < channels; c->kept++)
        c->keep[c->kept] = (lowest + c->kept) % channels;
}

static int check_options(struct channelizing *c)
{
    int code = EXIT_DONE;
    if (!c->output && !c->png)
        return fail(EXIT_USAGE, "channelize: --output or --png is missing: the files' common beginning, or a picture");
    if (c->keep_text && c->png)
        return fail(EXIT_USAGE, "channelize: --png shows all channels, --keep leaves some out: give one of them");
    if (!option_whole("--channels", c->channels, 2, MOST_CHANNELS, &c->whole_channels, &code) ||
        !option_whole("--taps", c->taps, 0, 1024, &c->whole_taps, &code) || (code = parse_oversample(c)))
        return code;
    if (!(c->keep = malloc(c->whole_channels * sizeof *c->keep)))
        return fail(EXIT_DATA, "out of memory");
    if (!c->keep_text)
        keep_all(c);
    else if ((code = parse_keep(c)))
        return code;
    if (c->png && (code = png_available("--png")))
        return code;
    return c->output_format ? parse_format(&c->format, c->output_format) : EXIT_DONE;
}

/* ---------------------------------------------------------------- opening --------------------- */

/* An odd number of taps, so that a whole advance takes their delay out. */
static int open_bank(struct channelizing *c)
{
    size_t tap_count =
        c->whole_taps ? c->whole_taps * c->whole_channels : penstock_channelizer_taps_length(c->whole_channels, c->hop);
    tap_count -= tap_count % 2 ? 0 : 1;
    int status = penstock_channelizer_new(&c->channelizer, c->context,
                                          &PENSTOCK_CHANNELIZER_DESC(.channels = c->whole_channels, .hop = c->hop,
                                                                     .tap_count = tap_count, .select = c->keep,
                                                                     .select_count = c->kept, .format = c->info.format,
                                                                     .advance = (tap_count - 1) / 2),
                                          c->device);
    c->bank = PENSTOCK_CHANNELIZER_INFO;
    if (!status)
        status = penstock_channelizer_get_info(c->channelizer, &c->bank);
    return status == PENSTOCK_ERR_ARGUMENT ? fail(EXIT_USAGE, "%s", penstock_error_text())
           : status                        ? fail_status(status)
                                           : EXIT_DONE;
}

/* PREFIX-7.sigmf-meta for channel 7, which lies 7 channel widths above the centre. */
static int open_sinks(struct channelizing *c)
{
    double width_hz = c->info.rate_hz / (double)c->whole_channels, rate_hz = c->info.rate_hz / (double)c->hop;
    if (!(c->sinks = calloc(c->kept, sizeof *c->sinks)))
        return fail(EXIT_DATA, "out of memory");
    for (size_t i = 0; i < c->kept; i++) {
        size_t k = c->keep[i];
        double step = 2 * k < c->whole_channels ? (double)k : (double)k - (double)c->whole_channels;
        char path[4096], about[64];
        if (snprintf(path, sizeof path, "%s-%zu.sigmf-meta", c->output, k) >= (int)sizeof path)
            return fail(EXIT_USAGE, "--output is too long");
        snprintf(about, sizeof about, "penstock channelize, channel %zu of %" PRIu64, k, c->whole_channels);
        int status = penstock_sink_open(
            &c->sinks[i], path,
            &PENSTOCK_SINK_DESC(.format = c->format, .rate_hz = rate_hz,
                                .frequency_hz = c->info.frequency_hz > 0 ? c->info.frequency_hz + step * width_hz : 0,
                                .description = about));
        if (status)
            return fail_status(status);
    }
    return EXIT_DONE;
}

static int open_all(struct channelizing *c)
{
    int code, status;
    c->info = PENSTOCK_SOURCE_INFO;
    if ((code = open_context(&c->context, 0)) || (code = input_open(&c->source, c->context, &c->input, "channelize")))
        return code;
    if ((status = penstock_source_get_info(c->source, &c->info)))
        return fail_status(status);
    if ((code = open_bank(c)))
        return code;
    c->capacity = FLOW_BLOCK / c->kept + 16;
    c->values = malloc(c->kept * c->capacity * sizeof *c->values);
    c->streams = malloc(c->kept * sizeof *c->streams);
    c->power = malloc(c->kept * sizeof *c->power);
    if (!c->values || !c->streams || !c->power ||
        (c->png && !waterfall_init(&c->waterfall, c->kept, c->info.total_samples / c->hop, false)))
        return fail(EXIT_DATA, "out of memory");
    for (size_t i = 0; i < c->kept; i++)
        c->streams[i] = c->values + i * c->capacity;
    if (c->output && (code = open_sinks(c)))
        return code;
    return c->png ? outfile_open(&c->picture, c->png) : EXIT_DONE;
}

/* ---------------------------------------------------------------- the signal ------------------ */

static void draw_frames(struct channelizing *c, size_t count)
{
    for (size_t f = 0; f < count; f++) {
        for (size_t i = 0; i < c->kept; i++) {
            penstock_cf32 value = c->streams[i][f];
            c->power[i] = value.re * value.re + value.im * value.im;
        }
        waterfall_add(&c->waterfall, c->power);
    }
}

static int pull(void *owner, bool wait)
{
    struct channelizing *c = owner;
    size_t count = 0;
    do {
        int status = penstock_channelizer_pull_streams(c->channelizer, c->streams, c->capacity, wait, &count);
        for (size_t i = 0; i < c->kept && c->sinks && count && !status; i++)
            status = penstock_sink_write(c->sinks[i], c->streams[i], count);
        if (status)
            return status;
        if (c->png)
            draw_frames(c, count);
    } while (count);
    return PENSTOCK_OK;
}

static int push(void *owner, const void *samples, size_t count, size_t *taken)
{
    return penstock_channelizer_push(((struct channelizing *)owner)->channelizer, samples, count, taken);
}

static int finish(void *owner)
{
    return penstock_channelizer_finish(((struct channelizing *)owner)->channelizer);
}

static int close_sinks(struct channelizing *c)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < c->kept && c->sinks; i++) {
        int status = penstock_sink_close(c->sinks[i]);
        if (status && !code)
            code = fail_status(status);
    }
    return code;
}

/* A channel's colour lies about its middle: with an even number of them the picture begins half a channel lower. */
static int write_picture(struct channelizing *c)
{
    char title[160];
    double width_hz = c->info.rate_hz / (double)c->whole_channels;
    snprintf(title, sizeof title, "%.80s: %" PRIu64 " channels, hop %" PRIu64 ", on %s", c->info.description,
             c->whole_channels, c->hop, c->bank.device);
    int code = waterfall_write(
        &c->waterfall,
        &(struct waterfall_labels){.width_hz = c->info.rate_hz,
                                   .frequency_hz = c->info.frequency_hz - (c->whole_channels % 2 ? 0 : width_hz / 2),
                                   .seconds_per_spectrum = (double)c->hop / c->info.rate_hz,
                                   .low_db = NAN,
                                   .high_db = NAN,
                                   .title = title},
        c->picture, c->png);
    return outfile_finish(c->picture, c->png, code);
}

static int channelize(struct channelizing *c)
{
    int code = check_options(c);
    if (code || (code = open_all(c)))
        return code;
    interrupt_watch(c->source);
    code = flow_run(&(struct flow){.source = c->source, .owner = c, .push = push, .pull = pull, .finish = finish});
    interrupt_watch(NULL);
    int closing = close_sinks(c), picture = EXIT_DONE;
    if (c->waterfall.spectra)
        picture = write_picture(c);
    else
        outfile_discard(c->picture, c->png);
    code = code ? code : closing ? closing : picture;
    penstock_channelizer_get_info(c->channelizer, &c->bank);
    if (!code)
        printf("%zu of %" PRIu64 " channels of %.6g Hz at %.6g Hz: %" PRIu64 " values each from %" PRIu64
               " samples, %zu taps on %s\n",
               c->kept, c->whole_channels, c->info.rate_hz / (double)c->whole_channels,
               c->info.rate_hz / (double)c->hop, c->bank.frames, c->bank.samples, c->bank.tap_count, c->bank.device);
    return code ? code : input_check_end(c->source);
}

static void release(struct channelizing *c)
{
    for (size_t i = 0; i < c->kept && c->sinks; i++)
        penstock_sink_free(c->sinks[i]);
    waterfall_free(&c->waterfall);
    free(c->sinks);
    free(c->power);
    free(c->streams);
    free(c->values);
    free(c->keep);
    penstock_channelizer_free(c->channelizer);
    penstock_source_free(c->source);
    penstock_context_free(c->context);
}

static int run(const struct command *command, int argc, const char **argv)
{
    struct channelizing c = {.input = INPUT_DEFAULTS, .channels = NAN};
    const struct poptOption table[] = {
        INPUT_OPTIONS(c.input),
        {"channels", 'm', POPT_ARG_DOUBLE, &c.channels, 0, "How many, 2 .. 65536", "M"},
        {"oversample", 0, POPT_ARG_STRING, &c.oversample_text, 0,
         "Rate of a channel over its width: 1, 2, 4/3, ... (1)", "N/D"},
        {"taps", 't', POPT_ARG_DOUBLE, &c.taps, 0, "Taps of the prototype for each channel (12 or more)", "T"},
        {"keep", 'k', POPT_ARG_STRING, &c.keep_text, 0, "Only these channels: 0,3,-2", "LIST"},
        {"output", 'o', POPT_ARG_STRING, &c.output, 0, "Channel K goes to PREFIX-K.sigmf-meta", "PREFIX"},
        {"output-format", 0, POPT_ARG_STRING, &c.output_format, 0, "cf32 (if not given), cs16, cs8 or cu8", "FORMAT"},
        {"png", 0, POPT_ARG_STRING, &c.png, 0, "A picture: time down, channels across, power as colour", "OUT.png"},
        {"device", 'd', POPT_ARG_STRING, &c.device, 0, "auto, NAME or prefer:NAME (penstock devices)", "NAME"},
        OPTIONS_END,
    };
    struct options options;
    int code = EXIT_DONE;
    if (options_parse(&options, command, table, argc, argv, &code) && options_no_arguments(&options, command, &code))
        code = isnan(c.channels) ? fail(EXIT_USAGE, "channelize: --channels is missing: how many") : channelize(&c);
    release(&c);
    options_free(&options);
    return code;
}

const struct command command_channelize = {
    .name = "channelize",
    .synopsis = "--input SRC --channels M [--output PREFIX] [--png OUT.png] [OPTION...]",
    .summary = "Take a signal apart into channels of equal width",
    .notes = "Channel 0 is about the centre, channel 1 a width of RATE/M above it, and so on; M-1 (or -1) is the one\n"
             "below. The filters' delay is taken out. A sine at full scale in a channel's middle is 0 dBFS.\n",
    .run = run,
};
