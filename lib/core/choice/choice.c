/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The choice by measurement. An answer names the device, and each candidate with its time in picoseconds. */
#include "core/choice/choice.h"
#include "core/base/cancel.h"
#include "core/base/context.h"
#include "core/choice/async_build.h"
#include "core/device/devices.h"

#include <penstock/choice.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NONE         PENSTOCK__MAX_CANDIDATES
#define WHY_BYTES    sizeof((struct penstock_device *)NULL)->reason
#define ANSWER_BYTES (80 * (1 + PENSTOCK__MAX_CANDIDATES))

struct state {
    const struct penstock__choice *choice;
    struct penstock__candidates list;
    struct penstock__question question;
    size_t what;                                 /* where in its text that begins which the owner asks */
    double seconds[PENSTOCK__MAX_CANDIDATES];    /* of a unit; 0: not known */
    double felt_s;                               /* of a unit, on the CPU that serves meanwhile; 0: not known */
    char failure[PENSTOCK__MAX_CANDIDATES][160]; /* "", or why it is left out */
    size_t chosen;                               /* of the list, or NONE */
    bool remembered;
};

static size_t place_of(const struct state *state, const char *name)
{
    for (size_t i = 0; i < state->list.count; i++)
        if (!strcmp(state->list.devices[i]->name, name))
            return i;
    return NONE;
}

static bool is_cpu(const struct state *state, size_t i)
{
    return !strcmp(state->list.devices[i]->name, "cpu");
}

/* What it takes here: a stream's small pushes, or other work, may keep the CPU from being as fast as it was timed, and
 * samples that its caches still have from being as slow. */
static double cost_of(const struct state *state, size_t i)
{
    return is_cpu(state, i) && state->felt_s > 0 && state->seconds[i] > 0 ? state->felt_s : state->seconds[i];
}

/* Of candidates that were all timed; else what was chosen stays. */
static void choose_fastest(struct state *state)
{
    size_t fastest = 0;
    state->felt_s = penstock__async_build_felt_s();
    for (size_t i = 0; i < state->list.count; i++) {
        if (state->seconds[i] <= 0)
            return;
        fastest = cost_of(state, i) < cost_of(state, fastest) ? i : fastest;
    }
    state->chosen = fastest;
}

/* ---------------------------------------------------------------- memory ---------------------- */

static void ask(struct state *state)
{
    const struct penstock__choice *choice = state->choice;
    penstock__question_begin(&state->question, choice->context, choice->kind);
    state->what = state->question.used;
    choice->ask(choice->owner, &state->question, &state->list);
    for (size_t i = 0; i < state->list.count; i++)
        penstock__question_add_device(&state->question, state->list.devices[i]);
}

static bool recall(struct state *state)
{
    char answer[ANSWER_BYTES], name[56];
    uint64_t picoseconds;
    int length = 0;
    if (!penstock__wisdom_find(answer, sizeof answer, &state->question) ||
        sscanf(answer, "chosen: %55s%n", name, &length) != 1 || (state->chosen = place_of(state, name)) == NONE)
        return false;
    for (const char *at = answer + length; sscanf(at, "%55s %" SCNu64 "%n", name, &picoseconds, &length) == 2;
         at += length)
        if (place_of(state, name) != NONE)
            state->seconds[place_of(state, name)] = 1e-12 * (double)picoseconds;
    choose_fastest(state);
    penstock__wisdom_hold(&state->question, answer);
    return true;
}

static void remember(const struct state *state)
{
    char answer[ANSWER_BYTES];
    int used = snprintf(answer, sizeof answer, "chosen: %s\n", state->list.devices[state->chosen]->name);
    for (size_t i = 0; i < state->list.count && used > 0 && (size_t)used < sizeof answer; i++)
        used += snprintf(answer + used, sizeof answer - (size_t)used, "%s %.0f\n", state->list.devices[i]->name,
                         1e12 * state->seconds[i]);
    penstock__wisdom_learn(&state->question, answer);
}

/* ---------------------------------------------------------------- choice ---------------------- */

static void leave_out(struct state *state, size_t i)
{
    snprintf(state->failure[i], sizeof state->failure[i], "%s", penstock_error_text());
    state->seconds[i] = 0;
    penstock__candidate_failed(state->list.devices[i]);
}

static int take(struct state *state)
{
    const struct penstock__choice *choice = state->choice;
    return choice->take ? choice->take(choice->owner, state->list.devices[state->chosen]) : PENSTOCK_OK;
}

static int time_all(struct state *state)
{
    const struct penstock__choice *choice = state->choice;
    int status = PENSTOCK_OK;
    bool complete = true;
    state->chosen = NONE;
    for (size_t i = 0; i < state->list.count && !penstock__cancelled(); i++) {
        int failure = choice->time(choice->owner, state->list.devices[i], &state->seconds[i]);
        if (failure) {
            leave_out(state, i);
            status = failure;
            complete = false;
            continue;
        }
        penstock__log(choice->context, PENSTOCK_LOG_DEBUG, "auto: %s takes %.3g us a %s", state->list.devices[i]->name,
                      1e6 * state->seconds[i], choice->unit);
        *state->failure[i] = 0;
        state->felt_s = penstock__async_build_felt_s();
        bool fastest = state->chosen == NONE || cost_of(state, i) < cost_of(state, state->chosen);
        if (choice->keep)
            choice->keep(choice->owner, fastest);
        state->chosen = fastest ? i : state->chosen;
    }
    if (penstock__cancelled())
        return penstock__error(PENSTOCK_ERR_TIMEOUT, "nobody waits for it any more");
    if (state->chosen == NONE)
        return status;
    if (complete)
        remember(state);
    return PENSTOCK_OK;
}

static int recall_or_time(struct state *state)
{
    if (recall(state)) {
        if (!take(state)) {
            state->remembered = true;
            return PENSTOCK_OK;
        }
        leave_out(state, state->chosen);
    }
    return time_all(state);
}

/* ---------------------------------------------------------------- who wants to know ----------- */

int penstock_context_tell_choices(penstock_context *context, penstock_choice_fn *tell, void *user)
{
    if (!context)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_context_tell_choices: context is NULL");
    pthread_mutex_lock(&context->wisdom_lock);
    context->tell_choice = tell;
    context->tell_user = user;
    pthread_mutex_unlock(&context->wisdom_lock);
    return PENSTOCK_OK;
}

static void explain(char why[WHY_BYTES], const struct state *state, struct penstock_device *device, size_t i)
{
    const double best = cost_of(state, state->chosen);
    char excluded[128];
    const bool felt = i != NONE && i != state->chosen && cost_of(state, i) != state->seconds[i];
    if (i == state->chosen)
        snprintf(why, WHY_BYTES, "%s", state->list.count == 1 ? "the only candidate" : "the fastest");
    else if (i != NONE && *state->failure[i])
        snprintf(why, WHY_BYTES, "left out: %s", state->failure[i]);
    else if (felt && best > 0)
        snprintf(why, WHY_BYTES, "%.2f times the time of %s as it is used here", cost_of(state, i) / best,
                 state->list.devices[state->chosen]->name);
    else if (i != NONE && best > 0 && state->seconds[i] > 0)
        snprintf(why, WHY_BYTES, "%.*f times the time of %s", state->seconds[i] < 10 * best ? 2 : 0,
                 state->seconds[i] / best, state->list.devices[state->chosen]->name);
    else if (i == NONE && *device->reason)
        snprintf(why, WHY_BYTES, "%s", device->reason);
    else if (i == NONE && penstock__candidate_excluded(excluded, device, state->choice->problem))
        snprintf(why, WHY_BYTES, "%s", excluded);
    else
        snprintf(why, WHY_BYTES, "%s", i == NONE ? "cannot do it" : "not timed");
}

static void tell(struct state *state)
{
    penstock_context *context = state->choice->context;
    struct penstock_device *device;
    char what[512], why[WHY_BYTES];
    pthread_mutex_lock(&context->wisdom_lock);
    penstock_choice_fn *told = context->tell_choice;
    void *user = context->tell_user;
    pthread_mutex_unlock(&context->wisdom_lock);
    if (!told || penstock__cancelled())
        return;
    if (state->list.count == 1) /* nothing was to be found by it */
        ask(state);
    const char *from = state->question.text + state->what;
    snprintf(what, sizeof what, "%.*s", (int)strcspn(from, "\n"), from);
    for (size_t row = 0; (device = penstock__device_row(context, NULL, row)); row++) {
        size_t i = place_of(state, device->name);
        explain(why, state, device, i);
        told(user, &(penstock_choice){.size = sizeof(penstock_choice),
                                      .what = what,
                                      .device = device->name,
                                      .candidate = i != NONE,
                                      .chosen = i == state->chosen,
                                      .remembered = state->remembered,
                                      .seconds = i != NONE ? state->seconds[i] : 0,
                                      .unit = state->choice->unit,
                                      .why = why});
    }
}

/* For the stream that waits: it looks again once batches cost more. */
static void tell_times(const struct state *state)
{
    struct penstock__timed timed = {.other = ""};
    for (size_t i = 0; i < state->list.count; i++) {
        const double seconds = state->seconds[i];
        if (is_cpu(state, i)) {
            timed.cpu_s = fmin(seconds, cost_of(state, i));
        } else if (seconds > 0 && (timed.other_s <= 0 || seconds < timed.other_s)) {
            timed.other_s = seconds;
            snprintf(timed.other, sizeof timed.other, "%s", state->list.devices[i]->name);
        }
    }
    if (timed.cpu_s > 0 && timed.other_s > 0)
        penstock__async_build_tell(&timed);
}

int penstock__choice_make(struct penstock_device **device, const struct penstock__choice *choice)
{
    struct state state = {.choice = choice};
    penstock_context *context = choice->context;
    int status = penstock__devices_probe(context, NULL);
    *device = NULL;
    if (status)
        return status;
    penstock__candidates_find(&state.list, context, choice->problem);
    if (!state.list.count)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "no device can do that");
    if (state.list.count == 1) {
        status = take(&state);
    } else {
        if ((status = penstock__log_lets_wait()))
            return status;
        ask(&state);
        if ((status = penstock__cancellable_lock(&context->choice_lock)))
            return status;
        status = recall_or_time(&state);
        pthread_mutex_unlock(&context->choice_lock);
    }
    if (status)
        return status;
    *device = state.list.devices[state.chosen];
    tell_times(&state);
    tell(&state);
    return PENSTOCK_OK;
}

int penstock__choice_prefer(char device[64], const struct penstock__choice *choice)
{
    struct penstock_device *chosen;
    int status = penstock__choice_make(&chosen, choice);
    if (!status)
        snprintf(device, 64, "prefer:%s", chosen->name);
    return status;
}
