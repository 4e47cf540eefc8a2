/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Batches of the CPU and bursts of a measurement take turns, and a burst that does not end stops no batch. */
#include "backends/backend.h"
#include "core/choice/turns.h"
#include "test.h"

#include <math.h>
#include <stdatomic.h>
#include <time.h>

#define BATCHES 40
#define BURSTS  10

static struct penstock__turns turns;
static atomic_int working; /* of both kinds, at this moment */
static atomic_int most;
static atomic_bool hangs;

static void nap(double seconds)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * seconds)}, NULL);
}

static void work(double seconds)
{
    int now = atomic_fetch_add(&working, 1) + 1;
    if (now > atomic_load(&most))
        atomic_store(&most, now);
    nap(seconds);
    atomic_fetch_sub(&working, 1);
}

static void *serve(void *unused)
{
    (void)unused;
    for (int i = 0; i < BATCHES; i++) {
        penstock__turns_serve(&turns);
        work(0.002);
        penstock__turns_served(&turns);
    }
    return NULL;
}

static void *hang(void *unused)
{
    (void)unused;
    penstock__turns_measure(&turns);
    atomic_store(&hangs, true);
    while (atomic_load(&hangs))
        nap(0.001);
    penstock__turns_measured(&turns, false);
    return NULL;
}

/* Batches follow each other without a pause, and a measurement gets its turns all the same. */
static void test_never_at_once(void)
{
    pthread_t thread;
    double longest_s = 0;
    penstock__turns_init(&turns);
    CHECK(!pthread_create(&thread, NULL, serve, NULL), "a thread");
    for (int i = 0; i < BURSTS; i++) {
        penstock__turns_measure(&turns);
        double began_s = penstock__now_s();
        work(0.003);
        longest_s = fmax(longest_s, penstock__now_s() - began_s);
        penstock__turns_measured(&turns, true);
    }
    CHECK(!pthread_join(thread, NULL), "a thread's end");
    /* a batch does not wait for longer than 20 ms, which a burst takes only on a machine that has much else to do */
    CHECK(atomic_load(&most) == 1 || longest_s > 0.019, "%d at once", atomic_load(&most));
    penstock__turns_free(&turns);
}

static void test_a_hanging_driver(void)
{
    pthread_t thread;
    penstock__turns_init(&turns);
    CHECK(!pthread_create(&thread, NULL, hang, NULL), "a thread");
    while (!atomic_load(&hangs))
        nap(0.001);
    penstock__turns_serve(&turns);
    CHECK(atomic_load(&hangs), "a batch waited for a hanging driver");
    penstock__turns_served(&turns);
    atomic_store(&hangs, false);
    CHECK(!pthread_join(thread, NULL), "a thread's end");
    penstock__turns_free(&turns);
}

int main(void)
{
    test_never_at_once();
    test_a_hanging_driver();
    return test_finish();
}
