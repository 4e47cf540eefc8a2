/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The device table of a context, and the texts that name devices. */
#ifndef PENSTOCK_CORE_DEVICES_H
#define PENSTOCK_CORE_DEVICES_H

#include "backends/backend.h"
#include "core/plan/plan.h"

/* Fills the table, as far as that has not been done: with the devices of the kind that `name` starts with ("opencl" or
 * "opencl:1"; nothing if there is no such kind), or with all where it is NULL. What is named is waited for; of all,
 * drivers that do not answer within the context's patience are left to go on beside. */
int penstock__devices_probe(penstock_context *context, const char *name);

/* The same with all, and waits for no driver. */
void penstock__devices_ask(penstock_context *context);

/* Whether a row is that of a kind that has not answered. */
bool penstock__device_is_awaited(const struct penstock_device *device);

/* Afterwards: row `index` of that kind or of the whole table, absent kinds included, and one for a kind that has not
 * answered; NULL past the last. */
struct penstock_device *penstock__device_row(penstock_context *context, const char *name, size_t index);

void penstock__devices_free(penstock_context *context);

/* "auto", "NAME", "prefer:NAME" or NULL to a preference and the NAME within `text` (NULL for "auto"). */
int penstock__device_parse(enum penstock_preference *preference, const char **name, const char *text);

/* The present device called `name`: its name, a bare kind (the first of it), or a piece of one product name; or several
 * of them (core/device/device_group.h). */
int penstock__device_find(penstock_context *context, const char *name, struct penstock_device **device);

/* The same of one alone. */
int penstock__device_find_one(penstock_context *context, const char *name, struct penstock_device **device);

/* The error that says why `name` is no device: of a kind that is absent, of one that has fewer, or nothing at all. */
int penstock__device_absent(penstock_context *context, const char *name);

/* Opens the device unless it is open. */
int penstock__device_open(struct penstock_device *device);

/* The device, or the devices, of that name, opened: "auto" is an error. */
int penstock__devices_open_named(struct penstock_device **device, penstock_context *context, const char *name);

/* For a buffer or queue, which is on one. */
int penstock__device_open_named(struct penstock_device **device, penstock_context *context, const char *name);

#endif
