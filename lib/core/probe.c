/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Probing a driver in a helper program first, so that one that crashes does not take the process along. */
#include "core/probe.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TIME_OUT_S 20
#define KEY_BYTES  4096

enum verdict {
    SURVIVED,
    CRASHED,   /* for reasons that lie in the driver: worth remembering */
    FAILED,    /* killed: may be different next time */
    LATE,      /* too slow: may be different in another process */
    NO_HELPER, /* none that answers */
};

/* ---------------------------------------------------------------- the helper ------------------ */

static long long now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (long long)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

enum answer { ANSWER_DONE, ANSWER_NONE, ANSWER_LATE };

/* Reads until the helper says that it is through, ends, or the time is over. */
static enum answer listen_to(int input)
{
    long long deadline = now_ms() + TIME_OUT_S * 1000;
    char text[sizeof PENSTOCK__PROBE_DONE] = "";
    size_t used = 0;
    while (used < sizeof text - 1) {
        struct pollfd waiting = {.fd = input, .events = POLLIN};
        long long left = deadline - now_ms();
        ssize_t count;
        if (left <= 0)
            return ANSWER_LATE;
        if (poll(&waiting, 1, (int)left) <= 0)
            continue;
        count = read(input, text + used, sizeof text - 1 - used);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return ANSWER_NONE;
        used += (size_t)count;
    }
    return strcmp(text, PENSTOCK__PROBE_DONE) ? ANSWER_NONE : ANSWER_DONE;
}

static enum verdict judge(enum answer answer, int status, char reason[256])
{
    if (answer == ANSWER_DONE)
        return SURVIVED;
    if (answer == ANSWER_LATE) {
        snprintf(reason, 256, "the driver did not answer within %d s while it was probed", TIME_OUT_S);
        return LATE;
    }
    if (status == -1) {
        snprintf(reason, 256, "the driver ended the process that probed it");
        return FAILED;
    }
    if (WIFSIGNALED(status)) {
        int signal = WTERMSIG(status);
        snprintf(reason, 256, "the driver crashed while it was probed (signal %d)", signal);
        return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGABRT
                   ? CRASHED
                   : FAILED;
    }
    snprintf(reason, 256, "the driver ended the process that probed it (exit code %d)", WEXITSTATUS(status));
    return WEXITSTATUS(status) == 127 ? NO_HELPER : CRASHED;
}

static enum verdict ask_helper(const struct penstock_backend *backend, char reason[256])
{
    const char *const arguments[] = {backend->name, NULL};
    struct penstock_helper helper;
    enum answer answer;
    int failure = penstock__helper_start(&helper, "penstock-probe", "PENSTOCK_PROBE", arguments, -1);
    if (failure) {
        snprintf(reason, 256, "penstock-probe %s%s", failure == ENOENT ? "is not installed" : "cannot be started: ",
                 failure == ENOENT ? "" : strerror(failure));
        return NO_HELPER;
    }
    answer = listen_to(helper.answer);
    return judge(answer, penstock__helper_end(&helper, answer == ANSWER_LATE), reason);
}

/* ---------------------------------------------------------------- memory ---------------------- */

/* Keys of drivers that were too slow for this process: not every context shall wait for them. No more than one driver
 * of a backend is there at a time, and few backends have any. */
static _Atomic uint64_t late_keys[8];

static bool was_late(const char *key)
{
    for (size_t i = 0; i < sizeof late_keys / sizeof *late_keys; i++)
        if (atomic_load(&late_keys[i]) == penstock__hash(key, strlen(key)))
            return true;
    return false;
}

static void remember_late(const char *key)
{
    for (size_t i = 0; i < sizeof late_keys / sizeof *late_keys; i++) {
        uint64_t none = 0;
        if (atomic_compare_exchange_strong(&late_keys[i], &none, penstock__hash(key, strlen(key))) ||
            none == penstock__hash(key, strlen(key)))
            return;
    }
}

/* What a verdict depends on; false where the backend cannot tell. */
static bool write_key(char key[KEY_BYTES], const struct penstock_backend *backend)
{
    int used = snprintf(key, KEY_BYTES, "penstock %s %s\n", penstock_version(), backend->name);
    if (!backend->driver_key)
        return false;
    backend->driver_key(key + used, KEY_BYTES - (size_t)used - 1);
    strcat(key, "\n");
    return true;
}

static void file_name(char name[64], const struct penstock_backend *backend)
{
    snprintf(name, 64, "probe-%s", backend->name);
}

/* The verdict of an earlier process, if there is one. */
static bool recall(enum verdict *verdict, penstock_context *context, const struct penstock_backend *backend,
                   const char *key, char reason[256])
{
    size_t bytes, length = strlen(key);
    char name[64];
    char *content;
    bool found;
    file_name(name, backend);
    if (!(content = penstock__cache_read(context, name, &bytes)))
        return false;
    if ((found = !strncmp(content, key, length))) {
        snprintf(reason, 256, "%s", content + length);
        *verdict = *reason ? CRASHED : SURVIVED;
    }
    penstock__free(content);
    return found;
}

static void remember(penstock_context *context, const struct penstock_backend *backend, const char *key,
                     const char *reason)
{
    char name[64], content[KEY_BYTES + 256];
    int bytes = snprintf(content, sizeof content, "%s%s", key, reason);
    file_name(name, backend);
    penstock__cache_write(context, name, content, (size_t)bytes);
}

bool penstock__probe_survives(penstock_context *context, const struct penstock_backend *backend, char reason[256])
{
    char key[KEY_BYTES];
    bool has_key = write_key(key, backend);
    enum verdict verdict;
    *reason = 0;
    if (has_key && recall(&verdict, context, backend, key, reason))
        return verdict == SURVIVED;
    if (was_late(key)) {
        judge(ANSWER_LATE, 0, reason);
        return false;
    }
    verdict = ask_helper(backend, reason);
    if (verdict == NO_HELPER) {
        penstock__log(context, PENSTOCK_LOG_WARNING, "%s is probed within this process: %s", backend->name, reason);
        *reason = 0;
        return true;
    }
    if (verdict == LATE)
        remember_late(key);
    else if (has_key && verdict != FAILED)
        remember(context, backend, key, reason);
    return verdict == SURVIVED;
}
