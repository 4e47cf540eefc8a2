/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Making and removing a folder for caches. */
#include "study_folder.h"
#include "shared/command.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void study_folder_use(const char *path)
{
    /* ours, PoCL's, the CUDA driver's, which is also that of NVIDIA's OpenCL */
    static const char *const names[] = {"PENSTOCK_CACHE_DIR", "POCL_CACHE_DIR", "CUDA_CACHE_PATH"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        setenv(names[i], path, 1);
}

int study_folder_open(struct study_folder *folder)
{
    const char *base = getenv("TMPDIR");
    int length = snprintf(folder->path, sizeof folder->path, "%s/penstock-plans-XXXXXX", base ? base : P_tmpdir);
    if (length >= (int)sizeof folder->path || !mkdtemp(folder->path)) {
        bool long_name = length >= (int)sizeof folder->path;
        folder->path[0] = '\0';
        return fail(EXIT_DATA, "no folder for kernels: %s", strerror(long_name ? ENAMETOOLONG : errno));
    }
    study_folder_use(folder->path);
    return EXIT_DONE;
}

static int take_away(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

void study_folder_close(struct study_folder *folder)
{
    if (*folder->path)
        nftw(folder->path, take_away, 8, FTW_DEPTH | FTW_PHYS);
    folder->path[0] = '\0';
}
