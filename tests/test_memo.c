/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Remembered answers: the first one holds in a context, from several threads too; the cache folder's may be damaged,
 * changed by another process or be absent; and filters of one context take their lengths from what holds there. */
#include "core/memo.h"
#include "core/memory.h"
#include "folder.h"

#include <dirent.h>
#include <penstock/penstock.h>
#include <pthread.h>

enum { SIZE = 16, THREADS = 4, KEYS = 200, TAPS = 3000 };

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
    CHECK(!penstock__memo_recall(answer, SIZE, context, "one"), "an answer that nobody gave");
    CHECK_TEXT(answer, "unchanged");
    penstock__memo_keep(strcpy(answer, "1"), SIZE, context, "one");
    CHECK_TEXT(answer, "1");
    penstock__memo_keep(strcpy(answer, "2"), SIZE, context, "one");
    CHECK_TEXT(answer, "1");
    penstock__memo_keep(strcpy(answer, "2"), SIZE, context, "two");
    CHECK(penstock__memo_recall(answer, SIZE, context, "two"), "forgotten");
    CHECK_TEXT(answer, "2");
    CHECK(!penstock__memo_read(answer, SIZE, context, "kind", "one"), "kept on disk unasked");
    penstock_context_free(context);
}

static void on_disk(void)
{
    char answer[SIZE];
    penstock_context *context = new_context();
    penstock__memo_write(context, "kind", "one\n", "1");
    penstock_context_free(context);
    context = new_context();
    CHECK(!penstock__memo_recall(answer, SIZE, context, "one\n"), "another context's");
    CHECK(penstock__memo_read(answer, SIZE, context, "kind", "one\n"), "lost");
    CHECK_TEXT(answer, "1");
    CHECK(!penstock__memo_read(answer, SIZE, context, "other", "one\n"), "of another kind");
    CHECK(!penstock__memo_read(answer, SIZE, context, "kind", "two\n"), "of another key");
    CHECK(!penstock__memo_read(answer, 1, context, "kind", "one\n"), "longer than the room");
    penstock__memo_write(context, "kind", "one\n", "123");
    CHECK(penstock__memo_read(answer, SIZE, context, "kind", "one\n"), "lost");
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
        penstock__memo_keep(answer, SIZE, context, "one");
        penstock__memory_fail_at(-1);
        CHECK_TEXT(answer, "1");
        CHECK_EQ(penstock__memo_recall(answer, SIZE, context, "one"), k == 3);
        penstock__memory_fail_at(0);
        penstock__memo_write(context, "kind", "none\n", "1");
        CHECK(!penstock__memo_read(answer, SIZE, context, "kind", "none\n"), "read without memory");
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
        penstock__memo_keep(voice->heard[k], SIZE, voice->context, key);
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

/* ---------------------------------------------------------------- filters --------------------- */

static size_t chosen_length(penstock_context *context)
{
    static const float taps[TAPS] = {1};
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    penstock_stream *filter = NULL;
    CHECK_OK(
        penstock_filter_open(&filter, context, &PENSTOCK_FILTER_DESC(.real_taps = taps, .tap_count = TAPS), "cpu"));
    if (filter)
        CHECK_OK(penstock_filter_get_info(filter, &info));
    penstock_stream_free(filter);
    return info.n;
}

/* The length that one file of the folder times; writes other times there, by which `best` wins. */
static size_t change_file(penstock_context *context, const char *name, size_t best)
{
    size_t bytes, n = 0, used = 0;
    char changed[800], *content = penstock__cache_read(context, name, &bytes), *key_end = content;
    CHECK(content && (key_end = strchr(content, '\n')), "%s is damaged", name);
    if (key_end && sscanf(strstr(content, "in blocks"), "in blocks %zu", &n) == 1) {
        used = (size_t)snprintf(changed, sizeof changed, "%.*s\npicoseconds: %s yardstick: 2\n",
                                (int)(key_end - content), content, n == best ? "1000" : "9000000000000");
        CHECK(penstock__cache_write(context, name, changed, used), "%s cannot be written", name);
    }
    penstock__free(content);
    return n;
}

/* As another process might: the times in the folder become such that `best` wins. A length that is there and is not
 * `best`. */
static size_t change_times(penstock_context *context, size_t best)
{
    DIR *directory = opendir(test_folder);
    struct dirent *entry;
    size_t n, other = 0;
    while (directory && (entry = readdir(directory)))
        if (!strncmp(entry->d_name, "filter-", 7) && (n = change_file(context, entry->d_name, best)) != best)
            other = n;
    if (directory)
        closedir(directory);
    return other;
}

static void lengths_hold(void)
{
    penstock_context *context = new_context();
    size_t first = chosen_length(context), other = change_times(context, first);
    CHECK(other, "no other length was timed");
    change_times(context, other);
    CHECK_EQ(chosen_length(context), first);
    penstock_context_free(context);
    context = new_context(); /* the folder has changed indeed */
    CHECK_EQ(chosen_length(context), other);
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
    lengths_hold();
    test_remove_folder();
    return test_finish();
}
