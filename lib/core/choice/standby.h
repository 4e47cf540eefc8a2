/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Looking again. Of two processors that "auto" has timed, one works and the other stands by. What the work costs its
 * caller is watched; where that would be clearly less with the other one by what is known of it, three windows of 0.1 s
 * in a row, the owner makes itself ready there and goes over (core/choice/cpu_while_compiling.h).
 *
 * What is compared is the time that passes for a unit: what the owner spends, for what it would spend there, and what
 * its caller spends besides. So a stream that waits for its source most of the time stays where it is. A processor that
 * was left is believed to be as slow as it was; after a while, which doubles with every move, as fast as it was timed.
 *
 * Besides are copies too, which one of the two needs and the other does not: how much that is shows before and after a
 * move. And a device may have its batches while the owner does what is besides, which only a try can tell: where that
 * was no gain, the owner goes back.
 */
#ifndef PENSTOCK_CORE_STANDBY_H
#define PENSTOCK_CORE_STANDBY_H

#include "core/choice/async_build.h"

/* Of a unit, seconds: what the owner spends, and what its caller does besides. 0: not known. */
struct penstock__cost {
    double busy_s, besides_s;
};

/* An owner's, zero before; nothing is to be freed. */
struct penstock__standby {
    struct penstock__timed timed; /* `other` "": nothing stands by */
    struct penstock__maker maker;
    void *owner;
    unsigned forks; /* of the process that has the devices */
    bool there;     /* the other device works, and the CPU stands by */

    /* Since the window began. */
    double window_s, entered_s, busy_s; /* the first two: times by penstock__now_s(), 0: none */
    double units, batches;
    unsigned timed_of, left_out;   /* one batch in so many is timed; as many that are not still come */
    bool timing;                   /* the batch in hand is timed, with the wait for it */
    unsigned slow, promising;      /* windows in a row that cost too much, or may do so */
    double slowdown;               /* in the last one: time over what it would have been, or may have been */
    struct penstock__cost last;    /* of about the last three */
    bool looking;                  /* the owner is being made ready on the processor that stands by */
    bool tried;                    /* the last move was a try */
    unsigned windows;              /* since the last move */
    double left_s;                 /* when that was */
    double believe_s;              /* from then on, how long what was left is believed to be as slow as it was */
    struct penstock__cost seen[2]; /* around it, on the CPU and on the other device */
};

/* Around a batch of `units` on the processor that works; `build` is the owner's that is being made, or NULL. And around
 * waiting for it, where that is apart: 0 units. Of short ones some are timed for all. */
void penstock__standby_enter(struct penstock__standby *standby, const struct penstock__async_build *build);
void penstock__standby_wait(struct penstock__standby *standby);
void penstock__standby_leave(struct penstock__standby *standby, struct penstock__async_build *build, size_t units);

/* From the end of a build on; `there`: what was made works from now on, on the other device. */
void penstock__standby_begin(struct penstock__standby *standby, const struct penstock__async_build *build, bool there);

/* Whether it is time to go over; and whether that is a try, which may be no gain. The names of the two processors. */
bool penstock__standby_due(const struct penstock__standby *standby);
bool penstock__standby_tries(const struct penstock__standby *standby);
const char *penstock__standby_working(const struct penstock__standby *standby);
const char *penstock__standby_idle(const struct penstock__standby *standby);

/* The owner has gone over. Or stays where it is from now on. */
void penstock__standby_moved(struct penstock__standby *standby);
void penstock__standby_end(struct penstock__standby *standby);

/* Whether the owner may go over at some time, so that what it is made from is still needed. */
bool penstock__standby_waits(const struct penstock__standby *standby);

#endif
