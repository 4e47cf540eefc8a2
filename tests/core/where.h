/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Where a slow call spends its time: from 20 ms on, the stacks of all threads are looked at each 5 ms. What the slowest
 * call so far waited for is told at the end, by the functions' names. Nothing of it under sanitizers.
 */
#ifndef PENSTOCK_TEST_WHERE_H
#define PENSTOCK_TEST_WHERE_H

/* Once, before the first call. */
void where_start(void);

/* Around a call, on one thread at a time. */
void where_begin(void);
void where_end(void);

/* Of the slowest one. */
void where_tell(void);

#endif
