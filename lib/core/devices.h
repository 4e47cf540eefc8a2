/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The device table of a context, and the texts that name devices. */
#ifndef PENSTOCK_CORE_DEVICES_H
#define PENSTOCK_CORE_DEVICES_H

#include "backends/backend.h"
#include "core/plan.h"

/* Fills the table, as far as that has not been done: with the devices of the kind that `name` starts with ("opencl" or
 * "opencl:1"; nothing if there is no such kind), or with all where it is NULL. */
int penstock__devices_probe(penstock_context *context, const char *name);

/* Afterwards: row `index` of that kind or of the whole table, absent kinds included; NULL past the last. */
struct penstock_device *penstock__device_row(penstock_context *context, const char *name, size_t index);

void penstock__devices_free(penstock_context *context);

/* "auto", "NAME", "prefer:NAME" or NULL to a preference and the NAME within `text` (NULL for "auto"). */
int penstock__device_parse(enum penstock_preference *preference, const char **name, const char *text);

/* The present device called `name`: its name, a bare kind (the first of it), or a piece of one product name. */
int penstock__device_find(penstock_context *context, const char *name, struct penstock_device **device);

/* Opens the device unless it is open. */
int penstock__device_open(struct penstock_device *device);

#endif
