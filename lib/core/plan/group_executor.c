/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A problem bound to several devices. */
#include "core/plan/executor.h"
#include "core/stream/meter.h"
#include "probe/probe.h"

#include <stdio.h>
#include <string.h>

/* What was sent through a slot, to be sent again. */
struct sent {
    struct penstock__batch batch;
    struct penstock_ofdm_tables tables;
    struct penstock_resample_tables resample;
};

struct group_slot {
    unsigned member;
    struct sent *sent;
    size_t count, room;
    int failure; /* that no wait has told of */
};

struct group_member {
    struct penstock__executor *executor; /* NULL: it does not take part */
    bool lost;
};

struct penstock__group_executor {
    const struct penstock_device *device;
    struct group_member members[PENSTOCK__MAX_DEVICES];
    penstock_device_work shares[PENSTOCK__MAX_DEVICES];
    unsigned count, next; /* members, and whose turn it is */
    struct group_slot slots[PENSTOCK__MAX_SLOTS];
    char failure_text[512]; /* of the last one */
};

/* ---------------------------------------------------------------- members --------------------- */

static bool takes_part(const struct penstock__group_executor *group, unsigned member)
{
    return group->members[member].executor && !group->members[member].lost;
}

static unsigned left(const struct penstock__group_executor *group)
{
    unsigned count = 0;
    for (unsigned i = 0; i < group->count; i++)
        count += takes_part(group, i);
    return count;
}

/* There is one. */
static unsigned take_turn(struct penstock__group_executor *group)
{
    while (!takes_part(group, group->next))
        group->next = (group->next + 1) % group->count;
    unsigned member = group->next;
    group->next = (group->next + 1) % group->count;
    return member;
}

static void name_those_left(char *text, size_t capacity, const struct penstock__group_executor *group)
{
    size_t used = 0;
    for (unsigned i = 0; i < group->count && used < capacity; i++)
        if (takes_part(group, i))
            used += (size_t)snprintf(text + used, capacity - used, "%s%s", used ? ", " : "",
                                     group->device->members[i]->name);
}

/* It has failed, which the error text is about; what it has on its way touches no memory from here on. */
static void lose(struct penstock__group_executor *group, unsigned member)
{
    char names[256] = "", cause[512];
    snprintf(cause, sizeof cause, "%s", penstock_error_text());
    group->members[member].lost = true;
    name_those_left(names, sizeof names, group);
    penstock__log(group->device->context, PENSTOCK_LOG_WARNING, "%s failed, %s of %s %s: %s",
                  group->device->members[member]->name, names, group->device->name,
                  left(group) == 1 ? "goes on" : "go on", cause);
    penstock__executor_close(group->members[member].executor);
}

/* ---------------------------------------------------------------- slots ----------------------- */

static int keep(struct group_slot *slot, const struct penstock__batch *batch)
{
    if (slot->count == slot->room) {
        size_t room = slot->room ? 2 * slot->room : 1;
        struct sent *sent = penstock__realloc(slot->sent, slot->room * sizeof *sent, room * sizeof *sent);
        if (!sent)
            return PENSTOCK_ERR_MEMORY;
        slot->sent = sent;
        slot->room = room;
    }
    slot->sent[slot->count].batch = *batch;
    if (batch->ofdm)
        slot->sent[slot->count].tables = *batch->ofdm;
    if (batch->resample)
        slot->sent[slot->count].resample = *batch->resample;
    slot->count++;
    return PENSTOCK_OK;
}

static int send(struct penstock__group_executor *group, unsigned index, size_t which)
{
    struct group_slot *slot = &group->slots[index];
    struct penstock__batch batch = slot->sent[which].batch;
    if (batch.ofdm)
        batch.ofdm = &slot->sent[which].tables;
    if (batch.resample)
        batch.resample = &slot->sent[which].resample;
    return penstock__executor_submit(group->members[slot->member].executor, index, &batch);
}

/* All that the slot has kept, through another member. */
static int send_again(struct penstock__group_executor *group, unsigned index)
{
    struct group_slot *slot = &group->slots[index];
    int status = PENSTOCK_OK;
    slot->member = take_turn(group);
    for (size_t i = 0; i < slot->count && !status; i++)
        status = send(group, index, i);
    return status;
}

static void fail(struct penstock__group_executor *group, struct group_slot *slot, int status)
{
    snprintf(group->failure_text, sizeof group->failure_text, "%s", penstock_error_text());
    slot->failure = status;
    slot->count = 0;
}

/* A slot whose batches were sent to a member that is lost; MAX_SLOTS: there is none. */
static unsigned find_orphan(const struct penstock__group_executor *group)
{
    unsigned index = 0;
    while (index < PENSTOCK__MAX_SLOTS &&
           !(group->slots[index].count && group->members[group->slots[index].member].lost))
        index++;
    return index;
}

/* After a failure in a slot with `status`: its member is lost, and what was on its way there goes to others, unless it
 * is the last one. */
static void move_on(struct penstock__group_executor *group, unsigned index, int status)
{
    for (; index < PENSTOCK__MAX_SLOTS; index = find_orphan(group)) {
        struct group_slot *slot = &group->slots[index];
        if (status && left(group) == 1)
            fail(group, slot, status);
        else if (status)
            lose(group, slot->member);
        while (slot->count && group->members[slot->member].lost && (status = send_again(group, index))) {
            if (left(group) == 1)
                fail(group, slot, status);
            else
                lose(group, slot->member);
        }
        status = PENSTOCK_OK;
    }
}

static int tell(struct penstock__group_executor *group, struct group_slot *slot)
{
    int status = slot->failure;
    slot->failure = PENSTOCK_OK;
    return status ? penstock__error(status, "%s", group->failure_text) : PENSTOCK_OK;
}

static int submit_slot(struct penstock__group_executor *group, unsigned index, const struct penstock__batch *batch)
{
    struct group_slot *slot = &group->slots[index];
    int status;
    if (!slot->count)
        slot->member = take_turn(group);
    if ((status = keep(slot, batch))) {
        penstock__executor_wait(group->members[slot->member].executor, index); /* those before it */
        slot->count = 0;
        return penstock__error(status, "out of memory");
    }
    if ((status = send(group, index, slot->count - 1)))
        move_on(group, index, status);
    return tell(group, slot);
}

static void count_batches(struct penstock__group_executor *group, const struct group_slot *slot)
{
    group->shares[slot->member].batches += slot->count;
    for (size_t i = 0; i < slot->count; i++)
        if (slot->sent[i].batch.event_times)
            penstock__event_times_share(slot->sent[i].batch.event_times, group->shares[slot->member].device);
}

static int wait_slot(struct penstock__group_executor *group, unsigned index)
{
    struct group_slot *slot = &group->slots[index];
    int status;
    while (slot->count && (status = penstock__executor_wait(group->members[slot->member].executor, index)))
        move_on(group, index, status);
    count_batches(group, slot);
    slot->count = 0;
    return tell(group, slot);
}

static void close_all(struct penstock__group_executor *group)
{
    for (unsigned i = 0; i < group->count; i++)
        if (group->members[i].executor)
            penstock__executor_close(group->members[i].executor);
    for (unsigned i = 0; i < PENSTOCK__MAX_SLOTS; i++) {
        group->slots[i].count = 0;
        group->slots[i].failure = PENSTOCK_OK;
    }
}

/* ---------------------------------------------------------------- life ------------------------ */

static void free_group(struct penstock__group_executor *group)
{
    if (!group)
        return;
    for (unsigned i = 0; i < group->count; i++)
        penstock__executor_free(group->members[i].executor);
    for (unsigned i = 0; i < PENSTOCK__MAX_SLOTS; i++)
        penstock__free(group->slots[i].sent);
    penstock__free(group);
}

static struct penstock__executor *executor_on(struct penstock__group_executor *group,
                                              const struct penstock_device *device)
{
    for (unsigned i = 0; i < group->count; i++)
        if (group->device->members[i] == device)
            return group->members[i].executor;
    return NULL;
}

static bool spares(const struct penstock__group_executor *group)
{
    return left(group) > 1;
}

static const struct penstock__group_calls calls = {
    .submit = submit_slot,
    .wait = wait_slot,
    .close = close_all,
    .free = free_group,
    .on = executor_on,
    .spares = spares,
};

/* What the core asks of the whole is what its first member says. */
static void describe(struct penstock__executor *executor, const struct penstock__executor *first, unsigned slots)
{
    struct penstock_device *device = executor->state.device;
    unsigned wanted = slots * left(executor->group);
    executor->state = first->state;
    executor->state.device = device;
    executor->state.priv = NULL;
    executor->state.launch_config = NULL;
    executor->timed = first->timed;
    executor->tuning_s = first->tuning_s;
    executor->slot_count = wanted < PENSTOCK__MAX_SLOTS ? wanted : PENSTOCK__MAX_SLOTS;
}

/* `slots` for each member. One that does not do it is left out with a log line; an error where none does. */
static int bind(struct penstock__executor *executor, unsigned slots)
{
    struct penstock_device *device = executor->state.device;
    struct penstock__group_executor *group = penstock__calloc(1, sizeof *group);
    const struct penstock__executor *first = NULL;
    int status = PENSTOCK_OK;
    if (!group)
        return PENSTOCK_ERR_MEMORY;
    executor->group = group;
    executor->group_calls = &calls;
    group->device = device;
    for (group->count = 0; group->count < device->member_count; group->count++) {
        struct group_member *member = &group->members[group->count];
        group->shares[group->count].device = device->members[group->count]->name;
        int failed = penstock__executor_climb_down(&member->executor, device->members[group->count],
                                                   executor->state.problem, slots);
        if (failed == PENSTOCK_ERR_MEMORY || failed == PENSTOCK_ERR_TIMEOUT)
            return failed;
        status = failed ? failed : status;
        if (failed && failed != PENSTOCK_ERR_UNSUPPORTED)
            penstock__log(device->context, PENSTOCK_LOG_WARNING, "%s goes on without %s: %s", device->name,
                          device->members[group->count]->name, penstock_error_text());
        first = first ? first : member->executor;
    }
    if (!first)
        return status;
    describe(executor, first, slots);
    return PENSTOCK_OK;
}

int penstock__executor_new(struct penstock__executor **executor, struct penstock_device *device,
                           const struct penstock_problem *problem, unsigned slots)
{
    int status;
    if (!device->member_count)
        return penstock__executor_climb_down(executor, device, problem, slots);
    if (!(status = penstock__executor_open(executor, device, problem, slots)) && (status = bind(*executor, slots))) {
        penstock__executor_free(*executor);
        *executor = NULL;
    }
    return status;
}

/* ---------------------------------------------------------------- what is known --------------- */

const penstock_device_work *penstock__group_shares(const struct penstock__group_executor *group, size_t *count)
{
    *count = group->count;
    return group->shares;
}
