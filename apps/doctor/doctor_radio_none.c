/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The doctor in a build without SoapySDR. */
#include "doctor_radio.h"

#include <stdio.h>

void radio_modules_find(struct radio_modules *modules)
{
    *modules = (struct radio_modules){.reason = ""};
    snprintf(modules->reason, sizeof modules->reason, "not in this build: %s", PENSTOCK_WHY_NO_SOAPYSDR);
}
