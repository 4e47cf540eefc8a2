/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The plan that a thread is making, made and checked by penstock-probe first; and what came of that. */
#include "core/plan/problem_bytes.h"
#include "probe/memory.h"
#include "probe/probe.h"
#include "probe/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SILENCE_S 120      /* compilers take their time over a large kernel */
#define LOOK_NS   10000000 /* between two looks at whether a trial may begin */
#define KEY_BYTES PENSTOCK__PROBE_KEY_BYTES

static _Thread_local struct {
    const struct penstock_plan_state *plan; /* NULL: none is being made */
    unsigned variant;
    bool passed;
} now;

void penstock__trial_begin(const struct penstock_plan_state *plan, unsigned variant)
{
    now.plan = plan;
    now.variant = variant;
    now.passed = false;
}

void penstock__trial_end(void)
{
    now.plan = NULL;
}

/* ---------------------------------------------------------------- memory ---------------------- */

static uint64_t keys[64];
static struct penstock__finding findings[64];
static struct penstock__recent known = PENSTOCK__RECENT(keys, findings);

static void write_key(char key[KEY_BYTES], const struct penstock_backend *backend, const char *name)
{
    int used = snprintf(key, KEY_BYTES, "penstock %s, %s\n", penstock_version(), name);
    if (backend->driver_key)
        backend->driver_key(key + used, KEY_BYTES - (size_t)used - 1);
    strcat(key, "\n");
}

/* In the cache folder are kernels that brought a driver down; one that does not is there itself. */
static bool recall(struct penstock__finding *finding, penstock_context *context, const char *key)
{
    struct penstock__probe_result result;
    if (!penstock__result_recall(&result, context, "crash", key) || !result.whole.outcome)
        return false;
    *finding = result.whole;
    return true;
}

static void keep(const struct penstock__finding *finding, penstock_context *context, const char *key)
{
    struct penstock__probe_result result = {.whole = *finding};
    penstock__result_keep(&result, context, "crash", key);
}

/* ---------------------------------------------------------------- the trial ------------------- */

/* penstock-probe makes the plan in hand, with the problem in `input`. */
static enum penstock__holds run_session(struct penstock__finding *finding, const struct penstock_device *device,
                                        int input)
{
    const char *cache = penstock__cache_dir(device->context), *kernels = penstock__kernel_path(device->context);
    const char *launch_config = now.plan->launch_config ? now.plan->launch_config : "";
    char number[16], variant[16], identity[264];
    const char *const arguments[] = {
        device->backend->name,  "plan", identity, number, variant, launch_config, cache ? cache : "",
        kernels ? kernels : "", NULL};
    struct penstock__probe_session session = {
        .arguments = arguments, .input = input, .silence_s = SILENCE_S, .end_s = INFINITY};
    struct penstock__probe_result result = {.untried = false};
    enum penstock__holds holds;
    penstock__result_identity(identity, device);
    snprintf(number, sizeof number, "%u", device->twins);
    snprintf(variant, sizeof variant, "%u", now.variant);
    holds = penstock__session_run(&session, &result);
    *finding = (struct penstock__finding){.outcome = PENSTOCK__GOOD};
    if (holds < PENSTOCK__CANCELLED && !session.through) /* an error is one here too, or that process's own */
        *finding = result.whole.outcome || !result.count ? result.whole : result.devices[0].finding;
    return holds;
}

/* A compiler keeps a processor busy: with more of them at once than half of the processors all get late, what the
 * application does too, and each would have to be ended when nobody waits any more. */
static struct {
    struct penstock_guard guard;
    pid_t process; /* that the count is of: a child after fork() has none at work */
    unsigned at_work;
} trials = {.guard = PENSTOCK_GUARD_AWAITED};

static bool begin_trial(void)
{
    const unsigned most = penstock__processors() > 1 ? penstock__processors() / 2 : 1;
    bool begun = false;
    penstock__guard(&trials.guard);
    if (trials.process != getpid())
        trials.at_work = 0;
    trials.process = getpid();
    if ((begun = trials.at_work < most))
        trials.at_work++;
    penstock__unguard(&trials.guard);
    return begun;
}

static void end_trial(void)
{
    penstock__guard(&trials.guard);
    if (trials.process == getpid())
        trials.at_work--;
    penstock__unguard(&trials.guard);
}

/* Until there is room for one more; false: nobody waits for the plan any more. */
static bool await_trial(void)
{
    while (!penstock__cancelled()) {
        if (begin_trial())
            return true;
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
    return false;
}

/* A process that was killed from outside says nothing of the driver: once more, then. */
static enum penstock__holds run_sessions(struct penstock__finding *finding, const struct penstock_device *device,
                                         int input)
{
    enum penstock__holds holds;
    if (!await_trial())
        return PENSTOCK__CANCELLED;
    holds = run_session(finding, device, input);
    if (holds == PENSTOCK__FOR_NOW && finding->outcome && !lseek(input, 0, SEEK_SET))
        holds = run_session(finding, device, input);
    end_trial();
    return holds;
}

/* Without a helper nothing is wrong: who probed the device has told of that. */
static int try_and_keep(struct penstock__finding *finding, const struct penstock_device *device, const char *key)
{
    size_t bytes;
    void *packed = penstock__problem_pack(&bytes, now.plan->problem);
    int input = packed ? penstock__helper_input(packed, bytes) : -1;
    double began = penstock__now_s();
    enum penstock__holds holds;
    penstock__free(packed);
    if (!packed || input < 0)
        return packed ? penstock__error(PENSTOCK_ERR_MEMORY, "no file in memory could be made") : PENSTOCK_ERR_MEMORY;
    holds = run_sessions(finding, device, input);
    close(input);
    if (holds == PENSTOCK__CANCELLED)
        return penstock__error(PENSTOCK_ERR_TIMEOUT, "%s: nobody waits for the plan any more", device->name);
    penstock__log(device->context, PENSTOCK_LOG_DEBUG, "%s: a plan was tried in a process of its own in %.3g s: %s",
                  device->name, penstock__now_s() - began, finding->outcome ? finding->reason : "the driver holds");
    if (holds <= PENSTOCK__FOR_PROCESS)
        penstock__recent_keep(&known, key, finding);
    if (holds == PENSTOCK__FOR_ALL && finding->outcome)
        keep(finding, device->context, key);
    return PENSTOCK_OK;
}

/* The process that tries plans tells what it is about to do. */
static void tell(const struct penstock_device *device, const char *name)
{
    char doing[64];
    snprintf(doing, sizeof doing, "compiled kernel %s", name);
    device->tell(doing);
}

int penstock__probe_plan(struct penstock_device *device, const char *name)
{
    struct penstock__finding finding;
    char key[KEY_BYTES];
    int status;
    if (device->tell)
        tell(device, name);
    if (device->tell || !now.plan || now.passed)
        return PENSTOCK_OK;
    write_key(key, device->backend, name);
    if (!penstock__recent_recall(&known, key, &finding) && !recall(&finding, device->context, key) &&
        (status = try_and_keep(&finding, device, key)))
        return status;
    now.passed = !finding.outcome;
    if (now.passed)
        return PENSTOCK_OK;
    return penstock__error(finding.outcome == PENSTOCK__LATE ? PENSTOCK_ERR_TIMEOUT : PENSTOCK_ERR_DEVICE, "%s: %s",
                           device->name, finding.reason);
}
