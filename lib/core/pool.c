/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The thread pool: loops whose iterations are handed out one by one to whoever is free. The caller works
 * too, so a loop always goes on, even if no thread could be started.
 */
#include "core/context.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

/* A sleeping thread takes tens of microseconds to wake, and who wakes it ten in a virtual machine; a stream's next
 * batch often comes sooner. A pause takes 15 to 60 ns. */
#define SPINS        1000
#define SPINS_A_TURN 32 /* then whoever else wants the processor has it */

struct loop {
    void (*work)(void *argument, size_t i, unsigned worker);
    void *argument;
    size_t count;
    atomic_size_t next;  /* first iteration that nobody took */
    atomic_uint helpers; /* pool threads inside; grows only under the pool's lock, while the loop is listed */
    struct loop *following;
};

struct penstock__pool {
    pthread_mutex_t lock;
    pthread_cond_t posted_or_stopped, helper_left;
    struct loop *loops; /* with iterations left, as far as is known */
    atomic_uint posted; /* loops posted so far: what idle threads watch */
    bool started, stop;
    unsigned spins;   /* of a thread that waits, before it sleeps */
    unsigned threads; /* the caller's included */
    unsigned running; /* pool threads that could be started */
    struct helper {
        pthread_t thread;
        struct penstock__pool *pool;
        unsigned worker;
    } * helpers;
};

static void breathe(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

static void take_iterations(struct loop *loop, unsigned worker)
{
    for (;;) {
        size_t i = atomic_fetch_add_explicit(&loop->next, 1, memory_order_relaxed);
        if (i >= loop->count)
            return;
        loop->work(loop->argument, i, worker);
    }
}

/* Waits awake for another loop than those `seen`. The application's own threads may have work for every processor:
 * those come first. */
static void watch(struct penstock__pool *pool, unsigned seen)
{
    for (unsigned i = 0; i < pool->spins && atomic_load(&pool->posted) == seen; i++)
        if (i % SPINS_A_TURN)
            breathe();
        else
            sched_yield();
}

/* A listed loop with iterations left, or NULL. The lock is held. */
static struct loop *open_loop(struct penstock__pool *pool)
{
    for (struct loop *loop = pool->loops; loop; loop = loop->following)
        if (atomic_load_explicit(&loop->next, memory_order_relaxed) < loop->count)
            return loop;
    return NULL;
}

static void *help(void *argument)
{
    struct helper *self = argument;
    struct penstock__pool *pool = self->pool;
    pthread_mutex_lock(&pool->lock);
    while (!pool->stop) {
        struct loop *loop = open_loop(pool);
        unsigned seen = atomic_load(&pool->posted);
        if (loop) {
            atomic_fetch_add(&loop->helpers, 1);
            pthread_mutex_unlock(&pool->lock);
            take_iterations(loop, self->worker);
            pthread_mutex_lock(&pool->lock);
            if (atomic_fetch_sub(&loop->helpers, 1) == 1)
                pthread_cond_broadcast(&pool->helper_left);
            continue;
        }
        pthread_mutex_unlock(&pool->lock);
        watch(pool, seen);
        pthread_mutex_lock(&pool->lock);
        while (!pool->stop && !open_loop(pool))
            pthread_cond_wait(&pool->posted_or_stopped, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* The application's signals are for the application's threads. The lock is held. */
static void start(struct penstock__pool *pool)
{
    sigset_t all, before;
    pool->started = true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->running + 1 < pool->threads) {
        struct helper *helper = &pool->helpers[pool->running];
        *helper = (struct helper){.pool = pool, .worker = pool->running + 1};
        if (pthread_create(&helper->thread, NULL, help, helper))
            break;
        pool->running++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int penstock__pool_new(struct penstock__pool **pool, unsigned threads, bool spin)
{
    struct penstock__pool *new = penstock__calloc(1, sizeof *new);
    if (!new)
        return PENSTOCK_ERR_MEMORY;
    if (!(new->helpers = penstock__calloc(threads, sizeof *new->helpers))) {
        penstock__free(new);
        return PENSTOCK_ERR_MEMORY;
    }
    new->threads = threads;
    new->spins = spin ? SPINS : 0;
    pthread_mutex_init(&new->lock, NULL);
    pthread_cond_init(&new->posted_or_stopped, NULL);
    pthread_cond_init(&new->helper_left, NULL);
    *pool = new;
    return PENSTOCK_OK;
}

void penstock__pool_free(struct penstock__pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->posted_or_stopped);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->running; i++)
        pthread_join(pool->helpers[i].thread, NULL);
    pthread_cond_destroy(&pool->helper_left);
    pthread_cond_destroy(&pool->posted_or_stopped);
    pthread_mutex_destroy(&pool->lock);
    penstock__free(pool->helpers);
    penstock__free(pool);
}

static void post(struct penstock__pool *pool, struct loop *loop)
{
    pthread_mutex_lock(&pool->lock);
    if (!pool->started)
        start(pool);
    loop->following = pool->loops;
    pool->loops = loop;
    atomic_fetch_add(&pool->posted, 1);
    if (loop->count - 1 < pool->running)
        for (size_t i = 1; i < loop->count; i++)
            pthread_cond_signal(&pool->posted_or_stopped);
    else
        pthread_cond_broadcast(&pool->posted_or_stopped);
    pthread_mutex_unlock(&pool->lock);
}

/* Takes the loop off the list, so that nobody joins any more, and waits for those inside. */
static void finish(struct penstock__pool *pool, struct loop *loop)
{
    struct loop **link = &pool->loops;
    pthread_mutex_lock(&pool->lock);
    while (*link != loop)
        link = &(*link)->following;
    *link = loop->following;
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->spins && atomic_load(&loop->helpers); i++)
        breathe();
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&loop->helpers))
        pthread_cond_wait(&pool->helper_left, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void penstock__parallel(penstock_context *context, size_t count,
                        void (*work)(void *argument, size_t i, unsigned worker), void *argument)
{
    struct loop loop = {.work = work, .argument = argument, .count = count};
    if (count < 2 || context->threads < 2) {
        for (size_t i = 0; i < count; i++)
            work(argument, i, 0);
        return;
    }
    post(context->pool, &loop);
    take_iterations(&loop, 0);
    finish(context->pool, &loop);
}
