/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock transmit: test signals, frames with what a channel does to them. */
#include "shared/input.h"
#include "shared/interrupt.h"
#include "shared/mpdu.h"
#include "shared/outfile.h"
#include "shared/profile.h"
#include "shared/progress.h"
#include "tally.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16384, MOST_PATHS = 32, RATE_COUNT = 8 };

static const double rates_mbps[RATE_COUNT] = {6, 9, 12, 18, 24, 36, 48, 54}; /* at 20 MHz */

struct transmission {
    char *profile_name, *output, *format, *mbps, *multipath;
    double gap_us, snr_db, cfo_hz, sfo_ppm, frequency_hz, level_db; /* snr_db: NAN adds no noise */
    uint64_t length, count, seed;

    penstock_wifi_profile profile;
    double rate_hz;
    double rates[RATE_COUNT]; /* that frames take in turn */
    size_t rate_count;
    penstock_path paths[MOST_PATHS];
    size_t path_count;

    penstock_channel *channel;
    penstock_sink *sink;
    penstock_cf32 *frame;
    penstock_cf32 block[BLOCK];
    uint64_t frames_made;
};

/* "all", or one of the profile's eight rates. */
static int parse_rates(struct transmission *t)
{
    double clock = t->rate_hz / 20e6;
    if (t->mbps && !strcmp(t->mbps, "all")) {
        t->rate_count = RATE_COUNT;
        for (size_t i = 0; i < RATE_COUNT; i++)
            t->rates[i] = rates_mbps[i] * clock;
        return EXIT_DONE;
    }
    t->rate_count = 1;
    t->rates[0] = rates_mbps[0] * clock;
    if (!t->mbps || number_read(t->mbps, strlen(t->mbps), &t->rates[0]))
        for (size_t i = 0; i < RATE_COUNT; i++)
            if (t->rates[0] == rates_mbps[i] * clock)
                return EXIT_DONE;
    return fail(EXIT_USAGE, "--mbps '%.40s' is impossible: %s has %g, %g, %g, %g, %g, %g, %g, %g and all", t->mbps,
                t->profile_name, 6 * clock, 9 * clock, 12 * clock, 18 * clock, 24 * clock, 36 * clock, 48 * clock,
                54 * clock);
}

/* NS:DB,...: echoes besides the direct path, each with a phase of its own. */
static int parse_multipath(struct transmission *t)
{
    const struct number_range delays_ns = {.low = 0, .high = 1e5}, gains_db = {.low = -100, .high = 60};
    t->paths[t->path_count++] = (penstock_path){0};
    for (const char *text = t->multipath; text;) {
        size_t length = strcspn(text, ","), delay = strcspn(text, ":");
        double delay_ns = 0, gain_db = 0;
        bool good = delay < length && number_read(text, delay, &delay_ns) &&
                    number_read(text + delay + 1, length - delay - 1, &gain_db);
        if (!good || !number_fits(delay_ns, &delays_ns) || !number_fits(gain_db, &gains_db) ||
            t->path_count == MOST_PATHS)
            return fail(EXIT_USAGE,
                        "--multipath '%.80s' is impossible: it must be NS:DB,... with 0 to 100000 ns, -100 to 60 dB "
                        "and at most %d echoes",
                        t->multipath, MOST_PATHS - 1);
        /* The golden angle keeps the phases of many echoes apart. */
        t->paths[t->path_count] = (penstock_path){delay_ns * 1e-9, gain_db, 2.399963229728653 * (double)t->path_count};
        t->path_count++;
        text = text[length] ? text + length + 1 : NULL;
    }
    return EXIT_DONE;
}

static int check_options(struct transmission *t)
{
    int code = EXIT_DONE;
    if ((code = parse_profile(&t->profile, "transmit", t->profile_name)))
        return code;
    if (!t->output)
        return fail(EXIT_USAGE, "transmit: --output is missing: a file, or - for standard output");
    t->rate_hz = penstock_wifi_rate_hz(t->profile);
    const struct number_range offsets = {.low = -t->rate_hz / 2, .high = t->rate_hz / 2, .unit = "Hz"};
    if ((code = option_check("cfo", t->cfo_hz, &offsets)) || (code = parse_rates(t)))
        return code;
    return parse_multipath(t);
}

/* The noise is as many dB below the mean power of all paths together. */
static double noise_power(const struct transmission *t)
{
    double power = 0;
    for (size_t i = 0; i < t->path_count; i++)
        power += pow(10, t->paths[i].gain_db / 10);
    return isnan(t->snr_db) ? 0 : power * pow(10, -t->snr_db / 10);
}

static int open_transmission(struct transmission *t)
{
    penstock_format format = PENSTOCK_CF32;
    int code, status;
    if (t->format && (code = parse_format(&format, t->format)))
        return code;
    status = penstock_channel_new(&t->channel, &PENSTOCK_CHANNEL_DESC(.rate_hz = t->rate_hz, .paths = t->paths,
                                                                      .path_count = t->path_count, .cfo_hz = t->cfo_hz,
                                                                      .sfo_ppm = t->sfo_ppm,
                                                                      .noise_power = noise_power(t), .seed = t->seed));
    if (status)
        return fail_status(status);
    interrupt_hold();
    status = penstock_sink_open(
        &t->sink, t->output,
        &PENSTOCK_SINK_DESC(.format = format, .rate_hz = t->rate_hz, .frequency_hz = t->frequency_hz,
                            .description = "penstock transmit: IEEE 802.11 OFDM frames", .files = outfile_set()));
    interrupt_release();
    return status ? fail_status(status) : EXIT_DONE;
}

/* Through the channel into the sink; `samples` NULL flushes the channel. */
static int send(struct transmission *t, const penstock_cf32 *samples, size_t count)
{
    float level = (float)pow(10, t->level_db / 20);
    for (;;) {
        size_t taken = 0, made = 0;
        int status = penstock_channel_run(t->channel, samples, count, &taken, t->block, BLOCK, &made);
        for (size_t i = 0; i < made; i++) {
            t->block[i].re *= level;
            t->block[i].im *= level;
        }
        if (status)
            return fail_status(status);
        interrupt_hold();
        status = made ? penstock_sink_write(t->sink, t->block, made) : PENSTOCK_OK;
        interrupt_release();
        if (status)
            return outfile_fail(status);
        if (samples)
            samples += taken;
        count -= taken;
        if (!count && made < BLOCK)
            return EXIT_DONE;
    }
}

static int send_gap(struct transmission *t)
{
    static const penstock_cf32 silence[BLOCK];
    uint64_t left = (uint64_t)(t->gap_us * 1e-6 * t->rate_hz + 0.5);
    int code = EXIT_DONE;
    while (left && !code) {
        size_t count = left < BLOCK ? (size_t)left : BLOCK;
        code = send(t, silence, count);
        left -= count;
    }
    return code;
}

static int send_frame(struct transmission *t, uint64_t number)
{
    uint8_t psdu[PENSTOCK_WIFI_MAX_PSDU];
    penstock_wifi_transmit_desc desc =
        PENSTOCK_WIFI_TRANSMIT_DESC(.profile = t->profile, .mbps = t->rates[number % t->rate_count],
                                    .scrambler_seed = (unsigned)(number % 127) + 1);
    size_t length = (size_t)t->length, samples = penstock_wifi_frame_samples(&desc, length);
    mpdu_fill(psdu, length, number, t->seed);
    free(t->frame);
    t->frame = malloc(samples * sizeof *t->frame);
    if (!t->frame)
        return fail(EXIT_DATA, "out of memory");
    int status = penstock_wifi_modulate(&desc, psdu, length, t->frame);
    return status ? fail_status(status) : send(t, t->frame, samples);
}

static void print_summary(const struct transmission *t, uint64_t frames)
{
    struct tally tally = {0};
    tally_sink(&tally, t->sink);
    tally_warn(&tally);
    if (outfile_is_stdout(t->output))
        return;
    printf("%s: %" PRIu64 " samples, %" PRIu64 " frames", t->output, tally.out.samples, frames);
    tally_print(stdout, &tally);
    putchar('\n');
}

static int conclude(void *owner)
{
    struct transmission *t = owner;
    int status = penstock_sink_close(t->sink);
    int code = status ? outfile_fail(status) : outfile_complete();
    if (!code && !status)
        print_summary(t, t->frames_made);
    return code;
}

static int transmit(struct transmission *t)
{
    int code = check_options(t);
    if (code || (code = open_transmission(t)))
        return code;
    interrupt_conclude_by(conclude, t, EXIT_DONE);
    code = send_gap(t);
    progress_begin("frames", (double)t->count);
    while (t->frames_made < t->count && !code && !interrupted()) {
        code = send_frame(t, t->frames_made);
        if (!code)
            code = send_gap(t);
        t->frames_made++;
        progress_done((double)t->frames_made, "%s", "");
    }
    progress_clear();
    if (!code)
        code = send(t, NULL, 0);
    if (!code)
        return interrupt_conclude(conclude, t);
    interrupt_conclude_by(NULL, NULL, code);
    return code;
}

static int run(const struct command *command, int argc, const char **argv)
{
    static struct transmission t;
    t = (struct transmission){
        .length = 138, .count = RATE_COUNT, .gap_us = 50, .snr_db = NAN, .seed = 1, .level_db = -15};
    const struct option_row table[] = {
        OPTION_WORD("profile", 'p', "NAME", &t.profile_name, profile_names, "profile", "What is sent"),
        OPTION_TEXT("output", 'o', "F", &t.output, "SigMF if it ends in .sigmf-meta, else raw; - for stdout"),
        OPTION_WORD("format", 'f', "FORMAT", &t.format, input_formats, "format", "If not given the first"),
        OPTION_TEXT("mbps", 0, "M", &t.mbps, "A rate of the profile, or all in turn (the lowest)"),
        OPTION_WHOLE("length", 0, "BYTES", &t.length, MPDU_LEAST, PENSTOCK_WIFI_MAX_PSDU, "bytes",
                     "Of a frame with header and FCS"),
        OPTION_WHOLE("count", 'n', "N", &t.count, 1, 1e9, "", "Frames"),
        OPTION_NUMBER("gap", 0, "US", &t.gap_us, 0, 1e7, "us", "Silence before, between and after frames"),
        OPTION_NUMBER("snr", 0, "DB", &t.snr_db, -100, 200, "dB", "Add noise, in the profile's whole bandwidth"),
        OPTION_NUMBER("cfo", 0, "HZ", &t.cfo_hz, -1e7, 1e7, "Hz", "Carrier offset, half the profile's rate at most"),
        OPTION_NUMBER("sfo", 0, "PPM", &t.sfo_ppm, -1000, 1000, "ppm",
                      "Clock offset: the receiver's is slower by this"),
        OPTION_TEXT("multipath", 0, "NS:DB,...", &t.multipath, "Echoes: delay and level beside the direct path"),
        OPTION_WHOLE("seed", 0, "N", &t.seed, 0, 9e15, "", "Of the noise and the payload"),
        OPTION_NUMBER("level", 0, "DB", &t.level_db, -200, 100, "dB", "Mean power of the direct path, over full scale"),
        OPTION_NUMBER("frequency", 0, "HZ", &t.frequency_hz, 0, 1e12, "Hz",
                      "Carrier named in the SigMF metadata; 0 names none"),
        OPTIONS_END,
    };
    struct options options;
    int code = EXIT_DONE;
    if (options_parse(&options, command, table, argc, argv, &code) && options_no_arguments(&options, command, &code))
        code = transmit(&t);
    interrupt_end(code);
    free(t.frame);
    penstock_sink_free(t.sink);
    penstock_channel_free(t.channel);
    options_free(&options);
    return code;
}

const struct command command_transmit = {
    .name = "transmit",
    .synopsis = "--profile NAME --output F [OPTION...]",
    .summary = "Make a test signal: frames, noise, offsets, echoes",
    .notes = "Frames are data frames to everyone, with sequence numbers and a good FCS; payload and noise depend on\n"
             "the seed alone.\n",
    .run = run,
};
