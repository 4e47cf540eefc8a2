/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A device's name comes from users and configuration files: any text finds a device or is an error on one line. */
#include "core/base/context.h"
#include "core/device/devices.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition)
        abort();
}

/* One context for the whole run: probing drivers is not what is tested. */
static penstock_context *context_once(void)
{
    static penstock_context *context;
    if (!context)
        must(!penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 1, .cache_dir = "")));
    return context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum penstock_preference preference;
    struct penstock_device *device = NULL;
    const char *name;
    char *text = malloc(size + 1);
    must(text);
    memcpy(text, data, size);
    text[size] = 0;
    if (penstock__device_parse(&preference, &name, text)) {
        must(*penstock_error_text() && !strchr(penstock_error_text(), '\n'));
    } else if (preference != PENSTOCK_DEVICE_AUTO) {
        must(name >= text && name <= text + strlen(text));
        if (penstock__device_find(context_once(), name, &device))
            must(*penstock_error_text() && !strchr(penstock_error_text(), '\n'));
        else
            must(device && !*device->reason);
    }
    free(text);
    return 0;
}
