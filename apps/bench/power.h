/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The energy that a device has taken: of an NVIDIA GPU from NVML, of the processor's packages from the kernel's
 * powercap folder. Libraries and folders are found at run time; PENSTOCK_NVML_LIBRARY and PENSTOCK_POWERCAP_PATH name
 * others. Both tell the whole device's energy, whoever uses it.
 */
#ifndef PENSTOCK_APPS_POWER_H
#define PENSTOCK_APPS_POWER_H

#include <stdbool.h>

struct power_meter {
    double (*joules)(const struct power_meter *meter); /* NULL: not reported */
    void *device;                                      /* of NVML */
    const char *source;                                /* "NVML", "powercap", or why there is none */
};

/* For a device by its name and product. */
void power_open(struct power_meter *meter, const char *name, const char *product);

/* A count that grows; NAN where it cannot be read. */
double power_joules(const struct power_meter *meter);

#endif
