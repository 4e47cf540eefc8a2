/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* SIGINT and SIGTERM ask long work to end in good order; a second one ends the program at once. */
#ifndef PENSTOCK_APPS_INTERRUPT_H
#define PENSTOCK_APPS_INTERRUPT_H

#include <penstock/penstock.h>

/* From now on an interrupt is remembered, and stops `source` (NULL: none). Set to NULL before the source is freed. */
void interrupt_watch(penstock_source *source);

bool interrupted(void);

/* Where an interrupt has left work undone, tells of it. Returns `code`: to be interrupted is no fault. */
int interrupt_tell(int code);

#endif
