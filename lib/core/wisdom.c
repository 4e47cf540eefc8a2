/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Remembered answers. A file holds the key before the answer, so that keys of one hash are told apart. */
#include "core/wisdom.h"
#include "core/context.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct penstock__wisdom {
    char *key, *answer;
    struct penstock__wisdom *following;
};

/* ---------------------------------------------------------------- the context ----------------- */

static void entry_free(struct penstock__wisdom *entry)
{
    penstock__free(entry->answer);
    penstock__free(entry->key);
    penstock__free(entry);
}

static struct penstock__wisdom *entry_new(const char *key, const char *answer)
{
    struct penstock__wisdom *entry = penstock__calloc(1, sizeof *entry);
    if (!entry)
        return NULL;
    if ((entry->key = penstock__strdup(key)) && (entry->answer = penstock__strdup(answer)))
        return entry;
    entry_free(entry);
    return NULL;
}

/* With the lock. */
static bool find(char *answer, size_t size, const penstock_context *context, const char *key)
{
    const struct penstock__wisdom *entry = context->wisdom;
    while (entry && strcmp(entry->key, key))
        entry = entry->following;
    return entry && snprintf(answer, size, "%s", entry->answer) >= 0;
}

bool penstock__wisdom_recall(char *answer, size_t size, penstock_context *context, const char *key)
{
    pthread_mutex_lock(&context->wisdom_lock);
    bool found = find(answer, size, context, key);
    pthread_mutex_unlock(&context->wisdom_lock);
    return found;
}

void penstock__wisdom_keep(char *answer, size_t size, penstock_context *context, const char *key)
{
    struct penstock__wisdom *entry;
    pthread_mutex_lock(&context->wisdom_lock);
    if (!find(answer, size, context, key) && (entry = entry_new(key, answer))) {
        entry->following = context->wisdom;
        context->wisdom = entry;
    }
    pthread_mutex_unlock(&context->wisdom_lock);
}

void penstock__wisdom_free(penstock_context *context)
{
    while (context->wisdom) {
        struct penstock__wisdom *entry = context->wisdom;
        context->wisdom = entry->following;
        entry_free(entry);
    }
}

/* ---------------------------------------------------------------- the cache folder ------------ */

static void file_name(char name[64], const char *kind, const char *key)
{
    snprintf(name, 64, "%s-%016" PRIx64, kind, penstock__hash(key, strlen(key)));
}

bool penstock__wisdom_read(char *answer, size_t size, penstock_context *context, const char *kind, const char *key)
{
    char name[64];
    size_t bytes, length = strlen(key);
    file_name(name, kind, key);
    char *content = penstock__cache_read(context, name, &bytes);
    bool found = content && !strncmp(content, key, length) && bytes - length < size;
    if (found)
        snprintf(answer, size, "%s", content + length);
    penstock__free(content);
    return found;
}

/* What cannot be written is asked again. */
void penstock__wisdom_write(penstock_context *context, const char *kind, const char *key, const char *answer)
{
    char name[64];
    size_t key_length = strlen(key), answer_length = strlen(answer);
    char *content = penstock__alloc(key_length + answer_length + 1);
    if (!content)
        return;
    memcpy(content, key, key_length);
    memcpy(content + key_length, answer, answer_length + 1);
    file_name(name, kind, key);
    penstock__cache_write(context, name, content, key_length + answer_length);
    penstock__free(content);
}
