/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The transform length by measured cost. What a block takes depends on its length, hardly on the taps; so times are
 * remembered by length, and the least time for a sample is found anew for each number of taps. As the least of curves
 * that all rise with the number of taps it rises too, without the steps of a rule of thumb.
 *
 * Where one kernel of the device does it all, the ways there and back are the same for all lengths, and the kernel's
 * own time by the device's clock counts.
 */
#include "core/devices.h"
#include "ops/filter_cost.h"
#include "ops/filter_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHORTEST 256
#define LONGEST  ((size_t)1 << 23)
/* Longer ones would take seconds to plan and to time. */
#define LONGEST_TIMED  ((size_t)1 << 19)
#define LONGEST_NEAR   ((size_t)1 << 20)
#define CANDIDATES     5
#define LARGEST_FACTOR 13   /* of a length that is not a power of two */
#define SLACK          1.02 /* a shorter length may take so much longer: values come sooner */
/* Threads that do long blocks at once crowd each other out of the caches, which the time of one does not show: of the
 * rates with 4097 taps, two threads have 1.9, 1.4, 1.2 and 0.9 times those of one with 8192, 16384, 32768 and 65536. */
#define LONG_POINTS 8192
#define SLACK_LONG  1.15

/* Of lengths that one kernel does. */
#define LONGEST_FUSED  8192
#define SHORTEST_PARTS 4096 /* for taps in parts */
#define MANY_PARTS     16   /* from so many on one long transform may be faster */

/* ---------------------------------------------------------------- candidates ------------------ */

/* The odd part of the decimation that transforms do well: a length with it in folds down further. */
static size_t odd_part(size_t decimation)
{
    size_t part = 1;
    while (decimation % 2 == 0)
        decimation /= 2;
    for (size_t p = 3; p <= LARGEST_FACTOR; p += 2)
        for (; decimation % p == 0 && part < 1000; decimation /= p)
            part *= p;
    return part;
}

static size_t first_length(const struct filter_shape *shape, size_t base, size_t times_taps)
{
    size_t n = base;
    size_t up = shape->interpolation, taps = (shape->taps + up - 1) / up;
    while (n * up < SHORTEST || n < times_taps * taps || n < taps + 2 * shape->decimation)
        n *= 2;
    return n <= LONGEST / up ? n : LONGEST / up;
}

/* What was found so far. */
struct choice {
    struct filter_shape shape;
    struct filter_shape last; /* that was considered */
    double cost;              /* of a sample, in picoseconds over the yardstick; 0: nothing yet */
    int failure;
};

static double slack(const struct filter_shape *candidate, const struct filter_wanted *wanted)
{
    bool crowded = !strcmp(wanted->device->name, "cpu") && penstock__threads(wanted->context) > 1;
    return crowded && candidate->n > LONG_POINTS ? SLACK_LONG : SLACK;
}

/* The first shape that there is may take any time for its blocks. */
static void consider(struct choice *best, const struct filter_shape *candidate, const struct filter_wanted *wanted)
{
    struct filter_cost timed;
    int failure;
    if (best->cost > 0 && candidate->max_latency && candidate->frame - candidate->history > candidate->max_latency + 1)
        return;
    if ((failure = penstock__filter_cost(&timed, candidate, wanted, best->last.n ? &best->last : NULL))) {
        best->failure = failure;
        return;
    }
    best->last = *candidate;
    double sample_ps = (double)timed.picoseconds / (double)candidate->block, cost = sample_ps / (double)timed.yardstick;
    penstock__log(wanted->context, PENSTOCK_LOG_DEBUG,
                  "filter: transforms of %zu, %zu parts, on %s take %.3g ns a sample, the yardstick %llu ns",
                  candidate->n, candidate->parts, wanted->device->name, 1e-3 * sample_ps,
                  (unsigned long long)timed.yardstick);
    if (best->cost > 0 && best->cost <= cost * slack(candidate, wanted))
        return;
    best->shape = *candidate;
    best->cost = cost;
}

/* Lengths that are `base` times a power of two. */
static void choose_among(struct choice *best, const struct filter_shape *shape, size_t base,
                         const struct filter_wanted *wanted)
{
    size_t n = first_length(shape, base, 2);
    size_t longest = base == 1 && !strcmp(wanted->device->name, "cpu") ? LONGEST_NEAR : LONGEST_TIMED;
    struct filter_shape candidate = *shape;
    for (int i = 0; i < CANDIDATES && n <= longest; i++, n *= 2)
        if (penstock__filter_shape_set(&candidate, n))
            consider(best, &candidate, wanted);
}

/* Lengths that one kernel may do, with all taps or with parts of them. */
static void choose_fused(struct choice *best, const struct filter_shape *shape, const struct filter_wanted *wanted)
{
    struct filter_shape candidate = *shape;
    for (size_t n = SHORTEST; n <= LONGEST_FUSED; n *= 2) {
        if (shape->taps <= n - n / 4 && penstock__filter_shape_set(&candidate, n))
            consider(best, &candidate, wanted);
        if (n >= SHORTEST_PARTS && penstock__filter_shape_partition(&candidate, n))
            consider(best, &candidate, wanted);
    }
}

/* On one device. */
static int choose_on(struct choice *best, const struct filter_shape *shape, const struct filter_wanted *wanted)
{
    struct filter_wanted there = *wanted;
    size_t odd = odd_part(shape->decimation);
    int status = penstock__device_open(wanted->device);
    *best = (struct choice){.cost = 0};
    if (status)
        return status;
    there.by_clock = wanted->device->backend->copy && penstock__filter_fused_possible(wanted->device, shape);
    if (there.by_clock) {
        choose_fused(best, shape, &there);
        if (best->cost > 0 && best->shape.parts <= MANY_PARTS)
            return PENSTOCK_OK;
        there.by_clock = false;
        struct filter_shape parts = best->shape;
        bool found = best->cost > 0;
        best->cost = 0;
        if (found)
            consider(best, &parts, &there);
    } else if (odd > 1) {
        choose_among(best, shape, odd, &there);
    }
    choose_among(best, shape, 1, &there);
    if (best->cost > 0 && best->shape.parts == 1)
        return PENSTOCK_OK;
    struct filter_shape candidate = *shape; /* longer than what is timed */
    if (!penstock__filter_shape_set(&candidate, first_length(shape, 1, 4)))
        return best->cost > 0 ? PENSTOCK_OK : best->failure;
    if (best->cost > 0)
        consider(best, &candidate, &there);
    else
        best->shape = candidate;
    return PENSTOCK_OK;
}

/* Picoseconds of a sample by a shape, the ways there and back included. */
static double cost_of(const struct filter_shape *shape, const struct filter_wanted *wanted)
{
    struct filter_cost timed;
    return penstock__filter_cost(&timed, shape, wanted, NULL) ? (double)INFINITY
                                                              : (double)timed.picoseconds / (double)shape->block;
}

/* The device whose transforms are the fastest need not be the one whose blocks are: on the CPU nothing lies between
 * their stages. */
static void compare_with_cpu(char device[64], const struct filter_shape *shape, const struct filter_wanted *wanted)
{
    struct filter_wanted there = *wanted, here = *wanted;
    struct choice away, home;
    there.text = device + strlen("prefer:");
    here.text = "cpu";
    if (!strcmp(there.text, "cpu") || penstock__device_find(wanted->context, there.text, &there.device) ||
        penstock__device_find(wanted->context, "cpu", &here.device) || choose_on(&home, shape, &here))
        return;
    if (choose_on(&away, shape, &there) || cost_of(&home.shape, &here) <= cost_of(&away.shape, &there))
        snprintf(device, 64, "prefer:cpu");
}

/* Where the fastest device is asked for: the one that is it at a usual length. */
static int ask_auto(char device[64], const struct filter_shape *shape, const struct filter_wanted *wanted)
{
    struct filter_shape usual = *shape;
    struct filter_engine *engine;
    int status;
    penstock__filter_shape_set(&usual, first_length(shape, 1, 4));
    if ((status =
             penstock__filter_engine_new(&engine, wanted->context, &usual, wanted->shifts, wanted->channels, "auto")))
        return status;
    snprintf(device, 64, "prefer:%s", penstock__filter_engine_device(engine));
    penstock__filter_engine_free(engine);
    compare_with_cpu(device, shape, wanted);
    return PENSTOCK_OK;
}

/* The device that `asked` means, and the text under which plans are made on it. */
static int resolve(struct filter_wanted *wanted, char text[64], const struct filter_shape *shape, const char *asked)
{
    enum penstock_preference preference;
    const char *name;
    int status = penstock__device_parse(&preference, &name, asked);
    if (status)
        return status;
    if (preference == PENSTOCK_DEVICE_AUTO) {
        if ((status = ask_auto(text, shape, wanted)))
            return status;
        name = text + strlen("prefer:");
    } else if (strlen(asked) < 64) {
        snprintf(text, 64, "%s", asked);
    } else {
        return penstock__error(PENSTOCK_ERR_NO_DEVICE, "no device '%.60s...'", asked);
    }
    return penstock__device_find(wanted->context, name, &wanted->device);
}

int penstock__filter_choose(struct filter_shape *shape, char text[64], penstock_context *context,
                            const struct filter_shift *shifts, size_t channel_count, const char *asked)
{
    struct filter_wanted wanted = {.context = context, .shifts = shifts, .channels = channel_count, .text = text};
    struct choice best;
    int status = resolve(&wanted, text, shape, asked);
    if (status || (status = choose_on(&best, shape, &wanted)))
        return status;
    *shape = best.shape;
    return PENSTOCK_OK;
}
