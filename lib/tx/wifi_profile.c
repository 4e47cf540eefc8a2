/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The three clocks of clause 17, and the checksum that closes a frame: what both directions of wifi.h use. */
#include "backends/backend.h"
#include "fec/crc32.h"

#include <penstock/wifi.h>

#include <string.h>

static const struct profile {
    const char *name;
    double rate_hz;
} profiles[] = {
    [PENSTOCK_WIFI] = {"wifi", 20e6},
    [PENSTOCK_WIFI_10MHZ] = {"wifi-10mhz", 10e6},
    [PENSTOCK_WIFI_5MHZ] = {"wifi-5mhz", 5e6},
};

#define PROFILES (sizeof profiles / sizeof *profiles)

int penstock_wifi_profile_parse(penstock_wifi_profile *profile, const char *name)
{
    if (!profile || !name)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "wifi: a profile and its name are needed, got NULL");
    for (size_t i = 0; i < PROFILES; i++)
        if (!strcmp(name, profiles[i].name)) {
            *profile = (penstock_wifi_profile)i;
            return PENSTOCK_OK;
        }
    return penstock__error(PENSTOCK_ERR_ARGUMENT, "wifi: profile \"%.40s\" is none of wifi, wifi-10mhz, wifi-5mhz",
                           name);
}

double penstock_wifi_rate_hz(penstock_wifi_profile profile)
{
    return (size_t)profile < PROFILES ? profiles[profile].rate_hz : 0;
}

uint32_t penstock_wifi_fcs(const uint8_t *bytes, size_t count)
{
    return bytes ? penstock__crc32(0, bytes, count) : 0;
}
