/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a filter's block takes, in memory and in the cache folder. */
#include "ops/filter_cost.h"
#include "core/arrival.h"
#include "core/devices.h"
#include "core/memo.h"

#include <inttypes.h>
#include <stdio.h>

#define KEY_BYTES    512
#define ANSWER_BYTES 96

static void write_key(char key[KEY_BYTES], const struct filter_shape *shape, const struct filter_wanted *wanted)
{
    const struct penstock_device *device = wanted->device;
    size_t shifted = 0;
    for (size_t c = 0; c < wanted->channels; c++)
        shifted += wanted->shifts[c].shift != 0;
    snprintf(key, KEY_BYTES,
             "penstock %s, %u threads, %s: %s, %s: filter, in turns, in blocks %zu up %zu fold %zu format %d real %d "
             "pick %d channels %zu shifted %zu latency %zu parts %zu clock %d\n",
             penstock_version(), penstock__threads(device->context), device->name, device->product, device->driver,
             shape->n, shape->interpolation, shape->fold, (int)shape->format, shape->real,
             shape->step > 1 || shape->real_values, wanted->channels, shifted, shape->max_latency, shape->parts,
             wanted->by_clock);
}

#define ANSWER_FORMAT "picoseconds: %" PRIu64 " yardstick: %" PRIu64 "\n"

static bool read_answer(struct filter_cost *cost, const char *answer)
{
    return sscanf(answer, "picoseconds: %" SCNu64 " yardstick: %" SCNu64, &cost->picoseconds, &cost->yardstick) == 2 &&
           cost->yardstick;
}

/* What else the processor does is in such a time. */
static bool by_the_wall(const struct filter_cost *cost, const struct filter_wanted *wanted)
{
    return !wanted->by_clock && cost->yardstick == 1;
}

/* In this context. */
static bool recall(struct filter_cost *cost, char key[KEY_BYTES], const struct filter_shape *shape,
                   const struct filter_wanted *wanted)
{
    char answer[ANSWER_BYTES];
    write_key(key, shape, wanted);
    return penstock__memo_recall(answer, sizeof answer, wanted->context, key) && read_answer(cost, answer);
}

static int measure(struct filter_cost *cost, const struct filter_shape *shape, const struct filter_wanted *wanted,
                   const struct filter_shape *beside)
{
    struct filter_cost known;
    char key[KEY_BYTES];
    if (beside && !recall(&known, key, beside, wanted))
        beside = NULL;
    return penstock__filter_time(cost, shape, wanted, beside, &known);
}

/* As the cache folder has it, or measured; measured again where that was done while the processor was slow. */
static int recall_or_measure(struct filter_cost *cost, const char *key, const struct filter_shape *shape,
                             const struct filter_wanted *wanted, const struct filter_shape *beside)
{
    struct filter_cost known;
    char answer[ANSWER_BYTES];
    int status;
    bool found =
        penstock__memo_read(answer, sizeof answer, wanted->context, "filter", key) && read_answer(&known, answer);
    bool near = found && known.yardstick > 1;
    if (near)
        penstock__filter_note_yardstick(known.yardstick);
    if (!found || (near && penstock__filter_is_slow(known.yardstick))) {
        if ((status = measure(cost, shape, wanted, beside)))
            return status;
        if (!found || cost->yardstick < known.yardstick) {
            snprintf(answer, sizeof answer, ANSWER_FORMAT, cost->picoseconds, cost->yardstick);
            if (!by_the_wall(cost, wanted) || !penstock__overtaken())
                penstock__memo_write(wanted->context, "filter", key, answer);
            return PENSTOCK_OK;
        }
    }
    *cost = known;
    return PENSTOCK_OK;
}

/* One answer for all filters of a context: with the same length of transforms they give the same bits. */
int penstock__filter_cost(struct filter_cost *cost, const struct filter_shape *shape,
                          const struct filter_wanted *wanted, const struct filter_shape *beside)
{
    char key[KEY_BYTES], answer[ANSWER_BYTES];
    int status;
    if (recall(cost, key, shape, wanted))
        return PENSTOCK_OK;
    if ((status = recall_or_measure(cost, key, shape, wanted, beside)))
        return status;
    snprintf(answer, sizeof answer, ANSWER_FORMAT, cost->picoseconds, cost->yardstick);
    penstock__memo_keep(answer, sizeof answer, wanted->context, key);
    read_answer(cost, answer); /* of another thread, if that was first */
    return PENSTOCK_OK;
}
