/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Cycles and instructions from the kernel's performance events, energy from its power caps. */
#include "bench_run.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static int cycles_fd = -1, instructions_fd = -1;

static int open_event(uint64_t event)
{
    struct perf_event_attr attributes = {.type = PERF_TYPE_HARDWARE,
                                         .size = sizeof attributes,
                                         .config = event,
                                         .inherit = 1, /* by threads that start later */
                                         .exclude_kernel = 1,
                                         .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
}

void bench_counters_open(void)
{
    cycles_fd = open_event(PERF_COUNT_HW_CPU_CYCLES);
    instructions_fd = open_event(PERF_COUNT_HW_INSTRUCTIONS);
}

static double read_event(int fd)
{
    uint64_t value;
    return fd >= 0 && read(fd, &value, sizeof value) == sizeof value ? (double)value : NAN;
}

/* Of the first processor package; it starts again from zero now and then, which the difference shows as negative. */
static double read_energy(void)
{
    FILE *file = fopen("/sys/class/powercap/intel-rapl:0/energy_uj", "re");
    double microjoules = NAN;
    if (file && fscanf(file, "%lf", &microjoules) != 1)
        microjoules = NAN;
    if (file)
        fclose(file);
    return 1000 * microjoules;
}

struct bench_counters bench_counters_read(void)
{
    return (struct bench_counters){read_energy(), read_event(cycles_fd), read_event(instructions_fd)};
}

void bench_counters_close(void)
{
    if (cycles_fd >= 0)
        close(cycles_fd);
    if (instructions_fd >= 0)
        close(instructions_fd);
    cycles_fd = instructions_fd = -1;
}
