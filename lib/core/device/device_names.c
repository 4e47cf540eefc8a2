/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* From the text that names a device to the device. */
#include "core/device/devices.h"

#include <stdio.h>
#include <string.h>

int penstock__device_parse(enum penstock_preference *preference, const char **name, const char *text)
{
    static const char prefer[] = "prefer:";
    *name = NULL;
    if (!text || !strcmp(text, "auto")) {
        *preference = PENSTOCK_DEVICE_AUTO;
        return PENSTOCK_OK;
    }
    *preference = PENSTOCK_DEVICE_NAMED;
    *name = text;
    if (!strncmp(text, prefer, sizeof prefer - 1)) {
        *preference = PENSTOCK_DEVICE_PREFERRED;
        *name = text + sizeof prefer - 1;
    }
    if (!**name || !strcmp(*name, "auto") || !strncmp(*name, prefer, sizeof prefer - 1))
        return penstock__error(PENSTOCK_ERR_ARGUMENT,
                               "device '%s' is not understood: give \"auto\", a device's name, or \"prefer:\" and a "
                               "device's name",
                               text);
    return PENSTOCK_OK;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether `text` contains `piece`; letters of ASCII alike in both cases, whatever the locale. */
static bool contains(const char *text, const char *piece)
{
    for (; *text; text++) {
        size_t i = 0;
        while (piece[i] && lower(text[i]) == lower(piece[i]))
            i++;
        if (!piece[i])
            return true;
    }
    return false;
}

static bool present(const struct penstock_device *device)
{
    return !*device->reason;
}

/* Appends "name" or ", name" to a list of names, as far as it fits. */
static void append_name(char *list, size_t capacity, const char *name)
{
    size_t used = strlen(list);
    snprintf(list + used, capacity - used, "%s%s", used ? ", " : "", name);
}

/* The absent device that `name` means: the first of a bare kind, or that of this name, or the row of a kind that has
 * none at all; NULL where the kind has others. */
static struct penstock_device *find_absent(penstock_context *context, const char *name)
{
    struct penstock_device *device;
    for (size_t i = 0; (device = penstock__device_row(context, name, i)); i++)
        if (!present(device) && (!strchr(name, ':') || !strchr(device->name, ':') || !strcmp(device->name, name)))
            return device;
    return NULL;
}

int penstock__device_absent(penstock_context *context, const char *name)
{
    struct penstock_device *device = find_absent(context, name);
    char names[256] = "";
    if (device)
        return penstock__error(PENSTOCK_ERR_NO_DEVICE, "no device '%s': %s: %s", name, device->name, device->reason);
    penstock__devices_ask(context);
    for (size_t i = 0; (device = penstock__device_row(context, NULL, i)); i++)
        if (present(device) && !(device->backend && device->backend->flags & PENSTOCK_BACKEND_DEVELOPERS))
            append_name(names, sizeof names, device->name);
    return penstock__error(PENSTOCK_ERR_NO_DEVICE, "no device '%s'; there are: %s", name, names);
}

/* The name, or a bare kind, which is its first device. */
static struct penstock_device *find_by_name(penstock_context *context, const char *name)
{
    struct penstock_device *device;
    bool bare_kind = !strchr(name, ':');
    for (size_t i = 0; (device = penstock__device_row(context, name, i)); i++)
        if (present(device) && (bare_kind || !strcmp(device->name, name)))
            return device;
    return NULL;
}

/* The last present device that has `piece` in its product name; `names` lists all that have. */
static struct penstock_device *find_by_product(penstock_context *context, const char *piece, char *names,
                                               size_t capacity, size_t *matches)
{
    struct penstock_device *device, *found = NULL;
    *matches = 0;
    for (size_t i = 0; (device = penstock__device_row(context, NULL, i)); i++) {
        if (!present(device) || !contains(device->product, piece))
            continue;
        found = device;
        append_name(names, capacity, device->name);
        ++*matches;
    }
    return found;
}

/* A driver is loaded only where its kind is named, or where nothing else answers to the name. */
int penstock__device_find_one(penstock_context *context, const char *name, struct penstock_device **device)
{
    char names[256] = "";
    size_t matches;
    int status;
    *device = NULL;
    if ((status = penstock__devices_probe(context, name)))
        return status;
    if ((*device = find_by_name(context, name)))
        return PENSTOCK_OK;
    if (penstock__device_row(context, name, 0))
        return penstock__device_absent(context, name);
    if ((status = penstock__devices_probe(context, NULL)))
        return status;
    *device = find_by_product(context, name, names, sizeof names, &matches);
    if (matches == 1)
        return PENSTOCK_OK;
    *device = NULL;
    if (!matches)
        return penstock__device_absent(context, name);
    return penstock__error(PENSTOCK_ERR_NO_DEVICE, "'%s' is in the product names of %s; name one of them", name, names);
}
