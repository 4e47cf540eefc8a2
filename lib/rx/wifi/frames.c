/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The list of frames between their discovery and the caller. */
#include "rx/wifi/receiver.h"

#include <stdio.h>
#include <stdlib.h>

#define SAME_FRAME 160 /* samples: frames do not start closer together, so this is one found twice */
#define OVERLAPS   3   /* frames that a new one may start in; more are the work of somebody who wants to keep us busy */
#define SPLICE     64  /* samples by which a frame may start before the one before it ends */

struct penstock__wifi_node *penstock__wifi_node_new(void)
{
    return penstock__calloc(1, sizeof(struct penstock__wifi_node));
}

void penstock__wifi_node_free(struct penstock__wifi_node *node)
{
    if (node)
        penstock__free(node->memory);
    penstock__free(node);
}

static void count(penstock_wifi_counters *counters, const struct penstock__wifi_node *node)
{
    counters->synchronised++;
    counters->signals += node->rate != NULL;
    counters->unsupported += node->format == PENSTOCK_WIFI_HT || node->format == PENSTOCK_WIFI_VHT;
}

/* Takes a known frame into the account: whether a new one that begins at `start` is this one. */
static bool is_same(int64_t known_start, int64_t known_end, int64_t start, unsigned *covering)
{
    *covering += known_start < start && known_end - SPLICE > start;
    return llabs(known_start - start) < SAME_FRAME;
}

/* A frame that is there already, or begins within too many. Those that were taken out count as well: what is found must
 * not depend on how soon the caller takes frames. */
static bool is_superfluous(const struct wifi_receiver *receiver, int64_t start)
{
    unsigned covering = 0;
    for (const struct penstock__wifi_node *node = receiver->frames; node; node = node->next)
        if (is_same(node->start, node->end, start, &covering))
            return true;
    for (unsigned i = 0; i < receiver->past_count; i++)
        if (is_same(receiver->past[i].start, receiver->past[i].end, start, &covering))
            return true;
    return covering >= OVERLAPS;
}

/* Few frames can overlap: there is always room. */
static void remember(struct wifi_receiver *receiver, const struct penstock__wifi_node *node, int64_t horizon)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < receiver->past_count; i++)
        if (receiver->past[i].end - SPLICE > horizon || receiver->past[i].start + SAME_FRAME > horizon)
            receiver->past[kept++] = receiver->past[i];
    receiver->past_count = kept < PAST ? kept : PAST - 1;
    receiver->past[receiver->past_count++] = (struct penstock__wifi_past){node->start, node->end};
}

int penstock__wifi_enter(struct wifi_receiver *receiver, const struct penstock__wifi_node *found)
{
    struct penstock__wifi_node **place = &receiver->frames, *node;
    if (is_superfluous(receiver, found->start))
        return PENSTOCK_OK;
    if (!(node = penstock__wifi_node_new()))
        return PENSTOCK_ERR_MEMORY;
    *node = *found;
    while (*place && (*place)->start < node->start)
        place = &(*place)->next;
    node->next = *place;
    *place = node;
    count(&receiver->counters, node);
    return PENSTOCK_OK;
}

struct penstock__wifi_node *penstock__wifi_take(struct wifi_receiver *receiver, int64_t horizon)
{
    struct penstock__wifi_node *node;
    while ((node = receiver->frames) && node->state == PENSTOCK__WIFI_DONE && node->start < horizon) {
        receiver->frames = node->next;
        remember(receiver, node, horizon);
        if (node->sure || node->start >= receiver->sure_until) {
            if (node->sure && node->end - SPLICE > receiver->sure_until)
                receiver->sure_until = node->end - SPLICE;
            return node;
        }
        penstock__wifi_node_free(node); /* a part of a frame that looked like one */
    }
    return NULL;
}

void penstock__wifi_truncate(struct wifi_receiver *receiver)
{
    for (struct penstock__wifi_node *node = receiver->frames; node; node = node->next) {
        bool cut = node->end - WINDOW_OFFSET > receiver->total;
        if (node->truncated || !cut || (node->state == PENSTOCK__WIFI_DONE && node->format != PENSTOCK_WIFI_UNKNOWN))
            continue;
        node->state = PENSTOCK__WIFI_DONE;
        node->truncated = true;
        snprintf(node->reason, sizeof node->reason, "stream ended within the frame");
        receiver->counters.truncated++;
    }
}

void penstock__wifi_describe(struct wifi_receiver *receiver, const struct penstock__wifi_node *node,
                             penstock_wifi_frame *frame)
{
    frame->sample = node->start > 0 ? (uint64_t)node->start : 0;
    frame->samples = (uint64_t)(node->end - (int64_t)frame->sample);
    frame->format = node->format;
    frame->bandwidth_hz = receiver->rate_hz;
    frame->rate_mbps = node->rate ? node->rate->mbps * receiver->clock : 0;
    frame->mcs = node->mcs;
    frame->length = node->length;
    frame->decoded = node->decoded;
    frame->fcs_ok = node->fcs_ok;
    frame->snr_db = node->snr_db;
    frame->evm_db = node->evm_db;
    frame->cfo_hz = node->tracked_cfo * receiver->rate_hz;
    frame->sfo_ppm = node->sfo_ppm;
    frame->raw_ber = node->raw_ber;
    frame->psdu = node->decoded ? node->psdu : NULL;
    frame->points = node->decoded ? node->points : NULL;
    frame->point_count = frame->points ? (size_t)node->symbols * PENSTOCK__WIFI_CARRIERS : 0;
    frame->reason = node->fcs_ok ? NULL : node->reason;
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++)
        receiver->channel[k] = cf32_scale(node->channel[k], 1 / node->scale);
    frame->channel = receiver->channel;
}
