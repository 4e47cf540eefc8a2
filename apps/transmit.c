/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock transmit: test signals, frames with what a channel does to them. */
#include "input.h"
#include "interrupt.h"
#include "mpdu.h"
#include "profile.h"
#include "progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16384, MOST_PATHS = 32, RATE_COUNT = 8 };

static const double rates_mbps[RATE_COUNT] = {6, 9, 12, 18, 24, 36, 48, 54}; /* at 20 MHz */

struct transmission {
    char *profile_name, *output, *format, *mbps, *multipath;
    double length, count, gap_us, snr_db, cfo_hz, sfo_ppm, seed, frequency_hz, level_db;

    penstock_wifi_profile profile;
    double rate_hz;
    double rates[RATE_COUNT]; /* that frames take in turn */
    size_t rate_count;
    uint64_t frame_count, psdu_length, noise_seed;
    penstock_path paths[MOST_PATHS];
    size_t path_count;

    penstock_channel *channel;
    penstock_sink *sink;
    penstock_cf32 *frame;
    penstock_cf32 block[BLOCK];
};

/* "all", or one of the profile's eight rates. */
static int parse_rates(struct transmission *t)
{
    double clock = t->rate_hz / 20e6;
    char *end;
    if (t->mbps && !strcmp(t->mbps, "all")) {
        t->rate_count = RATE_COUNT;
        for (size_t i = 0; i < RATE_COUNT; i++)
            t->rates[i] = rates_mbps[i] * clock;
        return EXIT_DONE;
    }
    t->rate_count = 1;
    t->rates[0] = t->mbps ? strtod(t->mbps, &end) : rates_mbps[0] * clock;
    if (!t->mbps || (*t->mbps && !*end))
        for (size_t i = 0; i < RATE_COUNT; i++)
            if (t->rates[0] == rates_mbps[i] * clock)
                return EXIT_DONE;
    return fail(EXIT_USAGE, "--mbps '%s' is impossible: %s has %g, %g, %g, %g, %g, %g, %g, %g and all", t->mbps,
                t->profile_name, 6 * clock, 9 * clock, 12 * clock, 18 * clock, 24 * clock, 36 * clock, 48 * clock,
                54 * clock);
}

/* NS:DB,...: echoes besides the direct path, each with a phase of its own. */
static int parse_multipath(struct transmission *t)
{
    const char *text = t->multipath;
    t->paths[t->path_count++] = (penstock_path){0};
    while (text && *text) {
        char *end;
        double delay_ns = strtod(text, &end), gain_db = 0;
        bool good = end != text && *end == ':';
        if (good) {
            text = end + 1;
            gain_db = strtod(text, &end);
            good = end != text && (!*end || *end == ',');
        }
        if (!good || !(delay_ns >= 0 && delay_ns <= 1e5) || !(gain_db >= -100 && gain_db <= 60) ||
            t->path_count == MOST_PATHS)
            return fail(EXIT_USAGE,
                        "--multipath '%s' is impossible: it must be NS:DB,... with 0 to 100000 ns, -100 to 60 dB and "
                        "at most %d echoes",
                        t->multipath, MOST_PATHS - 1);
        /* The golden angle keeps the phases of many echoes apart. */
        t->paths[t->path_count] = (penstock_path){delay_ns * 1e-9, gain_db, 2.399963229728653 * (double)t->path_count};
        t->path_count++;
        text = *end ? end + 1 : end;
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
    if (!option_whole("--length", t->length, MPDU_LEAST, PENSTOCK_WIFI_MAX_PSDU, &t->psdu_length, &code) ||
        !option_whole("--count", t->count, 1, 1e9, &t->frame_count, &code) ||
        !option_whole("--seed", t->seed, 0, 9e15, &t->noise_seed, &code) ||
        !option_range("--gap", t->gap_us, 0, 1e7, &code) ||
        (!isnan(t->snr_db) && !option_range("--snr", t->snr_db, -100, 200, &code)) ||
        !option_range("--cfo", t->cfo_hz, -t->rate_hz / 2, t->rate_hz / 2, &code) ||
        !option_range("--sfo", t->sfo_ppm, -1000, 1000, &code) ||
        !option_range("--level", t->level_db, -200, 100, &code) ||
        !option_range("--frequency", t->frequency_hz, 0, 1e12, &code))
        return code;
    code = parse_rates(t);
    return code ? code : parse_multipath(t);
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
    status = penstock_channel_new(
        &t->channel, &PENSTOCK_CHANNEL_DESC(.rate_hz = t->rate_hz, .paths = t->paths, .path_count = t->path_count,
                                            .cfo_hz = t->cfo_hz, .sfo_ppm = t->sfo_ppm, .noise_power = noise_power(t),
                                            .seed = t->noise_seed));
    if (!status)
        status = penstock_sink_open(&t->sink, t->output,
                                    &PENSTOCK_SINK_DESC(.format = format, .rate_hz = t->rate_hz,
                                                        .frequency_hz = t->frequency_hz,
                                                        .description = "penstock transmit: IEEE 802.11 OFDM frames"));
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
        if (!status && made)
            status = penstock_sink_write(t->sink, t->block, made);
        if (status)
            return fail_status(status);
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
    size_t samples = penstock_wifi_frame_samples(&desc, (size_t)t->psdu_length);
    mpdu_fill(psdu, (size_t)t->psdu_length, number, t->noise_seed);
    free(t->frame);
    t->frame = malloc(samples * sizeof *t->frame);
    if (!t->frame)
        return fail(EXIT_DATA, "out of memory");
    int status = penstock_wifi_modulate(&desc, psdu, (size_t)t->psdu_length, t->frame);
    return status ? fail_status(status) : send(t, t->frame, samples);
}

static int transmit(struct transmission *t)
{
    int code = check_options(t);
    if (code || (code = open_transmission(t)))
        return code;
    interrupt_watch(NULL);
    code = send_gap(t);
    for (uint64_t i = 0; i < t->frame_count && !code && !interrupted(); i++) {
        code = send_frame(t, i);
        if (!code)
            code = send_gap(t);
        progress_show("%.0f of %.0f frames", (double)i + 1, t->count);
    }
    progress_clear();
    if (!code)
        code = send(t, NULL, 0);
    int status = penstock_sink_close(t->sink);
    return status && !code ? fail_status(status) : code;
}

static int run(const struct command *command, int argc, const char **argv)
{
    static struct transmission t;
    t = (struct transmission){
        .length = 138, .count = RATE_COUNT, .gap_us = 50, .snr_db = NAN, .seed = 1, .level_db = -15};
    const struct poptOption table[] = {
        {"profile", 'p', POPT_ARG_STRING, &t.profile_name, 0, "wifi, wifi-10mhz or wifi-5mhz", "NAME"},
        {"output", 'o', POPT_ARG_STRING, &t.output, 0, "SigMF if it ends in .sigmf-meta, else raw; - for stdout", "F"},
        {"format", 'f', POPT_ARG_STRING, &t.format, 0, "cf32 (if not given), cs16, cs8 or cu8", "FORMAT"},
        {"mbps", 0, POPT_ARG_STRING, &t.mbps, 0, "A rate of the profile, or all in turn (the lowest)", "M"},
        {"length", 0, POPT_ARG_DOUBLE, &t.length, 0, "Of a frame with header and FCS (138)", "BYTES"},
        {"count", 'n', POPT_ARG_DOUBLE, &t.count, 0, "Frames (8)", "N"},
        {"gap", 0, POPT_ARG_DOUBLE, &t.gap_us, 0, "Silence before, between and after frames (50)", "US"},
        {"snr", 0, POPT_ARG_DOUBLE, &t.snr_db, 0, "Add noise, in the profile's whole bandwidth", "DB"},
        {"cfo", 0, POPT_ARG_DOUBLE, &t.cfo_hz, 0, "Carrier offset", "HZ"},
        {"sfo", 0, POPT_ARG_DOUBLE, &t.sfo_ppm, 0, "Clock offset: the receiver's is slower by this", "PPM"},
        {"multipath", 0, POPT_ARG_STRING, &t.multipath, 0, "Echoes: delay and level beside the direct path",
         "NS:DB,..."},
        {"seed", 0, POPT_ARG_DOUBLE, &t.seed, 0, "Of the noise and the payload (1)", "N"},
        {"level", 0, POPT_ARG_DOUBLE, &t.level_db, 0, "Mean power of the direct path below full scale (-15)", "DB"},
        {"frequency", 0, POPT_ARG_DOUBLE, &t.frequency_hz, 0, "Carrier named in the SigMF metadata", "HZ"},
        OPTIONS_END,
    };
    struct options options;
    int code = EXIT_DONE;
    if (options_parse(&options, command, table, argc, argv, &code) && options_no_arguments(&options, command, &code))
        code = transmit(&t);
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
