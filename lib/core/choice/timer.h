/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Timing of candidates for a choice: devices, launch configurations. The CPU that serves meanwhile has its turns
 * between bursts of rounds, so that neither is timed beside the other.
 */
#ifndef PENSTOCK_CORE_TIMER_H
#define PENSTOCK_CORE_TIMER_H

#include <stddef.h>

/* Seconds of a round: the median of those of some bursts, 50 ms in all after two rounds to warm up. A round sends the
 * batches that are in flight at once and waits for no more than it must. */
int penstock__time_rounds(double *seconds, int (*round)(void *argument), void *argument);

/* Rounds that have a clock of their own and take candidates in turns: `most`, or as many as begin within `budget_s`.
 * *spent_s: what they took. */
int penstock__time_turns(double *spent_s, unsigned most, double budget_s, int (*round)(void *argument), void *argument);

#endif
