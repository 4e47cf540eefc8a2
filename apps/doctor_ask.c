/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Programs that the doctor asks: a fault in them is a finding, and does not reach the command. */
#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool start(pid_t *child, const char *const arguments[], int output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    bool started;
    if (posix_spawn_file_actions_init(&actions))
        return false;
    if (posix_spawnattr_init(&attributes)) {
        posix_spawn_file_actions_destroy(&actions);
        return false;
    }
    sigemptyset(&none); /* our thread for interrupts is not theirs */
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    started = !posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) &&
              !posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) &&
              !posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) &&
              !posix_spawnp(child, arguments[0], &actions, &attributes, (char *const *)(uintptr_t)arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return started;
}

/* To the end, whatever of it has room. */
static void read_all(int input, char *answer, size_t capacity)
{
    size_t used = 0;
    char rest[512];
    for (;;) {
        bool full = used + 1 >= capacity;
        ssize_t got = read(input, full ? rest : answer + used, full ? sizeof rest : capacity - 1 - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += full ? 0 : (size_t)got;
    }
    answer[used] = '\0';
}

bool doctor_ask(const char *const arguments[], char *answer, size_t capacity)
{
    int ends[2], status = -1;
    pid_t child;
    *answer = '\0';
    if (pipe2(ends, O_CLOEXEC))
        return false;
    bool started = start(&child, arguments, ends[1]);
    close(ends[1]);
    if (started) {
        read_all(ends[0], answer, capacity);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            continue;
    }
    close(ends[0]);
    return started && WIFEXITED(status) && !WEXITSTATUS(status);
}
