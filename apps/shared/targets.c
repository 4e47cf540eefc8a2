/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Choice of devices by the table's rows. */
#include "targets.h"
#include "progress.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

unsigned usable_cpus(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

bool targets_are_several(const char *device)
{
    return strchr(device, ':') && strpbrk(device, "*,+");
}

static int add(struct targets *targets, const char *name)
{
    if (targets->count == MOST_TARGETS)
        return fail(EXIT_USAGE, "more than %d devices", MOST_TARGETS);
    snprintf(targets->names[targets->count++], TARGET_NAME, "%s", name);
    return EXIT_DONE;
}

/* Several devices: "cuda:*", or a list, which is told without commas: "cuda:0+1". */
static int add_several(struct targets *targets, penstock_context *context, const char *wanted)
{
    char name[TARGET_NAME];
    size_t used = 0;
    void *memory;
    int status = penstock_host_memory_new(&memory, context, wanted, 64); /* an error where they are none */
    if (status)
        return fail_status(status);
    penstock_host_memory_free(context, memory);
    for (const char *c = wanted; *c && used < sizeof name; c++) {
        size_t kind = *c == ',' ? strcspn(c + 1, ",+:") + 1 : 0;
        name[used++] = *c;
        if (*c == ',')
            name[used - 1] = '+';
        if (c[kind] == ':' && kind)
            c += kind;
    }
    if (used == sizeof name)
        return fail(EXIT_USAGE, "%s is too long for a table", wanted);
    name[used] = 0;
    return add(targets, name);
}

static int add_named(struct targets *targets, penstock_context *context, const char *wanted)
{
    penstock_device_info info = PENSTOCK_DEVICE_INFO;
    size_t index;
    if (!strcmp(wanted, "auto"))
        return add(targets, wanted);
    if (targets_are_several(wanted))
        return add_several(targets, context, wanted);
    int status = penstock_device_find(context, wanted, &index);
    if (status || (status = penstock_device_get(context, index, &info)))
        return fail_status(status);
    return add(targets, info.name);
}

static bool is_listed(const struct targets *targets, const char *name)
{
    for (size_t i = 0; i < targets->count; i++)
        if (!strcmp(targets->names[i], name))
            return true;
    return false;
}

int targets_more(struct targets *targets, penstock_context *context)
{
    size_t rows = 0;
    int status = penstock_device_count(context, &rows), code = EXIT_DONE;
    if (status)
        return fail_status(status);
    for (size_t i = 0; i < rows && !code; i++) {
        penstock_device_info info = PENSTOCK_DEVICE_INFO;
        if (!penstock_device_get(context, i, &info) && !info.reason && strcmp(info.name, "null") &&
            strcmp(info.name, "trace") && !is_listed(targets, info.name))
            code = add(targets, info.name);
    }
    return code;
}

void targets_warn(penstock_context *context, const char *what)
{
    size_t rows = 0;
    if (penstock_device_count(context, &rows))
        return;
    for (size_t i = 0; i < rows; i++) {
        penstock_device_info info = PENSTOCK_DEVICE_INFO;
        if (!penstock_device_get(context, i, &info) && info.awaited)
            warn("%s is not %s: %s", info.name, what, info.reason);
    }
}

int targets_find(struct targets *targets, penstock_context *context, const char *const *arguments)
{
    int code = EXIT_DONE;
    targets->count = 0;
    progress_wait(PROGRESS_DEVICES);
    for (const char *const *wanted = arguments; *wanted && !code; wanted++)
        code = add_named(targets, context, *wanted);
    if (!*arguments)
        code = targets_more(targets, context);
    progress_arrived();
    return code;
}
