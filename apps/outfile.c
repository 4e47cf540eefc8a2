/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Opening, checking and closing output files. */
#include "outfile.h"

#include <errno.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>

static int tell(const char *path)
{
    return fail(EXIT_DATA, "cannot write '%s': %s", path, strerror(errno ? errno : EIO));
}

int outfile_try(const char *path)
{
    struct stat about;
    bool is_there = !stat(path, &about);
    if (is_there && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
        return EXIT_DONE; /* the reader of a pipe would see its end */
    FILE *file = fopen(path, "ab");
    if (!file)
        return tell(path);
    fclose(file);
    if (!is_there)
        remove(path);
    return EXIT_DONE;
}

int outfile_flush_stdout(void)
{
    static bool told;
    errno = 0;
    if (!fflush(stdout) && !ferror(stdout))
        return EXIT_DONE;
    if (!told)
        fail(EXIT_DATA, "cannot write to standard output: %s", strerror(errno ? errno : EIO));
    told = true;
    __fpurge(stdout);
    return EXIT_DATA;
}

int outfile_open(FILE **file, const char *path)
{
    errno = 0;
    *file = strcmp(path, "-") ? fopen(path, "wb") : stdout;
    return *file ? EXIT_DONE : tell(path);
}

int outfile_check(FILE *file, const char *path)
{
    if (!ferror(file))
        return EXIT_DONE;
    int code = tell(path);
    __fpurge(file); /* told once: closing the file has nothing left to fail with */
    clearerr(file);
    return code;
}

int outfile_close(FILE *file, const char *path)
{
    if (!file)
        return EXIT_DONE;
    errno = 0;
    bool failed = ferror(file) || fflush(file);
    int cause = errno;
    if (file != stdout && fclose(file) && !failed) {
        failed = true;
        cause = errno;
    }
    errno = cause;
    return failed ? tell(path) : EXIT_DONE;
}

void outfile_discard(FILE *file, const char *path)
{
    struct stat about;
    if (!file || file == stdout)
        return;
    bool regular = !fstat(fileno(file), &about) && S_ISREG(about.st_mode);
    __fpurge(file);
    fclose(file);
    if (regular)
        remove(path);
}

int outfile_finish(FILE *file, const char *path, int code)
{
    errno = 0;
    if (file && !code) {
        fflush(file);
        code = outfile_check(file, path);
    }
    if (!code)
        return outfile_close(file, path);
    outfile_discard(file, path);
    return code;
}
