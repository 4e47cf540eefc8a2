/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock devices: every device, or why it is absent, and the licence that its libraries ask for. */
#include "device_list.h"
#include "devices_why.h"
#include "shared/options.h"
#include "shared/progress.h"

#include <stdio.h>
#include <string.h>

static void print_table(penstock_context *context, size_t count)
{
    int width = 6;
    for (size_t i = 0; i < count; i++) {
        penstock_device_info info = PENSTOCK_DEVICE_INFO;
        if (!penstock_device_get(context, i, &info) && (int)strlen(info.name) > width)
            width = (int)strlen(info.name);
    }
    printf("%-*s  %-7s  %-16s  %s\n", width, "device", "state", "licence", "product, driver, or why it is absent");
    for (size_t i = 0; i < count; i++) {
        penstock_device_info info = PENSTOCK_DEVICE_INFO;
        if (penstock_device_get(context, i, &info))
            continue;
        printf("%-*s  %-7s  %-16s  ", width, info.name,
               info.awaited  ? "asked"
               : info.reason ? "absent"
                             : "ready",
               info.licence);
        if (info.reason)
            printf("%s\n", info.reason);
        else
            printf("%s%s%s%s\n", info.product, *info.driver ? ", " : "", info.driver,
                   info.automatic ? "" : " (only when asked for by name)");
    }
}

/* The strongest demand among the libraries that this binary is linked with. */
static void print_licence(penstock_context *context, size_t count)
{
    const char *licence = "MIT", *cause = NULL;
    for (size_t i = 0; i < count; i++) {
        penstock_device_info info = PENSTOCK_DEVICE_INFO;
        if (!penstock_device_get(context, i, &info) && strstr(info.licence, "GPL") &&
            (!cause || strcmp(licence, info.licence) < 0)) {
            licence = info.licence;
            cause = info.name;
        }
    }
    if (cause)
        printf("This binary is under %s, because of the libraries of '%s'; our own source is MIT.\n", licence, cause);
    else
        printf("This binary is under MIT.\n");
}

static void tell_awaited(penstock_context *context, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        penstock_device_info info = PENSTOCK_DEVICE_INFO;
        if (!penstock_device_get(context, i, &info) && info.awaited) {
            puts("A driver that has not answered is asked on; penstock devices --wait waits for it.");
            return;
        }
    }
}

/* Bytes of a present device's kind, with its colon: "cuda:" of "cuda:0"; 0 of one that is named without an index. */
static size_t kind_bytes(penstock_context *context, size_t index, const char **name)
{
    penstock_device_info info = PENSTOCK_DEVICE_INFO;
    *name = "";
    if (penstock_device_get(context, index, &info) || info.reason || !strchr(info.name, ':'))
        return 0;
    *name = info.name;
    return (size_t)(strchr(info.name, ':') + 1 - info.name);
}

/* Where there are several of a kind. */
static void tell_several(penstock_context *context, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const char *name, *before;
        size_t bytes = kind_bytes(context, i, &name);
        if (!bytes || kind_bytes(context, i - 1, &before) != bytes || strncmp(name, before, bytes))
            continue;
        printf("%.*s* is all devices of that kind at once, %s,%s these two.\n", (int)bytes, name, before, name);
        while (i + 1 < count && kind_bytes(context, i + 1, &before) == bytes && !strncmp(name, before, bytes))
            i++;
    }
}

static int run(const struct command *command, int argc, const char **argv)
{
    int code = EXIT_DONE;
    bool json = false, wait = false;
    char *why = NULL;
    const struct option_row table[] = {
        OPTION_FLAG("json", 0, &json, "One JSON object a device instead of the table"),
        OPTION_FLAG("wait", 'w', &wait, "Wait for drivers that are slow to answer, 20 s at most for each step"),
        OPTION_TEXT("why", 0, "CASE", &why,
                    "Tell why \"auto\" takes which device for a case, as `penstock bench --case` names them"),
        OPTIONS_END,
    };
    struct options options;
    penstock_context *context = NULL;
    size_t count = 0;
    int status;
    if (!options_parse(&options, command, table, argc, argv, &code) || !options_no_arguments(&options, command, &code))
        goto done;
    if (why) {
        code = devices_why(why, json, wait);
        goto done;
    }
    if ((code = wait ? open_patient_context(&context) : open_context(&context, 0)))
        goto done;
    progress_wait(PROGRESS_DEVICES);
    status = penstock_device_count(context, &count);
    progress_arrived();
    if (status) {
        code = fail_status(status);
        goto done;
    }
    if (json) {
        code = device_list_json(context, count);
    } else {
        print_table(context, count);
        print_licence(context, count);
        tell_several(context, count);
        tell_awaited(context, count);
    }
done:
    penstock_context_free(context);
    options_free(&options);
    return code;
}

const struct command command_devices = {
    .name = "devices",
    .synopsis = "[OPTION...]",
    .summary = "List every device, or why it is absent",
    .run = run,
};
