/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A cache without end: what was read once is kept, and a word that memory changed since is noticed. */
#ifndef PENSTOCK_QPU_NEVER_EVICT_H
#define PENSTOCK_QPU_NEVER_EVICT_H

#include <stdbool.h>
#include <stdint.h>

struct never_evict;
struct qpu_emulator;

struct never_evict *qpu_emu__never_evict_new(void); /* NULL without memory */
void qpu_emu__never_evict_free(struct never_evict *kept);
void qpu_emu__never_evict_clear(struct never_evict *kept);

/* The word at `address` (30 bits, a multiple of 4), which memory holds as `now`. False without memory. */
bool qpu_emu__never_evict_read(struct never_evict *kept, struct qpu_emulator *e, uint32_t address, uint32_t now,
                               uint32_t *seen, bool *stale);

/* Memory from `address` on was stored to. */
void qpu_emu__never_evict_store(struct never_evict *kept, uint32_t address, uint32_t bytes);

#endif
