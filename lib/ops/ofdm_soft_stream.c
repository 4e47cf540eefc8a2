/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Soft bits of OFDM symbols that follow one another: what penstock_ofdm_stream_open() makes where nothing else is
 * wanted. Samples gather as they come, in memory that the device reaches, a batch is demodulated at once, and its soft
 * bits are items as those of all other streams are. With the samples on the device they are made there.
 */
#include "core/latency.h"
#include "core/stream_device.h"
#include "ops/ofdm_demodulator.h"
#include "ops/ofdm_stream.h"

#include <string.h>

#define BATCH_BYTES ((size_t)16 << 20) /* of samples: several of the chunks that a device has on their way */

struct soft_stream {
    struct penstock_stream stream;
    penstock_ofdm *ofdm;
    size_t step, pilot_rows, batch; /* samples of a symbol; symbols that are demodulated at once, at most */
    penstock_cf32 *ones;
    penstock_ofdm_frame frame; /* of a channel of one */
    penstock_ofdm_symbol *symbols;
    char *samples;
    size_t held; /* samples that are no result yet, of batch * step */
    char *ready; /* symbols from `given_at` on, `waiting` of them */
    size_t waiting, given_at;
    uint64_t done;               /* symbols */
    double max_latency_s, since; /* since when a symbol is complete; 0: none is */
    uint64_t earlier_fallbacks, earlier_cpu_while_compiling;
};

static const struct penstock__stream_kind kind;

static struct soft_stream *of(penstock_stream *stream)
{
    return (struct soft_stream *)(void *)stream;
}

static const struct soft_stream *of_const(const penstock_stream *stream)
{
    return (const struct soft_stream *)(const void *)stream;
}

/* ---------------------------------------------------------------- life ------------------------ */

static int make_memory(struct soft_stream *self, size_t n)
{
    const char *device = penstock_ofdm_device(self->ofdm);
    penstock_context *context = self->stream.context;
    void *samples, *ready;
    int status = penstock_host_memory_new(&samples, context, device, self->batch * self->step * self->stream.in_bytes);
    if (status)
        return status;
    self->samples = samples;
    if ((status = penstock_host_memory_new(&ready, context, device, self->batch * self->stream.out_bytes)))
        return status;
    self->ready = ready;
    self->symbols = penstock__calloc(self->batch, sizeof *self->symbols);
    self->ones = penstock__alloc(n * sizeof *self->ones);
    if (!self->symbols || !self->ones)
        return PENSTOCK_ERR_MEMORY;
    for (size_t k = 0; k < n; k++)
        self->ones[k] = (penstock_cf32){1, 0};
    return PENSTOCK_OK;
}

static int make(struct soft_stream *self, const penstock_ofdm_stream_desc *desc, const char *device)
{
    const penstock_constellation constellation = desc->constellation ? desc->constellation : PENSTOCK_QPSK;
    int status =
        penstock_ofdm_new(&self->ofdm, self->stream.context,
                          &PENSTOCK_OFDM_DESC(.n = desc->n, .guard = desc->guard, .format = desc->format,
                                              .carriers = desc->carriers, .carrier_count = desc->carrier_count,
                                              .pilots = desc->pilots, .pilot_count = desc->pilot_count,
                                              .pilot_values = desc->pilot_values, .pilot_rows = desc->pilot_rows,
                                              .tracking = desc->track ? PENSTOCK_TRACK_PILOTS : PENSTOCK_TRACK_GIVEN,
                                              .max_constellation = constellation, .batch = 256),
                          device);
    if (status)
        return status;
    self->step = desc->n + desc->guard;
    self->pilot_rows = desc->pilot_count ? desc->pilot_rows : 1;
    self->stream.out_bytes = desc->carrier_count * (size_t)constellation;
    self->batch = BATCH_BYTES / (self->step * self->stream.in_bytes) + 1;
    self->frame = (penstock_ofdm_frame){
        .noise = 1, .llr_scale = penstock__ofdm_stream_strength(constellation, 1), .constellation = constellation};
    if ((status = make_memory(self, desc->n)))
        return status;
    self->frame.channel = self->ones;
    return PENSTOCK_OK;
}

int penstock__ofdm_soft_stream_open(penstock_stream **stream, penstock_context *context,
                                    const penstock_ofdm_stream_desc *desc, const char *device)
{
    struct soft_stream *made = penstock__calloc(1, sizeof *made);
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->stream = (struct penstock_stream){.kind = &kind,
                                            .context = context,
                                            .in_bytes = penstock_format_bytes(desc->format),
                                            .in_values = 1 + (unsigned)desc->format,
                                            .out_values = PENSTOCK__SOFT_BITS,
                                            .lends_in = true};
    int status = make(made, desc, device);
    if (status) {
        penstock_stream_free(&made->stream);
        return status;
    }
    penstock__ofdm_set_event_times(made->ofdm, &made->stream.meter.event_times);
    penstock_stream_reset(&made->stream);
    *stream = &made->stream;
    return PENSTOCK_OK;
}

static void free_stream(penstock_stream *stream)
{
    struct soft_stream *self = of(stream);
    penstock_ofdm_free(self->ofdm);
    penstock_host_memory_free(stream->context, self->samples);
    penstock_host_memory_free(stream->context, self->ready);
    penstock__free(self->symbols);
    penstock__free(self->ones);
    penstock__free(self);
}

static void reset(penstock_stream *stream)
{
    struct soft_stream *self = of(stream);
    self->held = self->waiting = self->given_at = 0;
    self->done = 0;
    self->since = 0;
    self->earlier_fallbacks = penstock__ofdm_fallbacks(self->ofdm);
    self->earlier_cpu_while_compiling = penstock__ofdm_cpu_while_compiling(self->ofdm);
    penstock__stream_start(stream);
}

/* ---------------------------------------------------------------- symbols --------------------- */

static size_t complete(const struct soft_stream *self)
{
    return self->held / self->step;
}

/* To be told when samples came or symbols went. */
static void note_complete(struct soft_stream *self)
{
    if (!complete(self))
        self->since = 0;
    else if (self->since == 0)
        self->since = penstock__now_s();
}

/* All that are complete, while none waits. */
static int demodulate(struct soft_stream *self)
{
    const size_t count = complete(self), used = count * self->step, bytes = self->stream.in_bytes;
    const penstock_ofdm_batch batch =
        PENSTOCK_OFDM_BATCH(.samples = self->samples, .sample_count = used, .frames = &self->frame, .frame_count = 1,
                            .symbols = self->symbols, .symbol_count = count);
    for (size_t i = 0; i < count; i++)
        self->symbols[i] = (penstock_ofdm_symbol){.start = i * self->step,
                                                  .pilot_row = (uint32_t)((self->done + i) % self->pilot_rows)};
    const double began = penstock__now_s();
    int status =
        count ? penstock_ofdm_run(self->ofdm, &batch, &PENSTOCK_OFDM_RESULT(.soft = (int8_t *)(void *)self->ready))
              : PENSTOCK_OK;
    if (status || !count)
        return status;
    penstock__meter_batch(&self->stream.meter, count,
                          penstock__ofdm_has_clock(self->ofdm) ? 0 : penstock__now_s() - began);
    memmove(self->samples, self->samples + used * bytes, (self->held - used) * bytes);
    self->held -= used;
    self->done += count;
    self->waiting = count;
    self->given_at = 0;
    note_complete(self);
    return PENSTOCK_OK;
}

/* What is to be demodulated now: a batch, or what has waited for long enough. */
static int demodulate_due(struct soft_stream *self, bool wait)
{
    const size_t count = complete(self);
    const bool late = penstock__latency_is_over(self->since, self->max_latency_s);
    const bool due = count == self->batch || (count && (late || wait || self->stream.finished));
    return due && !self->waiting ? demodulate(self) : PENSTOCK_OK;
}

/* ---------------------------------------------------------------- in and out ------------------ */

static int acquire(penstock_stream *stream, void **to, size_t *room)
{
    struct soft_stream *self = of(stream);
    int status = demodulate_due(self, false);
    *to = self->samples + self->held * stream->in_bytes;
    *room = self->batch * self->step - self->held;
    return status;
}

static int commit(penstock_stream *stream, size_t count)
{
    of(stream)->held += count;
    note_complete(of(stream));
    return demodulate_due(of(stream), false);
}

static int push(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken)
{
    const size_t bytes = stream->in_bytes;
    int status = PENSTOCK_OK;
    while (*taken < count && !status) {
        void *to;
        size_t room, some;
        if ((status = acquire(stream, &to, &room)) || !room)
            return status;
        some = room < count - *taken ? room : count - *taken;
        penstock__copy(stream->context, to, (const char *)in->whole + *taken * bytes, some * bytes);
        *taken += some;
        status = commit(stream, some);
    }
    return status;
}

static int pull(penstock_stream *stream, const struct penstock__room *out, size_t capacity, bool wait, size_t *count)
{
    struct soft_stream *self = of(stream);
    const size_t bytes = stream->out_bytes;
    while (*count < capacity) {
        int status = demodulate_due(self, wait);
        if (status)
            return *count ? PENSTOCK_OK : status;
        if (!self->waiting)
            return PENSTOCK_OK;
        const size_t some = self->waiting < capacity - *count ? self->waiting : capacity - *count;
        penstock__copy(stream->context, (char *)out->whole + *count * bytes, self->ready + self->given_at * bytes,
                       some * bytes);
        self->given_at += some;
        self->waiting -= some;
        *count += some;
        penstock__stream_gave(stream, some, (stream->given + 1) * self->step, self->step);
    }
    return PENSTOCK_OK;
}

static int flush(penstock_stream *stream)
{
    return of(stream)->waiting ? PENSTOCK_OK : demodulate(of(stream));
}

static int finish(penstock_stream *stream)
{
    stream->finished = true;
    return flush(stream);
}

/* ---------------------------------------------------------------- on the device --------------- */

static int put(penstock_stream *stream, uint64_t first, size_t symbols, const penstock_buffer *in, penstock_buffer *out,
               penstock_queue *queue)
{
    struct soft_stream *self = of(stream);
    (void)first;
    return penstock__ofdm_enqueue_more(self->ofdm, &self->frame, in, out, symbols, queue);
}

static int device_work(penstock_stream *stream, struct penstock__device_work *work)
{
    const struct soft_stream *self = of_const(stream);
    int status = penstock__ofdm_enqueues(self->ofdm);
    if (status)
        return status;
    *work = (struct penstock__device_work){.samples = 1,
                                           .sample_bytes = stream->in_bytes,
                                           .result_bytes = stream->out_bytes,
                                           .step = self->step,
                                           .span = self->step,
                                           .results = 1,
                                           .put = put};
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- what is known --------------- */

static double due_s(const penstock_stream *stream)
{
    const struct soft_stream *self = of_const(stream);
    if (self->waiting || complete(self) == self->batch || (stream->finished && complete(self)))
        return 0;
    return penstock__latency_left_s(self->since, self->max_latency_s);
}

static int set_max_latency(penstock_stream *stream, double max_latency_s)
{
    of(stream)->max_latency_s = max_latency_s;
    return PENSTOCK_OK;
}

static void get_info(const penstock_stream *stream, penstock_stream_info *info)
{
    info->device = penstock_ofdm_device(of_const(stream)->ofdm);
    info->waiting = of_const(stream)->waiting;
    info->batch = of_const(stream)->batch;
}

static void get_stats(const penstock_stream *stream, penstock_stream_stats *stats)
{
    const struct soft_stream *self = of_const(stream);
    stats->fallbacks = penstock__ofdm_fallbacks(self->ofdm) - self->earlier_fallbacks;
    stats->cpu_while_compiling = penstock__ofdm_cpu_while_compiling(self->ofdm) - self->earlier_cpu_while_compiling;
}

static const struct penstock__stream_kind kind = {
    .name = "ofdm soft bits",
    .push = push,
    .pull = pull,
    .acquire = acquire,
    .commit = commit,
    .flush = flush,
    .finish = finish,
    .reset = reset,
    .free = free_stream,
    .set_max_latency = set_max_latency,
    .due_s = due_s,
    .get_info = get_info,
    .get_stats = get_stats,
    .device_work = device_work,
};
