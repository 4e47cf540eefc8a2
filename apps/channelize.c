/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock channelize: a signal of any length to channels of equal width, each to a file of its own, or to a picture.
 */
#include "flow.h"
#include "picture/canvas.h"
#include "shared/input.h"
#include "shared/interrupt.h"
#include "shared/outfile.h"
#include "shared/progress.h"
#include "tally.h"
#include "waterfall.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { MOST_CHANNELS = 65536 };

struct channelizing {
    struct input input;
    char *output, *output_format, *oversample_text, *keep_text, *png, *device;
    uint64_t channels, taps, hop; /* taps: of the prototype for each channel; 0: the library's choice */
    penstock_format format;       /* of the output */
    size_t *keep, kept;           /* channels, in the order of their frequencies where all are kept */
    penstock_context *context;
    penstock_source *source;
    penstock_source_info info;
    penstock_stream *channelizer;
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
    size_t over = 1, under = 1;
    const char *text = c->oversample_text ? c->oversample_text : "1", *slash = strchr(text, '/');
    if (!number_read_digits(text, slash ? (size_t)(slash - text) : strlen(text), MOST_CHANNELS, &over) ||
        (slash && !number_read_digits(slash + 1, strlen(slash + 1), MOST_CHANNELS, &under)) || !over || !under)
        return fail(EXIT_USAGE, "--oversample '%.40s' is impossible: it must be N or N/D, each from 1 to %d", text,
                    MOST_CHANNELS);
    c->hop = c->channels * under / over;
    if (over < under || c->hop < 1 || c->hop * over != c->channels * under)
        return fail(EXIT_USAGE,
                    "--oversample '%.40s' is impossible for %" PRIu64
                    " channels: it must be 1 or more, and divide them to a whole number of samples",
                    text, c->channels);
    return EXIT_DONE;
}

/* "0,3,-2": a negative one counts down from the centre. */
static int parse_keep(struct channelizing *c)
{
    long channels = (long)c->channels;
    for (const char *next = c->keep_text; next;) {
        size_t length = strcspn(next, ","), below = *next == '-', channel = 0;
        bool good = number_read_digits(next + below, length - below, MOST_CHANNELS, &channel) &&
                    channel < (below ? c->channels / 2 + 1 : c->channels);
        if (!good)
            return fail(EXIT_USAGE,
                        "--keep '%.40s' is impossible: it must be a list of channels, %ld .. %ld, such as "
                        "0,3,-2",
                        c->keep_text, -channels / 2, channels - 1);
        if (c->kept == c->channels)
            return fail(EXIT_USAGE, "--keep names more than the %ld channels", channels);
        c->keep[c->kept] = below && channel ? c->channels - channel : channel;
        for (size_t i = 0; i < c->kept; i++)
            if (c->keep[i] == c->keep[c->kept])
                return fail(EXIT_USAGE, "--keep '%.40s' is impossible: channel %zu is selected twice", c->keep_text,
                            c->keep[i]);
        c->kept++;
        next = next[length] ? next + length + 1 : NULL;
    }
    return EXIT_DONE;
}

/* All channels, the lowest frequency first. */
static void keep_all(struct channelizing *c)
{
    size_t channels = c->channels, lowest = (channels + 1) / 2;
    for (c->kept = 0; c->kept < channels; c->kept++)
        c->keep[c->kept] = (lowest + c->kept) % channels;
}

static int check_options(struct channelizing *c)
{
    int code = EXIT_DONE;
    if (c->output && !*c->output)
        return fail(EXIT_USAGE, "channelize: --output '' is impossible: it is the files' common beginning");
    if (!c->output && !c->png)
        return fail(EXIT_USAGE, "channelize: --output or --png is missing: the files' common beginning, or a picture");
    if (c->keep_text && c->png)
        return fail(EXIT_USAGE, "channelize: --png shows all channels, --keep leaves some out: give one of them");
    if (!c->channels)
        return fail(EXIT_USAGE, "channelize: --channels is missing: how many");
    if ((code = parse_oversample(c)))
        return code;
    if (!(c->keep = malloc(c->channels * sizeof *c->keep)))
        return fail(EXIT_DATA, "out of memory");
    if (!c->keep_text)
        keep_all(c);
    else if ((code = parse_keep(c)))
        return code;
    if (c->png && (code = png_available("--png")))
        return code;
    if ((code = input_check(&c->input, "channelize")))
        return code;
    return c->output_format ? parse_format(&c->format, c->output_format) : EXIT_DONE;
}

/* ---------------------------------------------------------------- opening --------------------- */

/* An odd number of taps, so that a whole advance takes their delay out. */
static int open_bank(struct channelizing *c)
{
    size_t tap_count = c->taps ? c->taps * c->channels : penstock_channelizer_taps_length(c->channels, c->hop);
    tap_count -= tap_count % 2 ? 0 : 1;
    progress_wait(PROGRESS_PLAN);
    int status = penstock_channelizer_open(
        &c->channelizer, c->context,
        &PENSTOCK_CHANNELIZER_DESC(.channels = c->channels, .hop = c->hop, .tap_count = tap_count, .select = c->keep,
                                   .select_count = c->kept, .format = c->info.format, .advance = (tap_count - 1) / 2,
                                   .max_latency_s = c->info.total_samples ? 0 : FLOW_LATENCY_S),
        c->device);
    progress_arrived();
    c->bank = PENSTOCK_CHANNELIZER_INFO;
    if (!status)
        status = penstock_channelizer_get_info(c->channelizer, &c->bank);
    return status == PENSTOCK_ERR_ARGUMENT ? fail(EXIT_USAGE, "%s", penstock_error_text())
           : status                        ? fail_status(status)
                                           : EXIT_DONE;
}

/* Each channel has two files open: more of them than a shell allows at first, as a rule, and fewer than it could. */
static void allow_files(size_t channels)
{
    enum { OTHERS = 128 };
    rlim_t wanted = 2 * (rlim_t)channels + OTHERS;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &limit); /* else opening them tells */
}

/* PREFIX-7.sigmf-meta for channel 7, which lies 7 channel widths above the centre. */
static int open_sinks(struct channelizing *c)
{
    double width_hz = c->info.rate_hz / (double)c->channels, rate_hz = c->info.rate_hz / (double)c->hop;
    allow_files(c->kept);
    if (!(c->sinks = calloc(c->kept, sizeof *c->sinks)))
        return fail(EXIT_DATA, "out of memory");
    for (size_t i = 0; i < c->kept; i++) {
        size_t k = c->keep[i];
        double step = 2 * k < c->channels ? (double)k : (double)k - (double)c->channels;
        char path[4096], about[64];
        if (snprintf(path, sizeof path, "%s-%zu.sigmf-meta", c->output, k) >= (int)sizeof path)
            return fail(EXIT_USAGE, "--output is too long");
        snprintf(about, sizeof about, "penstock channelize, channel %zu of %" PRIu64, k, c->channels);
        interrupt_hold();
        int status = penstock_sink_open(
            &c->sinks[i], path,
            &PENSTOCK_SINK_DESC(.format = c->format, .rate_hz = rate_hz,
                                .frequency_hz = c->info.frequency_hz > 0 ? c->info.frequency_hz + step * width_hz : 0,
                                .description = about, .files = outfile_set(), .source = c->source,
                                .decimation = c->hop));
        interrupt_release();
        if (status)
            return fail_status(status);
    }
    return EXIT_DONE;
}

static int open_picture(struct channelizing *c)
{
    interrupt_hold();
    int code = outfile_open(&c->picture, c->png);
    interrupt_release();
    return code;
}

static int open_all(struct channelizing *c)
{
    int code, status;
    c->info = PENSTOCK_SOURCE_INFO;
    if ((code = open_stream_context(&c->context)) || (code = input_open(&c->source, c->context, &c->input)))
        return code;
    if ((status = penstock_source_get_info(c->source, &c->info)))
        return fail_status(status);
    if ((c->output && (code = open_sinks(c))) || (c->png && (code = open_picture(c))) || (code = open_bank(c)))
        return code;
    c->capacity = FLOW_VALUES / c->kept + 16;
    c->values = malloc(c->kept * c->capacity * sizeof *c->values);
    c->streams = malloc(c->kept * sizeof *c->streams);
    c->power = malloc(c->kept * sizeof *c->power);
    if (!c->values || !c->streams || !c->power ||
        (c->png && !waterfall_init(&c->waterfall, c->kept, c->info.total_samples / c->hop, false)))
        return fail(EXIT_DATA, "out of memory");
    for (size_t i = 0; i < c->kept; i++)
        c->streams[i] = c->values + i * c->capacity;
    return EXIT_DONE;
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
        int status =
            penstock_stream_pull_channels(c->channelizer, (void *const *)c->streams, c->capacity, wait, &count);
        interrupt_hold();
        for (size_t i = 0; i < c->kept && c->sinks && count && !status; i++)
            status = penstock_sink_write(c->sinks[i], c->streams[i], count);
        if (!status && c->png)
            draw_frames(c, count);
        penstock_channelizer_get_info(c->channelizer, &c->bank);
        interrupt_release();
        if (status)
            return status;
    } while (count);
    return PENSTOCK_OK;
}

static int push(void *owner, const void *samples, size_t count, size_t *taken)
{
    return penstock_stream_push(((struct channelizing *)owner)->channelizer, samples, count, taken);
}

static int finish(void *owner)
{
    return penstock_stream_finish(((struct channelizing *)owner)->channelizer);
}

static int close_sinks(struct channelizing *c)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < c->kept && c->sinks; i++) {
        int status = penstock_sink_close(c->sinks[i]);
        if (status && !code)
            code = outfile_fail(status);
    }
    return code;
}

/* A channel's colour lies about its middle: with an even number of them the picture begins half a channel lower. */
static int write_picture(struct channelizing *c)
{
    char title[160];
    double width_hz = c->info.rate_hz / (double)c->channels;
    snprintf(title, sizeof title, "%.80s: %" PRIu64 " channels, hop %" PRIu64 ", on %s", c->info.description,
             c->channels, c->hop, c->bank.device);
    int code = waterfall_write(
        &c->waterfall,
        &(struct waterfall_labels){.width_hz = c->info.rate_hz,
                                   .frequency_hz = c->info.frequency_hz - (c->channels % 2 ? 0 : width_hz / 2),
                                   .seconds_per_spectrum = (double)c->hop / c->info.rate_hz,
                                   .low_db = NAN,
                                   .high_db = NAN,
                                   .title = title},
        c->picture, c->png);
    int closing = outfile_close(c->picture);
    c->picture = NULL;
    return code ? code : closing;
}

static void print_summary(const struct channelizing *c)
{
    struct tally tally = {0};
    tally_source(&tally, c->source);
    for (size_t i = 0; i < c->kept && c->sinks; i++)
        tally_sink(&tally, c->sinks[i]);
    tally_warn(&tally);
    printf("%zu of %" PRIu64 " channels of %.6g Hz at %.6g Hz: %" PRIu64 " values each from %" PRIu64
           " samples, %zu taps on %s",
           c->kept, c->channels, c->info.rate_hz / (double)c->channels, c->info.rate_hz / (double)c->hop,
           c->bank.frames, c->bank.samples, c->bank.tap_count, c->bank.device);
    tally_print(stdout, &tally);
    putchar('\n');
}

static int conclude(void *owner, int code)
{
    struct channelizing *c = owner;
    if (c->png && !c->waterfall.spectra)
        return code            ? code
               : interrupted() ? fail(EXIT_DONE, "interrupted before a value of each channel: nothing is written")
                               : fail(EXIT_DATA, "'%s' is too short for a picture", c->input.source);
    int closing = close_sinks(c);
    if (closing || (c->png && (closing = write_picture(c))) || (closing = outfile_complete()))
        return closing;
    print_summary(c);
    return EXIT_DONE;
}

static int channelize(struct channelizing *c)
{
    int code = check_options(c);
    if (code || (code = open_all(c)))
        return code;
    code = flow_run(&(struct flow){
        .source = c->source, .owner = c, .push = push, .pull = pull, .finish = finish, .conclude = conclude});
    return code ? code : input_check_end(c->source);
}

static void release(struct channelizing *c)
{
    for (size_t i = 0; i < c->kept && c->sinks; i++)
        penstock_sink_free(c->sinks[i]);
    outfile_close(c->picture);
    waterfall_free(&c->waterfall);
    free(c->sinks);
    free(c->power);
    free(c->streams);
    free(c->values);
    free(c->keep);
    penstock_stream_free(c->channelizer);
    penstock_source_free(c->source);
    penstock_context_free(c->context);
}

static int run(const struct command *command, int argc, const char **argv)
{
    struct channelizing c = {.input = INPUT_DEFAULTS};
    const struct option_row table[] = {
        INPUT_OPTIONS(c.input),
        OPTION_WHOLE("channels", 'm', "M", &c.channels, 2, MOST_CHANNELS, "", "How many"),
        OPTION_TEXT("oversample", 0, "N/D", &c.oversample_text, "Rate of a channel over its width: 1, 2, 4/3, ... (1)"),
        OPTION_WHOLE("taps", 't', "T", &c.taps, 0, 1024, "",
                     "Taps of the prototype for each channel; 0 leaves it to the library, which takes 12 or more"),
        OPTION_TEXT("keep", 'k', "LIST", &c.keep_text, "Only these channels: 0,3,-2"),
        OPTION_TEXT("output", 'o', "PREFIX", &c.output, "Channel K goes to PREFIX-K.sigmf-meta"),
        OPTION_WORD("output-format", 0, "FORMAT", &c.output_format, input_formats, "format", "If not given the first"),
        OPTION_TEXT("png", 0, "OUT.png", &c.png, "A picture: time down, channels across, power as colour"),
        OPTION_TEXT("device", 'd', "NAME", &c.device, "auto, NAME or prefer:NAME (penstock devices)"),
        OPTIONS_END,
    };
    struct options options;
    int code = EXIT_DONE;
    if (options_parse(&options, command, table, argc, argv, &code) && options_no_arguments(&options, command, &code))
        code = channelize(&c);
    interrupt_end(code);
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
