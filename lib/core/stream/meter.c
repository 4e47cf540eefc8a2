/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Rates, batches and latencies of a stream. */
#include "core/stream/meter.h"
#include "backends/backend.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#define SHORTEST_S      1e-6
#define BINS_PER_OCTAVE 4
#define WINDOW_S        1.0

double penstock__now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void penstock__meter_start(struct penstock__meter *meter, double now)
{
    memset(meter, 0, sizeof *meter);
    meter->older.at = meter->newer.at = now;
}

/* ---------------------------------------------------------------- rates ----------------------- */

static void mark_time(struct penstock__meter *meter, double now)
{
    if (now - meter->newer.at < WINDOW_S)
        return;
    meter->older = meter->newer;
    meter->newer = (struct penstock__meter_mark){.at = now, .in = meter->in, .out = meter->out};
}

static void read_rates(const struct penstock__meter *meter, penstock_stream_stats *stats, double now)
{
    double seconds = now - meter->older.at;
    stats->in_rate_hz = seconds > 0 ? (double)(meter->in - meter->older.in) / seconds : 0;
    stats->out_rate_hz = seconds > 0 ? (double)(meter->out - meter->older.out) / seconds : 0;
}

/* ---------------------------------------------------------------- latency --------------------- */

static void count_latency(struct penstock__meter *meter, uint64_t items, double seconds)
{
    double bin = seconds > SHORTEST_S ? BINS_PER_OCTAVE * log2(seconds / SHORTEST_S) : 0;
    meter->latencies[bin < PENSTOCK__METER_BINS - 1 ? (unsigned)bin : PENSTOCK__METER_BINS - 1] += items;
}

/* The upper end of the bin in which the share of all items is reached. */
static double latency_of(const struct penstock__meter *meter, double share)
{
    uint64_t all = 0, below = 0;
    unsigned bin = 0;
    for (unsigned i = 0; i < PENSTOCK__METER_BINS; i++)
        all += meter->latencies[i];
    if (!all)
        return 0;
    for (below = meter->latencies[0]; (double)below < share * (double)all; below += meter->latencies[bin])
        bin++;
    return SHORTEST_S * exp2((bin + 1) / (double)BINS_PER_OCTAVE);
}

/* Where more calls wait than there is room for, one counts as if it had come with the one before: where that makes the
 * least difference in time. */
static void merge_arrivals(struct penstock__meter *meter)
{
    unsigned best = 0, first = meter->first_arrival;
    double least = (double)INFINITY;
    for (unsigned i = 0; i + 2 < PENSTOCK__METER_ARRIVALS; i++) {
        double span = meter->arrivals[(first + i + 2) % PENSTOCK__METER_ARRIVALS].at -
                      meter->arrivals[(first + i) % PENSTOCK__METER_ARRIVALS].at;
        if (span < least)
            best = i, least = span;
    }
    meter->arrivals[(first + best) % PENSTOCK__METER_ARRIVALS].end =
        meter->arrivals[(first + best + 1) % PENSTOCK__METER_ARRIVALS].end;
    for (unsigned i = best + 1; i + 1 < PENSTOCK__METER_ARRIVALS; i++)
        meter->arrivals[(first + i) % PENSTOCK__METER_ARRIVALS] =
            meter->arrivals[(first + i + 1) % PENSTOCK__METER_ARRIVALS];
    meter->arrival_count--;
}

static void note_arrival(struct penstock__meter *meter, double now)
{
    if (meter->arrival_count == PENSTOCK__METER_ARRIVALS)
        merge_arrivals(meter);
    unsigned last = (meter->first_arrival + meter->arrival_count++) % PENSTOCK__METER_ARRIVALS;
    meter->arrivals[last].at = now;
    meter->arrivals[last].end = meter->in;
}

/* Forgets the arrivals of items before number `end`. */
static void forget_before(struct penstock__meter *meter, uint64_t end)
{
    while (meter->arrival_count && meter->arrivals[meter->first_arrival].end < end) {
        meter->first_arrival = (meter->first_arrival + 1) % PENSTOCK__METER_ARRIVALS;
        meter->arrival_count--;
    }
}

/* The time at which item number `end` came. */
static double arrival_of(struct penstock__meter *meter, uint64_t end, double now)
{
    forget_before(meter, end);
    return meter->arrival_count ? meter->arrivals[meter->first_arrival].at : now;
}

/* ---------------------------------------------------------------- what comes and goes --------- */

void penstock__meter_take(struct penstock__meter *meter, uint64_t items, double now)
{
    mark_time(meter, now);
    if (!items)
        return;
    meter->in += items;
    note_arrival(meter, now);
}

void penstock__meter_skip(struct penstock__meter *meter, uint64_t end)
{
    forget_before(meter, end + 1);
    meter->covered = end > meter->covered ? end : meter->covered;
}

void penstock__meter_give(struct penstock__meter *meter, uint64_t items, uint64_t first_end, uint64_t step, double now)
{
    mark_time(meter, now);
    for (uint64_t given = 0; given < items;) {
        uint64_t end = first_end + given * step, together = items - given;
        double came = arrival_of(meter, end, now);
        if (meter->arrival_count && step) { /* those that came with it */
            uint64_t fit = (meter->arrivals[meter->first_arrival].end - end) / step + 1;
            together = fit < together ? fit : together;
        }
        count_latency(meter, together, now - came);
        given += together;
        end = first_end + (given - 1) * step;
        meter->covered = end > meter->covered ? end : meter->covered;
    }
    meter->out += items;
}

void penstock__event_times_share(struct penstock__event_times *event_times, const char *device)
{
    unsigned i = 0;
    while (i < event_times->share_count && event_times->shares[i].device != device)
        i++;
    if (i == PENSTOCK__METER_SHARES)
        return;
    if (i == event_times->share_count)
        event_times->shares[event_times->share_count++] = (penstock_device_work){.device = device};
    event_times->shares[i].batches++;
}

void penstock__meter_batch(struct penstock__meter *meter, uint64_t items, double kernel_s)
{
    meter->batches++;
    meter->batched += items;
    meter->event_times.kernel_s += kernel_s;
}

void penstock__meter_straight(struct penstock__meter *meter, uint64_t in, uint64_t out, double began, double now)
{
    mark_time(meter, now);
    meter->in += in;
    meter->out += out;
    meter->covered = meter->in;
    count_latency(meter, out, now - began);
    penstock__meter_batch(meter, out, now - began);
}

void penstock__meter_read(const struct penstock__meter *meter, penstock_stream_stats *stats, double now)
{
    double batches = meter->batches ? (double)meter->batches : 1;
    stats->in = meter->in;
    stats->out = meter->out;
    stats->queue = meter->in - (meter->covered < meter->in ? meter->covered : meter->in);
    read_rates(meter, stats, now);
    stats->batch = (double)meter->batched / batches;
    stats->transfer_s = meter->event_times.transfer_s / batches;
    stats->kernel_s = meter->event_times.kernel_s / batches;
    stats->shares = meter->event_times.share_count ? meter->event_times.shares : NULL;
    stats->share_count = meter->event_times.share_count;
    stats->latency_p50_s = latency_of(meter, 0.5);
    stats->latency_p99_s = latency_of(meter, 0.99);
}
