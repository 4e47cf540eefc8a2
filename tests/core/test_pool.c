/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The thread pool: every iteration is done once, workers are told apart, several callers share it. */
#include "backends/backend.h"
#include "core/base/memory.h"
#include "test.h"

#include <penstock/penstock.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

enum { MAX_COUNT = 5000, MAX_WORKERS = 16, CALLERS = 4, LOOPS = 200 };

struct loop {
    atomic_int done[MAX_COUNT];
    atomic_bool busy[MAX_WORKERS];
    atomic_int doubled; /* two threads had one worker's number at the same time */
    unsigned threads;
    unsigned plain[MAX_COUNT]; /* written without atomics: visible to the caller afterwards */
};

struct caller {
    penstock_context *context;
    uint64_t seed;
    int failures;
};

static void work(void *argument, size_t i, unsigned worker)
{
    struct loop *loop = argument;
    if (worker >= loop->threads || atomic_exchange(&loop->busy[worker], true))
        atomic_fetch_add(&loop->doubled, 1);
    atomic_fetch_add(&loop->done[i], 1);
    loop->plain[i] = (unsigned)i + 1;
    for (volatile int spin = 0; spin < (int)(i % 7) * 50; spin++)
        ;
    if (worker < loop->threads)
        atomic_store(&loop->busy[worker], false);
}

/* Number of breaches in one loop. */
static int run_loop(penstock_context *context, size_t count)
{
    struct loop *loop = calloc(1, sizeof *loop);
    int failures;
    loop->threads = penstock__threads(context);
    penstock__parallel(context, count, work, loop);
    failures = atomic_load(&loop->doubled);
    for (size_t i = 0; i < MAX_COUNT; i++)
        failures += atomic_load(&loop->done[i]) != (i < count) || loop->plain[i] != (i < count ? i + 1 : 0);
    free(loop);
    return failures;
}

static void *call(void *argument)
{
    struct caller *caller = argument;
    for (int i = 0; i < LOOPS; i++) {
        uint64_t random = test_random(&caller->seed);
        caller->failures += run_loop(caller->context, random % (i % 10 ? 20 : MAX_COUNT));
    }
    return NULL;
}

static void with_threads(unsigned threads)
{
    struct caller callers[CALLERS];
    pthread_t handles[CALLERS];
    penstock_context *context;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = threads)));
    CHECK_EQ(penstock__threads(context), threads);
    for (size_t count = 0; count < 40; count++)
        CHECK(run_loop(context, count) == 0, "%zu iterations on %u threads", count, threads);
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (struct caller){.context = context, .seed = (uint64_t)i};
        pthread_create(&handles[i], NULL, call, &callers[i]);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(handles[i], NULL);
        CHECK(callers[i].failures == 0, "caller %d on %u threads: %d failures", i, threads, callers[i].failures);
    }
    penstock_context_free(context);
}

/* Iterations are worth handing out and suit a cache, and no thread has more turns than others where there is enough. */
static void shares_alike(unsigned threads)
{
    static const struct {
        size_t least, most;
    } bounds[] = {{1, 1}, {1, 16}, {4, 16}, {59, 59}, {64, 4096}};
    penstock_context *context;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = threads)));
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        for (size_t count = 1; count < 9000; count += 1 + count / 9) {
            const size_t least = bounds[i].least, most = bounds[i].most;
            const size_t share = penstock__fair_share(context, count, least, most), items = (count - 1) / share + 1,
                         turns = (items - 1) / threads + 1;
            CHECK(share >= 1 && share <= most, "%zu of %zu on %u threads: %zu at a time", count, most, threads, share);
            if (threads == 1)
                CHECK(items == (count - 1) / most + 1, "%zu at most %zu at a time: %zu times", count, most, items);
            else if (count >= threads * least)
                CHECK(turns * share * threads < count + turns * threads && turns <= 4 + (count - 1) / (threads * most),
                      "%zu on %u threads: %zu at a time, %zu turns", count, threads, share, turns);
            else if (count <= threads * most)
                CHECK(turns == 1 && (share == least || share * threads < count + threads),
                      "%zu on %u threads: %zu at a time", count, threads, share);
        }
    CHECK_EQ(penstock__fair_share(context, 5, 0, 0), 1);
    CHECK(penstock__fair_share(context, 5, 7, 3) <= 3, "more than at most 3");
    penstock_context_free(context);
}

/* A loop within an iteration is its thread's own. */
struct nested {
    penstock_context *context;
    atomic_int done, wrong;
};

struct inner {
    struct nested *nested;
    pthread_t thread;
};

static void work_within(void *argument, size_t i, unsigned worker)
{
    const struct inner *inner = argument;
    (void)i;
    atomic_fetch_add(&inner->nested->done, 1);
    atomic_fetch_add(&inner->nested->wrong, worker || !pthread_equal(inner->thread, pthread_self()));
}

static void work_around(void *argument, size_t i, unsigned worker)
{
    struct nested *nested = argument;
    (void)i, (void)worker;
    penstock__parallel(nested->context, 5, work_within, &(struct inner){nested, pthread_self()});
}

static void nests(void)
{
    struct nested nested = {.context = NULL};
    CHECK_OK(penstock_context_new(&nested.context, &PENSTOCK_CONTEXT_DESC(.threads = 4)));
    for (int i = 0; i < 100; i++)
        penstock__parallel(nested.context, 9, work_around, &nested);
    CHECK_EQ(atomic_load(&nested.done), 100 * 9 * 5);
    CHECK_EQ(atomic_load(&nested.wrong), 0);
    penstock_context_free(nested.context);
}

/* Threads do share the work: two iterations that wait for each other can only end on two threads. */
static atomic_int met;

static void meet(void *argument, size_t i, unsigned worker)
{
    (void)argument, (void)i, (void)worker;
    atomic_fetch_add(&met, 1);
    while (atomic_load(&met) < 2)
        ;
}

static void works_at_once(void)
{
    penstock_context *context;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 2)));
    for (int i = 0; i < 50; i++) {
        atomic_store(&met, 0);
        penstock__parallel(context, 2, meet, NULL);
        CHECK_EQ(atomic_load(&met), 2);
    }
    penstock_context_free(context);
}

static sigset_t blocked[2];

static void ask_and_meet(void *argument, size_t i, unsigned worker)
{
    pthread_sigmask(SIG_SETMASK, NULL, &blocked[worker]);
    meet(argument, i, worker);
}

/* The application's signals are not for the pool's threads, whose own faults are not blocked. */
static void leaves_signals(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT},
                     others[] = {SIGTERM, SIGINT, SIGUSR1, SIGALRM};
    penstock_context *context;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 2)));
    atomic_store(&met, 0);
    penstock__parallel(context, 2, ask_and_meet, NULL);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        CHECK(!sigismember(&blocked[1], faults[i]), "signal %d is blocked", faults[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        CHECK(sigismember(&blocked[1], others[i]), "signal %d is not blocked", others[i]);
        CHECK(!sigismember(&blocked[0], others[i]), "signal %d is blocked for the caller", others[i]);
    }
    penstock_context_free(context);
}

int main(void)
{
    static const unsigned threads[] = {1, 2, 3, MAX_WORKERS};
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++)
        with_threads(threads[i]), shares_alike(threads[i]);
    nests();
    works_at_once();
    leaves_signals();
    CHECK_EQ(penstock__memory_live(), 0);
    return test_finish();
}
