/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The stream's calls. */
#include "rx/receiver.h"
#include "core/choice/async_build.h"
#include "ops/ofdm/ofdm.h"

#include <math.h>
#include <string.h>

#define HOP               65536
#define SHORTEST_HOP      64
#define MOST_HOPS         32
#define DEFAULT_LATENCY_S 10e-3
#define AHEAD_HOPS        4 /* by which a source that is faster than the radio must be ahead: others come in bursts */

static struct penstock__rx *of(penstock_stream *stream)
{
    return (struct penstock__rx *)(void *)stream;
}

static const struct penstock__rx *of_const(const penstock_stream *stream)
{
    return (const struct penstock__rx *)(const void *)stream;
}

/* ---------------------------------------------------------------- life ------------------------ */

/* Also `rx->hop`; all memory is for the longest one. */
static int set_latency(struct penstock__rx *rx, double max_latency_s)
{
    const int64_t group = (int64_t)rx->standard->group;
    double samples = max_latency_s * rx->rate_hz - (double)rx->standard->latency;
    if (!(max_latency_s >= 0 && max_latency_s <= 3600))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s receiver: max_latency_s is %g, not 0 .. 3600",
                               rx->stream.kind->name, max_latency_s);
    rx->max_latency_s = max_latency_s > 0 ? max_latency_s : DEFAULT_LATENCY_S;
    rx->gathers = max_latency_s == 0 && rx->most_hops > 1;
    if (max_latency_s == 0 || samples > HOP)
        rx->hop = HOP;
    else
        rx->hop = samples < SHORTEST_HOP ? SHORTEST_HOP : (int64_t)samples / group * group;
    return PENSTOCK_OK;
}

static int make_worker(struct penstock__rx_worker *worker, const struct penstock__rx_standard *standard)
{
    const size_t samples = (PENSTOCK__OFDM_HERE + 1) * standard->symbol + 2 * standard->margin,
                 carriers = (size_t)PENSTOCK__OFDM_HERE * standard->carriers,
                 seam = 2 * (standard->window - standard->group);
    if (!(worker->own = penstock__calloc(1, standard->worker_bytes)))
        return PENSTOCK_ERR_MEMORY;
    worker->frame = penstock__alloc(standard->frame_bytes);
    worker->symbols = penstock__calloc(standard->most_symbols, sizeof *worker->symbols);
    worker->samples = penstock__alloc(samples * sizeof *worker->samples);
    worker->points = penstock__alloc(carriers * sizeof *worker->points);
    worker->soft = penstock__alloc(carriers * standard->bits);
    worker->seam = penstock__alloc(seam * sizeof *worker->seam);
    return worker->frame && worker->symbols && worker->samples && worker->points && worker->soft && worker->seam
               ? standard->worker_init(worker->own)
               : PENSTOCK_ERR_MEMORY;
}

static void free_worker(struct penstock__rx_worker *worker, const struct penstock__rx_standard *standard)
{
    if (worker->own)
        standard->worker_free(worker->own);
    penstock__free(worker->own);
    penstock__free(worker->frame);
    penstock__free(worker->symbols);
    penstock__free(worker->samples);
    penstock__free(worker->points);
    penstock__free(worker->soft);
    penstock__free(worker->seam);
    penstock__free(worker->ofdm);
}

static int make_workers(struct penstock__rx *rx)
{
    const unsigned threads = penstock__threads(rx->stream.context);
    int status = PENSTOCK_OK;
    if (!(rx->workers = penstock__calloc(threads, sizeof *rx->workers)))
        return PENSTOCK_ERR_MEMORY;
    rx->worker_count = threads;
    for (unsigned i = 0; i < threads && !status; i++)
        status = make_worker(&rx->workers[i], rx->standard);
    return status;
}

int penstock__rx_init(struct penstock__rx *rx, double max_latency_s)
{
    const int64_t threads = penstock__threads(rx->stream.context);
    int status;
    rx->hop = HOP;
    rx->left_at = (double)INFINITY;
    rx->most_hops = threads == 1 ? 1 : 2 * threads < MOST_HOPS ? 2 * threads : MOST_HOPS;
    if ((status = penstock__rx_samples_init(rx)) || (status = penstock__rx_search_init(rx)) ||
        (status = make_workers(rx)))
        return status;
    rx->examined = penstock__rx_examined_new(rx->most_candidates);
    rx->decoding = penstock__alloc(PENSTOCK__RX_DECODED * sizeof(struct penstock__rx_frame *));
    return rx->examined && rx->decoding ? set_latency(rx, max_latency_s) : PENSTOCK_ERR_MEMORY;
}

void penstock__rx_cancel(penstock_stream *stream)
{
    penstock__async_build_cancel(of(stream)->build);
    penstock__ofdm_cancel(of(stream)->ofdm);
}

void penstock__rx_free(struct penstock__rx *rx)
{
    penstock__rx_frames_clear(rx);
    penstock__rx_device_drop(rx);
    penstock__rx_device_free(rx);
    penstock__rx_spare_free(rx);
    penstock__ofdm_free(rx->ofdm);
    penstock__rx_batches_free(rx->batches);
    penstock__rx_search_free(rx);
    for (unsigned i = 0; i < rx->worker_count; i++)
        free_worker(&rx->workers[i], rx->standard);
    penstock__free(rx->workers);
    penstock__free(rx->decoding);
    penstock__free(rx->examined);
    penstock__free(rx->samples);
}

void penstock__rx_reset(penstock_stream *stream)
{
    struct penstock__rx *rx = of(stream);
    penstock__rx_frames_clear(rx);
    penstock__rx_device_drop(rx);
    penstock__rx_samples_start(rx);
    penstock__rx_search_start(rx);
    rx->worked = 0;
    rx->next = rx->hop;
    rx->since = rx->sent_since = (double)INFINITY;
    rx->past_count = 0;
    rx->sure_until = 0;
    rx->counters = (struct penstock__rx_counters){0};
    rx->earlier_fallbacks = penstock__ofdm_fallbacks(rx->ofdm);
    rx->earlier_cpu_while_compiling = penstock__ofdm_cpu_while_compiling(rx->ofdm);
}

int penstock__rx_set_max_latency(penstock_stream *stream, double max_latency_s)
{
    struct penstock__rx *rx = of(stream);
    int status = set_latency(rx, max_latency_s);
    if (!status && rx->next > rx->end + rx->hop)
        rx->next = rx->end + rx->hop;
    return status;
}

/* ---------------------------------------------------------------- samples in ------------------ */

/* Time that passed between calls is the source's. */
static void enter(struct penstock__rx *rx)
{
    if (isfinite(rx->left_at))
        rx->ahead_s = fmax(rx->ahead_s - (penstock__now_s() - rx->left_at), 0);
}

static void leave(struct penstock__rx *rx)
{
    rx->left_at = penstock__now_s();
}

/* Whether there is time to wait, as a source gives that is faster than the radio. */
static bool ahead(const struct penstock__rx *rx)
{
    return rx->gathers && rx->ahead_s > AHEAD_HOPS * (double)rx->hop / rx->rate_hz;
}

/* Whether to wait for another hop. */
static bool gather(const struct penstock__rx *rx)
{
    return ahead(rx) && rx->end + rx->hop - rx->worked <= rx->most_hops * rx->hop;
}

static int work(struct penstock__rx *rx, bool all)
{
    penstock__ofdm_serve(rx->ofdm);
    const int status = penstock__rx_work(rx, all);
    penstock__ofdm_served(rx->ofdm);
    return status;
}

/* Works when it is time to; a failed attempt is made again by the next call. */
static int advance(struct penstock__rx *rx)
{
    int status = PENSTOCK_OK;
    if (rx->end == rx->next && (gather(rx) || !(status = work(rx, !ahead(rx)))))
        rx->next += rx->hop;
    return status;
}

/* Of `count` samples those that are taken at once: up to the next hop, or, as they need not be waited for, up to the
 * last one of which all threads have enough. */
static size_t part_of(struct penstock__rx *rx, size_t count)
{
    const int64_t most = rx->worked + rx->most_hops * rx->hop;
    while (rx->gathers && rx->next + rx->hop <= most && count >= (size_t)(rx->next + rx->hop - rx->end))
        rx->next += rx->hop;
    const size_t room = (size_t)(rx->next - rx->end);
    return count < room ? count : room;
}

static int take(struct penstock__rx *rx, const uint8_t *in, size_t count)
{
    for (;;) {
        int status = advance(rx);
        if (status || !count)
            return status;
        const size_t part = part_of(rx, count);
        const double hop_s = (double)rx->hop / rx->rate_hz;
        penstock__ofdm_serve(rx->ofdm);
        penstock__rx_append(rx, in, part);
        penstock__ofdm_served(rx->ofdm);
        double now = penstock__now_s();
        penstock__stream_took(&rx->stream, part, now);
        rx->ahead_s = fmin(rx->ahead_s + (double)part / rx->rate_hz, 2 * AHEAD_HOPS * hop_s);
        if (!isfinite(rx->since))
            rx->since = now;
        in += part * rx->stream.in_bytes;
        count -= part;
    }
}

int penstock__rx_push(penstock_stream *stream, const struct penstock__items *items, size_t count, size_t *taken)
{
    struct penstock__rx *rx = of(stream);
    (void)taken;
    enter(rx);
    int status = take(rx, items->whole, count);
    leave(rx);
    return status;
}

int penstock__rx_finish(penstock_stream *stream)
{
    struct penstock__rx *rx = of(stream);
    int status;
    if (!stream->finished) {
        if ((status = advance(rx)))
            return status;
        penstock__rx_append(rx, NULL, rx->standard->padding);
        stream->finished = true;
    }
    return work(rx, true);
}

/* ---------------------------------------------------------------- frames out ------------------ */

/* A frame was taken, or none is: then samples before those where one may lie wait for nothing. */
static void measure_out(struct penstock__rx *rx)
{
    int64_t searched = penstock__rx_horizon(rx), in = (int64_t)rx->stream.meter.in;
    if (rx->current) {
        int64_t end = rx->current->end < in ? rx->current->end : in;
        penstock__stream_gave(&rx->stream, 1, end > 0 ? (uint64_t)end : 0, 0);
        return;
    }
    if (rx->first && rx->first->start < searched)
        searched = rx->first->start;
    searched = searched < in ? searched : in;
    penstock__meter_skip(&rx->stream.meter, searched > 0 ? (uint64_t)searched : 0);
}

/* When what has been waiting longest began to; INFINITY: nothing waits. */
static double waiting_since(const struct penstock__rx *rx)
{
    return fmin(rx->since, rx->sent_since);
}

int penstock__rx_pull(struct penstock__rx *rx)
{
    int status;
    penstock__rx_give_back(rx, rx->current);
    rx->current = penstock__rx_take(rx);
    if (!rx->current && isfinite(waiting_since(rx)) && penstock__now_s() - waiting_since(rx) >= rx->max_latency_s) {
        enter(rx);
        status = work(rx, true);
        leave(rx);
        if (status)
            return status;
        rx->current = penstock__rx_take(rx);
    }
    measure_out(rx);
    return rx->current ? 1 : 0;
}

double penstock__rx_due_s(const penstock_stream *stream)
{
    const struct penstock__rx *rx = of_const(stream);
    const struct penstock__rx_frame *first = rx->first;
    if (first && first->state == PENSTOCK__RX_DONE && first->start < penstock__rx_horizon(rx))
        return 0;
    double left = waiting_since(rx) + rx->max_latency_s - penstock__now_s(); /* INFINITY where none waits */
    return left > 0 ? left : 0;
}

/* ---------------------------------------------------------------- what is known --------------- */

void penstock__rx_get_info(const penstock_stream *stream, penstock_stream_info *info)
{
    info->device = penstock_ofdm_device(of_const(stream)->ofdm);
}

void penstock__rx_get_stats(const penstock_stream *stream, penstock_stream_stats *stats)
{
    const struct penstock__rx *rx = of_const(stream);
    stats->fallbacks = rx->counters.fallbacks;
    stats->cpu_while_compiling = penstock__ofdm_cpu_while_compiling(rx->ofdm) - rx->earlier_cpu_while_compiling;
}
