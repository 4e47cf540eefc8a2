/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Probing a driver in a helper program first, so that one that crashes does not take the process along. */
#include "core/probe.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TIME_OUT_S   20 /* for each thing that the helper tells of */
#define IN_ALL_S     60
#define MOST_BYTES   (1u << 16) /* from a helper */
#define KEY_BYTES    4096
#define CRASH_KEPT_S 3600 /* it may have had other causes than the driver's files */

/* How long a verdict holds: the later one here outweighs those before it. */
enum holds {
    FOR_ALL,     /* in the cache folder: it lies in the driver */
    FOR_PROCESS, /* too slow or an error: may be different in another process */
    FOR_NOW,     /* killed: may be different next time */
    NO_HELPER,   /* none that answers */
};

/* ---------------------------------------------------------------- the helper ------------------ */

static long long now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (long long)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* What one helper tells. */
struct session {
    struct penstock__verdict_reader reader;
    char line[512];
    size_t used, bytes;
    bool told, late;
};

/* A piece of what it writes; a line that is not ours says nothing. */
static void listen_to(struct session *session, const char *piece, size_t count)
{
    session->bytes += count;
    for (size_t i = 0; i < count; i++) {
        if (piece[i] != '\n') {
            if (session->used < sizeof session->line - 1)
                session->line[session->used++] = piece[i];
            continue;
        }
        session->line[session->used] = 0;
        session->used = 0;
        if (penstock__verdict_read_line(&session->reader, session->line))
            session->told = true;
    }
}

/* Reads until the helper says that it is through, ends, or the time is over. */
static void listen_until(struct session *session, int input, long long end_ms)
{
    long long deadline = now_ms() + TIME_OUT_S * 1000;
    char piece[512];
    while (!session->reader.done && session->bytes < MOST_BYTES) {
        struct pollfd waiting = {.fd = input, .events = POLLIN};
        long long left = (deadline < end_ms ? deadline : end_ms) - now_ms();
        ssize_t count;
        if ((session->late = left <= 0))
            return;
        if (poll(&waiting, 1, (int)left) <= 0)
            continue;
        count = read(input, piece, sizeof piece);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return;
        listen_to(session, piece, (size_t)count);
        deadline = now_ms() + TIME_OUT_S * 1000;
    }
}

/* Why a helper that is not through has ended. */
static enum holds judge(struct session *session, int status)
{
    const char *doing = *session->reader.doing ? session->reader.doing : "was probed";
    char reason[256];
    enum holds holds = FOR_ALL;
    if (session->late) {
        snprintf(reason, sizeof reason, "the driver did not answer within %d s while it %s", TIME_OUT_S, doing);
        holds = FOR_PROCESS;
    } else if (status == -1) {
        snprintf(reason, sizeof reason, "the driver ended the process that probed it, while it %s", doing);
        holds = FOR_NOW;
    } else if (WIFSIGNALED(status)) {
        int signal = WTERMSIG(status);
        snprintf(reason, sizeof reason, "the driver crashed while it %s (signal %d)", doing, signal);
        if (signal != SIGSEGV && signal != SIGBUS && signal != SIGILL && signal != SIGFPE && signal != SIGABRT)
            holds = FOR_NOW;
    } else {
        snprintf(reason, sizeof reason, "the driver ended the process that probed it (exit code %d), while it %s",
                 WEXITSTATUS(status), doing);
        if (WEXITSTATUS(status) == 127 && !session->told)
            holds = NO_HELPER;
    }
    penstock__verdict_blame(&session->reader, reason);
    return holds;
}

/* Whether the helper told of an error of a device from number `first` on. */
static bool has_errors(const struct penstock__verdict *verdict, unsigned first)
{
    for (unsigned i = first; i < verdict->count; i++)
        if (*verdict->devices[i].reason)
            return true;
    return *verdict->reason;
}

/* Devices from number `verdict->count` on; `*through`: to the last, and not only up to one that brings it down. */
static enum holds ask_once(struct penstock__verdict *verdict, bool *through, const struct penstock_backend *backend,
                           long long end_ms)
{
    char first[16];
    const char *const arguments[] = {backend->name, first, NULL};
    struct session session = {.reader = {.verdict = verdict}};
    unsigned before = verdict->count;
    struct penstock_helper helper;
    enum holds holds;
    int failure, status;
    snprintf(first, sizeof first, "%u", before);
    if ((failure = penstock__helper_start(&helper, "penstock-probe", "PENSTOCK_PROBE", arguments, -1))) {
        snprintf(
            verdict->reason, sizeof verdict->reason, "penstock-probe %s%s",
            failure == ENOENT ? "is not installed" : "cannot be started: ", failure == ENOENT ? "" : strerror(failure));
        return NO_HELPER;
    }
    listen_until(&session, helper.answer, end_ms);
    status = penstock__helper_end(&helper, session.late || session.bytes >= MOST_BYTES);
    holds = has_errors(verdict, before) ? FOR_PROCESS : FOR_ALL;
    *through = session.reader.done;
    if (!*through) {
        enum holds end = judge(&session, status);
        holds = end > holds ? end : holds;
    }
    return holds;
}

/* One helper, and one more behind each device that brings it down. */
static enum holds ask(struct penstock__verdict *verdict, const struct penstock_backend *backend)
{
    long long end_ms = now_ms() + IN_ALL_S * 1000;
    enum holds worst = FOR_ALL;
    bool through = false;
    memset(verdict, 0, sizeof *verdict);
    while (!through && !*verdict->reason && verdict->count < PENSTOCK__MAX_DEVICES) {
        bool first = !verdict->count;
        enum holds holds = ask_once(verdict, &through, backend, end_ms);
        if (holds == NO_HELPER && !first)
            holds = FOR_NOW;
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
    return penstock__verdict_all_good(verdict) || (age >= 0 && age < CRASH_KEPT_S);
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
    enum holds holds = ask(verdict, backend);
    if (holds == NO_HELPER) {
        penstock__log(context, PENSTOCK_LOG_WARNING, "%s is probed within this process: %s", backend->name,
                      verdict->reason);
        *verdict = (struct penstock__verdict){.untried = true};
    }
    if (key && holds <= FOR_PROCESS)
        keep_here(verdict, key);
    if (key && holds == FOR_ALL)
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
