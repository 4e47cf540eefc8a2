/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Output files whose every failure is told, a full disk included; "-" is standard output. */
#ifndef PENSTOCK_APPS_OUTFILE_H
#define PENSTOCK_APPS_OUTFILE_H

#include "command.h"

#include <stdio.h>

/* Tells before long work what outfile_open() would tell after it; the file stays as it is. Returns an exit code. */
int outfile_try(const char *path);

/* Flushes standard output and tells, once, if that failed: what nobody gets need not be computed. Returns an exit
 * code. */
int outfile_flush_stdout(void);

/* Created or emptied. Returns an exit code. */
int outfile_open(FILE **file, const char *path);

/* Tells the first failure of the writes so far; call it right after a write. */
int outfile_check(FILE *file, const char *path);

/* Flushes, closes (but not standard output), tells what failed. NULL is fine. */
int outfile_close(FILE *file, const char *path);

/* Closes a file that is of use only as a whole: where `code`, that of its writing, or the last of it tells of a
 * failure, it is taken away. Returns an exit code. NULL is fine. */
int outfile_finish(FILE *file, const char *path, int code);

/* Closes the file of which nothing became, and takes it away where it is a regular one. NULL is fine. */
void outfile_discard(FILE *file, const char *path);

#endif
