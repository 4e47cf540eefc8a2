/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Probing a driver in a helper program first, so that one that crashes does not take the process along. */
#include "probe/probe.h"
#include "probe/memory.h"
#include "probe/session.h"

#include <stdio.h>
#include <string.h>

#define SILENCE_S 20 /* for each thing that the helper tells of */
#define IN_ALL_S  60
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
    while (!session.through && !result->whole.outcome && result->count < PENSTOCK__MAX_DEVICES) {
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

/* Of this process: the last ones. Few drivers are there, and few texts about them. */
static struct penstock_guard turn = PENSTOCK_GUARD;          /* while a helper runs: one is enough */
static struct penstock_guard guard = PENSTOCK_GUARD_AWAITED; /* over the following */
static struct {
    uint64_t key; /* 0: none */
    struct penstock__probe_result result;
} known[8];

static bool recall_here(struct penstock__probe_result *result, const char *key)
{
    uint64_t hash = penstock__hash(key, strlen(key));
    bool found = false;
    penstock__guard(&guard);
    for (size_t i = 0; i < sizeof known / sizeof *known && !found; i++)
        if ((found = known[i].key == hash))
            *result = known[i].result;
    penstock__unguard(&guard);
    return found;
}

static void keep_here(const struct penstock__probe_result *result, const char *key)
{
    static size_t next;
    uint64_t hash = penstock__hash(key, strlen(key));
    size_t at = 0, count = sizeof known / sizeof *known;
    penstock__guard(&guard);
    while (at < count && known[at].key != hash)
        at++;
    if (at == count)
        at = next++ % count;
    known[at].key = hash;
    known[at].result = *result;
    penstock__unguard(&guard);
}

/* Of files. */
static void write_kind(char kind[40], const struct penstock_backend *backend)
{
    snprintf(kind, 40, "probe-%.20s", backend->name);
}

/* ---------------------------------------------------------------- probing --------------------- */

static void ask_and_keep(struct penstock__probe_result *result, penstock_context *context,
                         const struct penstock_backend *backend, const char *key)
{
    enum penstock__holds holds = ask(result, backend);
    char kind[40];
    if (holds == PENSTOCK__NO_HELPER)
        penstock__log(context, PENSTOCK_LOG_WARNING, "%s is probed within this process: %s", backend->name,
                      result->whole.reason);
    if (holds >= PENSTOCK__CANCELLED)
        *result = (struct penstock__probe_result){.untried = true};
    if (key && holds <= PENSTOCK__FOR_PROCESS)
        keep_here(result, key);
    write_kind(kind, backend);
    if (key && holds == PENSTOCK__FOR_ALL)
        penstock__result_keep(result, context, kind, key);
}

bool penstock__probe_devices(struct penstock__probe_result *result, penstock_context *context,
                             const struct penstock_backend *backend, bool anew)
{
    char key[KEY_BYTES], kind[40];
    bool has_key = write_key(key, backend), remembered = false;
    write_kind(kind, backend);
    bool mine = penstock__guard(&turn); /* a helper that the parent's thread has asked is the parent's */
    if (has_key && !anew && !(remembered = recall_here(result, key)) &&
        (remembered = penstock__result_recall(result, context, kind, key)))
        keep_here(result, key);
    if (!remembered)
        ask_and_keep(result, context, backend, has_key ? key : NULL);
    if (mine)
        penstock__unguard(&turn);
    return remembered;
}
