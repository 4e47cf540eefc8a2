/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The public calls of the receiver, and the buffer of samples. */
#include "rx/wifi/receiver.h"

#include "ops/ofdm.h"

#include "core/description.h"
#include "rx/wifi/condition.h"

#include <string.h>

#define LONGEST_FRAME     (400 + (MAX_SYMBOLS + 1) * PENSTOCK__WIFI_SYMBOL)
#define DEFAULT_HOP       65536
#define SHORTEST_HOP      64
#define DEFAULT_LATENCY_S 10e-3
#define EXAMINATION       320  /* samples by which the examination of the shortest frame may come after its end */
#define BEFORE_SCAN       1024 /* samples kept behind the detector: its longest run and what a candidate needs */
#define PADDING           1024 /* zeros behind the end of the stream: AFTER and the detector's window */

/* ---------------------------------------------------------------- the buffer ------------------ */

/* The first sample that is still needed. */
static int64_t oldest(const struct wifi_receiver *receiver)
{
    int64_t position = receiver->detector.first_group * GROUP - BEFORE_SCAN;
    if (receiver->candidate_count && receiver->candidates[0].position - BEFORE < position)
        position = receiver->candidates[0].position - BEFORE;
    for (const struct penstock__wifi_node *node = receiver->frames; node; node = node->next)
        if (node->state == PENSTOCK__WIFI_WAITING && node->reference < position)
            position = node->reference;
    return position > receiver->base ? position : receiver->base;
}

/* Room for `count` <= hop or PADDING samples at the end. */
static penstock_cf32 *make_room(struct wifi_receiver *receiver, size_t count)
{
    if ((size_t)(receiver->end - receiver->base) + count > receiver->capacity) {
        int64_t from = oldest(receiver);
        memmove(receiver->samples, receiver->samples + (from - receiver->base),
                (size_t)(receiver->end - from) * sizeof *receiver->samples);
        receiver->base = from;
    }
    return receiver->samples + (receiver->end - receiver->base);
}

/* Works when it is time to; a failed attempt is made again by the next call. */
static int advance(struct wifi_receiver *receiver)
{
    int status = PENSTOCK_OK;
    if (receiver->end == receiver->next && !(status = penstock__wifi_work(receiver)))
        receiver->next += receiver->hop;
    return status;
}

static void start(struct wifi_receiver *receiver)
{
    memset(receiver->samples, 0, BEFORE_SCAN * sizeof *receiver->samples);
    receiver->base = -BEFORE_SCAN;
    receiver->end = receiver->total = 0;
    receiver->next = receiver->hop;
    receiver->since = (double)INFINITY;
    receiver->candidate_count = receiver->past_count = 0;
    receiver->sure_until = 0;
    receiver->counters = (penstock_wifi_counters){.size = sizeof receiver->counters};
    receiver->earlier_fallbacks = penstock__ofdm_fallbacks(receiver->ofdm);
    receiver->earlier_meanwhile = penstock__ofdm_meanwhile(receiver->ofdm);
    penstock__wifi_detector_reset(&receiver->detector);
}

/* Also `receiver->hop`; all memory is for the longest one. */
static int set_latency(struct wifi_receiver *receiver, double max_latency_s)
{
    double samples = max_latency_s * receiver->rate_hz - EXAMINATION;
    if (!(max_latency_s >= 0 && max_latency_s <= 3600))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "wifi receiver: max_latency_s is %g, not 0 .. 3600",
                               max_latency_s);
    receiver->max_latency_s = max_latency_s > 0 ? max_latency_s : DEFAULT_LATENCY_S;
    if (max_latency_s == 0 || samples > DEFAULT_HOP)
        receiver->hop = DEFAULT_HOP;
    else
        receiver->hop = samples < SHORTEST_HOP ? SHORTEST_HOP : (int64_t)samples / GROUP * GROUP;
    return PENSTOCK_OK;
}

static int make_ofdm(struct wifi_receiver *receiver, const char *device)
{
    penstock_cf32 pilots[127][PENSTOCK__WIFI_PILOTS];
    for (unsigned row = 0; row < 127; row++)
        for (unsigned i = 0; i < PENSTOCK__WIFI_PILOTS; i++)
            pilots[row][i] =
                (penstock_cf32){penstock__wifi_pilot_values[i] * (float)penstock__wifi_pilot_polarity[row], 0};
    /* A GPU's kernel that gives points too makes the receiver no faster, and takes a second to compile once. */
    return penstock__ofdm_new(
        &receiver->ofdm, receiver->stream.context,
        &PENSTOCK_OFDM_DESC(.n = PENSTOCK__WIFI_FFT, .guard = PENSTOCK__WIFI_GUARD, .window_offset = WINDOW_OFFSET,
                            .format = PENSTOCK_CF32, .carriers = penstock__wifi_data_carriers,
                            .carrier_count = PENSTOCK__WIFI_CARRIERS, .pilots = penstock__wifi_pilot_carriers,
                            .pilot_count = PENSTOCK__WIFI_PILOTS, .pilot_values = pilots[0], .pilot_rows = 127,
                            .tracking = PENSTOCK_TRACK_GIVEN, .max_constellation = PENSTOCK_QAM64, .batch = 512),
        device, OFDM_TRANSFORMS);
}

static int make_memory(struct wifi_receiver *receiver)
{
    size_t candidates = (DEFAULT_HOP + PADDING) / 32 + 64; /* a run is 48 samples at the least */
    receiver->capacity = LONGEST_FRAME + BEFORE_SCAN + PADDING + 2 * DEFAULT_HOP;
    receiver->samples = penstock__calloc(receiver->capacity + AFTER, sizeof *receiver->samples);
    receiver->candidates = penstock__alloc(candidates * sizeof *receiver->candidates);
    receiver->workers = penstock__calloc(penstock__threads(receiver->stream.context), sizeof *receiver->workers);
    if (!receiver->samples || !receiver->candidates || !receiver->workers)
        return PENSTOCK_ERR_MEMORY;
    receiver->worker_count = penstock__threads(receiver->stream.context);
    for (unsigned i = 0; i < receiver->worker_count; i++)
        if (penstock__wifi_worker_init(&receiver->workers[i]))
            return PENSTOCK_ERR_MEMORY;
    if (penstock__wifi_detector_init(&receiver->detector, (DEFAULT_HOP + PADDING) / GROUP + 64) ||
        penstock__wifi_tables_init(&receiver->tables) || penstock__wifi_batch_init(&receiver->batch))
        return PENSTOCK_ERR_MEMORY;
    return PENSTOCK_OK;
}

static const struct penstock__stream_kind kind;

static struct wifi_receiver *of(penstock_stream *stream)
{
    return (struct wifi_receiver *)(void *)stream;
}

static const struct wifi_receiver *of_const(const penstock_stream *stream)
{
    return (const struct wifi_receiver *)(const void *)stream;
}

static int check(const penstock_wifi_receiver_desc *desc)
{
    if (penstock_wifi_rate_hz(desc->profile) == 0)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_wifi_receiver_open: profile %d is none of 0 .. 2",
                               (int)desc->profile);
    if (desc->format != PENSTOCK_CF32 && desc->format != PENSTOCK_CS16 && desc->format != PENSTOCK_CS8 &&
        desc->format != PENSTOCK_CU8)
        return penstock__error(PENSTOCK_ERR_ARGUMENT,
                               "penstock_wifi_receiver_open: the format must be cf32, cs16, cs8 or cu8");
    return PENSTOCK_OK;
}

static int make(struct wifi_receiver *made, const penstock_wifi_receiver_desc *d, const char *device)
{
    int status;
    made->format = d->format;
    made->points = d->points;
    made->rate_hz = penstock_wifi_rate_hz(d->profile);
    made->clock = made->rate_hz / penstock_wifi_rate_hz(PENSTOCK_WIFI);
    if ((status = set_latency(made, d->max_latency_s)) || (status = make_memory(made)) ||
        (status = make_ofdm(made, device)))
        return status;
    penstock__ofdm_set_times(made->ofdm, &made->stream.meter.times);
    return PENSTOCK_OK;
}

int penstock_wifi_receiver_open(penstock_stream **stream, penstock_context *context,
                                const penstock_wifi_receiver_desc *desc, const char *device)
{
    penstock_wifi_receiver_desc d;
    struct wifi_receiver *made;
    int status;
    if (!stream || !context)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_wifi_receiver_open: %s is NULL",
                               stream ? "context" : "stream");
    *stream = NULL;
    if ((status = penstock__description_read(&d, sizeof d, desc, "penstock_wifi_receiver_desc")) ||
        (status = check(&d)))
        return status;
    if (!(made = penstock__calloc(1, sizeof *made)))
        return PENSTOCK_ERR_MEMORY;
    made->stream =
        (struct penstock_stream){.kind = &kind, .context = context, .in_bytes = penstock_format_bytes(d.format)};
    if ((status = make(made, &d, device))) {
        penstock_stream_free(&made->stream);
        return status;
    }
    penstock_stream_reset(&made->stream);
    *stream = &made->stream;
    return PENSTOCK_OK;
}

static void free_frames(struct wifi_receiver *receiver)
{
    penstock__wifi_node_free(receiver->current);
    receiver->current = NULL;
    while (receiver->frames) {
        struct penstock__wifi_node *node = receiver->frames;
        receiver->frames = node->next;
        penstock__wifi_node_free(node);
    }
}

static void free_stream(penstock_stream *stream)
{
    struct wifi_receiver *receiver = of(stream);
    free_frames(receiver);
    penstock_ofdm_free(receiver->ofdm);
    penstock__wifi_batch_free(&receiver->batch);
    penstock__wifi_tables_free(&receiver->tables);
    penstock__wifi_detector_free(&receiver->detector);
    for (unsigned i = 0; i < receiver->worker_count; i++)
        penstock__wifi_worker_free(&receiver->workers[i]);
    penstock__free(receiver->workers);
    penstock__free(receiver->candidates);
    penstock__free(receiver->samples);
    penstock__free(receiver);
}

static void reset(penstock_stream *stream)
{
    free_frames(of(stream));
    start(of(stream));
}

static int set_max_latency(penstock_stream *stream, double max_latency_s)
{
    struct wifi_receiver *receiver = of(stream);
    int status = set_latency(receiver, max_latency_s);
    if (!status && receiver->next > receiver->end + receiver->hop)
        receiver->next = receiver->end + receiver->hop;
    return status;
}

/* ---------------------------------------------------------------- samples in ------------------ */

static int push(penstock_stream *stream, const struct penstock__items *items, size_t count, size_t *taken)
{
    struct wifi_receiver *receiver = of(stream);
    const uint8_t *in = items->whole;
    (void)taken;
    for (;;) {
        int status = advance(receiver);
        if (status || !count)
            return status;
        size_t room = (size_t)(receiver->next - receiver->end), part = count < room ? count : room;
        penstock__wifi_condition(make_room(receiver, part), in, receiver->format, part, &receiver->counters.clipped,
                                 &receiver->counters.not_finite);
        receiver->end += (int64_t)part;
        receiver->total = receiver->end;
        double now = penstock__now_s();
        penstock__stream_took(stream, part, now);
        if (!isfinite(receiver->since))
            receiver->since = now;
        in += part * stream->in_bytes;
        count -= part;
    }
}

static int finish(penstock_stream *stream)
{
    struct wifi_receiver *receiver = of(stream);
    int status;
    if (!stream->finished) {
        if ((status = advance(receiver)))
            return status;
        memset(make_room(receiver, PADDING), 0, PADDING * sizeof *receiver->samples);
        receiver->end += PADDING;
        stream->finished = true;
    }
    return penstock__wifi_work(receiver);
}

/* ---------------------------------------------------------------- frames out ------------------ */

/* No frame that is still to be found starts before this. */
static int64_t horizon(const struct wifi_receiver *receiver)
{
    const struct penstock__wifi_detector *detector = &receiver->detector;
    int64_t position = detector->first_group * GROUP;
    if (receiver->candidate_count)
        position = receiver->candidates[0].position;
    else if (detector->run_length)
        position = detector->run_candidate.position;
    else if (receiver->stream.finished)
        return INT64_MAX;
    return position - BEFORE;
}

/* A frame was taken, or none is: then samples before those where one may lie wait for nothing. */
static void measure_out(struct wifi_receiver *receiver)
{
    int64_t searched = horizon(receiver), in = (int64_t)receiver->stream.meter.in;
    if (receiver->current) {
        int64_t end = receiver->current->end < in ? receiver->current->end : in;
        penstock__stream_gave(&receiver->stream, 1, end > 0 ? (uint64_t)end : 0, 0);
        return;
    }
    if (receiver->frames && receiver->frames->start < searched)
        searched = receiver->frames->start;
    searched = searched < in ? searched : in;
    penstock__meter_skip(&receiver->stream.meter, searched > 0 ? (uint64_t)searched : 0);
}

static bool is_overdue(const struct wifi_receiver *receiver)
{
    return isfinite(receiver->since) && penstock__now_s() - receiver->since >= receiver->max_latency_s;
}

static double due_s(const penstock_stream *stream)
{
    const struct wifi_receiver *receiver = of_const(stream);
    const struct penstock__wifi_node *first = receiver->frames;
    if (first && first->state == PENSTOCK__WIFI_DONE && first->start < horizon(receiver))
        return 0;
    double left = receiver->since + receiver->max_latency_s - penstock__now_s(); /* INFINITY where none waits */
    return left > 0 ? left : 0;
}

int penstock_wifi_receiver_pull(penstock_stream *stream, penstock_wifi_frame *frame)
{
    penstock_wifi_frame described = PENSTOCK_WIFI_FRAME;
    int status = penstock__stream_is(stream, &kind, "penstock_wifi_receiver_pull");
    if (status)
        return status;
    struct wifi_receiver *receiver = of(stream);
    status = penstock__description_write(frame, &described, sizeof described, "penstock_wifi_frame");
    if (status)
        return status;
    penstock__wifi_node_free(receiver->current);
    receiver->current = penstock__wifi_take(receiver, horizon(receiver));
    if (!receiver->current && is_overdue(receiver)) {
        if ((status = penstock__wifi_work(receiver)))
            return status;
        receiver->current = penstock__wifi_take(receiver, horizon(receiver));
    }
    measure_out(receiver);
    if (!receiver->current)
        return 0;
    penstock__wifi_describe(receiver, receiver->current, &described);
    status = penstock__description_write(frame, &described, sizeof described, "penstock_wifi_frame");
    return status ? status : 1;
}

/* ---------------------------------------------------------------- what is known --------------- */

int penstock_wifi_receiver_get_counters(const penstock_stream *stream, penstock_wifi_counters *counters)
{
    int status = penstock__stream_is(stream, &kind, "penstock_wifi_receiver_get_counters");
    if (status)
        return status;
    penstock_wifi_counters known = of_const(stream)->counters;
    known.samples = stream->taken;
    return penstock__description_write(counters, &known, sizeof known, "penstock_wifi_counters");
}

static void get_info(const penstock_stream *stream, penstock_stream_info *info)
{
    info->device = penstock_ofdm_device(of_const(stream)->ofdm);
}

static void get_stats(const penstock_stream *stream, penstock_stream_stats *stats)
{
    const struct wifi_receiver *receiver = of_const(stream);
    stats->fallbacks = receiver->counters.fallbacks;
    stats->meanwhile = penstock__ofdm_meanwhile(receiver->ofdm) - receiver->earlier_meanwhile;
}

static const struct penstock__stream_kind kind = {
    .name = "wifi",
    .takes_all = true,
    .push = push,
    .finish = finish,
    .reset = reset,
    .free = free_stream,
    .set_max_latency = set_max_latency,
    .due_s = due_s,
    .get_info = get_info,
    .get_stats = get_stats,
};
