/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a helper process that tries drivers tells of them, and what its end means. */
#ifndef PENSTOCK_PROBE_SESSION_H
#define PENSTOCK_PROBE_SESSION_H

#include "probe/result.h"

/* How long a result holds: the later one here outweighs those before it. */
enum penstock__holds {
    PENSTOCK__FOR_ALL,     /* in the cache folder: it lies in the driver */
    PENSTOCK__FOR_PROCESS, /* an error: may be different in another process */
    PENSTOCK__FOR_NOW,     /* killed: may be different next time */
    PENSTOCK__CANCELLED,   /* nobody waited for it: nothing was found out */
    PENSTOCK__NO_HELPER,   /* none that answers */
};

struct penstock__probe_session {
    const char *const *arguments; /* of penstock-probe, which NULL ends */
    int input;                    /* that it reads, or -1 */
    unsigned silence_s;           /* that it may keep */
    double end_s;                 /* of penstock__now_s(), when its time is over */
    bool through; /* after a run: it told of all that it was asked, and did not go down with one of the devices */
};

/* Starts penstock-probe and adds what it tells to the result, until it is through or ends, keeps silent for too long,
 * or nobody wants to know any more (penstock__cancelled()). */
enum penstock__holds penstock__session_run(struct penstock__probe_session *session,
                                           struct penstock__probe_result *result);

#endif
