/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Why a library that is opened at run time cannot be had. */
#ifndef PENSTOCK_APPS_LOADING_H
#define PENSTOCK_APPS_LOADING_H

#include <stdbool.h>

/* After dlopen() has failed: "NAME not found", or "NAME cannot be loaded: " and what the system's loader says. False
 * where it is there and cannot be loaded. */
bool loading_tell(char text[256], const char *name);

#endif
