/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The cache folder's size. */
#ifndef PENSTOCK_CORE_CACHE_BOUND_H
#define PENSTOCK_CORE_CACHE_BOUND_H

#include <penstock/cache.h>

/* Each of our files begins so. */
#define PENSTOCK__CACHE_MARK "penstock cache "

void penstock__cache_bound_init(penstock_context *context);

/* Before a file of so many bytes is written to the folder. False: it is too large to be kept. */
bool penstock__cache_make_room(penstock_context *context, size_t bytes);

/* Of an open file: it is used. */
void penstock__cache_note_use(int descriptor);

#endif
