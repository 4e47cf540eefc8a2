/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Soft bits of OFDM symbols that follow one another: what penstock_ofdm_stream_open() makes where nothing else is
 * wanted. Samples gather as they come, in memory that the device reaches, a batch is demodulated at once, and its soft
 * bits are items as those of all other streams are. With the samples or the next stream on the device they are made
 * there: ofdm_soft_device.c.
 */
#include "ops/ofdm/ofdm_soft_stream.h"
#include "core/plan/plan.h"
#include "core/stream/latency.h"
#include "ops/ofdm/ofdm_demodulator.h"
#include "ops/ofdm/ofdm_stream.h"

#include <string.h>

#define BATCH_BYTES ((size_t)16 << 20) /* of samples: several of the chunks that a device has on their way */

static const struct penstock__stream_kind kind;

/* ---------------------------------------------------------------- life ------------------------ */

/* Batches of samples and room for one's soft bits, in memory that the device reaches; several batches where they can
 * stay there. After an error too the ring is to be freed. */
static int make_memory(struct soft_stream *self, struct penstock__ring *ring, char **ready)
{
    const struct penstock__executor *there = penstock__ofdm_enqueuing(self->ofdm);
    struct penstock_device *device = (there ? there : penstock__plan_executor(self->ofdm->plan))->state.device;
    const bool stay = there && !there->group && device->backend->copy;
    void *made = NULL;
    self->device = device;
    int status = penstock__ring_init(ring, self->stream.context, device, stay ? PENSTOCK__RING_USUAL : 1,
                                     self->batch * self->step * self->stream.in_bytes, 0);
    if (!status)
        status = penstock__host_block_new(&made, self->stream.context, device, self->batch * self->stream.out_bytes);
    *ready = made;
    return status;
}

static int make_frame(struct soft_stream *self, size_t n)
{
    self->symbols = penstock__calloc(self->batch, sizeof *self->symbols);
    self->ones = penstock__alloc(n * sizeof *self->ones);
    if (!self->symbols || !self->ones)
        return PENSTOCK_ERR_MEMORY;
    for (size_t k = 0; k < n; k++)
        self->ones[k] = (penstock_cf32){1, 0};
    self->frame.channel = self->ones;
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
    status = make_frame(self, desc->n);
    return status ? status : make_memory(self, &self->ring, &self->ready);
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
        penstock__stream_free(&made->stream);
        return status;
    }
    penstock__ofdm_set_event_times(made->ofdm, &made->stream.meter.event_times);
    penstock_stream_reset(&made->stream);
    *stream = &made->stream;
    return PENSTOCK_OK;
}

static void cancel(penstock_stream *stream)
{
    penstock__ofdm_cancel(penstock__soft_of(stream)->ofdm);
}

static void free_stream(penstock_stream *stream)
{
    struct soft_stream *self = penstock__soft_of(stream);
    penstock__ofdm_free(self->ofdm);
    penstock__ring_free(&self->ring);
    penstock_host_memory_free(stream->context, self->ready);
    penstock__free(self->symbols);
    penstock__free(self->ones);
    penstock__free(self);
}

static void reset(penstock_stream *stream)
{
    struct soft_stream *self = penstock__soft_of(stream);
    penstock__ring_reset(&self->ring);
    self->waiting = self->given_at = self->part = 0;
    self->sent = self->flush_to = 0;
    self->since = 0;
    self->earlier_fallbacks = penstock__ofdm_fallbacks(self->ofdm);
    self->earlier_cpu_while_compiling = penstock__ofdm_cpu_while_compiling(self->ofdm);
    penstock__stream_start(stream);
}

/* ---------------------------------------------------------------- symbols --------------------- */

static void note_complete(struct soft_stream *self)
{
    if (!penstock__soft_complete(self))
        self->since = 0;
    else if (self->since == 0)
        self->since = penstock__now_s();
}

/* So many from `number` on, while none waits. */
static int demodulate(struct soft_stream *self, const char *samples, uint64_t number, size_t count)
{
    const penstock_ofdm_batch batch =
        PENSTOCK_OFDM_BATCH(.samples = samples, .sample_count = count * self->step, .frames = &self->frame,
                            .frame_count = 1, .symbols = self->symbols, .symbol_count = count);
    penstock__ofdm_stream_symbols(self->symbols, count, 0, 0, self->step, number, self->pilot_rows);
    const double began = penstock__now_s();
    int status = penstock_ofdm_run(self->ofdm, &batch, &PENSTOCK_OFDM_RESULT(.soft = (int8_t *)(void *)self->ready));
    if (status)
        return status;
    penstock__meter_batch(&self->stream.meter, count,
                          penstock__ofdm_has_clock(self->ofdm) ? 0 : penstock__now_s() - began);
    self->waiting = count;
    self->given_at = 0;
    return PENSTOCK_OK;
}

/* Those that are complete in the batch that is filled, `most` at most. */
static int demodulate_last(struct soft_stream *self, size_t most)
{
    struct penstock__ring_batch *last = penstock__ring_last(&self->ring);
    const size_t complete = penstock__soft_complete(self), count = complete < most ? complete : most,
                 used = count * self->step, bytes = self->stream.in_bytes;
    int status = demodulate(self, last->in, self->sent, count);
    if (status)
        return status;
    last->samples -= used;
    memmove(last->in, last->in + used * bytes, last->samples * bytes);
    self->sent += count;
    self->since = 0;
    note_complete(self);
    return PENSTOCK_OK;
}

/* What is left of the oldest batch, which was taken back from the device. */
static int demodulate_lost(struct soft_stream *self)
{
    const struct penstock__ring_batch *oldest = penstock__ring_oldest(&self->ring);
    const size_t count = penstock__ring_unread(&self->ring, SIZE_MAX);
    const char *samples = oldest->in + oldest->read * self->step * self->stream.in_bytes;
    int status = demodulate(self, samples, oldest->ticket + oldest->read, count);
    if (!status)
        penstock__ring_used(&self->ring, count);
    return status;
}

/* To memory that suits the device which has come, between two batches; without any the stream stays where it is. */
static void move(struct soft_stream *self)
{
    const struct penstock__ring_batch *last = penstock__ring_last(&self->ring);
    struct penstock__ring ring = {.context = NULL};
    char *ready;
    if (make_memory(self, &ring, &ready)) {
        penstock__ring_free(&ring);
        return;
    }
    memcpy(ring.batches[0].in, last->in, last->samples * self->stream.in_bytes);
    ring.batches[0].samples = last->samples;
    penstock__ring_free(&self->ring);
    penstock_host_memory_free(self->stream.context, self->ready);
    self->ring = ring;
    self->ready = ready;
}

static bool moves(const struct soft_stream *self)
{
    const struct penstock__executor *there = penstock__ofdm_enqueuing(self->ofdm);
    return there && there->state.device != self->device && !self->waiting && self->ring.oldest == self->ring.filling;
}

/* What is to be demodulated now: a batch, or what has waited for long enough. Of a batch that could have stayed on the
 * device no more than there is room for. */
static int demodulate_due(struct soft_stream *self, bool wait, size_t room)
{
    const size_t count = penstock__soft_complete(self);
    const bool late = penstock__latency_is_over(self->since, self->max_latency_s);
    if (self->waiting)
        return PENSTOCK_OK;
    if (moves(self)) /* here, as where results are taken slowly some wait at every push */
        move(self);
    if (penstock__soft_lost(self))
        return demodulate_lost(self);
    const bool now = late || wait || self->stream.finished || self->sent < self->flush_to;
    return count == self->batch || (count && now) ? demodulate_last(self, self->shared && !now ? room : count)
                                                  : PENSTOCK_OK;
}

/* ---------------------------------------------------------------- in and out ------------------ */

static int acquire(penstock_stream *stream, void **to, size_t *room)
{
    struct soft_stream *self = penstock__soft_of(stream);
    int status = self->shared ? PENSTOCK_OK : demodulate_due(self, false, self->batch);
    const struct penstock__ring_batch *last = penstock__ring_last(&self->ring);
    *to = last->in + last->samples * stream->in_bytes;
    *room = self->batch * self->step - last->samples;
    return status;
}

static int commit(penstock_stream *stream, size_t count)
{
    struct soft_stream *self = penstock__soft_of(stream);
    penstock__ring_last(&self->ring)->samples += count;
    note_complete(self);
    return self->shared ? PENSTOCK_OK : demodulate_due(self, false, self->batch);
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
    struct soft_stream *self = penstock__soft_of(stream);
    const size_t bytes = stream->out_bytes;
    while (*count < capacity) {
        if (self->shared && *count && !self->waiting && !penstock__soft_lost(self))
            return PENSTOCK_OK; /* the next batch may stay on the device */
        int status = demodulate_due(self, wait, capacity - *count);
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
    struct soft_stream *self = penstock__soft_of(stream);
    self->flush_to = self->sent + penstock__soft_complete(self);
    return demodulate_due(self, false, self->batch);
}

static int finish(penstock_stream *stream)
{
    stream->finished = true;
    return flush(stream);
}

/* ---------------------------------------------------------------- what is known --------------- */

static double due_s(const penstock_stream *stream)
{
    const struct soft_stream *self = penstock__soft_of_const(stream);
    const struct penstock__ring_batch *oldest = &self->ring.batches[self->ring.oldest];
    const size_t count = penstock__soft_complete(self);
    if (self->waiting || count == self->batch || (count && (stream->finished || self->sent < self->flush_to)))
        return 0;
    return oldest->state == PENSTOCK__RING_FILLING ? penstock__latency_left_s(self->since, self->max_latency_s)
                                                   : penstock__ring_due_s(&self->ring, self->max_latency_s);
}

static int set_max_latency(penstock_stream *stream, double max_latency_s)
{
    penstock__soft_of(stream)->max_latency_s = max_latency_s;
    return PENSTOCK_OK;
}

static void get_info(const penstock_stream *stream, penstock_stream_info *info)
{
    info->device = penstock_ofdm_device(penstock__soft_of_const(stream)->ofdm);
    info->waiting = penstock__soft_of_const(stream)->waiting;
    info->batch = penstock__soft_of_const(stream)->batch;
}

static void get_stats(const penstock_stream *stream, penstock_stream_stats *stats)
{
    const struct soft_stream *self = penstock__soft_of_const(stream);
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
    .cancel = cancel,
    .free = free_stream,
    .set_max_latency = set_max_latency,
    .due_s = due_s,
    .get_info = get_info,
    .get_stats = get_stats,
    .device_source = &penstock__soft_device_source,
    .device_work = penstock__soft_device_work,
};
