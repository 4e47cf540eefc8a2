/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The choice by measurement. An answer is remembered under a text that names all it depends on: the problem, and the
 * candidates with their drivers. A driver's update thus asks the question anew.
 */
#include "core/choose.h"
#include "backends/backend.h"
#include "core/cancel.h"
#include "core/candidates.h"
#include "core/context.h"
#include "core/devices.h"
#include "core/measure.h"
#include "core/problem_bytes.h"
#include "core/wisdom.h"

#include <stdio.h>
#include <string.h>

#define KEY_BYTES (PENSTOCK__PROBLEM_KEY_BYTES + PENSTOCK__MAX_CANDIDATES * 320 + 128)

/* ---------------------------------------------------------------- memory ---------------------- */

static void write_key(char key[KEY_BYTES], const penstock_context *context, const struct penstock_problem *problem,
                      const struct penstock__candidates *list, unsigned slots, unsigned in_flight)
{
    int used = snprintf(key, KEY_BYTES, "penstock %s, %u threads, %u slots, %u in flight: ", penstock_version(),
                        context->threads, slots, in_flight);
    used += (int)penstock__problem_key(key + used, problem);
    for (size_t i = 0; i < list->count && used > 0 && used < KEY_BYTES; i++)
        used += snprintf(key + used, KEY_BYTES - (size_t)used, "%s: %s, %s\n", list->devices[i]->name,
                         list->devices[i]->product, list->devices[i]->driver);
}

static struct penstock_device *named(const struct penstock__candidates *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->devices[i]->name, name))
            return list->devices[i];
    return NULL;
}

/* The device that was chosen before, or NULL. */
static struct penstock_device *recall(penstock_context *context, const char *key,
                                      const struct penstock__candidates *list)
{
    struct penstock_device *device;
    char answer[80], chosen[56] = "";
    if ((!penstock__wisdom_recall(answer, sizeof answer, context, key) &&
         !penstock__wisdom_read(answer, sizeof answer, context, "choice", key)) ||
        sscanf(answer, "choice: %55s", chosen) != 1 || !(device = named(list, chosen)))
        return NULL;
    penstock__wisdom_keep(answer, sizeof answer, context, key);
    return device;
}

static void remember(penstock_context *context, const char *key, const struct penstock_device *device)
{
    char answer[80];
    snprintf(answer, sizeof answer, "choice: %s\n", device->name);
    penstock__wisdom_write(context, "choice", key, answer);
    penstock__wisdom_keep(answer, sizeof answer, context, key);
}

/* ---------------------------------------------------------------- choice ---------------------- */

/* Times every candidate and keeps the executor of the fastest; `*complete`: none failed. */
static int measure_all(struct penstock__executor **executor, bool *complete, const struct penstock__candidates *list,
                       const struct penstock_problem *problem, unsigned slots, unsigned in_flight)
{
    double best = 0;
    int status = PENSTOCK_OK;
    for (size_t i = 0; i < list->count && !penstock__cancelled(); i++) {
        struct penstock__executor *other;
        double seconds;
        int failure = penstock__executor_new(&other, list->devices[i], problem, slots);
        if (!failure && (failure = penstock__measure(&seconds, other, in_flight)))
            penstock__executor_free(other);
        if (failure) {
            penstock__candidate_failed(list->devices[i]);
            status = failure;
            *complete = false;
            continue;
        }
        penstock__log(list->devices[i]->context, PENSTOCK_LOG_DEBUG, "auto: %s takes %.3g us a frame",
                      list->devices[i]->name, 1e6 * seconds);
        if (*executor && best <= seconds) {
            penstock__executor_free(other);
            continue;
        }
        penstock__executor_free(*executor);
        *executor = other;
        best = seconds;
    }
    return *executor ? PENSTOCK_OK : status;
}

static int recall_or_measure(struct penstock__executor **executor, penstock_context *context,
                             const struct penstock__candidates *list, const struct penstock_problem *problem,
                             unsigned slots, unsigned in_flight)
{
    char key[KEY_BYTES];
    struct penstock_device *device;
    bool complete = true;
    int status;
    write_key(key, context, problem, list, slots, in_flight);
    if ((device = recall(context, key, list))) {
        if (!(status = penstock__executor_new(executor, device, problem, slots)))
            return PENSTOCK_OK;
        penstock__candidate_failed(device);
    }
    status = measure_all(executor, &complete, list, problem, slots, in_flight);
    if (penstock__cancelled()) {
        penstock__executor_free(*executor);
        *executor = NULL;
        return penstock__error(PENSTOCK_ERR_TIMEOUT, "nobody waits for the plan any more");
    }
    if (!status && complete)
        remember(context, key, (*executor)->state.device);
    return status;
}

int penstock__choose(struct penstock__executor **executor, penstock_context *context,
                     const struct penstock_problem *problem, unsigned slots, unsigned in_flight)
{
    struct penstock__candidates list;
    int status = penstock__devices_probe(context, NULL);
    *executor = NULL;
    if (status)
        return status;
    penstock__candidates_find(&list, context, problem);
    if (!list.count)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "no device can do that");
    if (list.count == 1)
        return penstock__executor_new(executor, list.devices[0], problem, slots);
    if ((status = penstock__cancellable_lock(&context->choice_lock))) /* two at once would disturb each other */
        return status;
    status = recall_or_measure(executor, context, &list, problem, slots, in_flight);
    pthread_mutex_unlock(&context->choice_lock);
    return status;
}
