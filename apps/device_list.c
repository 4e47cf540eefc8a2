/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The device table as JSON through jansson. */
#include "device_list.h"

#include <jansson.h>
#include <stdio.h>

int device_list_json(penstock_context *context, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        penstock_device_info info = PENSTOCK_DEVICE_INFO;
        int status = penstock_device_get(context, i, &info);
        if (status)
            return fail_status(status);
        json_t *row =
            json_pack("{s:s, s:b, s:s, s:s, s:s*, s:s, s:b, s:I, s:I, s:s*}", "name", info.name, "present",
                      !info.reason, "product", info.product, "driver", info.driver, "reason", info.reason, "licence",
                      info.licence, "automatic", (int)info.automatic, "compute_units", (json_int_t)info.compute_units,
                      "memory_bytes", (json_int_t)info.memory_bytes, "profile", *info.profile ? info.profile : NULL);
        if (!row)
            return fail(EXIT_DATA, "device '%s' cannot be written as JSON", info.name);
        json_dumpf(row, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
        putchar('\n');
        json_decref(row);
    }
    return EXIT_DONE;
}

int choice_row_json(const struct choice_row *row)
{
    json_t *object = json_pack("{s:s, s:s, s:b, s:b, s:b, s:s, s:s}", "what", row->what, "device", row->device,
                               "candidate", (int)row->candidate, "chosen", (int)row->chosen, "remembered",
                               (int)row->remembered, "unit", row->unit, "why", row->why);
    if (!object || (row->seconds > 0 && json_object_set_new(object, "seconds", json_real(row->seconds)))) {
        json_decref(object);
        return fail(EXIT_DATA, "device '%s' cannot be written as JSON", row->device);
    }
    json_dumpf(object, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
    putchar('\n');
    json_decref(object);
    return EXIT_DONE;
}
