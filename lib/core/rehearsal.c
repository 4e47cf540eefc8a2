/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The plan that a thread is making, made and checked by penstock-probe first; and what came of that. */
#include "core/rehearsal.h"
#include "core/devices.h"
#include "core/hearing.h"
#include "core/memo.h"
#include "core/meter.h"
#include "core/problem_bytes.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SILENCE_S 120 /* compilers take their time over a large kernel */
#define KEY_BYTES 4096

static _Thread_local struct {
    const struct penstock_plan_state *plan; /* NULL: none is being made */
    unsigned variant;
    bool passed;
} now;

void penstock__rehearsal_begin(const struct penstock_plan_state *plan, unsigned variant)
{
    now.plan = plan;
    now.variant = variant;
    now.passed = false;
}

void penstock__rehearsal_end(void)
{
    now.plan = NULL;
}

/* ---------------------------------------------------------------- memory ---------------------- */

struct outcome {
    int status;       /* PENSTOCK_ERR_TIMEOUT: no other variant is worth as long a wait */
    char reason[256]; /* "": the driver holds */
};

/* Of this process: the last ones. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    uint64_t key; /* 0: none */
    struct outcome outcome;
} known[64];

static bool recall_here(struct outcome *outcome, const char *key)
{
    uint64_t hash = penstock__hash(key, strlen(key));
    bool found = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof known / sizeof *known && !found; i++)
        if ((found = known[i].key == hash))
            *outcome = known[i].outcome;
    pthread_mutex_unlock(&lock);
    return found;
}

static void keep_here(const struct outcome *outcome, const char *key)
{
    static size_t next;
    pthread_mutex_lock(&lock);
    known[next].key = penstock__hash(key, strlen(key));
    known[next].outcome = *outcome;
    next = (next + 1) % (sizeof known / sizeof *known);
    pthread_mutex_unlock(&lock);
}

static void write_key(char key[KEY_BYTES], const struct penstock_backend *backend, const char *name)
{
    int used = snprintf(key, KEY_BYTES, "penstock %s, %s\n", penstock_version(), name);
    if (backend->driver_key)
        backend->driver_key(key + used, KEY_BYTES - (size_t)used - 1);
    strcat(key, "\n");
}

/* In the cache folder are kernels that brought a driver down; one that does not is there itself. */
static bool recall(struct outcome *outcome, penstock_context *context, const char *key)
{
    char answer[sizeof outcome->reason + 32];
    long long then = 0, age;
    int used = 0;
    if (!penstock__memo_read(answer, sizeof answer, context, "crash", key) ||
        sscanf(answer, "%19lld%n", &then, &used) != 1 || answer[used] != '\n')
        return false;
    age = then < 0 ? -1 : (long long)time(NULL) - then;
    outcome->status = PENSTOCK_ERR_DEVICE;
    snprintf(outcome->reason, sizeof outcome->reason, "%s", answer + used + 1);
    return *outcome->reason && age >= 0 && age < PENSTOCK__CRASH_KEPT_S;
}

static void keep(const struct outcome *outcome, penstock_context *context, const char *key)
{
    char answer[sizeof outcome->reason + 32];
    snprintf(answer, sizeof answer, "%lld\n%s", (long long)time(NULL), outcome->reason);
    penstock__memo_write(context, "crash", key, answer);
}

/* ---------------------------------------------------------------- rehearsing ------------------ */

/* Devices of the same identity before it: how the other process finds it. */
static unsigned number_among_equals(const struct penstock_device *device, const char *identity)
{
    const struct penstock_device *other;
    unsigned number = 0;
    char text[264];
    for (size_t i = 0; (other = penstock__device_row(device->context, device->backend->name, i)) && other != device;
         i++) {
        penstock__verdict_identity(text, other);
        number += !strcmp(text, identity);
    }
    return number;
}

/* penstock-probe makes the plan in hand, with the problem in `input`. */
static enum penstock__holds hear(struct outcome *outcome, const struct penstock_device *device, int input)
{
    const char *cache = penstock__cache_dir(device->context), *kernels = penstock__kernel_path(device->context);
    const char *shape = now.plan->shape ? now.plan->shape : "";
    char number[16], variant[16], identity[264];
    const char *const arguments[] = {
        device->backend->name,  "plan", identity, number, variant, shape, cache ? cache : "",
        kernels ? kernels : "", NULL};
    struct penstock__hearing hearing = {
        .arguments = arguments, .input = input, .silence_s = SILENCE_S, .end_s = INFINITY};
    struct penstock__verdict verdict = {.untried = false};
    enum penstock__holds holds;
    penstock__verdict_identity(identity, device);
    snprintf(number, sizeof number, "%u", number_among_equals(device, identity));
    snprintf(variant, sizeof variant, "%u", now.variant);
    holds = penstock__hear(&verdict, &hearing);
    *outcome = (struct outcome){.status = hearing.late ? PENSTOCK_ERR_TIMEOUT : PENSTOCK_ERR_DEVICE};
    if (holds != PENSTOCK__NO_HELPER && !hearing.through) /* an error is one here too, or that process's own */
        snprintf(outcome->reason, sizeof outcome->reason, "%s",
                 *verdict.reason || !verdict.count ? verdict.reason : verdict.devices[0].reason);
    return holds;
}

/* Without a helper nothing is wrong: who probed the device has told of that. */
static int try_and_keep(struct outcome *outcome, const struct penstock_device *device, const char *key)
{
    size_t bytes;
    void *packed = penstock__problem_pack(&bytes, now.plan->problem);
    int input = packed ? penstock__helper_input(packed, bytes) : -1;
    double began = penstock__now_s();
    enum penstock__holds holds;
    penstock__free(packed);
    if (!packed || input < 0)
        return packed ? penstock__error(PENSTOCK_ERR_MEMORY, "no file in memory could be made") : PENSTOCK_ERR_MEMORY;
    holds = hear(outcome, device, input);
    close(input);
    penstock__log(device->context, PENSTOCK_LOG_DEBUG, "%s: a plan was tried in a process of its own in %.3g s: %s",
                  device->name, penstock__now_s() - began, *outcome->reason ? outcome->reason : "the driver holds");
    if (holds <= PENSTOCK__FOR_PROCESS)
        keep_here(outcome, key);
    if (holds == PENSTOCK__FOR_ALL && *outcome->reason)
        keep(outcome, device->context, key);
    return PENSTOCK_OK;
}

/* The process that tries plans tells what it is about to do. */
static void tell(const struct penstock_device *device, const char *name)
{
    char doing[64];
    snprintf(doing, sizeof doing, "compiled kernel %s", name);
    device->tell(doing);
}

int penstock__rehearse(struct penstock_device *device, const char *name)
{
    struct outcome outcome;
    char key[KEY_BYTES];
    int status;
    if (device->tell)
        tell(device, name);
    if (device->tell || !now.plan || now.passed)
        return PENSTOCK_OK;
    write_key(key, device->backend, name);
    if (!recall_here(&outcome, key) && !recall(&outcome, device->context, key) &&
        (status = try_and_keep(&outcome, device, key)))
        return status;
    now.passed = !*outcome.reason;
    return now.passed ? PENSTOCK_OK : penstock__error(outcome.status, "%s: %s", device->name, outcome.reason);
}
