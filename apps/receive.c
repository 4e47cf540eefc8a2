/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock receive: samples in, frames out. */
#include "flow.h"
#include "frames/frames.h"
#include "shared/input.h"
#include "shared/interrupt.h"
#include "shared/outfile.h"
#include "shared/profile.h"
#include "shared/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OUTPUT_COUNT = 4 };

struct reception {
    struct input input;
    char *profile, *device, *json, *pcap, *constellation;
    penstock_context *context;
    penstock_source *source;
    penstock_source_info info;
    penstock_stream *receiver;
    struct flow_blocks blocks;
    bool began;     /* a sample was read */
    int input_code; /* of the source; told */
    bool warned_clipped, warned_not_finite;
    uint64_t lost;      /* samples, before the frame at hand */
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
        on_standard_output += paths[i] && outfile_is_stdout(paths[i]);
    }
    if (on_standard_output > 1)
        r->outputs[0].path = NULL;
    return on_standard_output > 2
               ? fail(EXIT_USAGE, "receive: only one of --json, --pcap and --constellation can be standard output")
               : EXIT_DONE;
}

/* Those from `first` to before `end`. */
static int open_outputs(struct reception *r, size_t first, size_t end)
{
    struct stream_facts facts = {.rate_hz = r->info.rate_hz,
                                 .frequency_hz = r->info.frequency_hz,
                                 .lost = &r->lost,
                                 .start_s = input_is_radio(&r->input) ? (uint64_t)time(NULL) : 0};
    int code = EXIT_DONE;
    interrupt_hold();
    for (size_t i = first; i < end && !code; i++)
        if (r->outputs[i].path)
            code = r->outputs[i].kind->open(&r->outputs[i].state, r->outputs[i].path, &facts);
    interrupt_release();
    return code;
}

/* All are closed, whatever fails. */
static int close_outputs(struct reception *r, bool keep)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < OUTPUT_COUNT; i++)
        if (r->outputs[i].kind && r->outputs[i].state) {
            int own = r->outputs[i].kind->close(r->outputs[i].state, keep);
            r->outputs[i].state = NULL;
            code = code ? code : own;
        }
    return code;
}

/* Samples that were lost are part of the stream's time. What places a frame is its long training: a gap may have
 * taken of what comes before that, and then the frame began within the gap. */
static int place_frame(struct reception *r, penstock_wifi_frame *frame)
{
    uint64_t given = frame->sample + PENSTOCK_WIFI_LONG_TRAINING, position;
    int status = penstock_source_get_position(r->source, given, &position);
    if (status)
        return fail_status(status);
    r->lost = position - given;
    frame->sample += r->lost;
    return EXIT_DONE;
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
        if ((code = place_frame(r, &frame)))
            return code;
        interrupt_hold();
        for (size_t i = 0; i < OUTPUT_COUNT && !code; i++)
            if (r->outputs[i].state)
                code = r->outputs[i].kind->frame(r->outputs[i].state, &frame);
        interrupt_release();
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
    if (source.clipped && !r->warned_clipped)
        warn("samples at the format's limit: the signal is clipped; lower the gain");
    if ((source.not_finite || counters.not_finite) && !r->warned_not_finite)
        warn("NaN or infinity among the samples, read as zero");
    r->warned_clipped |= source.clipped > 0;
    r->warned_not_finite |= source.not_finite > 0 || counters.not_finite > 0;
    progress_done((double)counters.samples, "%" PRIu64 " frames, %" PRIu64 " good", counters.decoded, counters.fcs_ok);
}

/* What is wrong with the receiver or an output; of the source r->input_code tells. */
static int receive_all(struct reception *r)
{
    int code = EXIT_DONE, status = PENSTOCK_OK;
    size_t count = 0;
    progress_begin_samples((double)r->info.total_samples, r->info.rate_hz);
    while (!code && !(status = flow_blocks_read(&r->blocks, &count)) && count) {
        r->began = true;
        if ((status = penstock_stream_push(r->receiver, r->blocks.samples, count, NULL)))
            return fail_status(status);
        code = deliver_frames(r);
        warn_once(r);
    }
    if (status) /* a lost radio, say: what came before it is kept */
        r->input_code = fail_status(status);
    if (code)
        return code;
    status = penstock_stream_finish(r->receiver);
    code = status ? fail_status(status) : EXIT_DONE;
    if (!code)
        code = deliver_frames(r);
    warn_once(r);
    return code;
}

/* A file that stops within a sample or a frame has lost its end; where the user set the end, or a radio gave the
 * samples, that is how streams end. */
static int check_end(const struct reception *r, const penstock_wifi_counters *counters)
{
    bool own_end = !input_is_radio(&r->input) && !r->input.count && !(r->input.seconds > 0) && !interrupted();
    bool cut = own_end && counters->truncated && r->frame_end > counters->samples;
    if (cut)
        warn("the input ends within a frame");
    return input_check_end(r->source) || cut ? EXIT_DATA : EXIT_DONE;
}

/* The numbers of the closing line, for all that tells them. */
static int add_up(const struct reception *r, struct reception_totals *totals)
{
    totals->receiver = PENSTOCK_WIFI_COUNTERS;
    int status = penstock_wifi_receiver_get_counters(r->receiver, &totals->receiver);
    if (status)
        return fail_status(status);
    totals->device = penstock_stream_device(r->receiver);
    tally_source(&totals->tally, r->source);
    penstock_source_counters *in = &totals->tally.in;
    if (in->not_finite < totals->receiver.not_finite && totals->receiver.samples == in->taken)
        in->not_finite = totals->receiver.not_finite; /* what is too large to be a signal is one to the receiver */
    return EXIT_DONE;
}

static void print_totals(const struct reception *r, const struct reception_totals *totals)
{
    const penstock_wifi_counters *c = &totals->receiver;
    progress_clear();
    FILE *out = r->outputs[0].path ? stdout : stderr;
    fprintf(out,
            "%" PRIu64 " samples on %s: %" PRIu64 " triggers, %" PRIu64 " synchronised, %" PRIu64 " SIGNAL, %" PRIu64
            " decoded, %" PRIu64 " FCS ok, %" PRIu64 " unsupported, %" PRIu64 " truncated",
            c->samples, totals->device, c->triggers, c->synchronised, c->signals, c->decoded, c->fcs_ok, c->unsupported,
            c->truncated);
    if (c->fallbacks)
        fprintf(out, ", batches done by the CPU %" PRIu64, c->fallbacks);
    tally_print(out, &totals->tally);
    fputc('\n', out);
}

static int write_totals(struct reception *r, const struct reception_totals *totals)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < OUTPUT_COUNT && !code; i++)
        if (r->outputs[i].state && r->outputs[i].kind->totals)
            code = r->outputs[i].kind->totals(r->outputs[i].state, totals);
    return code;
}

static int open_reception(struct reception *r, penstock_wifi_profile profile)
{
    int code, status;
    r->info = PENSTOCK_SOURCE_INFO;
    if ((code = open_stream_context(&r->context)) || (code = input_open(&r->source, r->context, &r->input)))
        return code;
    if ((status = penstock_source_get_info(r->source, &r->info)))
        return fail_status(status);
    double rate_hz = penstock_wifi_rate_hz(profile);
    if (fabs(r->info.rate_hz / rate_hz - 1) > 1e-6 && ((status = penstock_source_resample(r->source, rate_hz)) ||
                                                       (status = penstock_source_get_info(r->source, &r->info))))
        return fail_status(status);
    if ((code = open_outputs(r, 1, OUTPUT_COUNT)))
        return code;
    progress_wait(PROGRESS_PLAN);
    status = penstock_wifi_receiver_open(
        &r->receiver, r->context,
        &PENSTOCK_WIFI_RECEIVER_DESC(.profile = profile, .format = r->info.format, .points = r->constellation != NULL),
        r->device);
    progress_arrived();
    if (status)
        return fail_status(status);
    return flow_blocks_init(&r->blocks, r->source, r->info.format) ? EXIT_DONE : fail(EXIT_DATA, "out of memory");
}

static int conclude(void *owner)
{
    struct reception *r = owner;
    if (!r->began)
        return r->input_code ? r->input_code : flow_nothing_read();
    struct reception_totals totals = {0};
    int code = EXIT_DONE, end = add_up(r, &totals);
    if (!end) {
        print_totals(r, &totals);
        end = check_end(r, &totals.receiver);
        code = write_totals(r, &totals);
    }
    if (!code && !(code = close_outputs(r, true)))
        code = outfile_complete();
    return r->input_code ? r->input_code : code ? code : end;
}

static int receive(struct reception *r)
{
    penstock_wifi_profile profile;
    int code = choose_outputs(r);
    if (code || (code = parse_profile(&profile, "receive", r->profile)) || (code = input_check(&r->input, "receive")) ||
        (code = open_reception(r, profile)) || (code = open_outputs(r, 0, 1)))
        return code;
    interrupt_conclude_by(conclude, r, EXIT_DONE);
    interrupt_watch(r->source);
    code = receive_all(r);
    interrupt_watch(NULL);
    progress_clear();
    if (!code)
        return interrupt_conclude(conclude, r);
    interrupt_conclude_by(NULL, NULL, code);
    return code;
}

static int run(const struct command *command, int argc, const char **argv)
{
    struct reception r = {.input = INPUT_DEFAULTS};
    const struct option_row table[] = {
        OPTION_WORD("profile", 'p', "NAME", &r.profile, profile_names, "profile", "What is sent"),
        INPUT_OPTIONS(r.input),
        OPTION_TEXT("device", 'd', "NAME", &r.device, "auto, NAME or prefer:NAME (penstock devices)"),
        OPTION_TEXT("json", 0, "FILE", &r.json,
                    "One JSON object a frame and line, then a summary; - for standard output"),
        OPTION_TEXT("pcap", 0, "FILE", &r.pcap, "Packets with radiotap headers, for Wireshark"),
        OPTION_TEXT("constellation", 0, "OUT.png", &r.constellation, "Picture of the equalised points"),
        OPTIONS_END,
    };
    struct options options;
    int code = EXIT_DONE;
    if (options_parse(&options, command, table, argc, argv, &code) && options_no_arguments(&options, command, &code))
        code = receive(&r);
    interrupt_end(code);
    close_outputs(&r, false);
    flow_blocks_free(&r.blocks);
    penstock_stream_free(r.receiver);
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
