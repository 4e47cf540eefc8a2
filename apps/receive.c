/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock receive: samples in, frames out. */
#include "frames/frames.h"
#include "input.h"
#include "interrupt.h"
#include "outfile.h"
#include "profile.h"
#include "progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 65536, OUTPUT_COUNT = 4 };

struct reception {
    struct input input;
    char *profile, *device, *json, *pcap, *constellation;
    penstock_context *context;
    penstock_source *source;
    penstock_source_info info;
    penstock_wifi_receiver *receiver;
    void *samples;
    bool warned_clipped, warned_not_finite;
    uint64_t frame_end; /* of the last frame that is above the noise and was not decoded */
    struct {
        const struct frame_output *kind;
        const char *path; /* NULL: not asked for */
        void *state;
    } outputs[OUTPUT_COUNT];
};

/* What seems to be a frame below this is noise that looked like a SIGNAL field. */
static const double least_snr_db = 3;

/* The table is left out where another output takes its place. */
static int choose_outputs(struct reception *r)
{
    const char *const paths[OUTPUT_COUNT] = {"-", r->json, r->pcap, r->constellation};
    static const struct frame_output *const kinds[OUTPUT_COUNT] = {&frame_table, &frame_json, &frame_pcap,
                                                                   &frame_constellation};
    size_t on_standard_output = 0;
    for (size_t i = 0; i < OUTPUT_COUNT; i++) {
        r->outputs[i].kind = kinds[i];
        r->outputs[i].path = paths[i];
        on_standard_output += paths[i] && !strcmp(paths[i], "-");
    }
    if (on_standard_output > 1)
        r->outputs[0].path = NULL;
    return on_standard_output > 2
               ? fail(EXIT_USAGE, "receive: only one of --json, --pcap and --constellation can be standard output")
               : EXIT_DONE;
}

static int open_outputs(struct reception *r)
{
    struct stream_facts facts = {.rate_hz = r->info.rate_hz,
                                 .frequency_hz = r->info.frequency_hz,
                                 .start_s = input_is_radio(&r->input) ? (uint64_t)time(NULL) : 0};
    int code = EXIT_DONE;
    for (size_t i = 0; i < OUTPUT_COUNT && !code; i++)
        if (r->outputs[i].path)
            code = r->outputs[i].kind->open(&r->outputs[i].state, r->outputs[i].path, &facts);
    return code;
}

/* All are closed, whatever fails. */
static int close_outputs(struct reception *r)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < OUTPUT_COUNT; i++)
        if (r->outputs[i].kind && r->outputs[i].state) {
            int own = r->outputs[i].kind->close(r->outputs[i].state);
            r->outputs[i].state = NULL;
            code = code ? code : own;
        }
    return code;
}

static int deliver_frames(struct reception *r)
{
    penstock_wifi_frame frame = PENSTOCK_WIFI_FRAME;
    int got, code = EXIT_DONE;
    while (!code && (got = penstock_wifi_receiver_pull(r->receiver, &frame)) != 0) {
        if (got < 0)
            return fail_status(got);
        if (!frame.decoded && frame.format != PENSTOCK_WIFI_UNKNOWN && frame.snr_db > least_snr_db)
            r->frame_end = frame.sample + frame.samples;
        for (size_t i = 0; i < OUTPUT_COUNT && !code; i++)
            if (r->outputs[i].state)
                code = r->outputs[i].kind->frame(r->outputs[i].state, &frame);
    }
    return code;
}

/* Each trouble of the samples is told once, when it is first seen; the closing line has the counts. Of a radio's
 * troubles the library's log tells. */
static void warn_once(struct reception *r)
{
    penstock_wifi_counters counters = PENSTOCK_WIFI_COUNTERS;
    penstock_source_counters source = PENSTOCK_SOURCE_COUNTERS;
    if (penstock_wifi_receiver_get_counters(r->receiver, &counters) || penstock_source_get_counters(r->source, &source))
        return;
    if (counters.clipped && !r->warned_clipped)
        warn("samples at the format's limit: the signal is clipped; lower the gain");
    if (counters.not_finite && !r->warned_not_finite)
        warn("NaN or infinity among the samples, read as zero");
    r->warned_clipped |= counters.clipped > 0;
    r->warned_not_finite |= counters.not_finite > 0;
    progress_show("%.3f s of signal, %" PRIu64 " frames, %" PRIu64 " with a good FCS",
                  (double)counters.samples / r->info.rate_hz, counters.decoded, counters.fcs_ok);
}

static int receive_all(struct reception *r)
{
    int code = EXIT_DONE, status = PENSTOCK_OK;
    size_t count = 0;
    while (!code) {
        status = penstock_source_read(r->source, r->samples, BLOCK, &count);
        if (status || !count)
            break;
        if ((status = penstock_wifi_receiver_push(r->receiver, r->samples, count)))
            break;
        code = deliver_frames(r);
        warn_once(r);
    }
    if (status) /* a lost radio, say: what came before it is kept */
        code = fail_status(status);
    if (!penstock_wifi_receiver_finish(r->receiver)) {
        int own = deliver_frames(r);
        code = code ? code : own;
    }
    warn_once(r);
    return code;
}

/* A file that stops within a sample or a frame has lost its end; where the user set the end, or a radio gave the
 * samples, that is how streams end. */
static int check_end(const struct reception *r, const penstock_wifi_counters *counters)
{
    bool own_end = !input_is_radio(&r->input) && isnan(r->input.count) && isnan(r->input.seconds) && !interrupted();
    bool cut = own_end && counters->truncated && r->frame_end > counters->samples;
    if (cut)
        warn("the input ends within a frame");
    return input_check_end(r->source) || cut ? EXIT_DATA : EXIT_DONE;
}

static int print_summary(const struct reception *r)
{
    penstock_wifi_counters c = PENSTOCK_WIFI_COUNTERS;
    penstock_source_counters s = PENSTOCK_SOURCE_COUNTERS;
    int status = penstock_wifi_receiver_get_counters(r->receiver, &c);
    if (!status)
        status = penstock_source_get_counters(r->source, &s);
    if (status)
        return fail_status(status);
    progress_clear();
    FILE *out = r->outputs[0].path ? stdout : stderr;
    fprintf(out,
            "%" PRIu64 " samples on %s: %" PRIu64 " triggers, %" PRIu64 " synchronised, %" PRIu64 " SIGNAL, %" PRIu64
            " decoded, %" PRIu64 " FCS ok, %" PRIu64 " unsupported, %" PRIu64 " truncated",
            c.samples, penstock_wifi_receiver_device(r->receiver), c.triggers, c.synchronised, c.signals, c.decoded,
            c.fcs_ok, c.unsupported, c.truncated);
    const struct {
        uint64_t count;
        const char *name;
    } troubles[] = {
        {c.clipped, "clipped"},       {c.not_finite, "not finite"},     {c.fallbacks, "batches done by the CPU"},
        {s.overflows, "overflows"},   {s.lost_samples, "samples lost"}, {s.timeouts, "timeouts"},
        {s.reconnects, "reconnects"},
    };
    for (size_t i = 0; i < sizeof troubles / sizeof troubles[0]; i++)
        if (troubles[i].count)
            fprintf(out, ", %s %" PRIu64, troubles[i].name, troubles[i].count);
    fputc('\n', out);
    return check_end(r, &c);
}

static int open_reception(struct reception *r)
{
    penstock_wifi_profile profile;
    int code, status;
    r->info = PENSTOCK_SOURCE_INFO;
    if ((code = parse_profile(&profile, "receive", r->profile)))
        return code;
    if ((code = open_context(&r->context, 0)) || (code = input_open(&r->source, r->context, &r->input, "receive")))
        return code;
    if ((status = penstock_source_get_info(r->source, &r->info)))
        return fail_status(status);
    double rate_hz = penstock_wifi_rate_hz(profile);
    if (fabs(r->info.rate_hz / rate_hz - 1) > 1e-6 && ((status = penstock_source_resample(r->source, rate_hz)) ||
                                                       (status = penstock_source_get_info(r->source, &r->info))))
        return fail_status(status);
    status = penstock_wifi_receiver_new(
        &r->receiver, r->context,
        &PENSTOCK_WIFI_RECEIVER_DESC(.profile = profile, .format = r->info.format, .points = r->constellation != NULL),
        r->device);
    if (status)
        return fail_status(status);
    r->samples = malloc(BLOCK * penstock_format_bytes(r->info.format));
    return r->samples ? EXIT_DONE : fail(EXIT_DATA, "out of memory");
}

static int receive(struct reception *r)
{
    int code = choose_outputs(r);
    if (code || (code = open_reception(r)))
        return code;
    interrupt_watch(r->source);
    code = open_outputs(r);
    if (!code) {
        code = receive_all(r);
        int summary = print_summary(r);
        code = code ? code : summary;
    }
    int closing = close_outputs(r);
    interrupt_watch(NULL);
    return code ? code : closing;
}

static int run(const struct command *command, int argc, const char **argv)
{
    struct reception r = {.input = INPUT_DEFAULTS};
    const struct poptOption table[] = {
        {"profile", 'p', POPT_ARG_STRING, &r.profile, 0, "wifi, wifi-10mhz or wifi-5mhz", "NAME"},
        INPUT_OPTIONS(r.input),
        {"device", 'd', POPT_ARG_STRING, &r.device, 0, "auto, NAME or prefer:NAME (penstock devices)", "NAME"},
        {"json", 0, POPT_ARG_STRING, &r.json, 0, "One JSON object a frame and line; - for standard output", "FILE"},
        {"pcap", 0, POPT_ARG_STRING, &r.pcap, 0, "Packets with radiotap headers, for Wireshark", "FILE"},
        {"constellation", 0, POPT_ARG_STRING, &r.constellation, 0, "Picture of the equalised points", "OUT.png"},
        OPTIONS_END,
    };
    struct options options;
    int code = EXIT_DONE;
    if (options_parse(&options, command, table, argc, argv, &code) && options_no_arguments(&options, command, &code))
        code = receive(&r);
    free(r.samples);
    penstock_wifi_receiver_free(r.receiver);
    penstock_source_free(r.source);
    penstock_context_free(r.context);
    options_free(&options);
    return code;
}

const struct command command_receive = {
    .name = "receive",
    .synopsis = "--profile NAME --input SRC [OPTION...]",
    .summary = "Receive frames and list, save or picture them",
    .notes = "A source whose rate is not the profile's is resampled. An interrupt ends the reception in good order.\n"
             "The input's end within a frame or a sample is told, and the exit code is then 1.\n",
    .run = run,
};
