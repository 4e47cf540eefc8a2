/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Remembered answers. A file holds the question before the answer, so that questions of one hash are told apart. */
#include "core/choice/wisdom.h"
#include "core/base/context.h"
#include "core/plan/problem_bytes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct penstock__wisdom {
    char *question, *answer;
    struct penstock__wisdom *following;
};

/* ---------------------------------------------------------------- questions ------------------- */

void penstock__question_add(struct penstock__question *question, const char *format, ...)
{
    size_t room = sizeof question->text - question->used;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(question->text + question->used, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        question->used += (size_t)length < room ? (size_t)length : room - 1;
}

void penstock__question_begin(struct penstock__question *question, penstock_context *context, const char *kind)
{
    question->context = context;
    question->kind = kind;
    question->used = 0;
    penstock__question_add(question, "penstock %s, %u threads: ", penstock_version(), context->threads);
}

void penstock__question_add_problem(struct penstock__question *question, const struct penstock_problem *problem)
{
    char key[PENSTOCK__PROBLEM_KEY_BYTES];
    penstock__problem_key(key, problem);
    penstock__question_add(question, "%s", key);
}

void penstock__question_add_device(struct penstock__question *question, const struct penstock_device *device)
{
    penstock__question_add(question, "%s: %s, %s\n", device->name, device->product, device->driver);
}

/* ---------------------------------------------------------------- the context ----------------- */

static void entry_free(struct penstock__wisdom *entry)
{
    penstock__free(entry->answer);
    penstock__free(entry->question);
    penstock__free(entry);
}

static struct penstock__wisdom *entry_new(const char *question, const char *answer)
{
    struct penstock__wisdom *entry = penstock__calloc(1, sizeof *entry);
    if (!entry)
        return NULL;
    if ((entry->question = penstock__strdup(question)) && (entry->answer = penstock__strdup(answer)))
        return entry;
    entry_free(entry);
    return NULL;
}

/* With the lock. */
static const char *find(const struct penstock__question *question)
{
    const struct penstock__wisdom *entry = question->context->wisdom;
    while (entry && strcmp(entry->question, question->text))
        entry = entry->following;
    return entry ? entry->answer : NULL;
}

static bool recall(char *answer, size_t size, const struct penstock__question *question)
{
    pthread_mutex_lock(&question->context->wisdom_lock);
    const char *found = find(question);
    if (found)
        snprintf(answer, size, "%s", found);
    pthread_mutex_unlock(&question->context->wisdom_lock);
    return found;
}

void penstock__wisdom_hold(const struct penstock__question *question, const char *answer)
{
    penstock_context *context = question->context;
    struct penstock__wisdom *entry;
    pthread_mutex_lock(&context->wisdom_lock);
    if (!find(question) && (entry = entry_new(question->text, answer))) {
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

static void file_name(char name[64], const struct penstock__question *question)
{
    snprintf(name, 64, "%s-%016" PRIx64, question->kind, penstock__hash(question->text, question->used));
}

static bool read_file(char *answer, size_t size, const struct penstock__question *question)
{
    char name[64];
    size_t bytes, length = question->used;
    file_name(name, question);
    char *content = penstock__cache_read(question->context, name, &bytes);
    bool found = content && !strncmp(content, question->text, length) && bytes - length < size;
    if (found)
        snprintf(answer, size, "%s", content + length);
    penstock__free(content);
    return found;
}

bool penstock__wisdom_find(char *answer, size_t size, const struct penstock__question *question)
{
    return recall(answer, size, question) || read_file(answer, size, question);
}

/* What cannot be written is asked again. */
void penstock__wisdom_learn(const struct penstock__question *question, const char *answer)
{
    char name[64];
    size_t length = strlen(answer);
    char *content = penstock__alloc(question->used + length + 1);
    penstock__wisdom_hold(question, answer);
    if (!content)
        return;
    memcpy(content, question->text, question->used);
    memcpy(content + question->used, answer, length + 1);
    file_name(name, question);
    penstock__cache_write(question->context, name, content, question->used + length);
    penstock__free(content);
}
