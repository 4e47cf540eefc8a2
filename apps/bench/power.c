/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Energy counters. */
#include "power.h"
#include "shared/loading.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- NVML ------------------------ */

static struct {
    int (*init)(void);
    int (*by_index)(unsigned index, void **device);
    int (*energy)(void *device, unsigned long long *millijoules);
} nvml;

static bool find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol;
}

static double nvml_joules(const struct power_meter *meter)
{
    unsigned long long millijoules;
    return nvml.energy(meter->device, &millijoules) ? NAN : 1e-3 * (double)millijoules;
}

/* The library stays open: its counters are asked for until the process ends. */
static void open_nvml(struct power_meter *meter, unsigned index)
{
    const char *name = getenv("PENSTOCK_NVML_LIBRARY");
    void *library = dlopen(name = name ? name : "libnvidia-ml.so.1", RTLD_NOW);
    static char reason[256];
    unsigned long long millijoules;
    meter->source = reason;
    if (!library) {
        loading_tell(reason, name);
        return;
    }
    meter->source = "this NVML counts no energy";
    if (find(library, "nvmlInit_v2", &nvml.init) && find(library, "nvmlDeviceGetHandleByIndex_v2", &nvml.by_index) &&
        find(library, "nvmlDeviceGetTotalEnergyConsumption", &nvml.energy) && !nvml.init() &&
        !nvml.by_index(index, &meter->device) && !nvml.energy(meter->device, &millijoules)) {
        meter->source = "NVML";
        meter->joules = nvml_joules;
    }
}

/* ---------------------------------------------------------------- powercap -------------------- */

/* The sum over all packages. A counter starts again from zero now and then; the difference is negative there. */
static double powercap_joules(const struct power_meter *meter)
{
    const char *folder = getenv("PENSTOCK_POWERCAP_PATH");
    double sum = 0, microjoules;
    unsigned package = 0;
    (void)meter;
    for (;; package++) {
        char path[512];
        snprintf(path, sizeof path, "%s/intel-rapl:%u/energy_uj", folder ? folder : "/sys/class/powercap", package);
        FILE *file = fopen(path, "re");
        bool good = file && fscanf(file, "%lf", &microjoules) == 1;
        if (file)
            fclose(file);
        if (!good)
            break;
        sum += 1e-6 * microjoules;
    }
    return package ? sum : NAN;
}

/* ---------------------------------------------------------------- both ------------------------ */

void power_open(struct power_meter *meter, const char *name, const char *product)
{
    const char *number = strchr(name, ':');
    *meter = (struct power_meter){.source = "nobody counts its energy"};
    if (!strncmp(name, "cuda", 4)) {
        open_nvml(meter, number ? (unsigned)strtoul(number + 1, NULL, 10) : 0);
    } else if (!strncmp(name, "opencl", 6) && strstr(product, "NVIDIA")) {
        open_nvml(meter, number ? (unsigned)strtoul(number + 1, NULL, 10) : 0);
    } else if (strncmp(name, "qpu", 3)) {
        bool counted = isfinite(powercap_joules(meter));
        meter->source = counted ? "powercap" : "the system's powercap folder has no energy counter to read";
        meter->joules = counted ? powercap_joules : NULL;
    }
}

double power_joules(const struct power_meter *meter)
{
    return meter->joules ? meter->joules(meter) : NAN;
}
