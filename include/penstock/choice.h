/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Why "auto" took a device, and not part of penstock.h: `penstock devices --why CASE` is made of this.
 */
#ifndef PENSTOCK_CHOICE_H
#define PENSTOCK_CHOICE_H

#include <penstock/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a choice by "auto" came to for one device. Texts live as long as the call that they are given to. */
typedef struct penstock_choice {
    size_t size;        /* of this struct */
    const char *what;   /* that was to be done, one line: the same for all devices of one choice */
    const char *device; /* its name */
    bool candidate;     /* it took part */
    bool chosen;        /* it was taken: one of them */
    bool remembered;    /* by an earlier measurement in this context or from the cache folder, not measured now */
    double seconds;     /* of a unit, transfers included; 0: not timed */
    const char *unit;   /* "frame" of a plan, "sample" of a filter's input */
    const char *why;    /* in words */
} penstock_choice;

typedef void penstock_choice_fn(void *user, const penstock_choice *choice);

/*
 * From now on `tell` is called for each device of the table whenever "auto" has chosen one, in their order, by the
 * thread that chose: that of the call that opens a plan or stream or, in a context with cpu_while_compiling, one of the
 * library's. It must not open anything in the context, and `user` must live as long as the context. NULL: no more.
 * Kernels of which a filter or demodulator consists follow it to its device; nothing is told of them. Nor is it of what
 * only the CPU does. PENSTOCK_ERR_ARGUMENT where the context is NULL.
 */
PENSTOCK_API int penstock_context_tell_choices(penstock_context *context, penstock_choice_fn *tell, void *user);

#ifdef __cplusplus
}
#endif

#endif
