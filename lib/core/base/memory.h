/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Fault injection and leak counting, for tests. */
#ifndef PENSTOCK_CORE_MEMORY_H
#define PENSTOCK_CORE_MEMORY_H

/* The k-th allocation from now on (0 is the next) fails, once; k < 0: none. */
void penstock__memory_fail_at(long k);

/* Allocations asked for so far. */
long penstock__memory_calls(void);

/* Blocks allocated and not yet freed. */
long penstock__memory_live(void);

#endif
