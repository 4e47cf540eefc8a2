/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Preloaded into a command: lets one of its calls on output files fail, or kills the command there.
 * PENSTOCK_FILES_CALL names the call (open, write, close, fdatasync, link, rename, unlink), PENSTOCK_FILES_AT says
 * which of them, from 1, PENSTOCK_FILES_ERRNO how it fails: 0 is SIGKILL before it. PENSTOCK_FILES_HIT is a file that
 * is made when it comes to that.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REAL(name, type) ((type)(uintptr_t)dlsym(RTLD_NEXT, name))

static bool is_beside(const char *path)
{
    return strstr(path, ".penstock-part") || strstr(path, ".penstock-old");
}

static bool is_output(int fd)
{
    char link_name[64], path[PATH_MAX];
    ssize_t length;
    snprintf(link_name, sizeof link_name, "/proc/self/fd/%d", fd);
    length = readlink(link_name, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    return is_beside(path);
}

/* Is this the call that is to fail? */
static bool fails(const char *call)
{
    static atomic_int count;
    const char *wanted = getenv("PENSTOCK_FILES_CALL"), *at = getenv("PENSTOCK_FILES_AT"),
               *number = getenv("PENSTOCK_FILES_ERRNO"), *hit = getenv("PENSTOCK_FILES_HIT");
    int fd;
    if (!wanted || !at || !number || !hit || strcmp(wanted, call) || atomic_fetch_add(&count, 1) + 1 != atoi(at))
        return false;
    if ((fd = REAL("open", int (*)(const char *, int, ...))(hit, O_CREAT | O_WRONLY, 0600)) >= 0)
        REAL("close", int (*)(int))(fd);
    if (!atoi(number))
        kill(getpid(), SIGKILL);
    errno = atoi(number);
    return true;
}

int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    if (is_beside(path) && fails("open"))
        return -1;
    return REAL("open", int (*)(const char *, int, ...))(path, flags, mode);
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    if (is_output(fd) && fails("write"))
        return -1;
    return REAL("write", ssize_t(*)(int, const void *, size_t))(fd, bytes, count);
}

int close(int fd)
{
    if (is_output(fd) && fails("close")) {
        int cause = errno;
        REAL("close", int (*)(int))(fd);
        errno = cause;
        return -1;
    }
    return REAL("close", int (*)(int))(fd);
}

int fdatasync(int fd)
{
    return is_output(fd) && fails("fdatasync") ? -1 : REAL("fdatasync", int (*)(int))(fd);
}

int link(const char *from, const char *to)
{
    return is_beside(to) && fails("link") ? -1 : REAL("link", int (*)(const char *, const char *))(from, to);
}

int rename(const char *from, const char *to)
{
    bool ours = is_beside(from) || is_beside(to);
    return ours && fails("rename") ? -1 : REAL("rename", int (*)(const char *, const char *))(from, to);
}

int unlink(const char *path)
{
    return is_beside(path) && fails("unlink") ? -1 : REAL("unlink", int (*)(const char *))(path);
}
