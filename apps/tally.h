/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a command took, gave and lost on the way: the end of its closing line, and its warnings. */
#ifndef PENSTOCK_APPS_TALLY_H
#define PENSTOCK_APPS_TALLY_H

#include "command.h"

#include <stdio.h>

/* All of the source and of the sinks that it went to, added up. */
struct tally {
    penstock_source_counters in; /* size 0: the command reads nothing */
    penstock_sink_counters out;  /* size 0: it writes no samples */
};

/* Adds a source or a sink to a tally that began as zeros; NULL is fine. */
void tally_source(struct tally *tally, const penstock_source *source);
void tally_sink(struct tally *tally, const penstock_sink *sink);

/* ", clipped 3, samples lost 1000": what is not zero, in one order for all commands. */
void tally_print(FILE *out, const struct tally *tally);

/* A warning for samples that were spoilt: clipped, or not finite. */
void tally_warn(const struct tally *tally);

#endif
