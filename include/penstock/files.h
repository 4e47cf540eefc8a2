/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Files that are replaced when they are whole: what is written goes to a file beside the one that is named, which takes
 * its place at the end. Whatever fails or ends the program before that, the old file stays as it was. Several files
 * make a set, which is replaced together or not at all. Sinks write so by themselves (penstock/source.h); this is for
 * programs that write other files beside.
 */
#ifndef PENSTOCK_FILES_H
#define PENSTOCK_FILES_H

#include <penstock/source.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penstock_files penstock_files; /* a set; one thread at a time */
typedef struct penstock_file penstock_file;   /* one of its files; lives as long as the set */

PENSTOCK_API int penstock_files_new(penstock_files **outputs);

/* The file at `path`, or the regular files that `source` reads (of a radio: those that its arguments name), are no
 * outputs of this set: PENSTOCK_ERR_ARGUMENT for one that is open, and for each that is opened later, whatever it is
 * called. What `path` names need not exist. */
PENSTOCK_API int penstock_files_protect(penstock_files *outputs, const char *path);
PENSTOCK_API int penstock_files_protect_source(penstock_files *outputs, const struct penstock_source *source);

/*
 * Makes the file `.NAME.penstock-part` beside the one that is named; symbolic links are followed. What a run that was
 * killed left there is removed. An old file's permissions go over to the new one. "-" is standard output; that, pipes,
 * devices and /dev/fd/N are written as they are, at once.
 *
 * PENSTOCK_ERR_ARGUMENT: `path` is empty, protected, or an output of this set already. PENSTOCK_ERR_FILE: it cannot be
 * replaced, or another program writes it.
 */
PENSTOCK_API int penstock_file_open(penstock_file **output, penstock_files *outputs, const char *path);

/* All of `count` bytes. After a failure penstock_files_complete() fails, too. */
PENSTOCK_API int penstock_file_write(penstock_file *output, const void *bytes, size_t count);

/* Puts all files into their places, in the order in which they were opened. If one of them is not complete, or cannot
 * be placed, all old ones are as they were, and the new ones are gone. After this only standard output can be written.
 */
PENSTOCK_API int penstock_files_complete(penstock_files *outputs);

/* From now on what is written to a pipe or device that takes nothing for 0.2 s fails, with PENSTOCK_ERR_TIMEOUT. From
 * any thread or a signal handler, also while another thread writes. */
PENSTOCK_API void penstock_files_stop(penstock_files *outputs);

/* Without penstock_files_complete() before, nothing was written. */
PENSTOCK_API void penstock_files_free(penstock_files *outputs);

#ifdef __cplusplus
}
#endif

#endif
