/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the parts of a set of output files share: files.c (life and writing), files_place.c (where a file goes, and
 * the one beside it), files_complete.c (the new files in place of the old ones). */
#ifndef PENSTOCK_RADIO_FILES_H
#define PENSTOCK_RADIO_FILES_H

#include "backends/backend.h"
#include "radio/identity.h"

#include <stdatomic.h>

struct penstock_file {
    penstock_files *set;
    penstock_file *next; /* in the order of opening */
    char *name;          /* as the caller wrote it, for error texts */
    char *path;          /* without symbolic links; NULL: written as it is */
    char *part;          /* beside it: what is written */
    char *old;           /* beside it: the old file, while files of the set are being placed */
    int fd;
    bool given;                   /* `fd` was a descriptor of this process before */
    bool borrowed;                /* it is not ours to close */
    bool existed;                 /* there is an old file */
    bool hidden;                  /* the old one goes out of sight before any new one comes: it describes another */
    bool aside, placed;           /* how far penstock_files_complete() is */
    struct penstock__identity is; /* of the old file, or of what is written as it is */
    int failure;
};

struct penstock_files {
    penstock_file *first, *last;
    size_t count;
    struct penstock__identities protected;
    bool completed;
    unsigned forks;        /* of the process that made the set: penstock__forks() */
    atomic_ullong stop_ns; /* of CLOCK_MONOTONIC: no more waiting after this; 0: no stop */
};

/* Fills in path, part, old and what else is known of the place; fd where it is written as it is. The caller frees what
 * is there after a failure. */
int penstock__file_place(penstock_file *output, const char *path);

/* Makes the file beside, and locks it as long as it is open. */
int penstock__file_begin(penstock_file *output);

/* The old file's permissions for the new one. */
void penstock__file_take_permissions(const penstock_file *output);

/* Puts back what a run left aside that was killed while it placed files. `describing`: the output whose file is
 * placed last and hidden first; NULL: the output is one for itself. Both are locked. */
void penstock__file_recover(penstock_file *output, penstock_file *describing);

/* "cannot WHAT 'NAME': ..." with errno. */
int penstock__file_error(const penstock_file *output, const char *what);

/* Two files of which the second describes the first: old ones are never seen beside a new one. */
int penstock__file_open_pair(penstock_file **data, penstock_file **description, penstock_files *outputs,
                             const char *data_path, const char *description_path);

/* Whether it is a file, and no pipe, terminal or socket whose reader waits. */
bool penstock__file_is_file(const penstock_file *output);

/* What was written so far is not whole, and the set cannot be completed. */
void penstock__file_spoil(penstock_file *output, int failure);

/* Removes what lies beside, and closes. */
void penstock__file_drop(penstock_file *output);

#endif
