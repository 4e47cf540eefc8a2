/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The files that a command writes: one set, which takes the place of the old files when all of it is whole
 * (penstock/files.h). Every failure is told, a full disk included; "-" is standard output.
 */
#ifndef PENSTOCK_APPS_OUTFILE_H
#define PENSTOCK_APPS_OUTFILE_H

#include "command.h"

#include <stdio.h>

/* Once, before all else: from now on writing to standard output and standard error ends soon after outfile_stop(),
 * also where nobody reads. */
void outfile_start(void);

/* No more waiting for who reads. From any thread. */
void outfile_stop(void);

/* The set, for sinks; NULL: out of memory, told. */
penstock_files *outfile_set(void);

/* Refuses the files of the source, or the one at `path`, as outputs. Returns an exit code. */
int outfile_protect_source(const penstock_source *source);
int outfile_protect(const char *path);

/* Tells before long work what outfile_open() would tell after it; the file stays as it is. Returns an exit code. */
int outfile_try(const char *path);

/* Flushes standard output and tells, once, if that failed: what nobody gets need not be computed. Returns an exit
 * code. */
int outfile_flush_stdout(void);

/* "-" or another name of standard output: what is told besides goes elsewhere. */
bool outfile_is_stdout(const char *path);

/* A file of the set. Returns an exit code. */
int outfile_open(FILE **file, const char *path);

/* Tells the first failure of the writes so far; call it right after a write. */
int outfile_check(FILE *file);

/* Flushes, closes (but not standard output), tells what failed. The file is not in its place yet. NULL is fine. */
int outfile_close(FILE *file);

/* Puts all files of the set into their places, those of closed sinks too. Returns an exit code. */
int outfile_complete(void);

/* As fail_status(), of a write: what nobody took after an interrupt is no fault. */
int outfile_fail(int status);

/* Old files stay as they are where outfile_complete() has not been called. */
void outfile_abandon(void);

#endif
