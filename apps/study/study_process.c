/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Processes that measure when they are asked. */
#include "study_process.h"
#include "shared/targets.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic pid_t at_work[STUDY_PROCESSES];

/* Puts `now` in the place of `before` in the list of those at work. */
static bool list(pid_t before, pid_t now)
{
    for (size_t i = 0; i < STUDY_PROCESSES; i++) {
        pid_t expected = before;
        if (atomic_compare_exchange_strong(&at_work[i], &expected, now))
            return true;
    }
    return false;
}

/* In a child: it ends with the one that has started it, in whatever way that ends. */
static void end_with(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
}

bool study_process_start(struct study_process *process, void (*work)(const void *argument, int line),
                         const void *argument, unsigned limit_s)
{
    int ends[2];
    *process = (struct study_process){.id = 0};
    fflush(NULL);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return false;
    const pid_t parent = getpid(), child = fork();
    if (!child) {
        end_with(parent);
        setpgid(0, 0); /* what it starts ends with it */
        close(ends[0]);
        alarm(limit_s);
        work(argument, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return false;
    }
    setpgid(child, child); /* whoever comes first */
    *process = (struct study_process){.id = child, .line = ends[0]};
    if (list(0, child))
        return true;
    study_process_end(process);
    return false;
}

bool study_process_hear(const struct study_process *process, void *what, size_t bytes)
{
    size_t got = 0;
    while (process->id && got < bytes) {
        const ssize_t more = read(process->line, (char *)what + got, bytes - got);
        if (more > 0)
            got += (size_t)more;
        else if (!more || errno != EINTR)
            return false;
    }
    return got == bytes;
}

void study_process_ask(const struct study_process *process, int cpu)
{
    if (process->id) /* one that ended is heard of by the next answer, which does not come */
        (void)!send(process->line, &cpu, sizeof cpu, MSG_NOSIGNAL);
}

void study_process_end(struct study_process *process)
{
    if (!process->id)
        return;
    kill(-process->id, SIGKILL);
    close(process->line);
    list(process->id, 0); /* before its number may be another's */
    while (waitpid(process->id, NULL, 0) < 0 && errno == EINTR)
        ;
    process->id = 0;
}

void study_process_end_all(void)
{
    for (size_t i = 0; i < STUDY_PROCESSES; i++) {
        const pid_t child = atomic_load(&at_work[i]);
        if (child > 0)
            kill(-child, SIGKILL);
    }
}

void study_busy_start(struct study_busy *busy, unsigned limit_s)
{
    const size_t count = usable_cpus() / 2, most = sizeof busy->process / sizeof *busy->process;
    *busy = (struct study_busy){.count = 0};
    for (size_t i = 0; i < count && i < most; i++) {
        const pid_t parent = getpid(), child = fork();
        if (!child) {
            end_with(parent);
            alarm(limit_s);
            for (volatile bool busy_still = true; busy_still;)
                ;
        }
        if (child > 0)
            busy->process[busy->count++] = child;
    }
    study_busy_move(busy);
}

static void set_cpu(pid_t process, int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(process, sizeof one, &one);
}

/* Whether the one at `place` of the processors that this process may use is kept busy: of each pair the first one, or
 * the second. */
static bool is_busy(const struct study_busy *busy, size_t place)
{
    return place / 2 < busy->count && (place + busy->moves) % 2;
}

void study_busy_move(struct study_busy *busy)
{
    cpu_set_t usable;
    size_t place = 0;
    if (sched_getaffinity(0, sizeof usable, &usable))
        return;
    busy->moves++;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &usable))
            continue;
        if (is_busy(busy, place))
            set_cpu(busy->process[place / 2], cpu);
        place++;
    }
}

int study_busy_spares(const struct study_busy *busy, size_t turn)
{
    cpu_set_t usable;
    int spared[CPU_SETSIZE];
    size_t place = 0, count = 0;
    if (sched_getaffinity(0, sizeof usable, &usable))
        return 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &usable) && !is_busy(busy, place++))
            spared[count++] = cpu;
    return count ? spared[turn % count] : 0;
}

void study_busy_end(struct study_busy *busy)
{
    for (size_t i = 0; i < busy->count; i++) {
        kill(busy->process[i], SIGKILL);
        waitpid(busy->process[i], NULL, 0);
    }
    busy->count = 0;
}

bool study_tell(int line, const void *what, size_t bytes)
{
    return send(line, what, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

/* Where the thread goes from there is the scheduler's choice. */
static void begin_on(int cpu)
{
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable))
        return;
    set_cpu(0, cpu);
    sched_setaffinity(0, sizeof usable, &usable);
}

bool study_asked(int line)
{
    int cpu;
    if (read(line, &cpu, sizeof cpu) != sizeof cpu)
        return false;
    begin_on(cpu);
    return true;
}
