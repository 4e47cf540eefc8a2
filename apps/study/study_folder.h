/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* An empty cache folder for one run. */
#ifndef PENSTOCK_APPS_STUDY_FOLDER_H
#define PENSTOCK_APPS_STUDY_FOLDER_H

struct study_folder {
    char path[256]; /* "": none */
};

/* Makes it and names it in the environment, for contexts and drivers that are opened from then on: the library keeps
 * kernels there, and so do drivers that have a cache of their own. Returns an exit code. */
int study_folder_open(struct study_folder *folder);

/* Names an existing folder there. */
void study_folder_use(const char *path);

/* Takes it away, with all that is in it. */
void study_folder_close(struct study_folder *folder);

#endif
