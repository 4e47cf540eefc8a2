/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The device of an analysis bank: where there are several to choose from, whole streams are timed, from the caller's
 * samples to the caller's frames. A bare transform's time would lack the sums, copies and selection, of which each
 * device leaves others to the CPU. */
#include "core/base/context.h"
#include "core/choice/choice.h"
#include "core/choice/timer.h"
#include "core/device/devices.h"
#include "ops/channelizer/channelizer_stream.h"

#include <string.h>

#define MAX_BYTES ((size_t)64 << 20) /* of a batch's samples and frames */
#define FILLING   0x3c               /* such bytes are a number of ordinary size in every format */

/* ---------------------------------------------------------------- timing ---------------------- */

/* A stream at work, on values nobody reads. */
struct rig {
    struct channelizer *channelizer;
    unsigned batches; /* on their way at once */
    size_t frames;    /* of a batch */
    void *in;         /* a batch's, which the stream copies into its own memory for each */
    penstock_cf32 *out;
};

static void rig_free(struct rig *rig)
{
    if (rig->channelizer)
        penstock__channelizer_kind.free(&rig->channelizer->stream);
    penstock__free(rig->in);
    penstock__free(rig->out);
}

/* Of the same taps: what a plan with them has been found to do need not be found again. */
static int make_bank(struct channel_bank *bank, const struct channelizer_order *order)
{
    const size_t count = order->bank.window;
    float *taps = penstock__alloc(count * sizeof *taps);
    if (!taps)
        return PENSTOCK_ERR_MEMORY;
    for (size_t i = 0; i < count; i++)
        taps[i] = order->bank.factors[count - 1 - i];
    int status = penstock__channel_bank_init(bank, &order->desc, taps, count);
    penstock__free(taps);
    return status;
}

/* As many channels as are wanted, wherever they are. */
static int select_some(struct channelizer *channelizer)
{
    const size_t count = channelizer->desc.select_count;
    size_t *select = penstock__alloc((count + 1) * sizeof *select);
    if (!select)
        return PENSTOCK_ERR_MEMORY;
    for (size_t i = 0; i < count; i++)
        select[i] = i * channelizer->desc.channels / count;
    int status = penstock__channelizer_select(channelizer, count ? select : NULL, count);
    penstock__free(select);
    return status;
}

static int make_stream(struct channelizer *made, const struct channelizer_order *order, const char *device)
{
    struct channelizer_engine *engine = &made->engine;
    int status;
    made->stream = (struct penstock_stream){.kind = &penstock__channelizer_kind,
                                            .context = order->context,
                                            .in_bytes = penstock_format_bytes(order->desc.format)};
    made->desc = order->desc;
    engine->context = order->context;
    engine->wanted = order->wanted;
    if ((status = make_bank(&engine->bank, order)) || (status = select_some(made)) ||
        (status = penstock__channelizer_engine_init(engine, 0, device)) ||
        (status = penstock__channelizer_relocate(made, engine, engine->bank.window)))
        return status;
    return penstock_stream_reset(&made->stream);
}

/* After an error too, free is to be called. */
static int rig_init(struct rig *rig, const struct channelizer_order *order, const char *device)
{
    *rig = (struct rig){.channelizer = penstock__calloc(1, sizeof *rig->channelizer)};
    struct channelizer *made = rig->channelizer;
    int status = made ? make_stream(made, order, device) : PENSTOCK_ERR_MEMORY;
    if (status)
        return status;
    const size_t in_bytes = order->desc.hop * made->stream.in_bytes, out_bytes = made->stream.out_bytes,
                 most = MAX_BYTES / (in_bytes + out_bytes);
    rig->batches = made->engine.capacity ? made->engine.ring.count : 1;
    rig->frames = made->engine.capacity ? made->engine.capacity : made->capacity / order->desc.hop;
    rig->frames = rig->frames < most ? rig->frames : most + !most;
    rig->in = penstock__alloc(rig->frames * in_bytes);
    rig->out = penstock__alloc(rig->frames * out_bytes);
    if (!rig->in || !rig->out)
        return PENSTOCK_ERR_MEMORY;
    memset(rig->in, FILLING, rig->frames * in_bytes);
    memset(rig->out, 0, rig->frames * out_bytes);
    return PENSTOCK_OK;
}

/* As many batches as are on their way at once: their samples in, and the frames out that make room for them. */
static int run_round(void *argument)
{
    const struct rig *rig = argument;
    const size_t count = rig->frames * rig->channelizer->desc.hop;
    const size_t bytes = rig->channelizer->stream.in_bytes;
    int status = PENSTOCK_OK;
    for (unsigned batch = 0; batch < rig->batches && !status; batch++)
        for (size_t at = 0, taken, given; at < count && !status; at += taken)
            status = penstock_stream_run(&rig->channelizer->stream, (const char *)rig->in + at * bytes, count - at,
                                         &taken, rig->out, rig->frames, &given);
    return status;
}

/* Seconds of a frame. */
static int time_on(void *owner, struct penstock_device *device, double *seconds)
{
    double round_s;
    struct rig rig;
    int status = rig_init(&rig, owner, device->name);
    if (!status && !(status = penstock__time_rounds(&round_s, run_round, &rig))) {
        *seconds = round_s / (double)(rig.batches * rig.frames);
        penstock__channelizer_engine_settle(&rig.channelizer->engine, SIZE_MAX);
        status = penstock__failure_tell(&rig.channelizer->engine.failure);
    }
    rig_free(&rig);
    return status;
}

/* ---------------------------------------------------------------- auto ------------------------ */

/* That a candidate must do at least. */
static struct penstock_problem transforms(const struct channel_bank *bank)
{
    struct penstock_problem problem = penstock__channelizer_engine_problem(bank, PENSTOCK_CF32);
    problem.fft.window = NULL;
    problem.fft.fold = 0;
    problem.fft.spacing = bank->channels;
    problem.in_bytes = bank->channels * sizeof(penstock_cf32);
    return problem;
}

/* The kernel for all of it, without the taps' values, stands for the bank. */
static void ask(void *owner, struct penstock__question *question, const struct penstock__candidates *list)
{
    const struct channelizer_order *order = owner;
    struct penstock_problem problem = penstock__channelizer_engine_problem(&order->bank, order->wanted);
    (void)list;
    problem.fft.window = NULL;
    penstock__question_add(question, "channelizer: format %d, %zu of its channels, ", (int)order->desc.format,
                           order->desc.select_count ? order->desc.select_count : order->desc.channels);
    penstock__question_add_problem(question, &problem);
}

int penstock__channelizer_choose(char device[64], const struct channelizer_order *order)
{
    const struct penstock_problem problem = transforms(&order->bank);
    return penstock__choice_prefer(device, &(struct penstock__choice){.context = order->context,
                                                                      .problem = &problem,
                                                                      .kind = "channelizer",
                                                                      .unit = "frame",
                                                                      .owner = (void *)(uintptr_t)order,
                                                                      .ask = ask,
                                                                      .time = time_on});
}
