/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Remembered answers: the first one holds in a context, from several threads too; the cache folder's may be damaged,
 * changed by another process or be absent. */
#include "core/base/memory.h"
#include "core/choice/wisdom.h"
#include "folder.h"

#include <penstock/penstock.h>
#include <pthread.h>

enum { SIZE = 16, THREADS = 4, KEYS = 200 };

#define CHECK_TEXT(got, want) CHECK(!strcmp(got, want), "'%s', expected '%s'", got, want)

static penstock_context *new_context_in(const char *folder)
{
    penstock_context *context = NULL;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = folder, .threads = 1)));
    return context;
}

static struct penstock__question ask(penstock_context *context, const char *kind, const char *text)
{
    struct penstock__question question;
    penstock__question_begin(&question, context, kind);
    penstock__question_add(&question, "%s\n", text);
    return question;
}

static bool find(char answer[SIZE], penstock_context *context, const char *kind, const char *text)
{
    struct penstock__question question = ask(context, kind, text);
    return penstock__wisdom_find(answer, SIZE, &question);
}

static void hold(penstock_context *context, const char *text, const char *answer)
{
    struct penstock__question question = ask(context, "kind", text);
    penstock__wisdom_hold(&question, answer);
}

static void learn(penstock_context *context, const char *text, const char *answer)
{
    struct penstock__question question = ask(context, "kind", text);
    penstock__wisdom_learn(&question, answer);
}

static void holds(void)
{
    char answer[SIZE] = "unchanged";
    penstock_context *context = new_context_in(test_folder);
    CHECK(!find(answer, context, "kind", "one"), "an answer that nobody gave");
    CHECK_TEXT(answer, "unchanged");
    hold(context, "one", "1");
    hold(context, "one", "2");
    hold(context, "two", "2");
    CHECK(find(answer, context, "kind", "one"), "forgotten");
    CHECK_TEXT(answer, "1");
    CHECK(find(answer, context, "kind", "two"), "forgotten");
    CHECK_TEXT(answer, "2");
    penstock_context_free(context);
    context = new_context_in(test_folder);
    CHECK(!find(answer, context, "kind", "one"), "kept on disk unasked");
    penstock_context_free(context);
}

/* Each time by a context that has heard of nothing. */
static bool find_on_disk(char answer[SIZE], size_t size, const char *kind, const char *text)
{
    penstock_context *context = new_context_in(test_folder);
    struct penstock__question question = ask(context, kind, text);
    bool found = penstock__wisdom_find(answer, size, &question);
    penstock_context_free(context);
    return found;
}

static void on_disk(void)
{
    char answer[SIZE];
    penstock_context *context = new_context_in(test_folder);
    learn(context, "three", "1");
    CHECK(find_on_disk(answer, SIZE, "kind", "three"), "lost");
    CHECK_TEXT(answer, "1");
    CHECK(!find_on_disk(answer, SIZE, "other", "three"), "of another kind");
    CHECK(!find_on_disk(answer, SIZE, "kind", "four"), "of another question");
    CHECK(!find_on_disk(answer, 1, "kind", "three"), "longer than the room");
    learn(context, "three", "123");
    CHECK(find(answer, context, "kind", "three"), "forgotten");
    CHECK_TEXT(answer, "1"); /* holds for this context */
    CHECK(find_on_disk(answer, SIZE, "kind", "three"), "lost");
    CHECK_TEXT(answer, "123");
    penstock_context_free(context);
}

/* What is too long for a question ends it, whole at that. */
static void long_questions(void)
{
    static char text[2 * PENSTOCK__QUESTION_BYTES];
    penstock_context *context = new_context_in("");
    memset(text, 'x', sizeof text - 1);
    struct penstock__question question = ask(context, "kind", text);
    CHECK_EQ(question.used, sizeof question.text - 1);
    CHECK_EQ(strlen(question.text), question.used);
    penstock_context_free(context);
}

static void without_memory(void)
{
    long live = penstock__memory_live();
    penstock_context *context = new_context_in(test_folder);
    for (long k = 0; k < 4; k++) {
        char answer[SIZE] = "";
        penstock__memory_fail_at(k);
        hold(context, "five", "1");
        penstock__memory_fail_at(-1);
        CHECK_EQ(find(answer, context, "kind", "five"), k == 3);
        penstock__memory_fail_at(0);
        learn(context, "six", "1");
        CHECK(!find(answer, context, "kind", "seven"), "read without memory");
        penstock__memory_fail_at(-1);
    }
    penstock_context_free(context);
    CHECK_EQ(penstock__memory_live(), live);
}

struct voice {
    penstock_context *context;
    int number, forgotten;
    char heard[KEYS][SIZE];
};

static void *speak(void *argument)
{
    struct voice *voice = argument;
    for (int k = 0; k < KEYS; k++) {
        char key[SIZE], answer[SIZE];
        snprintf(key, SIZE, "%d", k);
        snprintf(answer, SIZE, "%d", voice->number);
        hold(voice->context, key, answer);
        voice->forgotten += !find(voice->heard[k], voice->context, "kind", key);
    }
    return NULL;
}

static void between_threads(void)
{
    static struct voice voices[THREADS];
    penstock_context *context = new_context_in(test_folder);
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++) {
        voices[t] = (struct voice){.context = context, .number = t};
        CHECK_EQ(pthread_create(&threads[t], NULL, speak, &voices[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        CHECK_EQ(voices[t].forgotten, 0);
    }
    for (int k = 0; k < KEYS; k++)
        for (int t = 1; t < THREADS; t++)
            CHECK_TEXT(voices[t].heard[k], voices[0].heard[k]);
    penstock_context_free(context);
}

int main(void)
{
    if (!test_make_folder())
        return test_finish();
    holds();
    on_disk();
    long_questions();
    without_memory();
    between_threads();
    test_remove_folder();
    return test_finish();
}
