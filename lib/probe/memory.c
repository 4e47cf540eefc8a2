/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Results of this process; and files of the cache folder with a result each: the key, the time, and the result's lines.
 */
#include "probe/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define CRASH_KEPT_S 3600

/* ---------------------------------------------------------------- of this process ------------- */

/* With the guard: the key's place; `count` where it has none. */
static size_t place_of(const struct penstock__recent *recent, uint64_t key)
{
    size_t at = 0;
    while (at < recent->count && recent->keys[at] != key)
        at++;
    return at;
}

static void *value_at(const struct penstock__recent *recent, size_t at)
{
    return (char *)recent->values + at * recent->bytes;
}

bool penstock__recent_recall(struct penstock__recent *recent, const char *key, void *value)
{
    penstock__guard(&recent->guard);
    const size_t at = place_of(recent, penstock__hash(key, strlen(key)));
    if (at < recent->count)
        memcpy(value, value_at(recent, at), recent->bytes);
    penstock__unguard(&recent->guard);
    return at < recent->count;
}

void penstock__recent_keep(struct penstock__recent *recent, const char *key, const void *value)
{
    const uint64_t hash = penstock__hash(key, strlen(key));
    penstock__guard(&recent->guard);
    size_t at = place_of(recent, hash);
    if (at == recent->count)
        at = recent->next++ % recent->count;
    recent->keys[at] = hash;
    memcpy(value_at(recent, at), value, recent->bytes);
    penstock__unguard(&recent->guard);
}

/* ---------------------------------------------------------------- of all ---------------------- */

static void file_name(char name[64], const char *kind, const char *key)
{
    snprintf(name, 64, "%.40s-%016" PRIx64, kind, penstock__hash(key, strlen(key)));
}

void penstock__result_keep(const struct penstock__probe_result *result, penstock_context *context, const char *kind,
                           const char *key)
{
    char name[64], content[PENSTOCK__PROBE_KEY_BYTES + 32 + sizeof *result + PENSTOCK__MAX_DEVICES * 16];
    int used = snprintf(content, sizeof content, "%s%lld\n", key, (long long)time(NULL));
    size_t bytes = penstock__result_write(content + used, sizeof content - (size_t)used, result);
    file_name(name, kind, key);
    if (bytes)
        penstock__cache_write(context, name, content, (size_t)used + bytes);
}

/* Whoever may have written it: what is not of that form is no result. */
static bool parse_file(struct penstock__probe_result *result, const char *content, const char *key)
{
    size_t length = strlen(key);
    long long then, age;
    int used = 0;
    if (strncmp(content, key, length) || sscanf(content + length, "%19lld%n", &then, &used) != 1 ||
        content[length + (size_t)used] != '\n' || !penstock__result_read(result, content + length + (size_t)used + 1))
        return false;
    age = then < 0 ? -1 : (long long)time(NULL) - then;
    return !penstock__result_has(result, PENSTOCK__BAD) || (age >= 0 && age < CRASH_KEPT_S);
}

bool penstock__result_recall(struct penstock__probe_result *result, penstock_context *context, const char *kind,
                             const char *key)
{
    size_t bytes;
    char name[64];
    char *content;
    bool found;
    file_name(name, kind, key);
    if (!(content = penstock__cache_read(context, name, &bytes)))
        return false;
    found = parse_file(result, content, key);
    penstock__free(content);
    return found;
}
