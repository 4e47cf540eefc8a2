/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* receive: frames of the project's own transmitter, of recordings, or none in white noise. */
#include "air.h"
#include "cases.h"
#include "flow.h"
#include "recordings.h"
#include "shared/number.h"
#include "shared/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double all_mbps[] = {6, 9, 12, 18, 24, 36, 48, 54}; /* at 20 MHz */

enum { RATE_COUNT = sizeof all_mbps / sizeof all_mbps[0] };

static bool parse_rate(struct receive_case *receive, const char *word)
{
    double mbps, clock = penstock_wifi_rate_hz(receive->profile) / 20e6;
    if (!number_read(word, strlen(word), &mbps))
        return false;
    for (size_t i = 0; i < RATE_COUNT; i++)
        if (mbps == all_mbps[i] * clock) {
            receive->mode = RECEIVE_FRAMES;
            receive->mbps = mbps;
            return true;
        }
    return false;
}

static bool parse(struct test_case *test, char *const *words, size_t count, const char **problem)
{
    struct receive_case *receive = &test->receive;
    *problem = count ? words[0] : "no profile";
    if (!count || penstock_wifi_profile_parse(&receive->profile, words[0]))
        return false;
    *problem = count > 1 ? words[1] : "nothing after the profile";
    if (count != 2)
        return false;
    if (!strcmp(words[1], "idle"))
        receive->mode = RECEIVE_IDLE;
    else if (!strcmp(words[1], "recordings") && receive->profile == PENSTOCK_WIFI)
        receive->mode = RECEIVE_RECORDINGS;
    else if (!strcmp(words[1], "mixed") || parse_count(words[1], "chunk", &receive->chunk))
        receive->mode = RECEIVE_CHUNKS;
    else
        return parse_rate(receive, words[1]);
    return true;
}

static int new_receiver(penstock_stream **receiver, const struct receive_case *receive,
                        const struct case_target *target)
{
    return penstock_wifi_receiver_open(receiver, target->context,
                                       &PENSTOCK_WIFI_RECEIVER_DESC(.profile = receive->profile), target->device);
}

/* Frames with a short interframe space of 16 us at 20 MHz between them, at 35 dB, 40 kHz off: `count` of them, or as
 * many as make so many samples. Length 0: of all lengths. */
static bool make_frames(struct air *air, const struct receive_case *receive, size_t count, size_t samples,
                        size_t length)
{
    enum { SIFS_SAMPLES = 320, LEAD_SAMPLES = 1000 };
    double clock = penstock_wifi_rate_hz(receive->profile) / 20e6;
    bool good = air_silence(air, LEAD_SAMPLES);
    for (size_t i = 0; (i < count || air->count < samples) && good; i++) {
        double mbps = receive->mode == RECEIVE_FRAMES ? receive->mbps : all_mbps[i % RATE_COUNT] * clock;
        good = air_frame(air, &PENSTOCK_WIFI_TRANSMIT_DESC(.profile = receive->profile, .mbps = mbps),
                         length ? length : 36 + i * 331 % 1465, i) &&
               air_silence(air, SIFS_SAMPLES);
    }
    if (good && air_silence(air, LEAD_SAMPLES)) {
        air_shift(air, 0.002);
        air_noise(air, pow(10, -3.5), 1);
    }
    return good;
}

static void judge(struct case_verdict *verdict, const struct air *air, const struct air_result *result)
{
    if (result->found == air->frame_count && !result->unexpected)
        verdict_held(verdict, "%zu frames", result->found);
    else
        verdict_failed(verdict, "%zu of %zu frames, and %zu that nobody sent", result->found, air->frame_count,
                       result->unexpected);
}

static void check_frames(const struct receive_case *receive, penstock_stream *receiver, struct case_verdict *verdict)
{
    enum { FRAMES = 24 };
    struct air air = {0};
    struct air_result result;
    int status;
    if (!make_frames(&air, receive, FRAMES, 0, 0))
        verdict_failed(verdict, "no signal could be made: %s", penstock_error_text());
    else if ((status = air_receive(&result, &air, receiver, receive->chunk ? receive->chunk : 65536)))
        verdict_status(verdict, status);
    else
        judge(verdict, &air, &result);
    air_free(&air);
}

static void check_idle(penstock_stream *receiver, struct case_verdict *verdict)
{
    enum { SAMPLES = 2000000 };
    struct air air = {0};
    struct air_result result;
    int status;
    if (!air_silence(&air, SAMPLES)) {
        verdict_failed(verdict, "out of memory");
        return;
    }
    air_noise(&air, 1, 2);
    if ((status = air_receive(&result, &air, receiver, 65536)))
        verdict_status(verdict, status);
    else if (result.unexpected)
        verdict_failed(verdict, "%zu frames with a good FCS in white noise", result.unexpected);
    else
        verdict_held(verdict, "no frame in %d samples of white noise, %llu triggers", SAMPLES,
                     (unsigned long long)result.counters.triggers);
    air_free(&air);
}

/* One file with its legacy frames. Returns a status; sums up in `result` and `*expected`. */
static int receive_file(const struct recordings *recordings, const char *file, penstock_stream *receiver,
                        struct air_result *sum, size_t *expected)
{
    struct air air = {0};
    struct air_result result;
    air.samples = recordings_load(recordings, file, &air.count);
    air.frames = calloc(recordings->count, sizeof *air.frames);
    int status = air.samples && air.frames ? PENSTOCK_OK : PENSTOCK_ERR_FILE;
    for (size_t i = 0; i < recordings->count && !status; i++) {
        struct recorded_frame *row = &recordings->frames[i];
        if (row->legacy && row->fcs_ok && !strcmp(row->file, file))
            air.frames[air.frame_count++] = (struct sent_frame){row->start, row->length, row->psdu};
    }
    if (!status)
        status = air_receive(&result, &air, receiver, 65536);
    if (!status) {
        sum->found += result.found;
        sum->unexpected += result.unexpected;
        *expected += air.frame_count;
    }
    free(air.samples);
    free(air.frames);
    return status;
}

/* Every legacy frame of every recording; what else has a good FCS is no error, but is told. */
static void check_recordings(penstock_stream *receiver, struct case_verdict *verdict)
{
    struct recordings recordings;
    struct air_result sum = {0};
    size_t expected = 0;
    int status = PENSTOCK_OK;
    if (!recordings_open(&recordings)) {
        verdict_skipped(verdict, "%s", recordings.reason);
        recordings_free(&recordings);
        return;
    }
    for (size_t i = 0; i < recordings.count && !status; i++)
        if (!i || strcmp(recordings.frames[i].file, recordings.frames[i - 1].file))
            status = receive_file(&recordings, recordings.frames[i].file, receiver, &sum, &expected);
    if (status == PENSTOCK_ERR_FILE)
        verdict_failed(verdict, "a file named in truth.tsv cannot be read");
    else if (status)
        verdict_status(verdict, status);
    else if (sum.found == expected && expected)
        verdict_held(verdict, "%zu frames, and %zu more with a good FCS", sum.found, sum.unexpected);
    else
        verdict_failed(verdict, "%zu of %zu frames, and %zu more with a good FCS", sum.found, expected, sum.unexpected);
    recordings_free(&recordings);
}

static void check(const struct test_case *test, const struct case_target *target, struct case_verdict *verdict)
{
    penstock_stream *receiver = NULL;
    int status = new_receiver(&receiver, &test->receive, target);
    if (status)
        verdict_status(verdict, status);
    else if (test->receive.mode == RECEIVE_IDLE)
        check_idle(receiver, verdict);
    else if (test->receive.mode == RECEIVE_RECORDINGS)
        check_recordings(receiver, verdict);
    else
        check_frames(&test->receive, receiver, verdict);
    penstock_stream_free(receiver);
}

struct receive_run {
    struct air air;
    penstock_stream *receiver;
    size_t chunk;
};

static int run_receiver(void *state)
{
    struct receive_run *run = state;
    struct air_result result;
    int status = air_receive(&result, &run->air, run->receiver, run->chunk);
    if (status)
        return fail_status(status);
    if (result.found == run->air.frame_count)
        return EXIT_DONE;
    return fail(EXIT_DATA, "only %zu of %zu frames were received: no time is given for that", result.found,
                run->air.frame_count);
}

static int bench(const struct test_case *test, const struct case_target *target, struct bench_row *row)
{
    enum { SAMPLES = 1 << 22, FRAMES = 64, BYTES = 1500 };
    struct receive_run run = {.chunk = test->receive.chunk ? test->receive.chunk
                                                           : flow_most_bytes() / sizeof(penstock_cf32)};
    bool idle = test->receive.mode == RECEIVE_IDLE;
    size_t bytes = test->receive.mode == RECEIVE_FRAMES ? BYTES : 0;
    if (test->receive.mode == RECEIVE_RECORDINGS)
        return fail(EXIT_USAGE, "%s is a case for check, not for bench", test->text);
    if (!(idle ? air_silence(&run.air, SAMPLES) : make_frames(&run.air, &test->receive, FRAMES, SAMPLES, bytes)))
        return fail(EXIT_DATA, "no signal could be made: %s", penstock_error_text());
    if (idle)
        air_noise(&run.air, 1, 3);
    double start = seconds_now();
    int status = new_receiver(&run.receiver, &test->receive, target),
        code = status ? bench_status(row, status) : EXIT_DONE;
    row->plan_cold_ms = 1e3 * (seconds_now() - start);
    row->batch = run.air.frame_count;
    row->samples_per_run = (double)run.air.count;
    row->bytes_per_sample = sizeof *run.air.samples;
    if (!code)
        code = bench_measure(row, &(struct workload){run_receiver, &run}, NULL, 1);
    penstock_stream_free(run.receiver);
    air_free(&run.air);
    return code;
}

const struct case_kind case_receive = {
    .name = "receive",
    .syntax = "receive:wifi|wifi-10mhz|wifi-5mhz:MBPS|mixed|idle|chunkN|recordings",
    .parse = parse,
    .check = check,
    .bench = bench,
};
