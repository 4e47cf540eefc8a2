/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Where an output goes: what its name stands for, whether that can be replaced, and the file beside it. */
#include "radio/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define MOST_LINKS 40
#define MOST_TURNS 100 /* of waiting for other programs that begin or end on the same file just now */

/* ---------------------------------------------------------------- names ----------------------- */

/* One of this process's own descriptors: what the shell gave, to be written from where it stands. -1: none. */
static int own_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t length = strlen(folders[i]);
        char *end;
        long number;
        if (strncmp(path, folders[i], length) || path[length] < '0' || path[length] > '9')
            continue;
        number = strtol(path + length, &end, 10);
        if (!*end && number >= 0 && number <= INT_MAX)
            return (int)number;
    }
    return -1;
}

/* What follows the last slash. */
static char *base_of(char *path)
{
    char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Follows symbolic links, also one to a file that is not there yet; `*descriptor` where they lead to one of ours. 0 or
 * an errno. */
static int follow(char path[PATH_MAX], int *descriptor)
{
    for (int links = 0; links < MOST_LINKS; links++) {
        char text[PATH_MAX], *base = base_of(path);
        ssize_t length;
        if ((*descriptor = own_descriptor(path)) >= 0)
            return 0;
        if ((length = readlink(path, text, sizeof text - 1)) < 0)
            return errno == EINVAL || errno == ENOENT ? 0 : errno; /* no link, or nothing there */
        text[length] = '\0';
        if (*text == '/')
            base = path;
        if ((size_t)(base - path) + (size_t)length >= PATH_MAX)
            return ENAMETOOLONG;
        memcpy(base, text, (size_t)length + 1);
    }
    return ELOOP;
}

/* `FOLDER/.NAME.ending`; a name that is too long for that is shortened, and told from others by its hash. */
static char *name_beside(const char *path, const char *ending)
{
    char buffer[PATH_MAX + NAME_MAX];
    const char *base = strrchr(path, '/') + 1;
    int folder = (int)(base - path);
    if (strlen(base) + strlen(ending) + 2 <= NAME_MAX)
        snprintf(buffer, sizeof buffer, "%.*s.%s.%s", folder, path, base, ending);
    else
        snprintf(buffer, sizeof buffer, "%.*s.%.180s-%016" PRIx64 ".%s", folder, path, base,
                 penstock__hash(base, strlen(base)), ending);
    return penstock__strdup(buffer);
}

/* The path with its folder as it really is, so that one file has one name; and the names beside it. */
static int set_names(penstock_file *output, char path[PATH_MAX])
{
    char folder[PATH_MAX + NAME_MAX + 2], *base = base_of(path);
    size_t length;
    if (!*base || strlen(base) > NAME_MAX) {
        errno = *base ? ENAMETOOLONG : EISDIR;
        return penstock__file_error(output, "write");
    }
    if (base == path) {
        if (!realpath(".", folder))
            return penstock__file_error(output, "write");
    } else {
        char first = *base;
        *base = '\0';
        if (!realpath(path, folder))
            return penstock__file_error(output, "write");
        *base = first;
    }
    length = strlen(folder);
    snprintf(folder + length, sizeof folder - length, "%s%s", folder[length - 1] == '/' ? "" : "/", base);
    return (output->path = penstock__strdup(folder)) && (output->part = name_beside(folder, "penstock-part")) &&
                   (output->old = name_beside(folder, "penstock-old"))
               ? PENSTOCK_OK
               : PENSTOCK_ERR_MEMORY;
}

/* ---------------------------------------------------------------- written as it is ------------ */

static int use_descriptor(penstock_file *output, int fd, bool borrowed)
{
    struct stat about;
    output->given = true;
    output->borrowed = borrowed;
    output->fd = borrowed ? fd : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (output->fd < 0)
        return penstock__file_error(output, "write");
    if (!fstat(output->fd, &about)) /* else the first write tells */
        output->is = penstock__identity_of(&about);
    return PENSTOCK_OK;
}

static int use_special(penstock_file *output, const char *path)
{
    do
        output->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    while (output->fd < 0 && errno == EINTR);
    return output->fd < 0 ? penstock__file_error(output, "write") : PENSTOCK_OK;
}

/* ---------------------------------------------------------------- what can be replaced -------- */

static bool is_mounted(const char *path)
{
#ifdef STATX_ATTR_MOUNT_ROOT
    struct statx about;
    return !statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &about) &&
           (about.stx_attributes & about.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT);
#else
    (void)path;
    return false;
#endif
}

/* An old file is replaced only where it could be written, and where the folder allows that. 0 or an errno. */
static int check_old(const penstock_file *output, const struct stat *about)
{
    struct stat folder;
    char *base = strrchr(output->path, '/') + 1, first = *base;
    int failed;
    if (faccessat(AT_FDCWD, output->path, W_OK, AT_EACCESS))
        return errno;
    if (is_mounted(output->path))
        return EBUSY;
    *base = '\0';
    failed = stat(output->path, &folder);
    *base = first;
    if (failed)
        return errno;
    return folder.st_mode & S_ISVTX && geteuid() && geteuid() != about->st_uid && geteuid() != folder.st_uid ? EPERM
                                                                                                             : 0;
}

int penstock__file_place(penstock_file *output, const char *path)
{
    char followed[PATH_MAX];
    struct stat about;
    int descriptor, status;
    if (!strcmp(path, "-"))
        return use_descriptor(output, STDOUT_FILENO, true);
    errno = ENAMETOOLONG;
    if (snprintf(followed, sizeof followed, "%s", path) >= (int)sizeof followed ||
        (errno = follow(followed, &descriptor)))
        return penstock__file_error(output, "write");
    if (descriptor >= 0)
        return use_descriptor(output, descriptor, false);
    output->existed = !stat(path, &about);
    if (!output->existed && errno != ENOENT)
        return penstock__file_error(output, "write");
    if (output->existed && S_ISDIR(about.st_mode)) {
        errno = EISDIR;
        return penstock__file_error(output, "write");
    }
    if (output->existed && !S_ISREG(about.st_mode))
        return use_special(output, path);
    if ((status = set_names(output, followed)))
        return status;
    if (!output->existed)
        return PENSTOCK_OK;
    output->is = penstock__identity_of(&about);
    return (errno = check_old(output, &about)) ? penstock__file_error(output, "write") : PENSTOCK_OK;
}

/* ---------------------------------------------------------------- the file beside ------------- */

/* Is `fd` still what `path` names? */
static bool still_there(int fd, const char *path)
{
    struct stat ours, named;
    return !fstat(fd, &ours) && !lstat(path, &named) &&
           penstock__identity_same(penstock__identity_of(&ours), penstock__identity_of(&named));
}

/* One that is there already: another program's, which holds a lock on it, or of a run that was killed. False: the
 * former, or nothing of ours, with errno. */
static bool clear_part(const char *part)
{
    struct stat about;
    bool gone;
    int fd = open(part, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT;
    if (fstat(fd, &about) || !S_ISREG(about.st_mode) || about.st_nlink > 1) {
        close(fd);
        errno = EEXIST;
        return false;
    }
    gone = flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    if (gone && still_there(fd, part))
        gone = !unlink(part) || errno == ENOENT;
    if (!gone && errno == EWOULDBLOCK)
        errno = EBUSY;
    int cause = errno;
    close(fd);
    errno = cause;
    return gone;
}

/* Its owner and group too, where we may. */
void penstock__file_take_permissions(const penstock_file *output)
{
    struct stat old;
    if (!output->existed || stat(output->path, &old))
        return;
    bool same_owner = !fchown(output->fd, old.st_uid, old.st_gid) || !fchown(output->fd, (uid_t)-1, old.st_gid);
    fchmod(output->fd, old.st_mode & (same_owner ? 07777 : 0777));
}

static int tell_busy(const penstock_file *output)
{
    return penstock__error(PENSTOCK_ERR_FILE, "another program is writing '%.200s' ('%.200s' is there)", output->name,
                           output->part);
}

int penstock__file_begin(penstock_file *output)
{
    if (!output->part)
        return PENSTOCK_OK;
    for (int turn = 0; turn < MOST_TURNS; turn++) {
        output->fd = open(output->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, output->existed ? 0600 : 0666);
        if (output->fd < 0 && errno == EEXIST) {
            if (clear_part(output->part))
                continue;
            return errno == EBUSY ? tell_busy(output) : penstock__file_error(output, "make a file beside");
        }
        if (output->fd < 0 && errno == EINTR)
            continue;
        if (output->fd < 0)
            return penstock__file_error(output, output->existed ? "make a file beside" : "write");
        bool locked = !flock(output->fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK;
        if (locked && still_there(output->fd, output->part)) {
            penstock__file_take_permissions(output);
            return PENSTOCK_OK;
        }
        close(output->fd); /* another program took it for one that was left, and removes it */
        output->fd = -1;
    }
    return tell_busy(output);
}
