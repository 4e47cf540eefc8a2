/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Puts the kernel sources together, with #line so that a compiler's messages name our files. */
#include "gpu/source.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static int add_file(struct gpu_text *text, const char *folder, const char *name)
{
    char path[PATH_MAX], line[512];
    FILE *file;
    bool bad;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path || !(file = fopen(path, "re")))
        return penstock__error(PENSTOCK_ERR_FILE, "kernel source %s/%s: %s", folder, name, strerror(errno));
    while (fgets(line, sizeof line, file))
        penstock__text_add_whole(text, line);
    bad = ferror(file);
    fclose(file);
    return bad ? penstock__error(PENSTOCK_ERR_FILE, "kernel source %s cannot be read", path) : PENSTOCK_OK;
}

static const struct gpu_packed_file *find(const char *name)
{
    const struct gpu_packed_file *file = penstock__gpu_files;
    while (file->name && strcmp(file->name, name))
        file++;
    return file;
}

int penstock__gpu_source_files(struct gpu_text *text, const penstock_context *context, const char *const *names)
{
    const char *folder = penstock__kernel_path(context);
    for (const char *const *name = names; *name; name++) {
        int status = PENSTOCK_OK;
        if (!**name)
            continue;
        penstock__text_add(text, "#line 1 \"%s\"\n", *name);
        if (folder)
            status = add_file(text, folder, *name);
        else
            penstock__text_add_whole(text, find(*name)->content);
        if (status)
            return status;
        penstock__text_add(text, "\n");
    }
    return text->failed ? PENSTOCK_ERR_MEMORY : PENSTOCK_OK;
}
