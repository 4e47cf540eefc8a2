/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Transforms of some frames on the QPUs, with the stages before and behind them. */
#include "backends/qpu/qpu.h"

#include <string.h>

/* Puts the samples of frames `first` .. `first + count` where the QPUs look for them. */
static void load_batch(const struct qpu_plan *p, const struct penstock_fft_problem *fft, const struct penstock_job *job,
                       size_t first, size_t count)
{
    char *in = (char *)p->memory.host + qpu_fft_plan_input(p->transforms);
    size_t sample = penstock_format_bytes(fft->format);
    if (p->loads) {
        memcpy(in, (const char *)job->in->host + first * fft->spacing * sample,
               penstock__fft_samples(fft, count) * sample);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        penstock__qpu_load(p, fft, job, first + i);
        memcpy(in + i * fft->n * sizeof *p->frame, p->frame, fft->n * sizeof *p->frame);
    }
}

int penstock__qpu_transform(const struct penstock_plan_state *plan, const struct penstock_fft_problem *fft,
                            const struct penstock_job *job, size_t first, size_t count, void *to)
{
    struct qpu_plan *p = plan->priv;
    struct qpu_state *state = plan->device->priv;
    const size_t bytes = fft->n * sizeof *p->frame, out_bytes = fft->n * penstock__fft_out_item(fft);
    const char *out = (const char *)p->memory.host + qpu_fft_plan_output(p->transforms);
    load_batch(p, fft, job, first, count);
    qpu_fft_plan_set_count(p->transforms, p->memory.host, p->memory.bus, (uint32_t)count);
    int status = penstock__qpu_launch(p, state, p->transforms, p->memory.bus);
    for (size_t i = 0; !status && i < count; i++) {
        const size_t frame = first + i;
        memcpy(p->frame, out + i * bytes, bytes);
        penstock__qpu_store(p, fft, (char *)to + (frame / fft->average - first / fft->average) * out_bytes,
                            (unsigned)(frame % fft->average));
    }
    return status;
}
