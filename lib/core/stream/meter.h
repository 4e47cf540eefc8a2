/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Measures a stream for penstock_stream_stats. A stream owns one meter, tells it what comes and goes with the time of
 * each call, and reads it when it is asked for its stats; fallbacks and drops the stream fills in itself. Constant
 * memory, a fraction of a microsecond a call, no locks: as the stream, one thread at a time.
 *
 *     push:  penstock__meter_take(meter, items, now)
 *     pull:  penstock__meter_give(meter, items, first_end, step, now)
 *     where much of what comes makes nothing:  penstock__meter_skip(meter, end)
 *     push and pull in one call that computes itself:  penstock__meter_straight()
 */
#ifndef PENSTOCK_CORE_METER_H
#define PENSTOCK_CORE_METER_H

#include <penstock/stream.h>

#define PENSTOCK__METER_BINS     128 /* of the latency: quarters of an octave from 1 us on */
#define PENSTOCK__METER_ARRIVALS 64
#define PENSTOCK__METER_SHARES   16 /* as many as a kind may have devices */

/* What copies and kernels cost, and where they were, if that is several devices. */
struct penstock__event_times {
    double transfer_s, kernel_s;
    penstock_device_work shares[PENSTOCK__METER_SHARES];
    unsigned share_count;
};

/* One more batch that a device did; the name lives as long as the context. */
void penstock__event_times_share(struct penstock__event_times *event_times, const char *device);

struct penstock__meter {
    uint64_t in, out;
    uint64_t covered; /* items in that the items out need */
    uint64_t batches, batched;
    struct penstock__event_times
        event_times; /* of all batches; an executor adds to it, too: penstock__batch.event_times */
    uint64_t latencies[PENSTOCK__METER_BINS];
    struct {
        uint64_t end; /* items in so far */
        double at;
    } arrivals[PENSTOCK__METER_ARRIVALS]; /* a ring: those that wait */
    unsigned first_arrival, arrival_count;
    struct penstock__meter_mark {
        double at;
        uint64_t in, out;
    } older, newer; /* for the rates; a second or more apart */
};

/* Forgets everything: the stream begins now. */
void penstock__meter_start(struct penstock__meter *meter, double now);

/* `items` were pushed. */
void penstock__meter_take(struct penstock__meter *meter, uint64_t items, double now);

/* No item out will need those in before place `end`. */
void penstock__meter_skip(struct penstock__meter *meter, uint64_t end);

/* `items` were pulled. The first of them was complete once `first_end` items were in, each next one `step` later. */
void penstock__meter_give(struct penstock__meter *meter, uint64_t items, uint64_t first_end, uint64_t step, double now);

/* A batch of `items` out was done; `kernel_s` is what it took where no device's clock tells it, else 0. */
void penstock__meter_batch(struct penstock__meter *meter, uint64_t items, double kernel_s);

/* `in` items were taken and `out` given by one call that began at `began` and did nothing but compute them. */
void penstock__meter_straight(struct penstock__meter *meter, uint64_t in, uint64_t out, double began, double now);

/* All but size, fallbacks and drops. */
void penstock__meter_read(const struct penstock__meter *meter, penstock_stream_stats *stats, double now);

#endif
