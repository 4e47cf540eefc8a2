/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Probing a driver in a helper program first, so that one that crashes does not take the process along. */
#include "core/probe.h"
#include "core/hearing.h"
#include "core/meter.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SILENCE_S 20 /* for each thing that the helper tells of */
#define IN_ALL_S  60
#define KEY_BYTES 4096

/* ---------------------------------------------------------------- the helper ------------------ */

/* One helper, and one more behind each device that brings it down. */
static enum penstock__holds ask(struct penstock__verdict *verdict, const struct penstock_backend *backend)
{
    char first[16];
    const char *const arguments[] = {backend->name, first, NULL};
    struct penstock__hearing hearing = {
        .arguments = arguments, .input = -1, .silence_s = SILENCE_S, .end_s = penstock__now_s() + IN_ALL_S};
    enum penstock__holds worst = PENSTOCK__FOR_ALL;
    memset(verdict, 0, sizeof *verdict);
    while (!hearing.through && !*verdict->reason && verdict->count < PENSTOCK__MAX_DEVICES) {
        enum penstock__holds holds;
        snprintf(first, sizeof first, "%u", verdict->count);
        holds = penstock__hear(verdict, &hearing);
        if (holds == PENSTOCK__NO_HELPER && strcmp(first, "0"))
            holds = PENSTOCK__FOR_NOW;
        worst = holds > worst ? holds : worst;
    }
    return worst;
}

/* ---------------------------------------------------------------- memory ---------------------- */

/* What a verdict depends on; false where the backend cannot tell. */
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
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* taken while a helper runs, too: one is enough */
static struct {
    uint64_t key; /* 0: none */
    struct penstock__verdict verdict;
} known[8];

static bool recall_here(struct penstock__verdict *verdict, const char *key)
{
    uint64_t hash = penstock__hash(key, strlen(key));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].key == hash) {
            *verdict = known[i].verdict;
            return true;
        }
    return false;
}

static void keep_here(const struct penstock__verdict *verdict, const char *key)
{
    static size_t next;
    uint64_t hash = penstock__hash(key, strlen(key));
    size_t at = 0, count = sizeof known / sizeof *known;
    while (at < count && known[at].key != hash)
        at++;
    if (at == count)
        at = next++ % count;
    known[at].key = hash;
    known[at].verdict = *verdict;
}

static void file_name(char name[64], const struct penstock_backend *backend, const char *key)
{
    snprintf(name, 64, "probe-%.20s-%016" PRIx64, backend->name, penstock__hash(key, strlen(key)));
}

/* After the key the time, and the verdict. Whoever may have written it: what is not of that form is no verdict. */
static bool parse_file(struct penstock__verdict *verdict, const char *content, const char *key)
{
    size_t length = strlen(key);
    long long then, age;
    int used = 0;
    if (strncmp(content, key, length) || sscanf(content + length, "%19lld%n", &then, &used) != 1 ||
        content[length + (size_t)used] != '\n' || !penstock__verdict_read(verdict, content + length + (size_t)used + 1))
        return false;
    age = then < 0 ? -1 : (long long)time(NULL) - then;
    return penstock__verdict_all_good(verdict) || (age >= 0 && age < PENSTOCK__CRASH_KEPT_S);
}

static bool recall(struct penstock__verdict *verdict, penstock_context *context, const struct penstock_backend *backend,
                   const char *key)
{
    size_t bytes;
    char name[64];
    char *content;
    bool found;
    file_name(name, backend, key);
    if (!(content = penstock__cache_read(context, name, &bytes)))
        return false;
    found = parse_file(verdict, content, key);
    penstock__free(content);
    return found;
}

static void keep(const struct penstock__verdict *verdict, penstock_context *context,
                 const struct penstock_backend *backend, const char *key)
{
    char name[64], content[KEY_BYTES + 32 + sizeof *verdict + PENSTOCK__MAX_DEVICES * 16];
    int used = snprintf(content, sizeof content, "%s%lld\n", key, (long long)time(NULL));
    size_t bytes = penstock__verdict_write(content + used, sizeof content - (size_t)used, verdict);
    file_name(name, backend, key);
    if (bytes)
        penstock__cache_write(context, name, content, (size_t)used + bytes);
}

/* ---------------------------------------------------------------- probing --------------------- */

static void ask_and_keep(struct penstock__verdict *verdict, penstock_context *context,
                         const struct penstock_backend *backend, const char *key)
{
    enum penstock__holds holds = ask(verdict, backend);
    if (holds == PENSTOCK__NO_HELPER) {
        penstock__log(context, PENSTOCK_LOG_WARNING, "%s is probed within this process: %s", backend->name,
                      verdict->reason);
        *verdict = (struct penstock__verdict){.untried = true};
    }
    if (key && holds <= PENSTOCK__FOR_PROCESS)
        keep_here(verdict, key);
    if (key && holds == PENSTOCK__FOR_ALL)
        keep(verdict, context, backend, key);
}

bool penstock__probe(struct penstock__verdict *verdict, penstock_context *context,
                     const struct penstock_backend *backend, bool anew)
{
    char key[KEY_BYTES];
    bool has_key = write_key(key, backend), remembered = false;
    pthread_mutex_lock(&lock);
    if (has_key && !anew && !(remembered = recall_here(verdict, key)) &&
        (remembered = recall(verdict, context, backend, key)))
        keep_here(verdict, key);
    if (!remembered)
        ask_and_keep(verdict, context, backend, has_key ? key : NULL);
    pthread_mutex_unlock(&lock);
    return remembered;
}
