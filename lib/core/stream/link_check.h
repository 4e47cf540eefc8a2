/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What can be linked to what: errors that name the public function `call`. */
#ifndef PENSTOCK_CORE_LINK_CHECK_H
#define PENSTOCK_CORE_LINK_CHECK_H

#include "core/stream/link.h"

#define PENSTOCK__LINK_WHOLE SIZE_MAX /* for a channel: all of an item */

int penstock__link_check(const char *call, const penstock_stream *from, size_t channel, const penstock_stream *to);

/* `next` into what comes behind `from`, instead of it. */
int penstock__link_check_next(const char *call, const penstock_stream *from, const penstock_stream *next);

#endif
