/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Remembered answers: the first one holds in a context, from several threads too; the cache folder's may be damaged,
 * changed by another process or be absent. */
#include "core/memory.h"
#include "core/wisdom.h"
#include "folder.h"

#include <penstock/penstock.h>
#include <pthread.h>

enum { SIZE = 16, THREADS = 4, KEYS = 200 };

#define CHECK_TEXT(got, want) CHECK(!strcmp(got, want), "'%s', expected '%s'", got, want)

static penstock_context *new_context(void)
{
    penstock_context *context = NULL;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = test_folder, .threads = 1)));
    return context;
}

static void holds(void)
{
    char answer[SIZE] = "unchanged";
    penstock_context *context = new_context();
    CHECK(!penstock__wisdom_recall(answer, SIZE, context, "one"), "an answer that nobody gave");
    CHECK_TEXT(answer, "unchanged");
    penstock__wisdom_keep(strcpy(answer, "1"), SIZE, context, "one");
    CHECK_TEXT(answer, "1");
    penstock__wisdom_keep(strcpy(answer, "2"), SIZE, context, "one");
    CHECK_TEXT(answer, "1");
    penstock__wisdom_keep(strcpy(answer, "2"), SIZE, context, "two");
    CHECK(penstock__wisdom_recall(answer, SIZE, context, "two"), "forgotten");
    CHECK_TEXT(answer, "2");
    CHECK(!penstock__wisdom_read(answer, SIZE, context, "kind", "one"), "kept on disk unasked");
    penstock_context_free(context);
}

static void on_disk(void)
{
    char answer[SIZE];
    penstock_context *context = new_context();
    penstock__wisdom_write(context, "kind", "one\n", "1");
    penstock_context_free(context);
    context = new_context();
    CHECK(!penstock__wisdom_recall(answer, SIZE, context, "one\n"), "another context's");
    CHECK(penstock__wisdom_read(answer, SIZE, context, "kind", "one\n"), "lost");
    CHECK_TEXT(answer, "1");
    CHECK(!penstock__wisdom_read(answer, SIZE, context, "other", "one\n"), "of another kind");
    CHECK(!penstock__wisdom_read(answer, SIZE, context, "kind", "two\n"), "of another key");
    CHECK(!penstock__wisdom_read(answer, 1, context, "kind", "one\n"), "longer than the room");
    penstock__wisdom_write(context, "kind", "one\n", "123");
    CHECK(penstock__wisdom_read(answer, SIZE, context, "kind", "one\n"), "lost");
    CHECK_TEXT(answer, "123");
    penstock_context_free(context);
}

static void without_memory(void)
{
    long live = penstock__memory_live();
    penstock_context *context = new_context();
    for (long k = 0; k < 4; k++) {
        char answer[SIZE] = "1";
        penstock__memory_fail_at(k);
        penstock__wisdom_keep(answer, SIZE, context, "one");
        penstock__memory_fail_at(-1);
        CHECK_TEXT(answer, "1");
        CHECK_EQ(penstock__wisdom_recall(answer, SIZE, context, "one"), k == 3);
        penstock__memory_fail_at(0);
        penstock__wisdom_write(context, "kind", "none\n", "1");
        CHECK(!penstock__wisdom_read(answer, SIZE, context, "kind", "none\n"), "read without memory");
        penstock__memory_fail_at(-1);
    }
    penstock_context_free(context);
    CHECK_EQ(penstock__memory_live(), live);
}

struct voice {
    penstock_context *context;
    int number;
    char heard[KEYS][SIZE];
};

static void *speak(void *argument)
{
    struct voice *voice = argument;
    for (int k = 0; k < KEYS; k++) {
        char key[SIZE];
        snprintf(key, SIZE, "%d", k);
        snprintf(voice->heard[k], SIZE, "%d", voice->number);
        penstock__wisdom_keep(voice->heard[k], SIZE, voice->context, key);
    }
    return NULL;
}

static void between_threads(void)
{
    static struct voice voices[THREADS];
    penstock_context *context = new_context();
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++) {
        voices[t] = (struct voice){.context = context, .number = t};
        CHECK_EQ(pthread_create(&threads[t], NULL, speak, &voices[t]), 0);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
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
    without_memory();
    between_threads();
    test_remove_folder();
    return test_finish();
}
