/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* SIGINT and SIGTERM ask long work to end in good order; a second one ends the program at once. */
#ifndef PENSTOCK_APPS_INTERRUPT_H
#define PENSTOCK_APPS_INTERRUPT_H

#include <penstock/penstock.h>

/* From now on an interrupt is remembered, and stops `source` (NULL: none). Set to NULL before the source is freed. */
void interrupt_watch(penstock_source *source);

bool interrupted(void);

/* For work that an interrupt leaves undone: tells of it and returns EXIT_DATA. Without an interrupt `code`. */
int interrupt_code(int code);

#endif
