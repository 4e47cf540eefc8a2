/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Stacks of the process's own threads, by a signal that none of them blocks (core/base/thread.c). */
#include "where.h"
#include "test.h"

#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST_LOOKS = 600, MOST_FRAMES = 24, TOLD_FRAMES = 8, SIGNAL = SIGSYS };

#define FROM_S 0.02
#define EACH_S 0.005

struct look {
    atomic_long thread; /* 0: not yet */
    int count;
    void *frames[MOST_FRAMES];
};

static struct record {
    struct look looks[MOST_LOOKS];
    atomic_uint used;
    long caller;
    double took_s;
} now, slowest;

static _Atomic double begun_s; /* 0: no call */
static pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER;

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void sleep_s(double seconds)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * seconds)}, NULL);
}

/* ---------------------------------------------------------------- looks ----------------------- */

static void look(int signal)
{
    const unsigned at = atomic_fetch_add(&now.used, 1);
    (void)signal;
    if (at >= MOST_LOOKS)
        return;
    now.looks[at].count = backtrace(now.looks[at].frames, MOST_FRAMES);
    atomic_store(&now.looks[at].thread, syscall(SYS_gettid));
}

/* Of CUDA's own threads, which others' signals may disturb, nothing. */
static bool is_ours(const char *thread)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", thread);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    const bool read = fgets(name, sizeof name, file);
    fclose(file);
    return read && strncmp(name, "cuda", 4);
}

/* LLVM, which PoCL brings along, has put its own handler there when it has compiled something. */
static void look_at_all(void)
{
    const struct sigaction action = {.sa_handler = look, .sa_flags = SA_RESTART};
    sigaction(SIGNAL, &action, NULL);
    DIR *threads = opendir("/proc/self/task");
    const struct dirent *entry;
    const long self = syscall(SYS_gettid);
    while (threads && (entry = readdir(threads))) {
        const long thread = strtol(entry->d_name, NULL, 10);
        if (thread && thread != self && is_ours(entry->d_name))
            syscall(SYS_tgkill, getpid(), thread, SIGNAL);
    }
    if (threads)
        closedir(threads);
}

static void *watch(void *unused)
{
    (void)unused;
    for (;; sleep_s(EACH_S)) {
        pthread_mutex_lock(&looking);
        const double began = atomic_load(&begun_s);
        if (began > 0 && now_s() - began > FROM_S)
            look_at_all();
        pthread_mutex_unlock(&looking);
    }
    return NULL;
}

void where_start(void)
{
    void *frames[MOST_FRAMES];
    pthread_t thread;
    if (SANITIZED)
        return;
    backtrace(frames, MOST_FRAMES); /* loads what it needs */
    if (!pthread_create(&thread, NULL, watch, NULL))
        pthread_detach(thread);
}

void where_begin(void)
{
    atomic_store(&now.used, 0);
    for (size_t i = 0; i < MOST_LOOKS; i++)
        atomic_store(&now.looks[i].thread, 0);
    now.caller = syscall(SYS_gettid);
    atomic_store(&begun_s, now_s());
}

void where_end(void)
{
    now.took_s = now_s() - atomic_load(&begun_s);
    pthread_mutex_lock(&looking);
    atomic_store(&begun_s, 0);
    pthread_mutex_unlock(&looking);
    if (now.took_s <= slowest.took_s)
        return;
    sleep_s(EACH_S); /* threads that were asked answer */
    slowest = now;
}

/* ---------------------------------------------------------------- names ----------------------- */

/* Of a function of this program, which has hidden ones, by addr2line; else its library's. */
static void name_of(char name[80], void *frame)
{
    Dl_info found;
    char command[400];
    static const char here;
    Dl_info self;
    snprintf(name, 80, "?");
    if (!dladdr(frame, &found) || !dladdr(&here, &self))
        return;
    if (found.dli_fbase != self.dli_fbase) {
        const char *slash = strrchr(found.dli_fname, '/');
        snprintf(name, 80, "%.50s", found.dli_sname ? found.dli_sname : slash ? slash + 1 : found.dli_fname);
        return;
    }
    snprintf(command, sizeof command, "addr2line -f -e /proc/%d/exe %#zx 2>/dev/null", (int)getpid(),
             (size_t)((uintptr_t)frame - 1 - (uintptr_t)found.dli_fbase));
    FILE *answer = popen(command, "r");
    if (answer && !fgets(name, 80, answer))
        snprintf(name, 80, "%#zx", (size_t)((uintptr_t)frame - (uintptr_t)found.dli_fbase));
    if (answer)
        pclose(answer);
    name[strcspn(name, "\n")] = 0;
}

static bool same(const struct look *a, const struct look *b)
{
    return a->count == b->count && !memcmp(a->frames, b->frames, (size_t)a->count * sizeof *a->frames);
}

/* Innermost first, without the signal's own two; what a library does not name counts once. */
static void tell_stack(const struct look *looked, unsigned times)
{
    char name[80], last[80] = "";
    printf("  %s, %u looks:", looked->thread == slowest.caller ? "who frees" : "another thread", times);
    for (int i = 2, told = 0; i < looked->count && told < TOLD_FRAMES; i++) {
        name_of(name, looked->frames[i]);
        if (strcmp(name, last))
            printf(" %s%s", told++ ? "< " : "", name);
        strcpy(last, name);
    }
    printf("\n");
}

void where_tell(void)
{
    const unsigned used = slowest.used < MOST_LOOKS ? slowest.used : MOST_LOOKS;
    printf("the slowest call took %.3f s%s\n", slowest.took_s, used ? ", while" : "");
    for (int others = 0; others < 2; others++)
        for (unsigned i = 0; i < used; i++) {
            struct look *first = &slowest.looks[i];
            unsigned times = 0;
            if (!first->thread || (first->thread != slowest.caller) != others)
                continue;
            const long thread = first->thread;
            for (unsigned k = i; k < used; k++)
                if (slowest.looks[k].thread == thread && same(first, &slowest.looks[k])) {
                    times++;
                    if (k > i)
                        slowest.looks[k].thread = 0;
                }
            tell_stack(first, times);
        }
}
