/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Remembered answers. A file holds the key before the answer, so that keys of one hash are told apart. */
#include "core/memo.h"
#include "core/context.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct penstock__memo {
    char *key, *answer;
    struct penstock__memo *following;
};

/* ---------------------------------------------------------------- the context ----------------- */

static void memo_free(struct penstock__memo *memo)
{
    penstock__free(memo->answer);
    penstock__free(memo->key);
    penstock__free(memo);
}

static struct penstock__memo *memo_new(const char *key, const char *answer)
{
    struct penstock__memo *memo = penstock__calloc(1, sizeof *memo);
    if (!memo)
        return NULL;
    if ((memo->key = penstock__strdup(key)) && (memo->answer = penstock__strdup(answer)))
        return memo;
    memo_free(memo);
    return NULL;
}

/* With the lock. */
static bool find(char *answer, size_t size, const penstock_context *context, const char *key)
{
    const struct penstock__memo *memo = context->memos;
    while (memo && strcmp(memo->key, key))
        memo = memo->following;
    return memo && snprintf(answer, size, "%s", memo->answer) >= 0;
}

bool penstock__memo_recall(char *answer, size_t size, penstock_context *context, const char *key)
{
    pthread_mutex_lock(&context->memo_lock);
    bool found = find(answer, size, context, key);
    pthread_mutex_unlock(&context->memo_lock);
    return found;
}

void penstock__memo_keep(char *answer, size_t size, penstock_context *context, const char *key)
{
    struct penstock__memo *memo;
    pthread_mutex_lock(&context->memo_lock);
    if (!find(answer, size, context, key) && (memo = memo_new(key, answer))) {
        memo->following = context->memos;
        context->memos = memo;
    }
    pthread_mutex_unlock(&context->memo_lock);
}

void penstock__memos_free(penstock_context *context)
{
    while (context->memos) {
        struct penstock__memo *memo = context->memos;
        context->memos = memo->following;
        memo_free(memo);
    }
}

/* ---------------------------------------------------------------- the cache folder ------------ */

static void file_name(char name[64], const char *kind, const char *key)
{
    snprintf(name, 64, "%s-%016" PRIx64, kind, penstock__hash(key, strlen(key)));
}

bool penstock__memo_read(char *answer, size_t size, penstock_context *context, const char *kind, const char *key)
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
void penstock__memo_write(penstock_context *context, const char *kind, const char *key, const char *answer)
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
