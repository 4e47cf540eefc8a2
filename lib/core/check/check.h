/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The self-check of a plan. */
#ifndef PENSTOCK_CORE_CHECK_H
#define PENSTOCK_CORE_CHECK_H

#include "core/plan/executor.h"

/* Runs an impulse and random samples through slot 0 and compares with double precision: PENSTOCK_ERR_CHECK with the
 * error that was found, or what made the device fail. */
int penstock__check(struct penstock__executor *executor);

/* The part for problems of kind OFDM: soft bits may be off by one, and by what an angle's rounding does to them. */
int penstock__check_ofdm(struct penstock__executor *executor);

/* For problems of kind VITERBI: blocks come back as they were coded, and from noise comes what is as likely as any. */
int penstock__check_viterbi(struct penstock__executor *executor);

/* For problems of kind LDPC: what is decoded from noise is what the rule says to the last bit; without noise, or of a
 * backend that does not round, zeros come back. */
int penstock__check_ldpc(struct penstock__executor *executor);

/* For problems of kind FILTER: relative L2 2e-7 sqrt(log2 n). */
int penstock__check_filter(struct penstock__executor *executor);

/* For problems of kind RESAMPLE: relative L2 5e-7. */
int penstock__check_resample(struct penstock__executor *executor);

/* For problems of kind CODED: all bits and counts, and the distance to 1e-5. */
int penstock__check_coded(struct penstock__executor *executor);

/* ---------------------------------------------------------------- check_known.c --------------- */

/*
 * Plans with a window that passed their check. The window's values change while streams run, and the code is the same
 * with all of them: a plan that takes the place of one like it is checked by one frame of noise, so that a change takes
 * no longer than it must.
 */

/* What a plan is but for its window's values; 0: one without a window. */
uint64_t penstock__check_likeness(const struct penstock__executor *executor);

/* Until it is called with false, plans that this thread makes take the place of others. */
void penstock__check_replaces(bool replaces);

/* Whether it takes the place of one, and one like it passed in this context, of the last PENSTOCK__CHECKED ones. */
bool penstock__check_passed(penstock_context *context, uint64_t likeness);
void penstock__check_remember(penstock_context *context, uint64_t likeness);

#endif
