/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Probing a driver in a helper program first, so that one that crashes does not take the process along. */
#include "probe/probe.h"
#include "probe/memory.h"
#include "probe/session.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define SILENCE_S 20 /* for each thing that the helper tells of */
#define IN_ALL_S  60
#define LOOK_NS   5000000 /* between two looks at whether another thread has the answer */
#define KEY_BYTES PENSTOCK__PROBE_KEY_BYTES

/* ---------------------------------------------------------------- the helper ------------------ */

/* One helper, and one more behind each device that brings it down. */
static enum penstock__holds ask(struct penstock__probe_result *result, const struct penstock_backend *backend)
{
    char first[16];
    const char *const arguments[] = {backend->name, first, NULL};
    struct penstock__probe_session session = {
        .arguments = arguments, .input = -1, .silence_s = SILENCE_S, .end_s = penstock__now_s() + IN_ALL_S};
    enum penstock__holds worst = PENSTOCK__FOR_ALL;
    memset(result, 0, sizeof *result);
    while (!session.through && !result->whole.outcome && result->count < PENSTOCK__MAX_DEVICES &&
           penstock__now_s() < session.end_s) {
        enum penstock__holds holds;
        snprintf(first, sizeof first, "%u", result->count);
        holds = penstock__session_run(&session, result);
        if (holds == PENSTOCK__CANCELLED)
            return holds;
        if (holds == PENSTOCK__NO_HELPER && strcmp(first, "0"))
            holds = PENSTOCK__FOR_NOW;
        worst = holds > worst ? holds : worst;
    }
    return worst;
}

/* ---------------------------------------------------------------- memory ---------------------- */

/* What a result depends on; false where the backend cannot tell. */
static bool write_key(char key[KEY_BYTES], const struct penstock_backend *backend)
{
    int used = snprintf(key, KEY_BYTES, "penstock %s %s, first kernels\n", penstock_version(), backend->name);
    if (!backend->driver_key)
        return false;
    backend->driver_key(key + used, KEY_BYTES - (size_t)used - 1);
    strcat(key, "\n");
    return true;
}

static uint64_t keys[8];
static struct penstock__probe_result results[8];
static struct penstock__recent known = PENSTOCK__RECENT(keys, results);

/* What threads of this process ask now: one helper for each is enough. */
static struct penstock_guard guard = PENSTOCK_GUARD_AWAITED; /* over these */
static uint64_t asking[8];
static unsigned asking_forks; /* of the process that they are in */

/* Of files. */
static void write_kind(char kind[40], const struct penstock_backend *backend)
{
    snprintf(kind, 40, "probe-%.20s", backend->name);
}

/* ---------------------------------------------------------------- probing --------------------- */

/* The driver is asked on without this process, for the next one to find the result in the cache folder. */
static void go_on(const penstock_context *context, const struct penstock_backend *backend)
{
    const char *cache = penstock__cache_dir(context);
    const char *const arguments[] = {backend->name, "keep", cache, NULL};
    if (cache)
        penstock__helper_leave("penstock-probe", "PENSTOCK_PROBE", arguments);
}

static void ask_and_keep(struct penstock__probe_result *result, penstock_context *context,
                         const struct penstock_backend *backend, const char *key)
{
    enum penstock__holds holds = ask(result, backend);
    char kind[40];
    if (holds == PENSTOCK__NO_HELPER)
        penstock__log(context, PENSTOCK_LOG_WARNING, "%s is probed within this process: %s", backend->name,
                      result->whole.reason);
    if (holds == PENSTOCK__CANCELLED && key)
        go_on(context, backend);
    if (holds >= PENSTOCK__CANCELLED)
        *result = (struct penstock__probe_result){.untried = true};
    if (key && holds <= PENSTOCK__FOR_PROCESS)
        penstock__recent_keep(&known, key, result);
    write_kind(kind, backend);
    if (key && holds == PENSTOCK__FOR_ALL)
        penstock__result_keep(result, context, kind, key);
}

/* With the guard: the place of the key among those that are asked, or of a free one for 0; NULL where there is none. */
static uint64_t *find_asking(uint64_t key)
{
    if (asking_forks != penstock__forks())
        memset(asking, 0, sizeof asking); /* the parent's threads are not here */
    asking_forks = penstock__forks();
    for (size_t i = 0; i < sizeof asking / sizeof *asking; i++)
        if (asking[i] == key)
            return &asking[i];
    return NULL;
}

/* Once no other thread asks for the key; `*waits` says whether one does. Where too many are asked, nobody is told. */
static void enter(uint64_t key, bool *waits)
{
    uint64_t *place;
    penstock__guard(&guard);
    *waits = find_asking(key);
    if (!*waits && (place = find_asking(0)))
        *place = key;
    penstock__unguard(&guard);
}

static void leave(uint64_t key)
{
    uint64_t *place;
    penstock__guard(&guard);
    if ((place = find_asking(key)))
        *place = 0;
    penstock__unguard(&guard);
}

bool penstock__probe_devices(struct penstock__probe_result *result, penstock_context *context,
                             const struct penstock_backend *backend, bool anew)
{
    char key[KEY_BYTES], kind[40];
    bool has_key = write_key(key, backend), remembered = false, waits = has_key;
    const uint64_t hash = has_key ? penstock__hash(key, strlen(key)) : 0;
    write_kind(kind, backend);
    *result = (struct penstock__probe_result){.untried = true};
    while (waits && !penstock__cancelled()) {
        enter(hash, &waits);
        if (waits)
            nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
    if (waits)
        return false;
    if (has_key && !anew && !(remembered = penstock__recent_recall(&known, key, result)) &&
        (remembered = penstock__result_recall(result, context, kind, key)))
        penstock__recent_keep(&known, key, result);
    if (!remembered)
        ask_and_keep(result, context, backend, has_key ? key : NULL);
    if (has_key)
        leave(hash);
    return remembered;
}
