/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The device table as JSON, one object a line; an error in a build without jansson. */
#ifndef PENSTOCK_APPS_DEVICE_LIST_H
#define PENSTOCK_APPS_DEVICE_LIST_H

#include "command.h"

/* Rows 0 .. count - 1 on standard output. Returns an exit code. */
int device_list_json(penstock_context *context, size_t count);

#endif
