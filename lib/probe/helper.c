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
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_ARGUMENTS 8
#define LOOKS         50      /* at whether a killed one is gone */
#define LOOK_NS       1000000 /* between two */

extern char **environ;

/* Seen from the folder of the library: in a build tree, a wheel and most installations; and where this one has it. */
static const char *const beside[] = {"../libexec/penstock", PENSTOCK_LIBEXEC_BESIDE};

/* The folder of the file that this code is in, of which the linker knows a program, with the library within it, by the
 * word that it was called by. */
static bool own_folder(char folder[PATH_MAX])
{
    Dl_info self, program;
    ssize_t length = 0;
    char *end;
    if (!dladdr(beside, &self) || !self.dli_fname)
        return false;
    if (dladdr((void *)(uintptr_t)getauxval(AT_PHDR), &program) && program.dli_fbase == self.dli_fbase)
        length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (length > 0)
        folder[length] = '\0';
    else
        snprintf(folder, PATH_MAX, "%s", self.dli_fname);
    if ((end = strrchr(folder, '/')))
        *end = '\0';
    return end != NULL;
}

/* What `variable` names, or beside the folder that this library is in (installed, moved or in a build tree), or where
 * this build has it or would install it. */
static bool find(char path[PATH_MAX], const char *name, const char *variable)
{
    const char *wanted = getenv(variable);
    char folder[PATH_MAX];
    if (wanted && *wanted) {
        snprintf(path, PATH_MAX, "%s", wanted);
        return !access(path, X_OK);
    }
    if (own_folder(folder))
        for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
            if (snprintf(path, PATH_MAX, "%s/%s/%s", folder, beside[i], name) < PATH_MAX && !access(path, X_OK))
                return true;
    snprintf(path, PATH_MAX, "%s/%s", PENSTOCK_LIBEXEC_DIR, name);
    return !access(path, X_OK);
}

/* What the application has open and would leave to any program: a pipe's reader waits for all who have its other end.
 */
static int close_others(posix_spawn_file_actions_t *actions)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    return posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
#else
    (void)actions;
    return 0;
#endif
}

/* Its output in `output`, or nowhere where that is -1; our signal settings and terminal are not its own. 0, or an
 * errno. */
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
    if (!failure)
        failure = output < 0 ? posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
                             : posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (!failure && !(failure = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)) &&
        !(failure = close_others(&actions)))
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

/* ---------------------------------------------------------------- those that go on ------------ */

/* Left or killed ones, whose end nobody waits for: one that a driver keeps in the kernel dies when that lets it. */
static struct penstock_guard guard = PENSTOCK_GUARD_AWAITED;
static pid_t others[64];

static void remember(pid_t process)
{
    penstock__guard(&guard);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i] && waitpid(others[i], NULL, WNOHANG))
            others[i] = 0;
        if (!others[i] && process) {
            others[i] = process;
            process = 0;
        }
    }
    penstock__unguard(&guard);
}

/* ---------------------------------------------------------------- starting -------------------- */

static void fill(char *list[MAX_ARGUMENTS + 2], char *path, const char *const *arguments)
{
    int count = 0;
    list[count++] = path;
    while (count <= MAX_ARGUMENTS && arguments[count - 1]) {
        list[count] = (char *)(uintptr_t)arguments[count - 1];
        count++;
    }
    list[count] = NULL;
}

int penstock__helper_start(struct penstock_helper *helper, const char *name, const char *variable,
                           const char *const *arguments, int input)
{
    char path[PATH_MAX], *list[MAX_ARGUMENTS + 2];
    int ends[2] = {-1, -1}, failure;
    fill(list, path, arguments);
    remember(0);
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

void penstock__helper_leave(const char *name, const char *variable, const char *const *arguments)
{
    char path[PATH_MAX], *list[MAX_ARGUMENTS + 2];
    pid_t process;
    fill(list, path, arguments);
    if (find(path, name, variable) && !spawn(&process, path, list, -1, -1))
        remember(process);
}

/* ---------------------------------------------------------------- ending ---------------------- */

/* Whether it has ended, or somebody else of this process has waited for it; its status stays to be had. */
static bool has_ended(pid_t process)
{
    siginfo_t ended = {.si_pid = 0};
    int failure = waitid(P_PID, (id_t)process, &ended, WEXITED | WNOHANG | WNOWAIT);
    return ended.si_pid || (failure && errno != EINTR);
}

static void sleep_on(void)
{
    nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
}

/* Its own group, too: a compiler's programs. One that has ended is not killed: its number may be another's. False where
 * it is not gone soon. */
static bool kill_soon(pid_t process)
{
    if (!has_ended(process))
        kill(-process, SIGKILL);
    for (int look = 0; look < LOOKS && !has_ended(process); look++)
        sleep_on();
    return has_ended(process);
}

bool penstock__helper_ends(const struct penstock_helper *helper, double end_s)
{
    while (!has_ended(helper->process)) {
        if (penstock__cancelled() || penstock__now_s() >= end_s)
            return false;
        sleep_on();
    }
    return true;
}

int penstock__helper_end(struct penstock_helper *helper, bool killed)
{
    int status;
    close(helper->answer);
    if (killed && !kill_soon(helper->process)) {
        remember(helper->process);
        return -1;
    }
    while (waitpid(helper->process, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}
