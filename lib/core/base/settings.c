/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What everybody may ask of a context, and of the processors that there are. */
#include "core/base/context.h"

#include <sched.h>
#include <unistd.h>

unsigned penstock__processors(void)
{
    cpu_set_t set;
    long online;
    if (!sched_getaffinity(0, sizeof set, &set) && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

unsigned penstock__threads(const penstock_context *context)
{
    return context->threads;
}

const char *penstock__cache_dir(const penstock_context *context)
{
    return context->cache_dir;
}

const char *penstock__kernel_path(const penstock_context *context)
{
    return context->kernel_path;
}
