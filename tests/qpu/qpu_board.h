/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* An emulated board as the device `qpu` of contexts, and what it reports. */
#ifndef PENSTOCK_TEST_QPU_BOARD_H
#define PENSTOCK_TEST_QPU_BOARD_H

#include "backends/qpu/qpu.h"
#include "test.h"

/* Since the board was made: what it ran and what it still lends. */
extern struct qpu_emulated_report board_report;

/* Of the context's log: warnings, and lines that a filter goes on without the kernel of its own. */
extern unsigned board_warnings, board_unfused;

/* A context without a cache on a new board with these options; NULL is a failure, and counted. */
penstock_context *board_context(struct qpu_emulated_options options);

/* Frees it, and checks that nothing of the board's is left in use. */
void board_free(penstock_context *context);

#endif
