/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Why "auto" takes a device: the candidates for a case, their times, and the reasons in words. */
#ifndef PENSTOCK_APPS_DEVICES_WHY_H
#define PENSTOCK_APPS_DEVICES_WHY_H

#include "shared/command.h"

/* Does what a case of `penstock bench` is about with "auto", and prints each choice that was made for it: as a table,
 * or as one JSON object a device. `wait`: for drivers that are slow to answer. Returns an exit code. */
int devices_why(const char *text, bool json, bool wait);

#endif
