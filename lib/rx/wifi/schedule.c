/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The order of work when a piece of the stream is there: detect, examine, decode. Each step remembers how far it has
 * come, so that after an error the next call goes on where this one stopped.
 */
#include "rx/wifi/receiver.h"

#include "ops/ofdm.h"

#include <string.h>

#define EXAMINED 32 /* candidates examined at once */

/* ---------------------------------------------------------------- detection ------------------- */

static void add_candidate(struct wifi_receiver *receiver, const struct penstock__wifi_candidate *candidate)
{
    struct penstock__wifi_candidate *added = &receiver->candidates[receiver->candidate_count++];
    *added = *candidate;
    added->until = candidate->position + LONG_FIELD;
    receiver->counters.triggers++;
}

/* Goes on with the short training field as far as there are samples. */
static void detect(struct wifi_receiver *receiver)
{
    struct penstock__wifi_detector *detector = &receiver->detector;
    struct penstock__wifi_candidate candidate;
    int64_t last = receiver->end / GROUP - 1; /* groups before this one have all samples that they see */
    if (last > detector->first_group + (int64_t)detector->count) {
        size_t count = (size_t)(last - detector->first_group) - detector->count;
        int64_t position = (detector->first_group + (int64_t)detector->count) * GROUP;
        penstock__wifi_detector_sums(detector, detector->count, count, receiver->samples + (position - receiver->base));
        detector->count += count;
    }
    if (detector->count > WINDOW_GROUPS) {
        size_t windows = detector->count - WINDOW_GROUPS;
        penstock__wifi_detector_metrics(detector, 0, windows);
        for (size_t i = 0; i < windows; i++)
            if (penstock__wifi_detector_step(detector, i, &candidate))
                add_candidate(receiver, &candidate);
        penstock__wifi_detector_forget(detector, windows);
    }
    if (receiver->stream.finished && penstock__wifi_detector_end(detector, &candidate))
        add_candidate(receiver, &candidate);
}

/* ---------------------------------------------------------------- examination ----------------- */

struct examination {
    struct wifi_receiver *receiver;
    enum penstock__wifi_verdict verdicts[EXAMINED];
    struct penstock__wifi_node nodes[EXAMINED];
};

static void examine(void *argument, size_t index, unsigned worker)
{
    struct examination *examination = argument;
    const struct wifi_receiver *receiver = examination->receiver;
    struct penstock__wifi_candidate *candidate = &receiver->candidates[index];
    struct penstock__wifi_worker *own = &receiver->workers[worker];
    examination->verdicts[index] =
        penstock__wifi_examine(&receiver->tables, &own->segment, candidate,
                               receiver->samples + (candidate->position - BEFORE - receiver->base), receiver->end,
                               &examination->nodes[index], own->viterbi);
}

/* Candidates whose samples are all there become frames, in their order; the first one that needs more ends it. */
static int examine_candidates(struct wifi_receiver *receiver)
{
    for (;;) {
        struct examination examination = {.receiver = receiver};
        size_t count = 0, entered = 0;
        int status = PENSTOCK_OK;
        while (count < receiver->candidate_count && count < EXAMINED &&
               receiver->candidates[count].until <= receiver->end)
            count++;
        if (!count)
            return PENSTOCK_OK;
        penstock__parallel(receiver->stream.context, count, examine, &examination);
        while (entered < count && !status && examination.verdicts[entered] != PENSTOCK__WIFI_LATER) {
            if (examination.verdicts[entered] == PENSTOCK__WIFI_FRAME)
                status = penstock__wifi_enter(receiver, &examination.nodes[entered]);
            entered += !status;
        }
        receiver->candidate_count -= entered;
        memmove(receiver->candidates, receiver->candidates + entered,
                receiver->candidate_count * sizeof *receiver->candidates);
        if (status)
            return status;
    }
}

int penstock__wifi_work(struct wifi_receiver *receiver)
{
    int status;
    detect(receiver);
    if ((status = examine_candidates(receiver)))
        return status;
    if (receiver->stream.finished)
        penstock__wifi_truncate(receiver);
    status = penstock__wifi_decode(receiver);
    receiver->counters.fallbacks = penstock__ofdm_fallbacks(receiver->ofdm) - receiver->earlier_fallbacks;
    if (!status)
        receiver->since = (double)INFINITY;
    return status;
}
