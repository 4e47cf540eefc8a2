/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A stretch of air with frames of known content in it, and the reception of such. */
#ifndef PENSTOCK_APPS_AIR_H
#define PENSTOCK_APPS_AIR_H

#include <penstock/penstock.h>

struct sent_frame {
    uint64_t start; /* first sample */
    size_t length;
    uint8_t *psdu;
};

struct air {
    penstock_cf32 *samples;
    size_t count, capacity;
    struct sent_frame *frames;
    size_t frame_count;
};

/* These return false when out of memory (or, for a frame, when the library refuses it). */
bool air_silence(struct air *air, size_t samples);
bool air_samples(struct air *air, const penstock_cf32 *samples, size_t count, const uint8_t *psdu, size_t length);
bool air_frame(struct air *air, const penstock_wifi_transmit_desc *desc, size_t length, uint64_t number);
void air_free(struct air *air);

/* Adds white noise of variance `power` to everything. */
void air_noise(struct air *air, double power, uint64_t seed);

/* Turns everything by `turns_per_sample`. */
void air_shift(struct air *air, double turns_per_sample);

/* What came of it. */
struct air_result {
    size_t found;      /* sent frames that came with the same bytes, a good FCS, and their first sample within 4 */
    size_t unexpected; /* frames with a good FCS that nobody sent */
    penstock_wifi_counters counters;
};

/* Pushes the samples in chunks of `chunk`. Returns a status of the library. */
int air_receive(struct air_result *result, const struct air *air, penstock_stream *receiver, size_t chunk);

#endif
