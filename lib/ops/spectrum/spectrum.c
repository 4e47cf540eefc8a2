/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The streaming spectrum: a batched FFT plan fed through a batcher. Samples between transforms (hop > n) are left out
 * here, overlapping ones are the plan's spacing. The device averages where the transforms of a vector fit in a batch
 * and no partial vector can be asked for; else it gives the power of each transform and the sum is kept here.
 */
#include "ops/spectrum/spectrum.h"
#include "ops/spectrum/spectrum_kernels.h"

#include <stddef.h>
#include <string.h>

#define MAX_LENGTH ((size_t)1 << 23)
#define MAX_HOP    64 /* times n */

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "spectrum: " __VA_ARGS__)

/* ---------------------------------------------------------------- description ----------------- */

static int check_channels(const penstock_spectrum_desc *desc)
{
    if (desc->channels > MAX_LENGTH / desc->n)
        return bad("%zu channels of %zu points are more than %zu", desc->channels, desc->n, MAX_LENGTH);
    if (desc->channels > 1 && (desc->format == PENSTOCK_PLANAR || desc->format == PENSTOCK_F32))
        return bad("format %s is not for several channels", penstock_format_name(desc->format));
    if (desc->channels > 1 && (desc->hop > desc->n || desc->flush_partial))
        return bad("of several channels hop is up to n, and there is no flush_partial");
    if (desc->channels > 1 && penstock__spectrum_averages_here(desc))
        return bad("average %u of %zu channels of %zu points is more than a batch", desc->average, desc->channels,
                   desc->n);
    return PENSTOCK_OK;
}

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
    if (!desc->channels)
        desc->channels = 1;
    if (desc->average > 1 && desc->output == PENSTOCK_OUTPUT_COMPLEX)
        return bad("average %u goes with power or decibel output, not with complex", desc->average);
    if (desc->decay != 0 && desc->output == PENSTOCK_OUTPUT_COMPLEX)
        return bad("decay %g goes with power or decibel output, not with complex", desc->decay);
    if (desc->two_sided && desc->format != PENSTOCK_F32)
        return bad("two_sided is for PENSTOCK_F32: others have all bins anyway");
    const int status = check_channels(desc);
    return status || desc->decay == 0 ? status : penstock__spectrum_decay_check(desc->decay);
}

/* A stream has no planar form; eight unsigned bits have no zero to fill up with; real samples give half of the bins. */
static penstock_format plan_format(const penstock_spectrum_desc *desc)
{
    const bool converted =
        desc->format == PENSTOCK_PLANAR || (desc->format == PENSTOCK_CU8 && desc->flush_partial) || desc->two_sided;
    return converted ? PENSTOCK_CF32 : desc->format;
}

/* ---------------------------------------------------------------- life ------------------------ */

static int make(struct penstock__batched *batched)
{
    struct spectrum *spectrum = spectrum_of(&batched->stream);
    const penstock_spectrum_desc *d = &spectrum->desc;
    const bool here = penstock__spectrum_averages_here(d);
    spectrum->format = plan_format(d);
    spectrum->output = d->decay != 0 ? PENSTOCK_OUTPUT_POWER : d->output;
    spectrum->length = spectrum->format == PENSTOCK_F32 ? d->n / 2 + 1 : d->n * d->channels;
    spectrum->value_bytes = d->output == PENSTOCK_OUTPUT_COMPLEX ? sizeof(penstock_cf32) : sizeof(float);
    batched->max_latency_s = d->max_latency_s;
    batched->unit = d->channels;
    batched->stream.in_bytes = d->channels * penstock_format_bytes(d->format);
    batched->stream.in_channels = d->channels > 1 ? d->channels : 0;
    batched->stream.out_bytes = spectrum->length * spectrum->value_bytes;
    batched->stream.in_values = 1 + (unsigned)d->format;
    batched->stream.out_values = 1 + (d->output == PENSTOCK_OUTPUT_COMPLEX ? PENSTOCK_CF32 : PENSTOCK_F32);
    batched->stream.lends_in = d->hop <= d->n && d->format == spectrum->format;
    batched->stream.lends_out = !here && d->decay == 0;
    spectrum->kernels = penstock__spectrum_kernels();
    if (here && !(spectrum->sum = penstock__calloc(spectrum->length, sizeof *spectrum->sum)))
        return PENSTOCK_ERR_MEMORY;
    if (d->decay != 0 && !(spectrum->mean = penstock__calloc(spectrum->length, sizeof *spectrum->mean)))
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

static void cancel_next(struct penstock__batched *batched)
{
    penstock__plan_cancel(spectrum_of(&batched->stream)->next);
}

static void free_spectrum(struct penstock__batched *batched)
{
    struct spectrum *spectrum = spectrum_of(&batched->stream);
    penstock__plan_free(spectrum->next);
    penstock__rest_free(&spectrum->rest);
    penstock__free(spectrum->sum);
    penstock__free(spectrum->mean);
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
    if (spectrum->mean)
        memset(spectrum->mean, 0, spectrum->length * sizeof *spectrum->mean);
    if (spectrum->next)
        penstock__spectrum_change_plan(spectrum, spectrum->next);
}

/* ---------------------------------------------------------------- calls ----------------------- */

static int push(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken)
{
    int status = penstock__spectrum_check_unprepared(spectrum_of(stream));
    return status ? status : penstock__spectrum_take(spectrum_of(stream), in, count, taken);
}

static int pull(penstock_stream *stream, const struct penstock__room *out, size_t capacity, bool wait, size_t *count)
{
    struct spectrum *spectrum = spectrum_of(stream);
    int status = penstock__spectrum_pull(spectrum, out->whole, capacity, wait, count);
    penstock__spectrum_decay(spectrum, out->whole, *count);
    penstock__spectrum_gave(spectrum, *count);
    return status;
}

/* Items are the plan's samples, all of them, and its results vectors. */
static struct penstock__batcher *device_batcher(penstock_stream *stream)
{
    struct spectrum *spectrum = spectrum_of(stream);
    return stream->lends_in && !spectrum->sum && !spectrum->prepared ? spectrum->batched.batcher : NULL;
}

static int device_work(penstock_stream *stream, struct penstock__device_work *work)
{
    if (spectrum_of(stream)->desc.flush_partial)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "spectrum: with flush_partial it takes no items on a device");
    return penstock__batched_device_work(stream, work);
}

/* ---------------------------------------------------------------- the kind -------------------- */

const struct penstock__batched_kind penstock__spectrum_kind = {
    .calls = {.name = "spectrum",
              PENSTOCK__BATCHED_LIFE,
              .push = push,
              .pull = pull,
              .run = penstock__spectrum_run,
              .acquire = penstock__spectrum_acquire,
              .peek = penstock__spectrum_peek,
              .release = penstock__spectrum_release,
              .finish = penstock__spectrum_finish,
              .due_s = penstock__batched_due_s,
              .get_info = penstock__spectrum_get_info,
              .device_batcher = device_batcher,
              .device_work = device_work},
    .bytes = sizeof(struct spectrum),
    .desc_name = "penstock_spectrum_desc",
    .desc_at = offsetof(struct spectrum, desc),
    .desc_bytes = sizeof(penstock_spectrum_desc),
    .check = check,
    .make = make,
    .plan = penstock__spectrum_plan,
    .forget = forget,
    .reset = reset,
    .cancel = cancel_next,
    .free = free_spectrum,
};
