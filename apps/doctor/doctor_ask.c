/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Programs that the doctor asks: a fault in them is a finding, and does not reach the command. */
#include "doctor.h"
#include "shared/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
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

/* To the end, whatever of it has room; false where that has not come within `seconds`. */
static bool read_all(int input, char *answer, size_t capacity, double seconds)
{
    const double end_s = seconds_now() + seconds;
    size_t used = 0;
    char rest[512];
    bool late = false;
    for (;;) {
        struct pollfd ready = {.fd = input, .events = POLLIN};
        double left_s = end_s - seconds_now();
        if ((late = left_s <= 0 || !poll(&ready, 1, left_s < 1000 ? (int)(1e3 * left_s) + 1 : 1000000)))
            break;
        bool full = used + 1 >= capacity;
        ssize_t got = read(input, full ? rest : answer + used, full ? sizeof rest : capacity - 1 - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += full ? 0 : (size_t)got;
    }
    answer[used] = '\0';
    return !late;
}

bool doctor_ask(const char *const arguments[], char *answer, size_t capacity)
{
    return doctor_ask_within(arguments, answer, capacity, HUGE_VAL) == ANSWERED;
}

enum doctor_answer doctor_ask_within(const char *const arguments[], char *answer, size_t capacity, double seconds)
{
    int ends[2], status = -1;
    pid_t child;
    *answer = '\0';
    if (pipe2(ends, O_CLOEXEC))
        return NO_ANSWER;
    bool late = false, started = start(&child, arguments, ends[1]);
    close(ends[1]);
    if (started) {
        if ((late = !read_all(ends[0], answer, capacity, seconds)))
            kill(child, SIGKILL);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            continue;
    }
    close(ends[0]);
    return late ? LATE_ANSWER : started && WIFEXITED(status) && !WEXITSTATUS(status) ? ANSWERED : NO_ANSWER;
}
