/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What came of probing a driver, and its text: lines that the helper writes and that the cache folder keeps. */
#ifndef PENSTOCK_PROBE_RESULT_H
#define PENSTOCK_PROBE_RESULT_H

#include "backends/backend.h"

#define PENSTOCK__MAX_DEVICES 16 /* of a backend */

/* The lines. Each but "done" and the first kind may be there for each device, in the order of the devices. */
#define PENSTOCK__RESULT_DEVICE "device " /* product and driver of the next device, which is tried now */
#define PENSTOCK__RESULT_STEP   "step "   /* what the driver does from now on ("compiled a first kernel") */
#define PENSTOCK__RESULT_GOOD   "good"    /* of that device */
#define PENSTOCK__RESULT_BAD    "bad "    /* and why; no device was there yet: of all devices of the backend */
#define PENSTOCK__RESULT_LATE   "late "   /* the same: no answer in time */
#define PENSTOCK__RESULT_DONE   "done"

enum penstock__outcome {
    PENSTOCK__GOOD,
    PENSTOCK__BAD,  /* a crash, an error, wrong values */
    PENSTOCK__LATE, /* no answer in time */
};

/* With the reason as a text; "" where it is good. */
struct penstock__finding {
    enum penstock__outcome outcome;
    char reason[256];
};

struct penstock__probe_result {
    struct penstock__finding whole; /* why none of the backend's devices can be had */
    bool untried;                   /* there was no helper, or nobody waited for it: nothing is known of any device */
    unsigned count;                 /* devices that were tried */
    struct {
        char identity[264]; /* product and driver */
        struct penstock__finding finding;
    } devices[PENSTOCK__MAX_DEVICES];
};

/* Reads such lines. */
struct penstock__result_reader {
    struct penstock__probe_result *result;
    char doing[64]; /* the last step, or "" */
    bool trying;    /* a device of which nothing was said yet */
    bool done;
};

void penstock__result_identity(char identity[264], const struct penstock_device *device);

/* One line, without its end. False where it is none of the above, or one too many. */
bool penstock__result_read_line(struct penstock__result_reader *reader, const char *line);

/* A finding for the device that is tried, or for the whole backend where none is. */
void penstock__result_blame(struct penstock__result_reader *reader, enum penstock__outcome outcome, const char *reason);

/* The lines as a whole. read: false, and a result of no use, where anything is wrong with them. */
size_t penstock__result_write(char *text, size_t capacity, const struct penstock__probe_result *result);
bool penstock__result_read(struct penstock__probe_result *result, const char *text);

/* Whether the result is about these devices. */
bool penstock__result_fits(const struct penstock__probe_result *result, const struct penstock_device *rows,
                           size_t count);

/* Gives each device its reason, and counts those of the same identity before it. One that no helper has met may be the
 * one that crashes, and is not offered. */
void penstock__result_apply(const struct penstock__probe_result *result, struct penstock_device *rows, size_t count);

/* Whether the whole or a device has that outcome. */
bool penstock__result_has(const struct penstock__probe_result *result, enum penstock__outcome outcome);

#endif
