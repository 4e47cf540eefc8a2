/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Structs that cross the API and may grow: each begins with `size_t size`, set by its macro. These two functions are
 * how the library reads and fills in such a struct of a caller that was built against an earlier or later header.
 */
#ifndef PENSTOCK_CORE_DESCRIPTION_H
#define PENSTOCK_CORE_DESCRIPTION_H

#include <stddef.h>

/*
 * The caller's struct `from` into ours, `to` of `bytes` bytes: what an earlier caller lacks becomes zero, the default.
 * `type` is the struct's name for the error text: `from` is NULL, its size is not set, or a later caller
 * has set a field that this library does not know.
 */
int penstock__description_read(void *to, size_t bytes, const void *from, const char *type);

/* Our struct `from` of `bytes` bytes into the caller's `to`, as far as that has room; to->size stays as it is and what
 * a later caller has beyond ours becomes zero. */
int penstock__description_write(void *to, const void *from, size_t bytes, const char *type);

#endif
