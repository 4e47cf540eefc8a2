/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a helper process that tries drivers tells of them, and what its end means. */
#ifndef PENSTOCK_CORE_HEARING_H
#define PENSTOCK_CORE_HEARING_H

#include "core/verdict.h"

/* How long a verdict holds: the later one here outweighs those before it. */
enum penstock__holds {
    PENSTOCK__FOR_ALL,     /* in the cache folder: it lies in the driver */
    PENSTOCK__FOR_PROCESS, /* too slow or an error: may be different in another process */
    PENSTOCK__FOR_NOW,     /* killed: may be different next time */
    PENSTOCK__NO_HELPER,   /* none that answers */
};

struct penstock__hearing {
    const char *const *arguments; /* of penstock-probe, which NULL ends */
    int input;                    /* that it reads, or -1 */
    unsigned silence_s;           /* that it may keep */
    double end_s;                 /* of penstock__now_s(), when its time is over */
    /* Of the last one that was heard. */
    bool through; /* it told of all that it was asked, and did not go down with one of the devices */
    bool late;
};

/* Starts penstock-probe and adds what it tells to the verdict, until it is through or ends, keeps silent for too long,
 * or nobody wants to know any more (penstock__abandoned()). */
enum penstock__holds penstock__hear(struct penstock__verdict *verdict, struct penstock__hearing *hearing);

/* A crash found once is taken to be one for so long: it may have had other causes than the driver's files. */
#define PENSTOCK__CRASH_KEPT_S 3600

#endif
