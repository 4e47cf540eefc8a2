/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Programs of ours in processes of their own. They are started by posix_spawn: after a fork of a process with threads,
 * a child may hardly call anything.
 */
#include "backends/backend.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ARGUMENTS 8

extern char **environ;

/* What `variable` names, or beside the folder that this library is in (installed, moved or in a build tree), or where
 * this build would install it. */
static bool find(char path[PATH_MAX], const char *name, const char *variable)
{
    static const char folder[] = "libexec/penstock";
    const char *wanted = getenv(variable);
    Dl_info self;
    if (wanted && *wanted) {
        snprintf(path, PATH_MAX, "%s", wanted);
        return !access(path, X_OK);
    }
    if (dladdr(folder, &self) && self.dli_fname && strrchr(self.dli_fname, '/')) {
        int length = (int)(strrchr(self.dli_fname, '/') - self.dli_fname);
        if (snprintf(path, PATH_MAX, "%.*s/../%s/%s", length, self.dli_fname, folder, name) < PATH_MAX &&
            !access(path, X_OK))
            return true;
    }
    snprintf(path, PATH_MAX, "%s/%s", PENSTOCK_LIBEXEC_DIR, name);
    return !access(path, X_OK);
}

/* Its output in `output`; our signal settings and terminal are not its own. 0, or an errno. */
static int spawn(pid_t *process, const char *path, char *const arguments[], int input, int output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int failure;
    sigemptyset(&none);
    sigfillset(&all);
    if ((failure = posix_spawn_file_actions_init(&actions)))
        return failure;
    if ((failure = posix_spawnattr_init(&attributes))) {
        posix_spawn_file_actions_destroy(&actions);
        return failure;
    }
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    failure = input < 0 ? posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
                        : posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (!failure && !(failure = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)) &&
        !(failure = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)))
        failure = posix_spawn(process, path, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

/* A pipe none of whose ends is where a process has its input, output and errors: we may run without those. */
static int open_pipe(int ends[2])
{
    int low[2], failure = 0;
    if (pipe2(low, O_CLOEXEC))
        return errno;
    for (int i = 0; i < 2; i++)
        if ((ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) < 0)
            failure = errno;
    for (int i = 0; i < 2; i++) {
        close(low[i]);
        if (failure && ends[i] >= 0)
            close(ends[i]);
    }
    return failure;
}

int penstock__helper_input(const void *content, size_t bytes)
{
    const char *at = content;
    int file = memfd_create("penstock", MFD_CLOEXEC);
    while (file >= 0 && bytes) {
        ssize_t count = write(file, at, bytes);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            close(file);
            return -1;
        }
        at += count;
        bytes -= (size_t)count;
    }
    if (file >= 0 && lseek(file, 0, SEEK_SET)) {
        close(file);
        return -1;
    }
    return file;
}

int penstock__helper_start(struct penstock_helper *helper, const char *name, const char *variable,
                           const char *const *arguments, int input)
{
    char path[PATH_MAX], *list[MAX_ARGUMENTS + 2] = {path};
    int ends[2] = {-1, -1}, failure;
    for (int i = 0; i < MAX_ARGUMENTS && arguments[i]; i++)
        list[i + 1] = (char *)(uintptr_t)arguments[i];
    if (!find(path, name, variable))
        return ENOENT;
    if ((failure = open_pipe(ends)))
        return failure;
    failure = spawn(&helper->process, path, list, input, ends[1]);
    close(ends[1]);
    if (failure)
        close(ends[0]);
    helper->answer = ends[0];
    return failure;
}

/* One that has ended is not killed: its number may be another's. */
int penstock__helper_end(struct penstock_helper *helper, bool killed)
{
    int status;
    pid_t ended;
    close(helper->answer);
    while ((ended = waitpid(helper->process, &status, killed ? WNOHANG : 0)) <= 0) {
        if (ended < 0 && errno != EINTR)
            return -1;
        if (!ended)
            kill(helper->process, SIGKILL);
        killed = killed && ended;
    }
    return status;
}
