/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The --profile option. */
#ifndef PENSTOCK_APPS_PROFILE_H
#define PENSTOCK_APPS_PROFILE_H

#include "command.h"

/* Names, ended by NULL. */
extern const char *const profile_names[];

/* fail() if `text` is NULL or no profile. Returns an exit code. */
int parse_profile(penstock_wifi_profile *profile, const char *command_name, const char *text);

#endif
