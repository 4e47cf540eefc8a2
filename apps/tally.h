/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a command took, gave and lost on the way: the end of its closing line, and its warnings. */
#ifndef PENSTOCK_APPS_TALLY_H
#define PENSTOCK_APPS_TALLY_H

#include "shared/command.h"

#include <stdio.h>

/* All of the source and of the sinks that it went to, added up. */
struct tally {
    penstock_source_counters in; /* size 0: the command reads nothing */
    penstock_sink_counters out;  /* size 0: it writes no samples */
};

/* Adds a source or a sink to a tally that began as zeros; NULL is fine. */
void tally_source(struct tally *tally, const penstock_source *source);
void tally_sink(struct tally *tally, const penstock_sink *sink);

struct tally_count {
    const char *name; /* in the closing line */
    const char *key;  /* in JSON */
    uint64_t count;
};

enum { TALLY_INPUT_COUNTS = 8, TALLY_COUNTS = 10 };

/* All counts of trouble, zeros too, in one order for all commands: those of the input first. */
void tally_list(struct tally_count counts[TALLY_COUNTS], const struct tally *tally);

/* ", clipped 3, samples lost 1000": what is not zero of the list. */
void tally_print(FILE *out, const struct tally *tally);

/* A warning for samples that were spoilt: clipped, or not finite. */
void tally_warn(const struct tally *tally);

#endif
