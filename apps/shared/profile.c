/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Profiles by name. */
#include "profile.h"

const char *const profile_names[] = {"wifi", "wifi-10mhz", "wifi-5mhz", NULL};

int parse_profile(penstock_wifi_profile *profile, const char *command_name, const char *text)
{
    if (!text)
        return fail(EXIT_USAGE, "%s: --profile is missing: wifi, wifi-10mhz or wifi-5mhz", command_name);
    return penstock_wifi_profile_parse(profile, text) ? fail_unknown("profile", text, profile_names) : EXIT_DONE;
}
