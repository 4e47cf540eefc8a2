/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What came of probing a driver, and its text: lines that the helper writes and that the cache folder keeps. */
#ifndef PENSTOCK_CORE_VERDICT_H
#define PENSTOCK_CORE_VERDICT_H

#include "backends/backend.h"

#define PENSTOCK__MAX_DEVICES 16 /* of a backend */

/* The lines. Each but "done" and the first kind may be there for each device, in the order of the devices. */
#define PENSTOCK__VERDICT_DEVICE "device " /* product and driver of the next device, which is tried now */
#define PENSTOCK__VERDICT_STEP   "step "   /* what the driver does from now on ("compiled a first kernel") */
#define PENSTOCK__VERDICT_GOOD   "good"    /* of that device */
#define PENSTOCK__VERDICT_BAD    "bad "    /* and why; no device was there yet: of all devices of the backend */
#define PENSTOCK__VERDICT_DONE   "done"

struct penstock__verdict {
    char reason[256]; /* why none of the backend's devices can be had; "" where that is not so */
    bool untried;     /* there was no helper: nothing is known of any device */
    unsigned count;   /* devices that were tried */
    struct {
        char identity[264]; /* product and driver */
        char reason[256];   /* why it is not offered, or "" */
    } devices[PENSTOCK__MAX_DEVICES];
};

/* Reads such lines. */
struct penstock__verdict_reader {
    struct penstock__verdict *verdict;
    char doing[64]; /* the last step, or "" */
    bool trying;    /* a device of which nothing was said yet */
    bool done;
};

void penstock__verdict_identity(char identity[264], const struct penstock_device *device);

/* One line, without its end. False where it is none of the above, or one too many. */
bool penstock__verdict_read_line(struct penstock__verdict_reader *reader, const char *line);

/* A reason for the device that is tried, or for the whole backend where none is. */
void penstock__verdict_blame(struct penstock__verdict_reader *reader, const char *reason);

/* The lines as a whole. read: false, and a verdict of no use, where anything is wrong with them. */
size_t penstock__verdict_write(char *text, size_t capacity, const struct penstock__verdict *verdict);
bool penstock__verdict_read(struct penstock__verdict *verdict, const char *text);

/* Whether the verdict is about these devices. */
bool penstock__verdict_fits(const struct penstock__verdict *verdict, const struct penstock_device *rows, size_t count);

/* Gives each device its reason. One that no helper has met may be the one that crashes, and is not offered. */
void penstock__verdict_apply(const struct penstock__verdict *verdict, struct penstock_device *rows, size_t count);

/* Whether nothing was found wrong. */
bool penstock__verdict_all_good(const struct penstock__verdict *verdict);

#endif
