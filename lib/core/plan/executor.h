/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A problem bound to one device: the variant that passed its check, and slots with their buffers. Plans use one,
 * and the choice by measurement makes several to compare them.
 */
#ifndef PENSTOCK_CORE_EXECUTOR_H
#define PENSTOCK_CORE_EXECUTOR_H

#include "core/plan/event_timing.h"

#define PENSTOCK__MAX_SLOTS    48 /* of 16 devices three each */
#define PENSTOCK__MAX_IN_SLOTS 16 /* that a caller may ask for */

/* Work for one slot, in host memory. */
struct penstock__batch {
    const void *in;
    const struct penstock_gather *gather;            /* NULL unless the problem is gathered */
    const penstock_viterbi_block *blocks;            /* NULL but for blocks of unequal length */
    const struct penstock_ofdm_tables *ofdm;         /* NULL unless the problem is OFDM */
    const penstock_cf32 *response;                   /* NULL unless the problem is FILTER */
    const struct penstock_resample_tables *resample; /* NULL unless the problem is RESAMPLE */
    uint64_t coefficients_id; /* not 0: the same number has the same response, taps, or OFDM's coefficients; they stay
                                 with the slot */
    uint64_t phase;           /* of the first frame: FILTER, rotated: in units of 2^-64 turns; folded: its turn, < n */
    void *out;
    size_t frames;     /* >= 1 */
    size_t samples;    /* at `in` */
    size_t out_wanted; /* bytes of the output, from its beginning on, that must come to `out`, which has room for all;
                          0: all */
    /* NULL, or what it costs by the device's clock is added there once it was waited for: measured for some batches,
     * and for others as for these by the frame. */
    struct penstock__event_times *event_times;
};

struct penstock__slot {
    struct penstock_slot slot;
    bool open;
    bool busy;
    uint64_t mark;
    uint64_t coefficients_id;                             /* what `coefficients` holds; 0: something else */
    struct penstock_buffer in, gather, coefficients, out; /* made where .device is not NULL */
    struct penstock__event_timing timing;
    int failure; /* that no wait has told of */
};

struct penstock__executor;
struct penstock__group_executor;

/*
 * What an executor of several devices does by those of its members: core/plan/group_executor.c. Its slots are handed
 * out to them in turns, so that who takes slots in order has results in order. Where a member fails, what was on its
 * way there is done again by those that are left, with one log line; the last one's failure is the executor's.
 */
struct penstock__group_calls {
    int (*submit)(struct penstock__group_executor *group, unsigned slot, const struct penstock__batch *batch);
    int (*wait)(struct penstock__group_executor *group, unsigned slot);
    void (*close)(struct penstock__group_executor *group);
    void (*free)(struct penstock__group_executor *group);
    struct penstock__executor *(*on)(struct penstock__group_executor *group, const struct penstock_device *device);
    bool (*spares)(const struct penstock__group_executor *group);
};

struct penstock__executor {
    struct penstock_plan_state state;
    struct penstock__group_executor *group; /* of several devices, with its calls. Else NULL */
    const struct penstock__group_calls *group_calls;
    bool planned;
    char launch_config[PENSTOCK_LAUNCH_CONFIG_BYTES]; /* of variant 0; "": the library's choice */
    unsigned timed; /* configurations that it was chosen from by timing, and the time that took */
    double tuning_s;
    unsigned slot_count;
    struct penstock__slot slots[PENSTOCK__MAX_SLOTS];
    struct penstock__event_clock clock;
    char failure_text[512]; /* of the last one */
};

/* A slot of the contract; `native`: around this queue of the device, which its backend can wrap, or NULL. */
int penstock__slot_open(struct penstock_slot *slot, struct penstock_device *device, const uint64_t *native);
void penstock__slot_close(struct penstock_slot *slot);

/* `problem` must live as long as the executor. The device is opened, and variants are tried until one is right. Of
 * several devices each has `slots`. */
int penstock__executor_new(struct penstock__executor **executor, struct penstock_device *device,
                           const struct penstock_problem *problem, unsigned slots);

/* The same with a device that is one: core/plan/ladder.c. */
int penstock__executor_climb_down(struct penstock__executor **executor, struct penstock_device *device,
                                  const struct penstock_problem *problem, unsigned slots);

/* On the device that did its usual batch fastest, transfers included: as remembered by the context, by the cache
 * folder, or measured now. `in_flight` batches are on their way at once when that is measured; 1: each is waited for. A
 * device that fails is left out with a log line: core/choice/choose.c. */
int penstock__choose(struct penstock__executor **executor, penstock_context *context,
                     const struct penstock_problem *problem, unsigned slots, unsigned in_flight);

/* An executor without a plan; a plan of one variant for it, and without it again. */
int penstock__executor_open(struct penstock__executor **executor, struct penstock_device *device,
                            const struct penstock_problem *problem, unsigned slots);
int penstock__executor_plan(struct penstock__executor *executor, unsigned variant);
void penstock__executor_unplan(struct penstock__executor *executor);

/* One variant, variant 0 in one launch configuration, "" or of the backend's list, without its check:
 * core/choice/tune.c. */
int penstock__executor_new_as(struct penstock__executor **executor, struct penstock_device *device,
                              const struct penstock_problem *problem, unsigned slots, unsigned variant,
                              const char *launch_config);

/* Where the problem asks for tuning: an executor in the launch configuration that the cache folder remembers or that is
 * fastest now, checked. False, and no executor, where it does not, where there is nothing to choose, and where none
 * works. */
bool penstock__tune(struct penstock__executor **executor, struct penstock_device *device,
                    const struct penstock_problem *problem, unsigned slots);

/* Sends a batch through a slot that is idle or busy with batches no smaller, after which it comes, one wait being for
 * all; its memory belongs to the slot until the wait. After a failure of either the
 * slot is closed, touches no host memory any more, and opens again with the next batch. */
int penstock__executor_submit(struct penstock__executor *executor, unsigned slot, const struct penstock__batch *batch);
int penstock__executor_wait(struct penstock__executor *executor, unsigned slot);

/* The executor that computes on `device`: itself, or that of a member; NULL where there is none. */
struct penstock__executor *penstock__executor_on(struct penstock__executor *executor,
                                                 const struct penstock_device *device);

/* Whether a batch that fails is done again by another device of the same executor, its input being there still. */
bool penstock__executor_spares(const struct penstock__executor *executor);

/* Abandons what is in flight in all slots and frees their buffers. */
void penstock__executor_close(struct penstock__executor *executor);
void penstock__executor_free(struct penstock__executor *executor);

/* Batches that each member did. */
const penstock_device_work *penstock__group_shares(const struct penstock__group_executor *group, size_t *count);

/* Frames that one slot should get of a batch of `frames`, so that copies and kernels of a large one overlap. */
size_t penstock__executor_chunk(const struct penstock__executor *executor, size_t frames);

/* Whether the device is a processor that works on the caller's memory, wherever that is; a GPU that shares the host's
 * memory works on what is aligned for it, and copies the rest. */
static inline bool penstock__device_in_host_memory(const struct penstock_device *device)
{
    return (device->host_memory && device->on_cpu) || (device->backend->flags & PENSTOCK_BACKEND_HOST_MEMORY);
}

static inline bool penstock__executor_in_host_memory(const struct penstock__executor *executor)
{
    return penstock__device_in_host_memory(executor->state.device);
}

/* Whether it tells by a clock of its own what a batch costs; one without computes within the call. */
static inline bool penstock__executor_has_clock(const struct penstock__executor *executor)
{
    return executor->state.device->backend->stamp != NULL;
}

#endif
