/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Samples into the streaming spectrum, and vectors out of what its plan gives. */
#include "ops/spectrum/spectrum.h"

#include <math.h>
#include <string.h>

#define LEAST_DECIBEL (-300.0)

/* ---------------------------------------------------------------- samples in ------------------ */

/* Samples of a push; zeros where `from` and `channels` are NULL. */
struct source {
    const struct spectrum *spectrum;
    const void *from, *const *channels;
    penstock_format format;
    size_t total, first; /* in all, and the first one of these that the batcher is asked to take */
};

/* Of each channel's array, one value a frame. */
static void fill_frames(const struct source *source, char *to, size_t first, size_t count)
{
    const size_t channels = source->spectrum->desc.channels, bytes = penstock_format_bytes(source->format);
    for (size_t c = 0; c < channels; c++)
        for (size_t f = 0; f < count; f++)
            memcpy(to + (f * channels + c) * bytes, (const char *)source->channels[c] + (first + f) * bytes, bytes);
}

/* `count` samples in the plan's format to `to`, from sample `first` of a push. */
static void fill(const void *owner, void *to, size_t first, size_t count)
{
    const struct source *source = owner;
    const size_t channels = source->spectrum->desc.channels;
    if (source->channels)
        fill_frames(source, to, (source->first + first) / channels, count / channels);
    else if (source->from)
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
    struct source source = {.spectrum = spectrum,
                            .from = rest->samples + rest->first,
                            .format = PENSTOCK_CF32,
                            .total = penstock__rest_count(rest)};
    size_t taken = 0;
    if (!source.total)
        return PENSTOCK_OK;
    int status = take(spectrum, &source, &taken);
    rest->first += taken;
    return status;
}

int penstock__spectrum_take(struct spectrum *spectrum, const struct penstock__items *in, size_t count, size_t *taken)
{
    const bool planar = spectrum->desc.format == PENSTOCK_PLANAR;
    struct source source = {.spectrum = spectrum,
                            .from = in->whole,
                            .channels = in->channels,
                            .format = spectrum->desc.format,
                            .total = count * spectrum->desc.channels};
    size_t samples = 0;
    int status = take_rest(spectrum);
    if (status || penstock__rest_count(&spectrum->rest))
        return status;
    if (planar && (status = penstock__rest_reserve(&spectrum->rest, count)))
        return status;
    status = take(spectrum, &source, &samples);
    *taken = samples / spectrum->desc.channels;
    if (!status && planar && *taken < count)
        penstock__rest_keep(&spectrum->rest, in->whole, count, taken);
    return status;
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

int penstock__spectrum_finish(penstock_stream *stream)
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
        if (spectrum->output == PENSTOCK_OUTPUT_DECIBEL)
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
int penstock__spectrum_peek(penstock_stream *stream, bool wait, const void **from, size_t *groups)
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
        int status = penstock__spectrum_peek(&spectrum->batched.stream, wait, &from, &groups);
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
