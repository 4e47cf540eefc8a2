/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * bench --study enqueue: how long penstock_plan_enqueue() takes on the host, beside cuFFT's call where that is at hand,
 * in turns. A round enqueues few enough for the device's queue to take them all at once, and is then waited for, which
 * is not timed.
 */
#include "peers/peers.h"
#include "shared/interrupt.h"
#include "shared/median.h"
#include "shared/progress.h"
#include "study.h"
#include "study_device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 41, CALLS = 200, SIZES = 3 };

static const struct size {
    size_t n, frames;
} sizes[SIZES] = {{512, 1}, {512, 64}, {4096, 1}};

/* One size, ours and the peer's. */
struct enqueue_pair {
    struct size size;
    penstock_plan *plan;
    penstock_queue *queue;
    penstock_buffer *in, *out;
    void *peer; /* NULL: none */
    double ours_s, peer_s;
};

struct enqueue_study {
    bool csv;
    penstock_context *context;
    struct study_device device;
    const struct peer *peer; /* NULL: none on this device */
    struct enqueue_pair pairs[SIZES];
};

/* ---------------------------------------------------------------- rounds ---------------------- */

static int run_ours(struct enqueue_pair *pair, double *seconds)
{
    double start = seconds_now();
    int status = PENSTOCK_OK;
    for (int i = 0; i < CALLS && !status; i++)
        status = penstock_plan_enqueue(pair->plan, pair->in, pair->out, pair->size.frames, pair->queue);
    *seconds = (seconds_now() - start) / CALLS;
    if (!status)
        status = penstock_queue_wait(pair->queue);
    return status ? fail_status(status) : EXIT_DONE;
}

static int run_peer(const struct enqueue_study *s, struct enqueue_pair *pair, double *seconds)
{
    double start = seconds_now(), waited;
    int code = EXIT_DONE;
    for (int i = 0; i < CALLS && !code; i++)
        code = s->peer->device_enqueue(pair->peer);
    *seconds = (seconds_now() - start) / CALLS;
    return code ? code : s->peer->device_run(pair->peer, 1, &waited); /* which comes behind them */
}

static int time_pair(const struct enqueue_study *s, struct enqueue_pair *pair)
{
    double ours[ROUNDS], theirs[ROUNDS], warm_up;
    int code = run_ours(pair, &warm_up);
    if (!code && pair->peer)
        code = run_peer(s, pair, &warm_up);
    for (int i = 0; i < ROUNDS && !code; i++)
        if (!(code = run_ours(pair, &ours[i])) && pair->peer)
            code = run_peer(s, pair, &theirs[i]);
    if (code)
        return code;
    pair->ours_s = median(ours, ROUNDS);
    pair->peer_s = pair->peer ? median(theirs, ROUNDS) : NAN;
    return EXIT_DONE;
}

/* ---------------------------------------------------------------- pairs ----------------------- */

static void make_peer(const struct enqueue_study *s, struct enqueue_pair *pair)
{
    const size_t bytes = pair->size.n * pair->size.frames * sizeof(penstock_cf32);
    const struct device_work work = {.kind = DEVICE_WORK_FFT,
                                     .device = s->device.name,
                                     .in = s->device.block,
                                     .block_bytes = STUDY_BLOCK_BYTES,
                                     .in_bytes = bytes,
                                     .n = pair->size.n,
                                     .frames = pair->size.frames,
                                     .average = 1,
                                     .spacing = pair->size.n};
    if (s->peer)
        pair->peer = s->peer->device_new(&work);
}

static int make_pair(const struct enqueue_study *s, struct enqueue_pair *pair)
{
    const size_t bytes = pair->size.n * pair->size.frames * sizeof(penstock_cf32);
    const char *device = s->device.name;
    int status;
    if ((status = penstock_fft_plan(&pair->plan, s->context,
                                    &PENSTOCK_FFT_DESC(.n = pair->size.n, .batch = pair->size.frames), device)) ||
        (status = penstock_queue_new(&pair->queue, s->context, device)) ||
        (status = penstock_buffer_new(&pair->in, s->context, device, bytes)) ||
        (status = penstock_buffer_new(&pair->out, s->context, device, bytes)) ||
        (status = penstock_buffer_upload(pair->in, s->device.block, bytes, pair->queue)))
        return fail_status(status);
    make_peer(s, pair);
    return EXIT_DONE;
}

static void free_pair(const struct enqueue_study *s, struct enqueue_pair *pair)
{
    if (pair->peer)
        s->peer->device_free(pair->peer);
    penstock_queue_free(pair->queue);
    penstock_buffer_free(pair->in);
    penstock_buffer_free(pair->out);
    penstock_plan_free(pair->plan);
}

static int conclude(void *subject)
{
    const struct enqueue_study *s = subject;
    const bool csv = s->csv;
    if (interrupted())
        return interrupt_tell(EXIT_DONE);
    if (csv)
        printf("n,frames,enqueue_us,cufft_us\n");
    else
        printf("%s: microseconds of a call, median of %d rounds of %d\n%8s %8s %10s %10s\n", s->device.name, ROUNDS,
               CALLS, "points", "frames", "enqueue", "cufft");
    for (const struct enqueue_pair *pair = s->pairs; pair < s->pairs + SIZES; pair++) {
        char theirs[24] = "";
        if (pair->peer)
            snprintf(theirs, sizeof theirs, "%.3f", 1e6 * pair->peer_s);
        printf(csv ? "%zu,%zu,%.3f,%s\n" : "%8zu %8zu %10.3f %10s\n", pair->size.n, pair->size.frames,
               1e6 * pair->ours_s, *theirs || csv ? theirs : "-");
    }
    return EXIT_DONE;
}

static int run(struct enqueue_study *s)
{
    int code = EXIT_DONE;
    s->peer = !strncmp(s->device.name, "cuda", 4) ? &peer_cufft : NULL;
    progress_begin("sizes", SIZES);
    for (size_t i = 0; i < SIZES && !code && !interrupted(); i++) {
        s->pairs[i].size = sizes[i];
        progress_done((double)i, "%zu points", sizes[i].n);
        if (!(code = make_pair(s, &s->pairs[i])))
            code = time_pair(s, &s->pairs[i]);
    }
    progress_clear();
    return code;
}

int study_enqueue(const struct study *study)
{
    struct enqueue_study s = {.csv = study->csv};
    int code = open_context(&s.context, 0);
    if (code)
        return code;
    code = study_device_find(&s.device, s.context, study->device ? study->device : "cuda", STUDY_BLOCK_BYTES);
    if (!code && !(code = run(&s)))
        code = interrupt_conclude(conclude, &s);
    for (size_t i = 0; i < SIZES; i++)
        free_pair(&s, &s.pairs[i]);
    study_device_free(&s.device);
    penstock_context_free(s.context);
    return code;
}
