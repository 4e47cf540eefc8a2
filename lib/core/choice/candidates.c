/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What cannot win is no candidate: the processor's cores through a compiler, and a GPU by a longer way. */
#include "core/base/context.h"
#include "core/choice/choice.h"
#include "core/device/devices.h"
#include "core/plan/problem.h"

#include <stdio.h>
#include <string.h>

/* Not again where nothing else was told since: a stream asks for several plans, which fail alike. Nor where nobody
 * waits any more, which may be all the failure that there is. */
void penstock__candidate_failed(const struct penstock_device *device)
{
    char told[700];
    unsigned key;
    if (penstock__cancelled())
        return;
    snprintf(told, sizeof told, "auto leaves %s out: %s", device->name, penstock_error_text());
    key = (unsigned)penstock__hash(told, strlen(told));
    if (atomic_exchange(&device->context->left_out_told, key) != key)
        penstock__log(device->context, PENSTOCK_LOG_WARNING, "%s", told);
}

static bool is_automatic(const struct penstock_device *device)
{
    return !*device->reason && !(device->backend->flags & PENSTOCK_BACKEND_NOT_AUTOMATIC);
}

/* By their places on the bus or, where one is not known, by their names. */
static bool same_hardware(const struct penstock_device *a, const struct penstock_device *b)
{
    return *a->address && *b->address ? !strcmp(a->address, b->address)
                                      : *a->product && !strcmp(a->product, b->product);
}

static bool does(struct penstock_device *device, const struct penstock_problem *problem)
{
    return !problem || (!penstock__device_open(device) && penstock__problem_supported(device, problem) > 0);
}

/* Whether `other` stands before the device wherever it can do the problem. */
static bool precedes(const struct penstock_device *other, const struct penstock_device *device)
{
    bool native =
        other->backend->flags & PENSTOCK_BACKEND_NATIVE && !(device->backend->flags & PENSTOCK_BACKEND_NATIVE);
    return (device->on_cpu && !strcmp(other->name, "cpu")) || (native && same_hardware(other, device));
}

bool penstock__candidate_excluded(char why[128], struct penstock_device *device, const struct penstock_problem *problem)
{
    struct penstock_device *other;
    if (*device->reason || !is_automatic(device)) {
        snprintf(why, 128, "%s", *device->reason ? "absent" : "only when asked for by name");
        return true;
    }
    for (size_t i = 0; (other = penstock__device_row(device->context, NULL, i)); i++)
        if (other != device && is_automatic(other) && precedes(other, device) && does(other, problem)) {
            snprintf(why, 128, device->on_cpu ? "works on the same cores as %s" : "is the same GPU as %s", other->name);
            return true;
        }
    return false;
}

/* Devices that may be candidates for one problem or another; 0 where that cannot be told. Fills the device table. */
static size_t count_possible(penstock_context *context)
{
    struct penstock_device *device;
    size_t count = 0;
    char why[128];
    if (penstock__devices_probe(context, NULL))
        return 0;
    for (size_t i = 0; (device = penstock__device_row(context, NULL, i)); i++)
        count += !penstock__candidate_excluded(why, device, NULL);
    return count;
}

/* Once a context: where there is a single device to choose, why the others are absent; else of devices that are there
 * but not offered. */
static void tell_absent(penstock_context *context)
{
    struct penstock_device *device, *only = NULL;
    char reasons[800] = "", why[128];
    bool alone = count_possible(context) == 1;
    size_t used = 0;
    if (atomic_exchange(&context->absent_told, true))
        return;
    for (size_t i = 0; (device = penstock__device_row(context, NULL, i)); i++) {
        if (!penstock__candidate_excluded(why, device, NULL) && !only)
            only = device;
        else if (*device->reason && device->backend && (alone || *device->product) && used < sizeof reasons)
            used += (size_t)snprintf(reasons + used, sizeof reasons - used, "; %s: %s", device->name, device->reason);
    }
    if (only && used && alone)
        penstock__log(context, PENSTOCK_LOG_INFO, "auto has %s alone%s", only->name, reasons);
    else if (used)
        penstock__log(context, PENSTOCK_LOG_INFO, "auto leaves out%s", reasons + 1);
}

static void insert(struct penstock__candidates *list, struct penstock_device *device, int rank)
{
    size_t at = list->count;
    if (at == PENSTOCK__MAX_CANDIDATES)
        return;
    for (; at > 0 && list->ranks[at - 1] < rank; at--) {
        list->devices[at] = list->devices[at - 1];
        list->ranks[at] = list->ranks[at - 1];
    }
    list->devices[at] = device;
    list->ranks[at] = rank;
    list->count++;
}

void penstock__candidates_find(struct penstock__candidates *list, penstock_context *context,
                               const struct penstock_problem *problem)
{
    struct penstock_device *device;
    char why[128];
    tell_absent(context);
    list->count = 0;
    for (size_t i = 0; (device = penstock__device_row(context, NULL, i)); i++) {
        int rank;
        if (penstock__candidate_excluded(why, device, problem))
            continue;
        if (penstock__device_open(device))
            penstock__candidate_failed(device);
        else if ((rank = problem ? penstock__problem_supported(device, problem) : 1) > 0)
            insert(list, device, rank);
    }
}
