/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A run of penstock-probe, followed line by line. */
#include "probe/session.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_BYTES (1u << 16) /* from a helper */
#define LOOK_S     0.02       /* between two looks at whether anybody still wants to know */
#define THROUGH_S  1.0        /* to the end of one that has told all */

/* What one helper tells. */
struct listener {
    struct penstock__result_reader reader;
    char line[512];
    size_t used, bytes;
    bool told, late, over, cancelled; /* late: and `over`, since the time for all has passed */
};

/* A chunk of what it writes; a line that is not ours says nothing. */
static void listen_to(struct listener *listener, const char *chunk, size_t count)
{
    listener->bytes += count;
    for (size_t i = 0; i < count; i++) {
        if (chunk[i] != '\n') {
            if (listener->used < sizeof listener->line - 1)
                listener->line[listener->used++] = chunk[i];
            continue;
        }
        listener->line[listener->used] = 0;
        listener->used = 0;
        if (penstock__result_read_line(&listener->reader, listener->line))
            listener->told = true;
    }
}

/* Reads until the helper says that it is through, ends, or the time is over. */
static void listen_until(struct listener *listener, int input, const struct penstock__probe_session *session)
{
    double deadline = penstock__now_s() + session->silence_s;
    char chunk[512];
    while (!listener->reader.done && listener->bytes < MOST_BYTES) {
        struct pollfd waiting = {.fd = input, .events = POLLIN};
        double left = fmin(deadline, session->end_s) - penstock__now_s();
        ssize_t count;
        listener->over = session->end_s < deadline;
        if ((listener->cancelled = penstock__cancelled()) || (listener->late = left <= 0))
            return;
        if (poll(&waiting, 1, (int)ceil(1e3 * fmin(left, LOOK_S))) <= 0)
            continue;
        count = read(input, chunk, sizeof chunk);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return;
        listen_to(listener, chunk, (size_t)count);
        deadline = penstock__now_s() + session->silence_s;
    }
}

/* It says no more. The status, for who has not ended after it: as for one that is silent. */
static int end_helper(struct penstock_helper *helper, struct listener *listener,
                      const struct penstock__probe_session *session)
{
    const double patience_s = listener->reader.done ? THROUGH_S : session->silence_s;
    bool killed = listener->cancelled || listener->late || listener->bytes >= MOST_BYTES;
    if (!killed && !penstock__helper_ends(helper, penstock__now_s() + patience_s)) {
        killed = true;
        listener->cancelled = penstock__cancelled();
        listener->late = !listener->cancelled;
        listener->over = false;
    }
    return penstock__helper_end(helper, killed);
}

/* Signals that a driver's fault brings about; others come from outside. */
static bool is_fault(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGABRT ||
           signal == SIGTRAP || signal == SIGSYS;
}

/* Why a helper that is not through has ended. */
static enum penstock__holds judge(struct listener *listener, int status, const struct penstock__probe_session *session)
{
    const char *doing = *listener->reader.doing ? listener->reader.doing : "was probed";
    char reason[256];
    enum penstock__outcome outcome = PENSTOCK__BAD;
    enum penstock__holds holds = PENSTOCK__FOR_ALL;
    if (listener->late && listener->over) {
        snprintf(reason, sizeof reason, "the driver's devices took too long in all, the last while it %s", doing);
        outcome = PENSTOCK__LATE;
    } else if (listener->late) {
        snprintf(reason, sizeof reason, "the driver did not answer within %u s while it %s", session->silence_s, doing);
        outcome = PENSTOCK__LATE;
    } else if (status == -1) {
        snprintf(reason, sizeof reason, "the driver ended the process that probed it, while it %s", doing);
        holds = PENSTOCK__FOR_NOW;
    } else if (WIFSIGNALED(status) && is_fault(WTERMSIG(status))) {
        snprintf(reason, sizeof reason, "the driver crashed while it %s (signal %d)", doing, WTERMSIG(status));
    } else if (WIFSIGNALED(status)) {
        snprintf(reason, sizeof reason, "the process that probed the driver was killed (signal %d) while it %s",
                 WTERMSIG(status), doing);
        holds = PENSTOCK__FOR_NOW;
    } else {
        snprintf(reason, sizeof reason, "the driver ended the process that probed it (exit code %d), while it %s",
                 WEXITSTATUS(status), doing);
        if (WEXITSTATUS(status) == 127 && !listener->told)
            holds = PENSTOCK__NO_HELPER;
    }
    penstock__result_blame(&listener->reader, outcome, reason);
    return holds;
}

/* Whether the helper told of an error of a device from number `first` on. */
static bool has_errors(const struct penstock__probe_result *result, unsigned first)
{
    for (unsigned i = first; i < result->count; i++)
        if (result->devices[i].finding.outcome)
            return true;
    return result->whole.outcome;
}

/* Without a helper in the installation nothing is wrong. One that cannot be started now, for want of processes or
 * memory, leaves the driver untried, which may want the same. */
static enum penstock__holds no_helper(struct penstock__probe_result *result, int failure)
{
    struct penstock__result_reader reader = {.result = result};
    char reason[128];
    if (failure == ENOENT)
        snprintf(reason, sizeof reason, "penstock-probe is not installed");
    else
        snprintf(reason, sizeof reason, "penstock-probe cannot be started: %s", strerror(failure));
    penstock__result_blame(&reader, PENSTOCK__BAD, reason);
    return failure == ENOENT ? PENSTOCK__NO_HELPER : PENSTOCK__FOR_NOW;
}

enum penstock__holds penstock__session_run(struct penstock__probe_session *session,
                                           struct penstock__probe_result *result)
{
    struct listener listener = {.reader = {.result = result}};
    unsigned before = result->count;
    struct penstock_helper helper;
    enum penstock__holds holds, end;
    int failure, status;
    session->through = false;
    if ((failure =
             penstock__helper_start(&helper, "penstock-probe", "PENSTOCK_PROBE", session->arguments, session->input)))
        return no_helper(result, failure);
    listen_until(&listener, helper.answer, session);
    status = end_helper(&helper, &listener, session);
    holds = has_errors(result, before) ? PENSTOCK__FOR_PROCESS : PENSTOCK__FOR_ALL;
    session->through = listener.reader.done;
    if (session->through)
        return holds;
    if (listener.cancelled)
        return PENSTOCK__CANCELLED;
    end = judge(&listener, status, session);
    return end > holds ? end : holds;
}
