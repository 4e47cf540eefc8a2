/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Processes that a study has started end with it, also where it is killed: those that measure, and those that keep
 * processors busy. */
#include "study/study_process.h"
#include "test.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_S = 60, MOST = 1 + sizeof((struct study_busy *)NULL)->process / sizeof(pid_t) };

static void never_end(const void *unused, int line)
{
    (void)unused;
    (void)line;
    for (;;)
        pause();
}

/* Tells who it has started, and waits to be killed. */
static void be_study(int line)
{
    struct study_process process;
    struct study_busy busy;
    pid_t all[MOST] = {0};
    CHECK(study_process_start(&process, never_end, NULL, LIMIT_S), "nothing starts");
    study_busy_start(&busy, LIMIT_S);
    all[0] = process.id;
    for (size_t i = 0; i < busy.count; i++)
        all[1 + i] = busy.process[i];
    if (write(line, all, sizeof all) == sizeof all)
        pause();
    _exit(1);
}

/* Children of one that ended are ours then. One that had not begun to work is not killed, but ends by itself. */
static bool ends(pid_t child)
{
    for (int i = 0; i < 10 * LIMIT_S; i++) {
        if (waitpid(child, NULL, WNOHANG) == child)
            return true;
        usleep(10000);
    }
    return false;
}

int main(void)
{
    pid_t all[MOST];
    int line[2];
    size_t count = 0;
    CHECK(!prctl(PR_SET_CHILD_SUBREAPER, 1) && !pipe(line), "no subreaper");
    const pid_t study = fork();
    if (!study)
        be_study(line[1]);
    CHECK(read(line[0], all, sizeof all) == sizeof all, "it says nothing");
    kill(study, SIGKILL);
    waitpid(study, NULL, 0);
    for (; count < MOST && all[count]; count++)
        CHECK(ends(all[count]), "process %zu of the study goes on", count);
    CHECK(count > 1 || sysconf(_SC_NPROCESSORS_ONLN) < 2, "none keeps a processor busy");
    printf("%zu processes\n", count);
    return test_finish();
}
