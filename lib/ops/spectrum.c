/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The streaming spectrum: a batched FFT plan fed through a batcher. Samples between transforms (hop > n) are left out
 * here, overlapping ones are the plan's spacing. The device averages where the transforms of a vector fit in a batch
 * and no partial vector can be asked for; else it gives the power of each transform and the sum is kept here.
 */
#include "ops/spectrum.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define MAX_LENGTH    ((size_t)1 << 23)
#define MAX_HOP       64 /* times n */
#define LEAST_DECIBEL (-300.0)

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "spectrum: " __VA_ARGS__)

/* ---------------------------------------------------------------- description ----------------- */

static int check(void *description)
{
    penstock_spectrum_desc *desc = description;
    if (desc->n < 1 || desc->n > MAX_LENGTH)
        return bad("n is %zu, not 1 .. %zu", desc->n, MAX_LENGTH);
    if (!desc->hop)
        desc->hop = desc->n;
    if (desc->hop > MAX_HOP * desc->n)
        return bad("hop is %zu, not 1 .. %d n", desc->hop, MAX_HOP);
    if (!penstock_format_bytes(desc->format))
        return bad("format %d is no sample format", (int)desc->format);
    if ((unsigned)desc->output > PENSTOCK_OUTPUT_DECIBEL)
        return bad("output %d is not PENSTOCK_OUTPUT_COMPLEX, _POWER or _DECIBEL", (int)desc->output);
    if (!desc->average)
        desc->average = 1;
    if (desc->average > 1 && desc->output == PENSTOCK_OUTPUT_COMPLEX)
        return bad("average %u goes with power or decibel output, not with complex", desc->average);
    return PENSTOCK_OK;
}

/* A stream has no planar form; and eight unsigned bits have no zero to fill up with. */
static penstock_format plan_format(const penstock_spectrum_desc *desc)
{
    return desc->format == PENSTOCK_PLANAR || (desc->format == PENSTOCK_CU8 && desc->flush_partial) ? PENSTOCK_CF32
                                                                                                    : desc->format;
}

static bool average_here(const penstock_spectrum_desc *desc)
{
    return desc->average > 1 &&
           (desc->flush_partial || desc->average > PENSTOCK__BATCH_BYTES / sizeof(penstock_cf32) / desc->n);
}

int penstock__spectrum_plan(const struct penstock__batched *batched, penstock_plan **plan)
{
    const struct spectrum *spectrum = const_spectrum_of(&batched->stream);
    const penstock_spectrum_desc *desc = &spectrum->desc;
    bool here = average_here(desc);
    float *window = NULL;
    int status;
    if (!desc->taps && desc->window) {
        if (!(window = penstock__alloc(desc->n * sizeof *window)))
            return PENSTOCK_ERR_MEMORY;
        if ((status = penstock_window_fill(window, desc->n, desc->window))) {
            penstock__free(window);
            return status;
        }
    }
    status =
        penstock_fft_plan(plan, spectrum->batched.stream.context,
                          &PENSTOCK_FFT_DESC(.n = desc->n, .slots = PENSTOCK__BATCHED_SLOTS,
                                             .domain = desc->format == PENSTOCK_F32 ? PENSTOCK_REAL : PENSTOCK_COMPLEX,
                                             .load = {.format = spectrum->format,
                                                      .window = desc->taps ? desc->taps : window,
                                                      .spacing = desc->hop < desc->n ? desc->hop : desc->n},
                                             .store = {.output = here ? PENSTOCK_OUTPUT_POWER : desc->output,
                                                       .centered = desc->centered,
                                                       .scale = desc->scale,
                                                       .average = here ? 1 : desc->average}),
                          spectrum->batched.device);
    penstock__free(window);
    return status;
}

/* ---------------------------------------------------------------- life ------------------------ */

static int make(struct penstock__batched *batched)
{
    struct spectrum *spectrum = spectrum_of(&batched->stream);
    const penstock_spectrum_desc *d = &spectrum->desc;
    const bool here = average_here(d);
    spectrum->format = plan_format(d);
    spectrum->length = d->format == PENSTOCK_F32 ? d->n / 2 + 1 : d->n;
    spectrum->value_bytes = d->output == PENSTOCK_OUTPUT_COMPLEX ? sizeof(penstock_cf32) : sizeof(float);
    batched->max_latency_s = d->max_latency_s;
    batched->stream.in_bytes = penstock_format_bytes(d->format);
    batched->stream.out_bytes = spectrum->length * spectrum->value_bytes;
    batched->stream.in_values = 1 + (unsigned)d->format;
    batched->stream.out_values = 1 + (d->output == PENSTOCK_OUTPUT_COMPLEX ? PENSTOCK_CF32 : PENSTOCK_F32);
    batched->stream.lends_in = d->hop <= d->n && d->format == spectrum->format;
    batched->stream.lends_out = !here;
    if (here && !(spectrum->sum = penstock__calloc(spectrum->length, sizeof *spectrum->sum)))
        return PENSTOCK_ERR_MEMORY;
    return PENSTOCK_OK;
}

static void forget(struct penstock__batched *batched)
{
    spectrum_of(&batched->stream)->desc.window = NULL;
    spectrum_of(&batched->stream)->desc.taps = NULL;
}

int penstock_spectrum_open(penstock_stream **stream, penstock_context *context, const penstock_spectrum_desc *desc,
                           const char *device)
{
    return penstock__batched_open(stream, context, desc, device, &penstock__spectrum_kind);
}

static void free_spectrum(struct penstock__batched *batched)
{
    struct spectrum *spectrum = spectrum_of(&batched->stream);
    penstock_plan_free(spectrum->next);
    penstock__rest_free(&spectrum->rest);
    penstock__free(spectrum->sum);
    penstock__free(spectrum->prepare_sums);
}

static void reset(struct penstock__batched *batched)
{
    struct spectrum *spectrum = spectrum_of(&batched->stream);
    spectrum->in_frame = spectrum->to_skip = 0;
    penstock__rest_free(&spectrum->rest);
    spectrum->zeros = 0;
    spectrum->summed = spectrum->prepared = 0;
    if (spectrum->sum)
        memset(spectrum->sum, 0, spectrum->length * sizeof *spectrum->sum);
    if (spectrum->next)
        penstock__spectrum_change_plan(spectrum, spectrum->next);
}

/* ---------------------------------------------------------------- samples in ------------------ */

/* Samples of a push; zeros where `from` is NULL. */
struct source {
    const struct spectrum *spectrum;
    const void *from;
    penstock_format format;
    size_t total, first; /* in all, and the first one of these that the batcher is asked to take */
};

/* `count` samples in the plan's format to `to`, from sample `first` of a push. */
static void fill(const void *owner, void *to, size_t first, size_t count)
{
    const struct source *source = owner;
    if (source->from)
        penstock__convert_all(source->spectrum->batched.stream.context, to, source->from, source->format,
                              source->first + first, count, source->total);
    else
        memset(to, 0, count * penstock_format_bytes(source->spectrum->format));
}

/* Those of a push that lie side by side: `count` from number `source->first` on. */
static int take_some(struct spectrum *spectrum, const struct source *source, size_t count, size_t *taken)
{
    const bool ready = source->from && spectrum->format == source->format;
    const struct penstock__feed feed = {
        .samples = ready ? (const char *)source->from + source->first * penstock_format_bytes(source->format) : NULL,
        .fill = fill,
        .owner = source};
    *taken = 0;
    return penstock__batcher_push(spectrum->batched.batcher, &feed, count, taken);
}

/* Where hop > n: those up to the end of a transform, or up to the start of the next one. */
static int take_sparse(struct spectrum *spectrum, const struct source *source, size_t count, size_t *taken)
{
    const size_t n = spectrum->desc.n, most = spectrum->to_skip ? spectrum->to_skip : n - spectrum->in_frame;
    int status = PENSTOCK_OK;
    count = count < most ? count : most;
    *taken = count;
    if (spectrum->to_skip) {
        spectrum->to_skip -= count;
        return status;
    }
    status = take_some(spectrum, source, count, taken);
    if ((spectrum->in_frame += *taken) == n) {
        spectrum->in_frame = 0;
        spectrum->to_skip = spectrum->desc.hop - n;
    }
    return status;
}

static void add(struct spectrum *spectrum, const float *power)
{
    for (size_t i = 0; i < spectrum->length; i++)
        spectrum->sum[i] += (double)power[i];
    spectrum->summed++;
}

/* Transforms that complete no vector make room by themselves, as a pull would give nothing for them; whether any did.
 */
static int make_room(struct spectrum *spectrum, bool *made)
{
    const size_t most = spectrum->sum ? spectrum->desc.average - 1 - spectrum->summed : 0;
    const void *from;
    size_t groups = 0;
    int status = most ? penstock__batcher_ready(spectrum->batched.batcher, false, &from, &groups) : PENSTOCK_OK;
    groups = groups < most ? groups : most;
    for (size_t i = 0; i < groups; i++)
        add(spectrum, (const float *)from + i * spectrum->length);
    if ((*made = groups))
        penstock__batcher_release(spectrum->batched.batcher, groups);
    return status;
}

/* Where not all is taken, a vector waits to be pulled. */
static int take(struct spectrum *spectrum, struct source *source, size_t *taken)
{
    const bool sparse = spectrum->desc.hop > spectrum->desc.n;
    bool more = true;
    int status = PENSTOCK_OK;
    for (size_t some; !status && more && *taken < source->total; *taken += some) {
        source->first = *taken;
        status = (sparse ? take_sparse : take_some)(spectrum, source, source->total - *taken, &some);
        if (!status && !some)
            status = make_room(spectrum, &more);
    }
    return status;
}

/* What is left of a planar push, as far as there is room. */
static int take_rest(struct spectrum *spectrum)
{
    struct penstock__rest *rest = &spectrum->rest;
    struct source source = {spectrum, rest->samples + rest->first, PENSTOCK_CF32, penstock__rest_count(rest), 0};
    size_t taken = 0;
    if (!source.total)
        return PENSTOCK_OK;
    int status = take(spectrum, &source, &taken);
    rest->first += taken;
    return status;
}

static int take_push(struct spectrum *spectrum, const void *samples, size_t count, size_t *taken)
{
    bool planar = spectrum->desc.format == PENSTOCK_PLANAR;
    int status = take_rest(spectrum);
    if (status || penstock__rest_count(&spectrum->rest))
        return status;
    if ((planar && (status = penstock__rest_reserve(&spectrum->rest, count))) ||
        (status = take(spectrum, &(struct source){spectrum, samples, spectrum->desc.format, count, 0}, taken)))
        return status;
    if (planar && *taken < count)
        penstock__rest_keep(&spectrum->rest, samples, count, taken);
    return PENSTOCK_OK;
}

static int push(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken)
{
    int status = penstock__spectrum_check_unprepared(spectrum_of(stream));
    return status ? status : take_push(spectrum_of(stream), in->whole, count, taken);
}

/* Transforms whose samples were all pushed. */
static uint64_t complete_transforms(const struct spectrum *spectrum)
{
    const penstock_spectrum_desc *desc = &spectrum->desc;
    return spectrum->batched.stream.taken < desc->n ? 0 : (spectrum->batched.stream.taken - desc->n) / desc->hop + 1;
}

/* Zeros that complete one more transform; 0 where every sample is covered. */
static size_t missing_zeros(const struct spectrum *spectrum)
{
    const penstock_spectrum_desc *desc = &spectrum->desc;
    uint64_t transforms = complete_transforms(spectrum), start = transforms * desc->hop;
    uint64_t covered = transforms ? start - desc->hop + desc->n : 0;
    uint64_t from = covered > start ? covered : start;
    return spectrum->batched.stream.taken > from ? (size_t)(start + desc->n - spectrum->batched.stream.taken) : 0;
}

/* What was kept and zeros that are still to be pushed after the end, then what is complete goes to the device. */
static int end_input(struct spectrum *spectrum)
{
    size_t taken = 0;
    int status = take_rest(spectrum);
    if (status || penstock__rest_count(&spectrum->rest))
        return status;
    status = take(spectrum, &(struct source){.spectrum = spectrum, .total = spectrum->zeros}, &taken);
    spectrum->zeros -= taken;
    return status || spectrum->zeros ? status : penstock__batcher_flush(spectrum->batched.batcher);
}

static int finish(penstock_stream *stream)
{
    struct spectrum *spectrum = spectrum_of(stream);
    if (!stream->finished && spectrum->desc.flush_partial)
        spectrum->zeros = missing_zeros(spectrum);
    stream->finished = true;
    return end_input(spectrum);
}

/* ---------------------------------------------------------------- vectors out ----------------- */

/* The mean of what was summed. */
static void emit(struct spectrum *spectrum, float *vector)
{
    for (size_t i = 0; i < spectrum->length; i++) {
        double power = spectrum->sum[i] / (double)spectrum->summed;
        if (spectrum->desc.output == PENSTOCK_OUTPUT_DECIBEL)
            power = power < 1e-30 ? LEAST_DECIBEL : 10 * log10(power);
        vector[i] = (float)power;
        spectrum->sum[i] = 0;
    }
    spectrum->summed = 0;
}

/* Takes at most `capacity` vectors out of `groups` results at `from`; how many of each were done. */
static size_t give(struct spectrum *spectrum, const void *from, size_t groups, char *vectors, size_t capacity,
                   size_t *used)
{
    size_t bytes = spectrum->length * spectrum->value_bytes, count = 0;
    if (!spectrum->sum) {
        *used = groups < capacity ? groups : capacity;
        penstock__copy(spectrum->batched.stream.context, vectors, from, *used * bytes);
        return *used;
    }
    for (*used = 0; *used < groups && count < capacity; ++*used) {
        add(spectrum, (const float *)from + *used * spectrum->length);
        if (spectrum->summed == spectrum->desc.average)
            emit(spectrum, (float *)(void *)(vectors + count++ * bytes));
    }
    return count;
}

/* What the batcher has, once what waits before it has gone in. */
static int peek(penstock_stream *stream, bool wait, const void **from, size_t *groups)
{
    struct spectrum *spectrum = spectrum_of(stream);
    if (stream->finished)
        end_input(spectrum); /* the batcher keeps a failure until its turn comes */
    else
        take_rest(spectrum);
    return penstock__batcher_ready(spectrum->batched.batcher, wait || stream->finished, from, groups);
}

int penstock__spectrum_pull(struct spectrum *spectrum, void *vectors, size_t capacity, bool wait, size_t *count)
{
    *count = 0;
    while (*count < capacity) {
        char *to = (char *)vectors + *count * spectrum->length * spectrum->value_bytes;
        size_t groups = 0, used;
        const void *from;
        int status = peek(&spectrum->batched.stream, wait, &from, &groups);
        if (status)
            return *count ? PENSTOCK_OK : status;
        if (!groups) {
            if (spectrum->batched.stream.finished && spectrum->desc.flush_partial && spectrum->summed) {
                emit(spectrum, (float *)(void *)to);
                ++*count;
            }
            break;
        }
        *count += give(spectrum, from, groups, to, capacity - *count, &used);
        penstock__batcher_release(spectrum->batched.batcher, used);
    }
    return PENSTOCK_OK;
}

static int pull(penstock_stream *stream, const struct penstock__room *out, size_t capacity, bool wait, size_t *count)
{
    struct spectrum *spectrum = spectrum_of(stream);
    int status = penstock__spectrum_pull(spectrum, out->whole, capacity, wait, count);
    penstock__spectrum_gave(spectrum, *count);
    return status;
}

/* ---------------------------------------------------------------- the kind -------------------- */

const struct penstock__batched_kind penstock__spectrum_kind = {
    .calls = {.name = "spectrum",
              PENSTOCK__BATCHED_LIFE,
              .push = push,
              .pull = pull,
              .run = penstock__spectrum_run,
              .acquire = penstock__spectrum_acquire,
              .peek = peek,
              .release = penstock__spectrum_release,
              .finish = finish,
              .due_s = penstock__batched_due_s,
              .get_info = penstock__spectrum_get_info},
    .bytes = sizeof(struct spectrum),
    .desc_name = "penstock_spectrum_desc",
    .desc_at = offsetof(struct spectrum, desc),
    .desc_bytes = sizeof(penstock_spectrum_desc),
    .check = check,
    .make = make,
    .plan = penstock__spectrum_plan,
    .forget = forget,
    .reset = reset,
    .free = free_spectrum,
};
