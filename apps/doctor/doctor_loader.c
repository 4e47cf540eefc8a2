/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What other programs find: the dynamic loader's list, which only ldconfig brings up to date, and LD_LIBRARY_PATH. */
#include "doctor.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTING = 1 << 20 };

/* Whether `path` is a file that is there, in `folder` unless that is NULL. */
static bool lies_in(const char *path, const char *folder)
{
    char real[PATH_MAX];
    return realpath(path, real) && (!folder || !strcmp(dirname(real), folder));
}

static bool is_on_path(const char *list, const char *name, const char *folder)
{
    for (size_t length; list && *list; list += length + (list[length] == ':')) {
        char path[PATH_MAX];
        length = strcspn(list, ":");
        if (snprintf(path, sizeof path, "%.*s/%s", (int)length, list, name) < (int)sizeof path && lies_in(path, folder))
            return true;
    }
    return false;
}

/* Lines are like "\tlibz.so.1 (libc6,x86-64) => /lib/libz.so.1". A name may lie in a folder that is listed and be none
 * that programs are linked with: the driver of an .icd file, say. */
static bool is_in_listing(const char *listing, const char *name, const char *folder)
{
    const char *arrow, *line = strchr(listing, '\n');
    for (; line && (arrow = strstr(line, "=> ")); line = arrow) {
        char path[2 * PATH_MAX];
        bool named = !strncmp(line + strspn(line, "\n\t "), name, strlen(name));
        int length = (int)strcspn(arrow += strlen("=> "), "\n");
        if (length >= PATH_MAX)
            continue;
        snprintf(path, sizeof path, "%.*s", length, arrow);
        arrow += length;
        if (!folder)
            snprintf(strrchr(path, '/') ? strrchr(path, '/') : path, PATH_MAX, "/%s", name);
        if ((named || !folder) && lies_in(path, folder))
            return true;
    }
    return false;
}

bool doctor_loader_finds(const char *name, const char *folder)
{
    char *listing;
    bool found;
    if (is_on_path(getenv("LD_LIBRARY_PATH"), name, folder) || !(listing = malloc(LISTING)))
        return true;
    found = !doctor_ask((const char *const[]){"/sbin/ldconfig", "-p", NULL}, listing, LISTING) ||
            is_in_listing(listing, name, folder);
    free(listing);
    return found;
}
