/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The captures of a stream: runs of samples without a gap, on one frequency; each gap begins another. */
#ifndef PENSTOCK_RADIO_CAPTURES_H
#define PENSTOCK_RADIO_CAPTURES_H

#include <penstock/penstock.h>

/* Samples are counted from the stream's first, as they come and without the lost ones. */
struct penstock__capture {
    uint64_t sample;     /* its first */
    uint64_t lost;       /* samples that were lost before it in all, as far as is known how many */
    uint64_t unknown;    /* losses before it in all of which nobody knows how many they were */
    double frequency_hz; /* 0: unknown */

    /* what is known of its time: the sample at position `origin` (samples with the lost ones) was taken at `origin_ns`,
     * since 1970-01-01T00:00:00Z */
    bool timed;
    int64_t origin_ns;
    uint64_t origin;
};

struct penstock__captures {
    struct penstock__capture *items; /* in the order of their samples, each of which is another */
    size_t count, room;
    size_t forgotten; /* older ones that are gone */
    bool keep;        /* none is ever forgotten */
    bool failed;      /* one could not be added, for want of memory */
};

/* Adds one, or replaces the last where that begins at the same sample. Where there are PENSTOCK__CAPTURES of them and
 * `keep` is not set, the older half is forgotten. PENSTOCK_ERR_MEMORY also sets `failed`. */
int penstock__captures_add(struct penstock__captures *captures, const struct penstock__capture *capture);

/* Index of the last one that begins at or before `sample`, 0 where the first one is later; there is one at least. */
size_t penstock__captures_find(const struct penstock__captures *captures, uint64_t sample);

/* Adds one that begins at `sample`, `lost` samples later than the last one goes on, or an unknown number where
 * `unknown` is set; its frequency is the last one's, and so is its time, which is not known after an unknown loss. */
int penstock__captures_gap(struct penstock__captures *captures, uint64_t sample, uint64_t lost, bool unknown);

/* When the time `after` samples behind the first one of a capture was; false where nobody knows, or beyond the years
 * 1678 .. 2261. */
bool penstock__capture_time(const struct penstock__capture *capture, double rate_hz, double after, int64_t *time_ns);
void penstock__captures_free(struct penstock__captures *captures);

#define PENSTOCK__CAPTURES ((size_t)1 << 16)

#endif
