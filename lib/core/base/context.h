/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a context holds, for the core's own files. */
#ifndef PENSTOCK_CORE_CONTEXT_H
#define PENSTOCK_CORE_CONTEXT_H

#include "backends/backend.h"

#include <penstock/choice.h>

#include <pthread.h>
#include <stdatomic.h>

struct penstock__pool;
struct penstock__wisdom;
struct penstock__held;
struct penstock__host_block;
struct penstock__group;
struct penstock__left;

enum penstock__kind_state {
    PENSTOCK__UNASKED,
    PENSTOCK__ASKED,    /* its driver has not answered */
    PENSTOCK__ANSWERED, /* with rows, or an error for want of memory */
    PENSTOCK__LISTED,   /* the rows are in the table */
};

/* Devices of one backend. */
struct penstock__kind {
    penstock_context *context;
    atomic_int state;
    int status;                     /* of the answer */
    bool held;                      /* the driver has held in another process */
    double asked_s;                 /* when it was */
    struct penstock_device waiting; /* the row until it has answered */
    struct penstock_device *rows;   /* then at least one: where a kind is absent, its row says why */
    size_t count;
};

/* The device that is being opened: one at a time. */
struct penstock__opening {
    struct penstock_device *device; /* NULL: none */
    struct penstock_device *failed; /* the last one, if it did: */
    int status;
    char text[512];
};

/* Threads of the context that wait for drivers: core/device/background.h. */
struct penstock__background {
    unsigned threads, in_driver; /* all of them, and those that nothing can end */
    atomic_bool closing;
    void (*destroy)(penstock_context *context); /* not NULL: the context was freed, and the last thread calls it */
    atomic_bool has_driver;                     /* what is freed may have to wait for one */
    struct penstock__left *left, *last_left;    /* objects that are to be freed, the oldest first */
    uint64_t left_count, freed_count;           /* so far */
    bool frees;                                 /* a thread does so */
};

#define PENSTOCK__CHECKED 32

struct penstock_context {
    penstock_context *following; /* in the list of core/base/fork.c */
    unsigned threads;
    penstock_log_fn *log;
    void *log_user;
    pthread_mutex_t log_lock;          /* one log call at a time */
    bool silent;                       /* with that lock: the context was freed, and its last thread goes on */
    char *cache_dir;                   /* NULL: nowhere */
    atomic_uint_fast64_t cache_unseen; /* bytes written to it since its files were counted */
    char *kernel_path;                 /* NULL: none */
    bool cpu_while_compiling;          /* the CPU may serve while kernels are compiled */
    bool begins;                       /* and begins with "auto" */
    struct penstock__pool *pool;

    pthread_mutex_t table_lock; /* over the next five */
    pthread_cond_t table_changed;
    struct penstock__kind *kinds;   /* the device table: one of each entry of penstock__backends */
    struct penstock__group *groups; /* that were named: core/device/device_group.h */
    struct penstock__opening opening;
    struct penstock__background background;
    double patience_s; /* for drivers that nobody named; 0: until they answer */

    pthread_mutex_t host_lock;
    struct penstock__host_block *host_blocks; /* that were given out */
    struct penstock__held *freed_buffers;     /* handles that are still known, the oldest first; with host_lock */
    unsigned freed_count;

    pthread_mutex_t choice_lock; /* one measurement for "auto" at a time */
    atomic_bool absent_told;     /* why "auto" has one device alone */
    atomic_uint left_out_told;   /* hash of what was said last of a device that it does without */

    pthread_mutex_t wisdom_lock;
    struct penstock__wisdom *wisdom; /* answers of measurements so far */
    penstock_choice_fn *tell_choice; /* or NULL; with wisdom_lock */
    void *tell_user;

    pthread_mutex_t tune_lock; /* taken after choice_lock */

    atomic_ullong checked[PENSTOCK__CHECKED]; /* plans with a window that passed: core/check/check_known.c */
    atomic_uint checked_count;
};

/* What penstock_log_as() was given in this thread. */
void *penstock__log_user(void);

/* Waits for a call of the log that is under way; what is cancelled makes none any more. */
void penstock__log_settle(penstock_context *context);

/* Before waiting for what may log: PENSTOCK_ERR_STATE, with text, in a log callback, which other lines wait for. */
int penstock__log_lets_wait(void);

/* Threads, the caller's included, are started by the first call that has work for them. `spin`: a thread may stay awake
 * for some microseconds in case that more work comes; not where threads outnumber processors. */
int penstock__pool_new(struct penstock__pool **pool, unsigned threads, bool spin);
void penstock__pool_free(struct penstock__pool *pool);

/* As penstock_host_memory_new(), for a device that is open, or NULL. */
int penstock__host_block_new(void **memory, penstock_context *context, struct penstock_device *device, size_t bytes);

/* Whether memory is in one of them that is a device's own: processors write to it, and do not read what they wrote. */
bool penstock__host_is_read_by_device(penstock_context *context, const void *memory);

/* Whether one of them is from a device whose driver stayed with the process that forked this one. */
bool penstock__host_blocks_gone(penstock_context *context);
void penstock__host_blocks_free(penstock_context *context);

#endif
