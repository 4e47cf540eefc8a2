/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Plans of the synthesis bank, and the zeros that its sums begin and end with. */
#include "core/choice/cpu_while_compiling.h"
#include "ops/channelizer/synthesizer.h"

#include <string.h>

#define BATCH_VALUES ((size_t)1 << 18) /* of a usual batch */

/* Weight t R + i is that of sample i of a hop and the frame t hops before: the taps one after the other. */
int penstock__synthesizer_plan(penstock_plan **plan, const struct synthesizer *synthesizer, const float *taps,
                               size_t tap_count, size_t depth)
{
    const struct penstock__batched *batched = &synthesizer->batched;
    const size_t channels = synthesizer->desc.channels, hop = synthesizer->desc.hop;
    float *weights = penstock__calloc(depth * hop, sizeof *weights);
    if (!weights)
        return PENSTOCK_ERR_MEMORY;
    memcpy(weights, taps, tap_count * sizeof *weights);
    const struct penstock_problem problem = {.kind = PENSTOCK_PROBLEM_FFT,
                                             .in_bytes = channels * sizeof(penstock_cf32),
                                             .out_bytes = hop * sizeof(penstock_cf32),
                                             .batch = BATCH_VALUES / channels + 1,
                                             .fft = {.n = channels,
                                                     .direction = PENSTOCK_REVERSE,
                                                     .domain = PENSTOCK_COMPLEX,
                                                     .format = PENSTOCK_CF32,
                                                     .window = weights,
                                                     .fold = depth,
                                                     .hop = hop,
                                                     .spacing = channels,
                                                     .output = PENSTOCK_OUTPUT_COMPLEX,
                                                     .scale = 1,
                                                     .average = 1}};
    int status = penstock__plan_new(plan, batched->stream.context, &problem, batched->device, PENSTOCK__BATCHED_SLOTS,
                                    penstock__cpu_while_compiling(batched->stream.context, batched->device));
    penstock__free(weights);
    return status;
}

int penstock__synthesizer_pad(struct penstock__batcher *batcher, size_t channels, uint64_t count, uint64_t *padded)
{
    int status = PENSTOCK_OK;
    while (!status && *padded < count) {
        const size_t left = (size_t)(count - *padded);
        size_t room, some;
        void *to;
        if ((status = penstock__batcher_room(batcher, &to, &room)) || !room)
            break;
        some = room / channels < left ? room / channels : left;
        memset(to, 0, some * channels * sizeof(penstock_cf32));
        *padded += some;
        status = penstock__batcher_commit(batcher, some * channels);
    }
    return status;
}
