/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Processors that the process may use. A container is often given a share of a processor's time and not fewer
 * processors: more threads than that share is worth are stopped in the middle of their work, and hold up all others
 * that wait for them. Control groups: cgroups(7), both versions. */
#include "core/base/processors.h"
#include "backends/backend.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* "QUOTA PERIOD", in microseconds, in as many files as there are: processors, the last one in part; 0: no limit. */
static unsigned read_limit(const char *folder, const char *path, size_t length, const char *const files[2])
{
    long long numbers[2];
    unsigned found = 0;
    for (unsigned i = 0; i < 2 && files[i]; i++) {
        char name[PATH_MAX];
        const int written = snprintf(name, sizeof name, "%s%.*s/%s", folder, (int)length, path, files[i]);
        FILE *file = written > 0 && written < PATH_MAX ? fopen(name, "re") : NULL;
        if (!file)
            return 0;
        while (found < 2 && fscanf(file, "%lld", &numbers[found]) == 1)
            found++;
        fclose(file);
    }
    if (found < 2 || numbers[0] <= 0 || numbers[1] <= 0 || numbers[0] / numbers[1] >= INT_MAX)
        return 0;
    return (unsigned)(numbers[0] / numbers[1] + (numbers[0] % numbers[1] > 0));
}

/* Of a group and of all that it is in. A container sees its own group as the root of all, and may yet be told its path
 * in the host's: folders that are not there have no limit. */
static unsigned least_limit(const char *folder, const char *path, const char *const files[2])
{
    unsigned least = 0;
    size_t length = strcspn(path, "\n");
    for (bool more = true; more;) {
        const unsigned limit = read_limit(folder, path, length, files);
        least = limit && (!least || limit < least) ? limit : least;
        more = length > 0;
        while (length > 0 && path[--length] != '/')
            ;
    }
    return least;
}

/* Is "cpu" one of these, which commas part and a colon ends? */
static bool has_cpu(const char *controllers)
{
    for (const char *name = controllers;; name += strcspn(name, ",:") + 1) {
        const size_t length = strcspn(name, ",:");
        if (length == 3 && !strncmp(name, "cpu", length))
            return true;
        if (name[length] != ',')
            return false;
    }
}

unsigned penstock__processor_limit(const char *groups, const char *root)
{
    static const char *const unified[2] = {"cpu.max"}, *const legacy[2] = {"cpu.cfs_quota_us", "cpu.cfs_period_us"};
    FILE *file = fopen(groups, "re");
    char line[PATH_MAX], folder[PATH_MAX];
    unsigned least = 0, limit;
    while (file && fgets(line, sizeof line, file)) {
        const char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
        const bool is_unified = path == controllers + 1;
        if (!path || (!is_unified && !has_cpu(controllers + 1)))
            continue;
        if (snprintf(folder, sizeof folder, "%s%s", root, is_unified ? "" : "/cpu") >= PATH_MAX)
            continue;
        limit = least_limit(folder, path + 1, is_unified ? unified : legacy);
        least = limit && (!least || limit < least) ? limit : least;
    }
    if (file)
        fclose(file);
    return least;
}

unsigned penstock__processors(void)
{
    const unsigned limit = penstock__processor_limit("/proc/self/cgroup", "/sys/fs/cgroup");
    cpu_set_t set;
    long count = 0;
    if (!sched_getaffinity(0, sizeof set, &set))
        count = CPU_COUNT(&set);
    if (count <= 0)
        count = sysconf(_SC_NPROCESSORS_ONLN);
    if (count <= 0)
        count = 1;
    return limit && (long)limit < count ? limit : (unsigned)count;
}
