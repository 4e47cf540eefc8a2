/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Makers side by side: at once, as the thread that asks, and as many as there are threads for. */
#include "child.h"
#include "core/base/cancel.h"
#include "core/base/context.h"
#include "core/base/process_exit.h"
#include "core/choice/side_by_side.h"
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define MAKERS 3
#define HANG_S 20

static const struct penstock_backend compiling = {.flags = PENSTOCK_BACKEND_FRAGILE_DRIVER}, other = {.flags = 0};
static struct penstock_context context = {.threads = 2}, alone = {.threads = 1};
static const struct penstock_device gpu = {.backend = &compiling, .context = &context},
                                    lonely = {.backend = &compiling, .context = &alone},
                                    processor = {.backend = &compiling, .context = &context, .on_cpu = true},
                                    memory = {.backend = &other, .context = &context};

/* ---------------------------------------------------------------- threads --------------------- */

static atomic_int threads, refused_from = INT32_MAX; /* started, and from which on none is */

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    if (atomic_load(&threads) >= atomic_load(&refused_from))
        return EAGAIN;
    atomic_fetch_add(&threads, 1);
    return __real_pthread_create(thread, attributes, run, argument);
}

static bool await(bool (*there)(void))
{
    for (int ms = 0; ms < 1000 * HANG_S && !there(); ms++)
        usleep(1000);
    return there();
}

/* ---------------------------------------------------------------- makers ---------------------- */

static atomic_int inside, calls; /* makers under way at once, and called */

struct maker {
    int status;   /* that it is to give */
    bool gathers; /* until all are inside */
    bool lasts;   /* until it is cancelled */
    int turn;     /* of all calls; -1: none */
    bool gathered;
    pthread_t thread;
    void *log_user;
    const atomic_bool *flag;
};

static bool all_inside(void)
{
    return atomic_load(&inside) == MAKERS;
}

static bool is_cancelled(void)
{
    return penstock__cancelled();
}

static int make(void *owner, unsigned which)
{
    struct maker *maker = (struct maker *)owner + which;
    maker->turn = atomic_fetch_add(&calls, 1);
    maker->thread = pthread_self();
    maker->log_user = penstock__log_user();
    maker->flag = penstock__cancel_flag();
    atomic_fetch_add(&inside, 1);
    maker->gathered = maker->gathers && await(all_inside);
    if (maker->lasts)
        return await(is_cancelled) ? penstock__error(PENSTOCK_ERR_TIMEOUT, "cancelled") : PENSTOCK_OK;
    return maker->status ? penstock__error(maker->status, "maker %d", maker->status) : PENSTOCK_OK;
}

static int make_all(struct maker makers[MAKERS], const struct penstock_device *device)
{
    for (int i = 0; i < MAKERS; i++)
        makers[i].turn = -1;
    atomic_store(&inside, 0);
    atomic_store(&calls, 0);
    atomic_store(&threads, 0);
    return penstock__side_by_side(make, makers, MAKERS, device);
}

/* ---------------------------------------------------------------- cases ----------------------- */

/* Each waits for the others, in a thread of its own that has what this one has. */
static void at_once(void)
{
    struct maker makers[MAKERS] = {{.gathers = true}, {.gathers = true}, {.gathers = true}};
    atomic_bool flag = false;
    int user;
    void *before = penstock_log_as(&user);
    penstock__cancel_by(&flag);
    CHECK_EQ(make_all(makers, &gpu), PENSTOCK_OK);
    CHECK_EQ(threads, MAKERS - 1);
    for (int i = 0; i < MAKERS; i++) {
        CHECK(makers[i].gathered, "maker %d was not at work with the others", i);
        CHECK(makers[i].log_user == &user && makers[i].flag == &flag, "maker %d is not as the thread that asks", i);
        CHECK(!pthread_equal(makers[i].thread, pthread_self()) == (i > 0), "maker %d is in another thread", i);
    }
    penstock__cancel_by(NULL);
    penstock_log_as(before);
}

/* Where nothing is compiled, or one thread is allowed, there are no threads, and the first failure is the last call. */
static void in_order(void)
{
    const struct penstock_device *const devices[] = {&lonely, &processor, &memory, NULL};
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
        struct maker makers[MAKERS] = {{.status = 0}, {.status = PENSTOCK_ERR_CHECK}, {.status = 0}};
        CHECK_EQ(make_all(makers, devices[d]), PENSTOCK_ERR_CHECK);
        CHECK(threads == 0 && makers[0].turn == 0 && makers[1].turn == 1 && makers[2].turn == -1,
              "device %zu: %d threads, turns %d %d %d", d, threads, makers[0].turn, makers[1].turn, makers[2].turn);
    }
}

/* The first failure in the makers' order, with its text, whoever was first to fail. */
static void failures(void)
{
    static const int statuses[][MAKERS] = {{0, 0, PENSTOCK_ERR_CHECK},
                                           {0, PENSTOCK_ERR_DEVICE, PENSTOCK_ERR_CHECK},
                                           {PENSTOCK_ERR_MEMORY, 0, PENSTOCK_ERR_DEVICE}};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        struct maker makers[MAKERS] = {{.status = statuses[i][0], .gathers = true},
                                       {.status = statuses[i][1], .gathers = true},
                                       {.status = statuses[i][2], .gathers = true}};
        const int first = statuses[i][0] ? statuses[i][0] : statuses[i][1] ? statuses[i][1] : statuses[i][2];
        char text[40];
        snprintf(text, sizeof text, "maker %d", first);
        CHECK_EQ(make_all(makers, &gpu), first);
        CHECK(!strcmp(penstock_error_text(), text), "\"%s\", not \"%s\"", penstock_error_text(), text);
        CHECK_EQ(calls, MAKERS);
    }
}

/* What has no thread is made here, after the others were begun. */
static void without_threads(void)
{
    for (int from = 0; from < MAKERS; from++) {
        struct maker makers[MAKERS] = {{.status = 0}, {.status = 0}, {.status = PENSTOCK_ERR_CHECK}};
        int here = 0;
        atomic_store(&refused_from, from);
        CHECK_EQ(make_all(makers, &gpu), PENSTOCK_ERR_CHECK);
        for (int i = 0; i < MAKERS; i++)
            here += pthread_equal(makers[i].thread, pthread_self()) != 0;
        CHECK(threads == (from < MAKERS - 1 ? from : MAKERS - 1) && here == MAKERS - threads && calls == MAKERS,
              "%d threads, %d makers here, %d called", threads, here, calls);
    }
    atomic_store(&refused_from, INT32_MAX);
}

static void *cancel(void *flag)
{
    if (await(all_inside))
        atomic_store((atomic_bool *)flag, true);
    return NULL;
}

/* One flag ends them all. */
static void cancelled(void)
{
    struct maker makers[MAKERS] = {{.lasts = true}, {.lasts = true}, {.lasts = true}};
    atomic_bool flag = false;
    pthread_t thread;
    atomic_store(&inside, 0);
    CHECK(!pthread_create(&thread, NULL, cancel, &flag), "no thread");
    penstock__cancel_by(&flag);
    CHECK_EQ(make_all(makers, &gpu), PENSTOCK_ERR_TIMEOUT);
    penstock__cancel_by(NULL);
    pthread_join(thread, NULL);
    CHECK(atomic_load(&flag) && calls == MAKERS, "%d makers, cancelled %d", calls, flag);
}

/* ---------------------------------------------------------------- exit() ---------------------- */

static bool is_exiting(void)
{
    return penstock__exiting();
}

/* As an executor is made: by a thread that first asks for it when the process ends already. */
static int make_at_exit(void *unused, unsigned which)
{
    (void)unused;
    (void)which;
    atomic_fetch_add(&inside, 1);
    await(is_exiting);
    penstock__exit_hold();
    penstock__exit_release();
    return PENSTOCK_OK;
}

static void *make_until_exit(void *unused)
{
    penstock__side_by_side(make_at_exit, NULL, MAKERS, &gpu);
    return unused;
}

/* exit() waits for them, and none of them for exit(). Before there are threads. */
static void at_exit(void)
{
    int status = -1;
    pid_t child = fork();
    if (!child) {
        pthread_t thread;
        penstock__exit_awaits();
        if (pthread_create(&thread, NULL, make_until_exit, NULL) || pthread_detach(thread) || !await(all_inside))
            _exit(1);
        exit(0);
    }
    CHECK(child > 0 && child_ends(child, &status, 10), "a process did not end within 10 s");
    CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "a process ended with %d", status);
}

int main(void)
{
    at_exit();
    at_once();
    in_order();
    failures();
    without_threads();
    cancelled();
    return test_finish();
}
