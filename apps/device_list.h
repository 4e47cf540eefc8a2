/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The device table as JSON, one object a line; an error in a build without jansson. */
#ifndef PENSTOCK_APPS_DEVICE_LIST_H
#define PENSTOCK_APPS_DEVICE_LIST_H

#include "shared/command.h"

/* Rows 0 .. count - 1 on standard output. Returns an exit code. */
int device_list_json(penstock_context *context, size_t count);

/* What a choice by "auto" came to for one device: struct penstock_choice. */
struct choice_row {
    char *what, *device, *why, *unit;
    bool candidate, chosen, remembered;
    double seconds; /* 0: not timed */
};

/* One object. Returns an exit code. */
int choice_row_json(const struct choice_row *row);

#endif
