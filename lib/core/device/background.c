/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The threads that wait for drivers, and those of them that nobody waits for. */
#include "core/device/background.h"
#include "core/base/cancel.h"
#include "core/base/process_exit.h"
#include "core/base/thread.h"
#include "core/device/backends.h"

#include <dlfcn.h>
#include <math.h>

#define LOOK_S   0.02 /* between two looks at whether a thread is cancelled */
#define ENDING_S 0.3  /* that who frees a context gives to what was cancelled */
#define DRIVER_S 2.0  /* that he gives to a driver, which nothing can end */
#define FREES_S  20.0 /* and to the end of objects: a compiler may be at work for them */
#define LEAVE_S  0.02 /* that who frees an object waits for its end */

/* The library's code must stay where it is for as long as threads run whose context was freed. */
static void stay_loaded(void)
{
    static const char here;
    Dl_info self;
    if (dladdr(&here, &self) && self.dli_fname)
        dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

/* ---------------------------------------------------------------- threads --------------------- */

struct job {
    penstock_context *context;
    void (*work)(void *owner);
    void *owner;
};

static void *run(void *argument)
{
    struct job job = *(struct job *)argument;
    struct penstock__background *background = &job.context->background;
    void (*destroy)(penstock_context * context) = NULL;
    penstock__free(argument);
    penstock__exit_hold();
    penstock__cancel_by(&background->closing);
    job.work(job.owner);
    pthread_mutex_lock(&job.context->table_lock);
    if (!--background->threads)
        destroy = background->destroy;
    pthread_cond_broadcast(&job.context->table_changed);
    pthread_mutex_unlock(&job.context->table_lock);
    if (destroy)
        destroy(job.context);
    penstock__exit_release();
    return NULL;
}

bool penstock__background_start(penstock_context *context, void (*work)(void *owner), void *owner)
{
    struct job *job = penstock__alloc(sizeof *job);
    pthread_attr_t detached;
    pthread_t thread;
    bool started;
    if (!job)
        return false;
    if (pthread_attr_init(&detached)) {
        penstock__free(job);
        return false;
    }
    *job = (struct job){context, work, owner};
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    context->background.threads++;
    started = !penstock__thread_create(&thread, &detached, run, job);
    pthread_attr_destroy(&detached);
    if (!started) {
        context->background.threads--;
        penstock__free(job);
    }
    return started;
}

void penstock__table_changed_init(penstock_context *context)
{
    penstock__condition_init(&context->table_changed);
}

bool penstock__background_wait(penstock_context *context, double end_s)
{
    const double now_s = penstock__now_s();
    double until_s = penstock__cancellable() ? fmin(end_s, now_s + LOOK_S) : fmin(end_s, now_s + 3600);
    if (penstock__cancelled() || now_s >= end_s)
        return false;
    const struct timespec until = penstock__deadline(until_s - now_s);
    pthread_cond_timedwait(&context->table_changed, &context->table_lock, &until);
    return true;
}

void penstock__background_enter(penstock_context *context)
{
    pthread_mutex_lock(&context->table_lock);
    context->background.in_driver++;
    pthread_mutex_unlock(&context->table_lock);
}

void penstock__background_leave(penstock_context *context)
{
    pthread_mutex_lock(&context->table_lock);
    context->background.in_driver--;
    pthread_cond_broadcast(&context->table_changed);
    pthread_mutex_unlock(&context->table_lock);
}

/* ---------------------------------------------------------------- objects --------------------- */

struct penstock__left {
    struct penstock__left *following;
    void (*free_object)(void *object);
    void *object;
};

void penstock__background_has_driver(penstock_context *context)
{
    atomic_store(&context->background.has_driver, true);
}

/* The oldest one, or NULL. With the table_lock. */
static struct penstock__left *take_left(struct penstock__background *background)
{
    struct penstock__left *left = background->left;
    if (left && !(background->left = left->following))
        background->last_left = NULL;
    return left;
}

static void free_left(void *owner)
{
    penstock_context *context = owner;
    struct penstock__background *background = &context->background;
    struct penstock__left *left;
    pthread_mutex_lock(&context->table_lock);
    while ((left = take_left(background))) {
        pthread_mutex_unlock(&context->table_lock);
        left->free_object(left->object);
        penstock__free(left);
        pthread_mutex_lock(&context->table_lock);
        background->freed_count++;
        pthread_cond_broadcast(&context->table_changed);
    }
    background->frees = false;
    pthread_mutex_unlock(&context->table_lock);
}

/* Until the one of that number is freed. With the table_lock. */
static void await_freed(penstock_context *context, uint64_t number, double end_s)
{
    while (context->background.freed_count < number && penstock__background_wait(context, end_s))
        ;
}

/* False where no thread is to be had: it is still the caller's. */
static bool leave(penstock_context *context, struct penstock__left *left)
{
    struct penstock__background *background = &context->background;
    bool frees;
    pthread_mutex_lock(&context->table_lock);
    if ((frees = background->frees || penstock__background_start(context, free_left, context))) {
        background->frees = true;
        if (background->last_left)
            background->last_left->following = left;
        else
            background->left = left;
        background->last_left = left;
        await_freed(context, ++background->left_count, penstock__now_s() + LEAVE_S);
    }
    pthread_mutex_unlock(&context->table_lock);
    return frees;
}

void penstock__background_free(penstock_context *context, void (*free_object)(void *object), void *object)
{
    struct penstock__left *left =
        atomic_load(&context->background.has_driver) && !penstock__exiting() ? penstock__calloc(1, sizeof *left) : NULL;
    if (left) {
        penstock__log_settle(context);
        *left = (struct penstock__left){.free_object = free_object, .object = object};
        if (leave(context, left))
            return;
    }
    penstock__free(left);
    free_object(object);
}

void penstock__background_await_freed(const struct penstock_device *device)
{
    penstock_context *context = device->context;
    if (!(device->backend->flags & PENSTOCK_BACKEND_FRAGILE_DRIVER))
        return;
    pthread_mutex_lock(&context->table_lock);
    await_freed(context, context->background.left_count, penstock__now_s() + DRIVER_S);
    pthread_mutex_unlock(&context->table_lock);
}

/* ---------------------------------------------------------------- ends ------------------------ */

/* What the thread for it was freeing is lost to the child, which frees the rest with the context. */
static void renew_left(struct penstock__background *background)
{
    background->freed_count = background->left_count;
    for (const struct penstock__left *left = background->left; left; left = left->following)
        background->freed_count--;
    background->frees = false;
}

void penstock__background_renew(penstock_context *context)
{
    penstock__table_changed_init(context);
    context->background.threads = context->background.in_driver = 0;
    renew_left(&context->background);
    context->opening.device = NULL;
    for (size_t i = 0; i < penstock__backend_count; i++)
        if (atomic_load(&context->kinds[i].state) == PENSTOCK__ASKED)
            atomic_store(&context->kinds[i].state, PENSTOCK__UNASKED);
    penstock__exit_renew();
}

/* With the table_lock. */
static double patience_s(const struct penstock__background *background)
{
    return background->frees ? FREES_S : background->in_driver ? DRIVER_S : ENDING_S;
}

bool penstock__background_end(penstock_context *context, void (*destroy)(penstock_context *context))
{
    struct penstock__background *background = &context->background;
    const double begun_s = penstock__now_s();
    bool ended;
    pthread_mutex_lock(&context->table_lock);
    atomic_store(&background->closing, true);
    pthread_cond_broadcast(&context->table_changed);
    while (background->threads && penstock__background_wait(context, begun_s + patience_s(background)))
        ;
    if (!(ended = !background->threads)) {
        background->destroy = destroy;
        stay_loaded();
        pthread_mutex_lock(&context->log_lock);
        context->silent = true;
        pthread_mutex_unlock(&context->log_lock);
    }
    pthread_mutex_unlock(&context->table_lock);
    if (ended)
        free_left(context); /* of the process that this one was forked from */
    return ended;
}
