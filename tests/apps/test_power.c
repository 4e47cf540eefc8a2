/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Energy counters: NVML by a library of our own, powercap by a folder of our own, and neither. */
#include "bench/power.h"

#include "folder.h"
#include "test.h"

#include <sys/stat.h>

static void put(unsigned package, const char *microjoules)
{
    char name[64];
    FILE *file;
    snprintf(name, sizeof name, "intel-rapl:%u", package);
    mkdir(test_path(name), 0700);
    snprintf(name, sizeof name, "intel-rapl:%u/energy_uj", package);
    file = fopen(test_path(name), "w");
    CHECK(file, "%s cannot be written", name);
    if (!file)
        return;
    fputs(microjoules, file);
    fclose(file);
}

static void packages(void)
{
    struct power_meter meter;
    setenv("PENSTOCK_POWERCAP_PATH", test_folder, 1);
    power_open(&meter, "cpu", "a processor");
    CHECK(!meter.joules && strstr(meter.source, "powercap"), "'%s'", meter.source);
    CHECK(isnan(power_joules(&meter)), "energy from nowhere");
    put(0, "2500000\n");
    put(1, "500000\n");
    power_open(&meter, "cpu", "a processor");
    CHECK(!strcmp(meter.source, "powercap"), "'%s'", meter.source);
    CHECK(fabs(power_joules(&meter) - 3) < 1e-9, "%g J", power_joules(&meter));
    put(1, "1500000\n");
    CHECK(fabs(power_joules(&meter) - 4) < 1e-9, "%g J", power_joules(&meter));
    power_open(&meter, "opencl:0", "pthread-haswell");
    CHECK(meter.joules, "OpenCL of the processor has its energy");
    power_open(&meter, "qpu:emulator", "");
    CHECK(!meter.joules, "an emulator has no energy of its own");
}

static void gpus(const char *library)
{
    struct power_meter meter;
    double before;
    setenv("PENSTOCK_NVML_LIBRARY", "/absent/libnvidia-ml.so.1", 1);
    power_open(&meter, "cuda:0", "NVIDIA");
    CHECK(!meter.joules && !strcmp(meter.source, "/absent/libnvidia-ml.so.1 not found"), "'%s'", meter.source);
    setenv("PENSTOCK_NVML_LIBRARY", "/dev/null", 1);
    power_open(&meter, "cuda:0", "NVIDIA");
    CHECK(!meter.joules && strstr(meter.source, "/dev/null cannot be loaded: "), "'%s'", meter.source);
    setenv("PENSTOCK_NVML_LIBRARY", library, 1);
    power_open(&meter, "cuda:1", "NVIDIA");
    CHECK(!strcmp(meter.source, "NVML"), "'%s'", meter.source);
    before = power_joules(&meter);
    CHECK(fabs(power_joules(&meter) - before - 1.5) < 1e-9, "%g J before", before);
    power_open(&meter, "opencl:0", "NVIDIA H200");
    CHECK(meter.joules && power_joules(&meter) == 0, "the first GPU takes nothing");
    power_open(&meter, "cuda:2", "NVIDIA");
    CHECK(!meter.joules, "there is no third GPU");
}

int main(int count, char **arguments)
{
    if (count != 2 || !test_make_folder())
        return test_skip("no library named, or no folder for files");
    packages();
    gpus(arguments[1]);
    test_remove_folder();
    return test_finish();
}
