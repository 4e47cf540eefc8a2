/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Finding and making the cache folder. */
#include "cache_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void make_folder(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
}

bool cache_folder(char path[FOLDER_TEXT])
{
    const char *own = getenv("PENSTOCK_CACHE_DIR"), *shared = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (own)
        snprintf(path, FOLDER_TEXT, "%s", own);
    else if (shared && *shared == '/') /* the XDG specification ignores relative ones */
        snprintf(path, FOLDER_TEXT, "%s/penstock", shared);
    else
        snprintf(path, FOLDER_TEXT, "%s%s", home ? home : "", home && *home ? "/.cache/penstock" : "");
    if (!*path)
        return false;
    make_folder(path);
    return true;
}
