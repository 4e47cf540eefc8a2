/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The frames that bench --study per sends. */
#ifndef PENSTOCK_APPS_STUDY_FRAMES_H
#define PENSTOCK_APPS_STUDY_FRAMES_H

#include "cases/recordings.h"
#include "study.h"

enum { STUDY_MOST_FRAMES = 16 };

/* A frame of known content, of mean power one before the offsets of the study. */
struct study_frame {
    penstock_cf32 *samples;
    size_t count;
    uint8_t *psdu;
};

struct study_frames {
    struct study_frame frame[STUDY_MOST_FRAMES];
    size_t count;
    bool recorded;
};

/* Frames of one rate, into a zeroed struct, which is to be freed after a failure too. Returns an exit code. */
int study_frames_find(struct study_frames *frames, const struct study *study, const struct recordings *recordings,
                      double mbps);
void study_frames_free(struct study_frames *frames);

#endif
