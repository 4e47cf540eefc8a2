/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Where received frames go: the table on standard output, JSON lines, a pcap file, a picture of the
 * constellation. Each is one `const struct frame_output`; the receiver opens those that were asked for.
 */
#ifndef PENSTOCK_APPS_FRAMES_H
#define PENSTOCK_APPS_FRAMES_H

#include "tally.h"

/* What is known of the stream that the frames come from. */
struct stream_facts {
    double rate_hz;
    double frequency_hz;  /* 0: unknown */
    uint64_t start_s;     /* of the first sample, seconds since 1970; 0: unknown */
    const uint64_t *lost; /* samples that were lost before the frame at hand; lives as long as the outputs */
};

/* What the closing line tells of the whole reception. */
struct reception_totals {
    const char *device;
    penstock_wifi_counters receiver;
    struct tally tally; /* of the source */
};

/* Each function returns an exit code, and has told what went wrong if that is not EXIT_DONE. */
struct frame_output {
    /* `path` "-" is standard output. On failure *state is NULL. */
    int (*open)(void **state, const char *path, const struct stream_facts *facts);
    int (*frame)(void *state, const penstock_wifi_frame *frame);
    /* After the last frame; NULL: the output has no place for it. */
    int (*totals)(void *state, const struct reception_totals *totals);
    /* Frees the state; NULL is fine. With `keep` completes the output before, which outfile_complete() then puts into
     * its place. */
    int (*close)(void *state, bool keep);
};

extern const struct frame_output frame_table, frame_json, frame_pcap, frame_constellation;

#endif
