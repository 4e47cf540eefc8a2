/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The streaming spectrum: a batched FFT plan fed through a batcher. Samples between transforms (hop > n) are left out
 * here, overlapping ones are the plan's spacing. The device averages where the transforms of a vector fit in a batch
 * and no partial vector can be asked for; else it gives the power of each transform and the sum is kept here.
 */
#include "ops/spectrum.h"
#include "core/description.h"

#include <math.h>
#include <string.h>

#define MAX_LENGTH    ((size_t)1 << 23)
#define MAX_HOP       64 /* times n */
#define BATCH_BYTES   ((size_t)8 << 20)
#define LEAST_DECIBEL (-300.0)

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "spectrum: " __VA_ARGS__)

/* ---------------------------------------------------------------- description ----------------- */

static int check(penstock_spectrum_desc *desc)
{
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
    if (!(desc->max_latency_s >= 0))
        return bad("max_latency_s is %g, not 0 or more", desc->max_latency_s);
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
    return desc->average > 1 && (desc->flush_partial || desc->average > BATCH_BYTES / sizeof(penstock_cf32) / desc->n);
}

int penstock__spectrum_plan(const penstock_spectrum *spectrum, penstock_plan **plan, const char *name,
                            const float *taps)
{
    const penstock_spectrum_desc *desc = &spectrum->desc;
    bool here = average_here(desc);
    float *window = NULL;
    int status;
    if (!taps && name) {
        if (!(window = penstock__alloc(desc->n * sizeof *window)))
            return PENSTOCK_ERR_MEMORY;
        if ((status = penstock_window_fill(window, desc->n, name))) {
            penstock__free(window);
            return status;
        }
    }
    status = penstock_fft_plan(
        plan, spectrum->context,
        &PENSTOCK_FFT_DESC(.n = desc->n, .domain = desc->format == PENSTOCK_F32 ? PENSTOCK_REAL : PENSTOCK_COMPLEX,
                           .load = {.format = spectrum->format,
                                    .window = taps ? taps : window,
                                    .spacing = desc->hop < desc->n ? desc->hop : desc->n},
                           .store = {.output = here ? PENSTOCK_OUTPUT_POWER : desc->output,
                                     .centered = desc->centered,
                                     .scale = desc->scale,
                                     .average = here ? 1 : desc->average}),
        spectrum->device);
    penstock__free(window);
    return status;
}

/* ---------------------------------------------------------------- life ------------------------ */

int penstock_spectrum_new(penstock_spectrum **spectrum, penstock_context *context, const penstock_spectrum_desc *desc,
                          const char *device)
{
    penstock_spectrum_desc d;
    penstock_spectrum *made;
    int status;
    if (!spectrum || !context)
        return bad("penstock_spectrum_new: spectrum or context is NULL");
    *spectrum = NULL;
    if ((status = penstock__description_read(&d, sizeof d, desc, "penstock_spectrum_desc")) || (status = check(&d)))
        return status;
    if (!(made = penstock__calloc(1, sizeof *made)))
        return PENSTOCK_ERR_MEMORY;
    made->desc = d;
    made->desc.window = NULL;
    made->desc.taps = NULL;
    made->context = context;
    made->format = plan_format(&d);
    made->length = d.format == PENSTOCK_F32 ? d.n / 2 + 1 : d.n;
    made->value_bytes = d.output == PENSTOCK_OUTPUT_COMPLEX ? sizeof(penstock_cf32) : sizeof(float);
    status = PENSTOCK_ERR_MEMORY;
    if (average_here(&d) && !(made->sum = penstock__calloc(made->length, sizeof *made->sum)))
        goto fail;
    if ((device && !(made->device = penstock__strdup(device))) ||
        (status = penstock__spectrum_plan(made, &made->plan, d.window, d.taps)) ||
        (status = penstock__batcher_new(&made->batcher, made->plan, BATCH_BYTES, d.max_latency_s)))
        goto fail;
    penstock__batcher_set_meter(made->batcher, &made->meter);
    penstock__meter_start(&made->meter, penstock__now_s());
    *spectrum = made;
    return PENSTOCK_OK;
fail:
    penstock_spectrum_free(made);
    return status;
}

void penstock_spectrum_free(penstock_spectrum *spectrum)
{
    if (!spectrum)
        return;
    penstock__batcher_free(spectrum->batcher);
    penstock_plan_free(spectrum->plan);
    penstock_plan_free(spectrum->next);
    penstock__rest_free(&spectrum->rest);
    penstock__free(spectrum->sum);
    penstock__free(spectrum->prepare_sums);
    penstock__free(spectrum->device);
    penstock__free(spectrum);
}

int penstock_spectrum_reset(penstock_spectrum *spectrum)
{
    if (!spectrum)
        return bad("penstock_spectrum_reset: spectrum is NULL");
    penstock__batcher_reset(spectrum->batcher);
    penstock__meter_start(&spectrum->meter, penstock__now_s());
    spectrum->samples = spectrum->vectors = 0;
    spectrum->in_frame = spectrum->to_skip = 0;
    penstock__rest_free(&spectrum->rest);
    spectrum->finished = false;
    spectrum->zeros = 0;
    spectrum->summed = spectrum->prepared = 0;
    if (spectrum->sum)
        memset(spectrum->sum, 0, spectrum->length * sizeof *spectrum->sum);
    if (spectrum->next)
        penstock__spectrum_change_plan(spectrum, spectrum->next);
    return PENSTOCK_OK;
}

size_t penstock_spectrum_length(const penstock_spectrum *spectrum)
{
    return spectrum ? spectrum->length : 0;
}

size_t penstock_spectrum_value_bytes(const penstock_spectrum *spectrum)
{
    return spectrum ? spectrum->value_bytes : 0;
}

const char *penstock_spectrum_device(const penstock_spectrum *spectrum)
{
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    return spectrum && !penstock_plan_get_info(spectrum->plan, &info) ? info.device : NULL;
}

/* ---------------------------------------------------------------- samples in ------------------ */

/* Samples of a push; zeros where `from` is NULL. */
struct source {
    const void *from;
    penstock_format format;
    size_t total;
};

/* `count` samples in the plan's format to `to`, from sample `first` of a push. */
static void copy(const penstock_spectrum *spectrum, void *to, const struct source *source, size_t first, size_t count)
{
    size_t bytes = penstock_format_bytes(spectrum->format);
    if (!source->from)
        memset(to, 0, count * bytes);
    else if (spectrum->format != source->format)
        penstock__convert_all(spectrum->context, to, source->from, source->format, first, count, source->total);
    else
        penstock__copy(spectrum->context, to, (const char *)source->from + first * bytes, count * bytes);
}

static int take(penstock_spectrum *spectrum, const struct source *source, size_t *taken)
{
    size_t total = source->total;
    size_t n = spectrum->desc.n, hop = spectrum->desc.hop;
    while (*taken < total) {
        size_t count = total - *taken, room;
        void *to;
        int status;
        if (spectrum->to_skip) {
            count = count < spectrum->to_skip ? count : spectrum->to_skip;
            spectrum->to_skip -= count;
            *taken += count;
            continue;
        }
        if ((status = penstock__batcher_room(spectrum->batcher, &to, &room)) || !room)
            return status;
        count = count < room ? count : room;
        if (hop > n && count > n - spectrum->in_frame)
            count = n - spectrum->in_frame;
        copy(spectrum, to, source, *taken, count);
        *taken += count;
        if (hop > n && (spectrum->in_frame += count) == n) {
            spectrum->in_frame = 0;
            spectrum->to_skip = hop - n;
        }
        if ((status = penstock__batcher_commit(spectrum->batcher, count)))
            return status;
    }
    return PENSTOCK_OK;
}

/* What is left of a planar push, as far as there is room. */
static int take_rest(penstock_spectrum *spectrum)
{
    struct penstock__rest *rest = &spectrum->rest;
    struct source source = {rest->samples + rest->first, PENSTOCK_CF32, penstock__rest_count(rest)};
    size_t taken = 0;
    if (!source.total)
        return PENSTOCK_OK;
    int status = take(spectrum, &source, &taken);
    rest->first += taken;
    return status;
}

static int take_push(penstock_spectrum *spectrum, const void *samples, size_t count, size_t *taken)
{
    bool planar = spectrum->desc.format == PENSTOCK_PLANAR;
    int status = take_rest(spectrum);
    if (status || penstock__rest_count(&spectrum->rest))
        return status;
    if ((planar && (status = penstock__rest_reserve(&spectrum->rest, count))) ||
        (status = take(spectrum, &(struct source){samples, spectrum->desc.format, count}, taken)))
        return status;
    if (planar && *taken < count)
        penstock__rest_keep(&spectrum->rest, samples, count, taken);
    return PENSTOCK_OK;
}

int penstock_spectrum_push(penstock_spectrum *spectrum, const void *samples, size_t count, size_t *taken)
{
    int checked;
    if (!spectrum || (count && !samples))
        return bad("penstock_spectrum_push: spectrum or samples is NULL");
    if ((checked = penstock__check_taken("penstock_spectrum_push", count, penstock_format_bytes(spectrum->desc.format),
                                         taken)))
        return checked;
    if (spectrum->finished)
        return penstock__error(PENSTOCK_ERR_STATE, "spectrum: the stream was finished; reset it before pushing again");
    if (spectrum->prepared)
        return penstock__error(PENSTOCK_ERR_STATE, "spectrum: the vector that was begun by penstock_spectrum_prepare() "
                                                   "is ended by penstock_spectrum_run()");
    double now = penstock__now_s();
    int status = take_push(spectrum, samples, count, taken);
    spectrum->samples += *taken;
    penstock__meter_take(&spectrum->meter, *taken, now);
    return status;
}

/* Transforms whose samples were all pushed. */
static uint64_t complete_transforms(const penstock_spectrum *spectrum)
{
    const penstock_spectrum_desc *desc = &spectrum->desc;
    return spectrum->samples < desc->n ? 0 : (spectrum->samples - desc->n) / desc->hop + 1;
}

/* Zeros that complete one more transform; 0 where every sample is covered. */
static size_t missing_zeros(const penstock_spectrum *spectrum)
{
    const penstock_spectrum_desc *desc = &spectrum->desc;
    uint64_t transforms = complete_transforms(spectrum), start = transforms * desc->hop;
    uint64_t covered = transforms ? start - desc->hop + desc->n : 0;
    uint64_t from = covered > start ? covered : start;
    return spectrum->samples > from ? (size_t)(start + desc->n - spectrum->samples) : 0;
}

/* What was kept and zeros that are still to be pushed after the end, then what is complete goes to the device. */
static int end_input(penstock_spectrum *spectrum)
{
    size_t taken = 0;
    int status = take_rest(spectrum);
    if (status || penstock__rest_count(&spectrum->rest))
        return status;
    status = take(spectrum, &(struct source){.total = spectrum->zeros}, &taken);
    spectrum->zeros -= taken;
    return status || spectrum->zeros ? status : penstock__batcher_flush(spectrum->batcher);
}

int penstock_spectrum_finish(penstock_spectrum *spectrum)
{
    if (!spectrum)
        return bad("penstock_spectrum_finish: spectrum is NULL");
    if (!spectrum->finished && spectrum->desc.flush_partial)
        spectrum->zeros = missing_zeros(spectrum);
    spectrum->finished = true;
    return end_input(spectrum);
}

/* ---------------------------------------------------------------- vectors out ----------------- */

/* The mean of what was summed. */
static void emit(penstock_spectrum *spectrum, float *vector)
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
static size_t give(penstock_spectrum *spectrum, const void *from, size_t groups, char *vectors, size_t capacity,
                   size_t *used)
{
    size_t bytes = spectrum->length * spectrum->value_bytes, count = 0;
    if (!spectrum->sum) {
        *used = groups < capacity ? groups : capacity;
        penstock__copy(spectrum->context, vectors, from, *used * bytes);
        return *used;
    }
    for (*used = 0; *used < groups && count < capacity; ++*used) {
        const float *power = (const float *)from + *used * spectrum->length;
        for (size_t i = 0; i < spectrum->length; i++)
            spectrum->sum[i] += (double)power[i];
        if (++spectrum->summed == spectrum->desc.average)
            emit(spectrum, (float *)(void *)(vectors + count++ * bytes));
    }
    return count;
}

int penstock__spectrum_pull(penstock_spectrum *spectrum, void *vectors, size_t capacity, bool wait, size_t *count)
{
    *count = 0;
    while (*count < capacity) {
        char *to = (char *)vectors + *count * spectrum->length * spectrum->value_bytes;
        size_t groups = 0, used;
        const void *from;
        int status;
        if (spectrum->finished)
            end_input(spectrum); /* the batcher keeps a failure until its turn comes */
        else
            take_rest(spectrum);
        if ((status = penstock__batcher_ready(spectrum->batcher, wait || spectrum->finished, &from, &groups)))
            return *count ? PENSTOCK_OK : status;
        if (!groups) {
            if (spectrum->finished && spectrum->desc.flush_partial && spectrum->summed) {
                emit(spectrum, (float *)(void *)to);
                ++*count;
            }
            break;
        }
        *count += give(spectrum, from, groups, to, capacity - *count, &used);
        penstock__batcher_release(spectrum->batcher, used);
    }
    return PENSTOCK_OK;
}

int penstock_spectrum_pull(penstock_spectrum *spectrum, void *vectors, size_t capacity, bool wait, size_t *count)
{
    if (!spectrum || !count || (capacity && !vectors))
        return bad("penstock_spectrum_pull: an argument is NULL");
    int status = penstock__spectrum_pull(spectrum, vectors, capacity, wait, count);
    penstock__spectrum_gave(spectrum, *count);
    return status;
}
