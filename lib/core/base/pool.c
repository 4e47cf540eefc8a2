/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The thread pool: loops whose iterations are handed out to whoever is free. The caller works too, so a loop always
 * goes on, even if no thread could be started. Each thread begins with its own share of the iterations, the same part
 * of each loop: what one loop wrote the next one finds in that processor's cache. Who is through with its share goes on
 * with the others', so that nothing waits for a thread that is away. A loop within an iteration of another is that
 * thread's own work: the others have theirs.
 *
 * Who is awake takes no lock: loops lie in places that stay where they are, and a thread that joins one counts itself
 * in before it looks at it. The lock is for those that sleep.
 */
#include "core/base/context.h"
#include "core/base/fork.h"
#include "core/base/thread.h"
#include "core/stream/meter.h"

#include <sched.h>
#include <stdatomic.h>

/* A sleeping thread takes tens of microseconds to wake, and who wakes it ten in a virtual machine; a stream's next
 * batch often comes sooner. */
#define AWAKE_S      100e-6
#define SPINS_A_TURN 32 /* then whoever else wants the processor has it */

#define PLACES 8  /* loops at a time; the caller of one more works alone */
#define LINE   64 /* bytes that processors hand each other */
#define CLOSED (~(~0U >> 1))

/* Pieces into which a loop falls, at most: a bit of one line each. */
#define WORDS     8
#define WORD_BITS 64

struct loop {
    _Alignas(LINE) atomic_bool used; /* by a caller */
    void (*work)(void *argument, size_t i, unsigned worker);
    void *argument;
    atomic_size_t count;
    _Alignas(LINE) _Atomic uint64_t taken[WORDS]; /* a bit for each piece, and those behind the last one */
    _Alignas(LINE) atomic_uint inside;            /* pool threads, and CLOSED while nobody may join */
};

struct helper {
    _Alignas(LINE) atomic_bool watches; /* awake, without work */
    pthread_t thread;
    struct penstock__pool *pool;
    unsigned worker;
};

struct penstock__pool {
    struct loop loops[PLACES];
    _Alignas(LINE) atomic_uint posted; /* loops posted so far: what idle threads watch */
    _Alignas(LINE) atomic_uint asleep; /* pool threads */
    atomic_uint waiting;               /* callers that sleep until their loop's last helper has left */
    atomic_bool started, stop;
    bool spin;
    unsigned threads; /* the caller's included */
    unsigned running; /* pool threads that could be started */
    pthread_mutex_t lock;
    pthread_cond_t posted_or_stopped, helper_left;
    struct helper *helpers;
};

static _Thread_local bool at_work; /* in an iteration of a loop of several threads */

static void breathe(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

/* Waits awake while `*value` is, or is not, what was `seen`; false once that has taken too long. The application's own
 * threads may have work for every processor: those come first. */
static bool watch(const struct penstock__pool *pool, const atomic_uint *value, unsigned seen, bool is)
{
    double began = 0;
    for (unsigned i = 1; (atomic_load(value) == seen) == is; i++) {
        if (!pool->spin)
            return false;
        if (i % SPINS_A_TURN) {
            breathe();
            continue;
        }
        const double now = penstock__now_s();
        began = began > 0 ? began : now;
        if (now - began > AWAKE_S)
            return false;
        sched_yield();
    }
    return true;
}

/* ---------------------------------------------------------------- pool threads ---------------- */

static size_t pieces_of(const struct loop *loop)
{
    const size_t count = atomic_load_explicit(&loop->count, memory_order_relaxed);
    return count < WORDS * WORD_BITS ? count : WORDS * WORD_BITS;
}

/* The first piece from `from` on that nobody took; `pieces` where there is none. */
static size_t find_piece(const struct loop *loop, size_t from, size_t pieces)
{
    for (size_t word = from / WORD_BITS; word * WORD_BITS < pieces; word++) {
        uint64_t left = ~atomic_load_explicit(&loop->taken[word], memory_order_relaxed);
        if (word == from / WORD_BITS)
            left &= ~UINT64_C(0) << from % WORD_BITS;
        if (left)
            return word * WORD_BITS + (size_t)__builtin_ctzll(left);
    }
    return pieces;
}

static void take_piece(struct loop *loop, size_t piece, size_t pieces, unsigned worker)
{
    const size_t count = atomic_load_explicit(&loop->count, memory_order_relaxed);
    const uint64_t bit = UINT64_C(1) << piece % WORD_BITS;
    if (atomic_fetch_or_explicit(&loop->taken[piece / WORD_BITS], bit, memory_order_relaxed) & bit)
        return;
    at_work = true;
    for (size_t i = piece * count / pieces; i < (piece + 1) * count / pieces; i++)
        loop->work(loop->argument, i, worker);
    at_work = false;
}

/* From the thread's own share on to the end, then from the beginning. */
static void take_iterations(struct loop *loop, unsigned worker, unsigned threads)
{
    const size_t pieces = pieces_of(loop);
    size_t piece = worker * pieces / threads;
    while ((piece = find_piece(loop, piece, pieces)) < pieces)
        take_piece(loop, piece, pieces, worker);
    while ((piece = find_piece(loop, 0, pieces)) < pieces)
        take_piece(loop, piece, pieces, worker);
}

static void offer_iterations(struct loop *loop, size_t count)
{
    atomic_store_explicit(&loop->count, count, memory_order_relaxed);
    const size_t pieces = pieces_of(loop);
    for (size_t word = 0; word < WORDS; word++) {
        const size_t before = pieces > word * WORD_BITS ? pieces - word * WORD_BITS : 0;
        atomic_store_explicit(&loop->taken[word], before < WORD_BITS ? ~UINT64_C(0) << before : 0,
                              memory_order_relaxed);
    }
}

static void leave(struct penstock__pool *pool, struct loop *loop)
{
    if (atomic_fetch_sub(&loop->inside, 1) - 1 != CLOSED || !atomic_load(&pool->waiting))
        return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->helper_left);
    pthread_mutex_unlock(&pool->lock);
}

/* Works in the loop if there is one with iterations left; whether it was open. */
static bool join(struct penstock__pool *pool, struct loop *loop, unsigned worker)
{
    const size_t pieces = pieces_of(loop);
    if (atomic_load(&loop->inside) & CLOSED || find_piece(loop, 0, pieces) == pieces)
        return false;
    const bool open = !(atomic_fetch_add(&loop->inside, 1) & CLOSED);
    if (open)
        take_iterations(loop, worker, pool->threads);
    leave(pool, loop);
    return open;
}

/* Until something is posted after what was `seen`. A caller that posts looks for sleepers afterwards, and a thread
 * counts itself among these before it looks for the last time: one of the two sees the other. */
static void sleep_after(struct penstock__pool *pool, unsigned seen)
{
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->asleep, 1);
    while (!atomic_load(&pool->stop) && atomic_load(&pool->posted) == seen)
        pthread_cond_wait(&pool->posted_or_stopped, &pool->lock);
    atomic_fetch_sub(&pool->asleep, 1);
    pthread_mutex_unlock(&pool->lock);
}

static void *help(void *argument)
{
    struct helper *self = argument;
    struct penstock__pool *pool = self->pool;
    while (!atomic_load(&pool->stop)) {
        const unsigned seen = atomic_load(&pool->posted);
        bool worked = false;
        for (unsigned i = 0; i < PLACES; i++)
            worked |= join(pool, &pool->loops[i], self->worker);
        if (worked)
            continue;
        atomic_store(&self->watches, true);
        const bool more = watch(pool, &pool->posted, seen, true);
        atomic_store(&self->watches, false);
        if (!more)
            sleep_after(pool, seen);
    }
    return NULL;
}

/* ---------------------------------------------------------------- life ------------------------ */

static void start(struct penstock__pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    if (!atomic_load(&pool->started)) {
        while (pool->running + 1 < pool->threads) {
            struct helper *helper = &pool->helpers[pool->running];
            helper->pool = pool;
            helper->worker = pool->running + 1;
            if (penstock__thread_create(&helper->thread, NULL, help, helper))
                break;
            pool->running++;
        }
        atomic_store(&pool->started, true);
    }
    pthread_mutex_unlock(&pool->lock);
}

static void init_conditions(struct penstock__pool *pool)
{
    pthread_cond_init(&pool->posted_or_stopped, NULL);
    pthread_cond_init(&pool->helper_left, NULL);
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
    new->spin = spin;
    for (unsigned i = 0; i < PLACES; i++)
        atomic_init(&new->loops[i].inside, CLOSED);
    pthread_mutex_init(&new->lock, NULL);
    init_conditions(new);
    *pool = new;
    return PENSTOCK_OK;
}

void penstock__pool_free(struct penstock__pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->stop, true);
    atomic_fetch_add(&pool->posted, 1);
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

/* ---------------------------------------------------------------- callers --------------------- */

/* A free place, or NULL. */
static struct loop *take_place(struct penstock__pool *pool)
{
    for (unsigned i = 0; i < PLACES; i++)
        if (!atomic_load_explicit(&pool->loops[i].used, memory_order_relaxed) &&
            !atomic_exchange(&pool->loops[i].used, true))
            return &pool->loops[i];
    return NULL;
}

/* Up to `most` of those that sleep, as far as fewer than `wanted` are awake without work. */
static void wake(struct penstock__pool *pool, size_t wanted, size_t most)
{
    const unsigned asleep = atomic_load(&pool->asleep);
    if (!asleep || !most)
        return;
    size_t awake = 0;
    for (unsigned i = 0; i < pool->running; i++)
        awake += atomic_load_explicit(&pool->helpers[i].watches, memory_order_relaxed);
    if (awake >= wanted)
        return;
    most = most < wanted - awake ? most : wanted - awake;
    pthread_mutex_lock(&pool->lock);
    for (size_t i = 0; i < most && most < asleep; i++)
        pthread_cond_signal(&pool->posted_or_stopped);
    if (most >= asleep)
        pthread_cond_broadcast(&pool->posted_or_stopped);
    pthread_mutex_unlock(&pool->lock);
}

/* Nobody joins any more, and those inside have left. */
static void close_loop(struct penstock__pool *pool, struct loop *loop)
{
    atomic_fetch_or(&loop->inside, CLOSED);
    if (!watch(pool, &loop->inside, CLOSED, false)) {
        pthread_mutex_lock(&pool->lock);
        atomic_fetch_add(&pool->waiting, 1);
        while (atomic_load(&loop->inside) != CLOSED)
            pthread_cond_wait(&pool->helper_left, &pool->lock);
        atomic_fetch_sub(&pool->waiting, 1);
        pthread_mutex_unlock(&pool->lock);
    }
    atomic_store(&loop->used, false);
}

void penstock__parallel_waking(penstock_context *context, size_t count, size_t most,
                               void (*work)(void *argument, size_t i, unsigned worker), void *argument)
{
    struct penstock__pool *pool = context->pool;
    struct loop *loop = count > 1 && context->threads > 1 && !at_work ? take_place(pool) : NULL;
    if (!loop) {
        for (size_t i = 0; i < count; i++)
            work(argument, i, 0);
        return;
    }
    if (!atomic_load(&pool->started))
        start(pool);
    loop->work = work;
    loop->argument = argument;
    offer_iterations(loop, count);
    atomic_fetch_and(&loop->inside, ~CLOSED);
    atomic_fetch_add(&pool->posted, 1);
    wake(pool, count - 1, most);
    take_iterations(loop, 0, pool->threads);
    close_loop(pool, loop);
}

void penstock__parallel(penstock_context *context, size_t count,
                        void (*work)(void *argument, size_t i, unsigned worker), void *argument)
{
    penstock__parallel_waking(context, count, count, work, argument);
}

/* ---------------------------------------------------------------- forks ----------------------- */

void penstock__pool_lock(struct penstock__pool *pool)
{
    pthread_mutex_lock(&pool->lock);
}

void penstock__pool_unlock(struct penstock__pool *pool)
{
    pthread_mutex_unlock(&pool->lock);
}

/* No thread of the pool is here, nor the callers of loops that were on their way. */
void penstock__pool_renew(struct penstock__pool *pool)
{
    init_conditions(pool);
    for (unsigned i = 0; i < PLACES; i++) {
        atomic_store(&pool->loops[i].inside, CLOSED);
        atomic_store(&pool->loops[i].used, false);
    }
    for (unsigned i = 0; i < pool->running; i++)
        atomic_store(&pool->helpers[i].watches, false);
    atomic_store(&pool->asleep, 0);
    atomic_store(&pool->waiting, 0);
    atomic_store(&pool->started, false);
    pool->running = 0;
}
