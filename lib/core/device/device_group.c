/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Several devices of one kind under one name. */
#include "core/device/device_group.h"
#include "core/base/context.h"
#include "core/base/fork.h"
#include "core/device/devices.h"
#include "probe/probe.h"

#include <stdio.h>
#include <string.h>

#define ALL ":*"

struct penstock__group {
    struct penstock_device device;
    struct penstock_backend backend; /* what the kind's says of itself, with the calls below */
    struct penstock_device *members[PENSTOCK__MAX_DEVICES];
    struct penstock__group *following; /* in the context's list */
};

/* ---------------------------------------------------------------- the group's backend --------- */

int penstock__device_alone(const struct penstock_device *device, const char *why)
{
    return device->member_count ? penstock__error(PENSTOCK_ERR_ARGUMENT, "%s is %zu devices; %s", device->name,
                                                  device->member_count, why)
                                : PENSTOCK_OK;
}

static bool is_open(const struct penstock_device *device)
{
    pthread_mutex_lock(&device->context->table_lock);
    bool opened = device->opened;
    pthread_mutex_unlock(&device->context->table_lock);
    return opened;
}

static int supports(const struct penstock_device *device, const struct penstock_problem *problem)
{
    for (size_t i = 0; i < device->member_count; i++)
        if (is_open(device->members[i]))
            return device->members[i]->backend->supports(device->members[i], problem);
    return penstock__error(PENSTOCK_ERR_STATE, "no device of %s is open", device->name);
}

/* What the core asks of the backend of a device that it does not hand on to the members: to refuse the rest. */
static struct penstock_backend backend_of(const struct penstock_backend *kind)
{
    const struct penstock_backend *none = &penstock__gone_backend;
    return (struct penstock_backend){.abi = kind->abi,
                                     .name = kind->name,
                                     .licence = kind->licence,
                                     .flags = kind->flags & ~(unsigned)PENSTOCK_BACKEND_SHARES,
                                     .folds = kind->folds,
                                     .error_factor = kind->error_factor,
                                     .buffer_alloc = none->buffer_alloc,
                                     .buffer_free = none->buffer_free,
                                     .supports = supports,
                                     .plan_init = none->plan_init,
                                     .plan_free = none->plan_free,
                                     .slot_init = none->slot_init,
                                     .slot_free = none->slot_free,
                                     .stamp = kind->stamp ? none->stamp : NULL,
                                     .elapsed = kind->elapsed ? none->elapsed : NULL};
}

/* ---------------------------------------------------------------- names ----------------------- */

static bool ends_in_all(const char *name)
{
    size_t length = strlen(name), end = sizeof ALL - 1;
    return length > end && !strcmp(name + length - end, ALL);
}

static bool names_several(const char *name)
{
    const char *colon = strchr(name, ':');
    return colon && (ends_in_all(name) || strchr(name, ',') || colon[1 + strspn(colon + 1, "0123456789")] == '+');
}

static int add(struct penstock__group *group, struct penstock_device *device, const char *text)
{
    const struct penstock_device *first = group->members[0];
    size_t *count = &group->device.member_count;
    for (size_t i = 0; i < *count; i++)
        if (group->members[i] == device)
            return penstock__error(PENSTOCK_ERR_ARGUMENT, "device '%s': %s is named twice", text, device->name);
    if (*count && device->backend != first->backend)
        return penstock__error(PENSTOCK_ERR_ARGUMENT,
                               "device '%s': %s and %s are of different kinds; several devices are of one kind", text,
                               first->name, device->name);
    if (*count == PENSTOCK__MAX_DEVICES)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "device '%s': more than %d devices", text, PENSTOCK__MAX_DEVICES);
    group->members[(*count)++] = device;
    return PENSTOCK_OK;
}

/* Whether a device is one more beside those that are in: not the same hardware once more by another driver. */
static bool is_another(const struct penstock__group *group, const struct penstock_device *device)
{
    for (size_t i = 0; i < group->device.member_count; i++)
        if (*device->address && !strcmp(device->address, group->members[i]->address))
            return false;
    return true;
}

/* All of a kind; processors that a compiler makes devices of only where there is nothing else. */
static int add_all(struct penstock__group *group, penstock_context *context, const char *text)
{
    struct penstock_device *device;
    int status = penstock__devices_probe(context, text);
    for (int on_cpu = 0; on_cpu < 2 && !group->device.member_count && !status; on_cpu++)
        for (size_t i = 0; (device = penstock__device_row(context, text, i)) && !status; i++)
            if (!*device->reason && device->on_cpu == (on_cpu == 1) && is_another(group, device))
                status = add(group, device, text);
    if (status || group->device.member_count)
        return status;
    return penstock__device_absent(context, text);
}

/* "cuda:0", or "0" after one of that kind. */
static int add_named(struct penstock__group *group, penstock_context *context, const char *text, const char *element)
{
    struct penstock_device *device;
    char name[96];
    const bool number = *element && !element[strspn(element, "0123456789")];
    const struct penstock_device *first = group->members[0];
    if (!*element || (!strchr(element, ':') && !number) || (number && !first) || names_several(element))
        return penstock__error(PENSTOCK_ERR_ARGUMENT,
                               "device '%s' is not understood: several devices are \"cuda:*\" or \"cuda:0,cuda:1\"",
                               text);
    snprintf(name, sizeof name, "%s%s%s", number ? first->backend->name : "", number ? ":" : "", element);
    int status = penstock__device_find_one(context, name, &device);
    return status ? status : add(group, device, text);
}

static int add_list(struct penstock__group *group, penstock_context *context, const char *text)
{
    int status = PENSTOCK_OK;
    for (const char *at = text; at && !status;) {
        char element[64];
        size_t length = strcspn(at, ",+");
        snprintf(element, sizeof element, "%.*s", (int)(length < sizeof element ? length : sizeof element - 1), at);
        status = add_named(group, context, text, element);
        at = at[length] ? at + length + 1 : NULL;
    }
    return status;
}

/* "cuda:*", or "cuda:0+1", which is a list without a comma: for tables of values that have those between them. */
static void write_name(struct penstock__group *group, bool all)
{
    char *name = group->device.name;
    size_t capacity = sizeof group->device.name;
    int used = snprintf(name, capacity, "%s%s", group->members[0]->backend->name, all ? ALL : ":");
    for (size_t i = 0; i < group->device.member_count && !all && used >= 0 && (size_t)used < capacity; i++)
        used += snprintf(name + used, capacity - (size_t)used, "%s%u", i ? "+" : "", group->members[i]->index);
}

/* ---------------------------------------------------------------- life ------------------------ */

static void describe(struct penstock__group *group)
{
    struct penstock_device *device = &group->device;
    const struct penstock_device *first = group->members[0];
    group->backend = backend_of(first->backend);
    device->backend = &group->backend;
    device->members = group->members;
    snprintf(device->product, sizeof device->product, "%zu x %.110s", device->member_count, first->product);
    snprintf(device->driver, sizeof device->driver, "%s", first->driver);
    snprintf(device->profile, sizeof device->profile, "%s", first->profile);
    for (size_t i = 0; i < device->member_count; i++) {
        device->compute_units += group->members[i]->compute_units;
        device->memory_bytes += group->members[i]->memory_bytes;
        device->on_cpu = device->on_cpu || group->members[i]->on_cpu;
    }
}

/* The one that was made before, else this one; the other of the two is freed. */
static struct penstock_device *keep(struct penstock__group *made)
{
    penstock_context *context = made->device.context;
    struct penstock__group *known;
    pthread_mutex_lock(&context->table_lock);
    for (known = context->groups; known && strcmp(known->device.name, made->device.name); known = known->following)
        ;
    if (!known) {
        made->following = context->groups;
        context->groups = made;
    }
    pthread_mutex_unlock(&context->table_lock);
    if (known)
        penstock__free(made);
    return known ? &known->device : &made->device;
}

/* The group of that name, or its only member; made at the first call. */
static int find_group(penstock_context *context, const char *name, struct penstock_device **device)
{
    struct penstock__group *made = penstock__calloc(1, sizeof *made);
    int status;
    *device = NULL;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->device.context = context;
    status = ends_in_all(name) && !strchr(name, ',') ? add_all(made, context, name) : add_list(made, context, name);
    if (status || made->device.member_count == 1) {
        *device = status ? NULL : made->members[0];
        penstock__free(made);
        return status;
    }
    write_name(made, ends_in_all(name));
    describe(made);
    *device = keep(made);
    return PENSTOCK_OK;
}

int penstock__device_find(penstock_context *context, const char *name, struct penstock_device **device)
{
    return names_several(name) ? find_group(context, name, device) : penstock__device_find_one(context, name, device);
}

struct penstock_device *penstock__device_member(struct penstock_device *device, size_t index)
{
    if (!device || !device->member_count)
        return index ? NULL : device;
    return index < device->member_count ? device->members[index] : NULL;
}

unsigned penstock__device_index(struct penstock_device *device, const struct penstock_device *member)
{
    const unsigned count = penstock__device_members(device);
    unsigned index = 0;
    while (index < count && penstock__device_member(device, index) != member)
        index++;
    return index;
}

void penstock__groups_free(penstock_context *context)
{
    while (context->groups) {
        struct penstock__group *group = context->groups;
        context->groups = group->following;
        penstock__free(group);
    }
}
