/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A thing on its way to a device: kernels may take seconds to compile, which a thread of its own waits for, so that the
 * CPU can serve meanwhile.
 */
#ifndef PENSTOCK_CORE_ASYNC_BUILD_H
#define PENSTOCK_CORE_ASYNC_BUILD_H

#include "backends/backend.h"

/* How a thing is made on a device, "cpu" or what was asked for, and freed. What `owner` points to is the maker's. */
struct penstock__maker {
    int (*make)(void **made, void *owner, const char *device);
    void (*free)(void *made);
    const char *(*device)(const void *made); /* name of the one that it is on; NULL: not the CPU */
    bool both_ways;                          /* from a device that works, too, its owner goes over to the CPU */
    bool overlaps;                           /* its owner does other things while a device has a batch */
};

/* What a choice came to: seconds of a unit on the CPU, and on the fastest other device; 0: not known. */
struct penstock__timed {
    double cpu_s, other_s;
    char other[56]; /* its name; "": there is none */
};

struct penstock__async_build;

/* Begins to make it, with the first question for it `after_s` seconds from now at the earliest; `owner` must live until
 * the build is freed, the text need not. */
int penstock__async_build_new(struct penstock__async_build **build, const struct penstock__maker *maker, void *owner,
                              const char *device, double after_s);

/* Whether it is there, or has failed; waits for it `seconds` at most. */
bool penstock__async_build_done(struct penstock__async_build *build, double seconds);

/* Once it is done: the thing, which is the caller's then, or the failure with its text. */
int penstock__async_build_take(struct penstock__async_build *build, void **made);

/* The CPU serves from now on. */
void penstock__async_build_overtake(struct penstock__async_build *build);

/* Around a batch that it does so. `build` may be NULL. And in the thread of a build, around some rounds of a
 * measurement: these are not timed beside a batch of the CPU, nor is a batch slowed down by them. */
void penstock__async_build_serve(struct penstock__async_build *build);
void penstock__async_build_served(struct penstock__async_build *build);
void penstock__async_build_measure(void);
void penstock__async_build_measured(void);

/* In the stream's thread: what a unit costs on the CPU as it serves, seconds; 0: it has time to spare. And in the
 * thread of a build, the least of it so far: a build disturbs what is at work beside it. */
void penstock__async_build_feel(struct penstock__async_build *build, double seconds);
double penstock__async_build_felt_s(void);

/* In the thread of a build: what its first choice came to. And once it is done. */
void penstock__async_build_tell(const struct penstock__timed *timed);
struct penstock__timed penstock__async_build_timed(const struct penstock__async_build *build);

/* In the thread of a build: whether that is so. The processor has other work then. */
bool penstock__overtaken(void);

const struct penstock__maker *penstock__async_build_maker(const struct penstock__async_build *build);
void *penstock__async_build_owner(const struct penstock__async_build *build);

/* "cuda:0", "auto" */
const char *penstock__async_build_name(const struct penstock__async_build *build);

/* Nobody waits for it any more: what can end does so, and none of it is told. `build` may be NULL. */
void penstock__async_build_cancel(struct penstock__async_build *build);

/* Cancels it, and waits for a compiler that is at work: not all can be stopped. */
void penstock__async_build_free(struct penstock__async_build *build);

#endif
