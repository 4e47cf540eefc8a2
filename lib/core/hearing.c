/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A run of penstock-probe, followed line by line. */
#include "core/hearing.h"
#include "core/arrival.h"
#include "core/meter.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_BYTES (1u << 16) /* from a helper */
#define LOOK_S     0.1        /* between two looks at whether anybody still wants to know */

/* What one helper tells. */
struct session {
    struct penstock__verdict_reader reader;
    char line[512];
    size_t used, bytes;
    bool told, late;
};

/* A piece of what it writes; a line that is not ours says nothing. */
static void listen_to(struct session *session, const char *piece, size_t count)
{
    session->bytes += count;
    for (size_t i = 0; i < count; i++) {
        if (piece[i] != '\n') {
            if (session->used < sizeof session->line - 1)
                session->line[session->used++] = piece[i];
            continue;
        }
        session->line[session->used] = 0;
        session->used = 0;
        if (penstock__verdict_read_line(&session->reader, session->line))
            session->told = true;
    }
}

/* Reads until the helper says that it is through, ends, or the time is over. */
static void listen_until(struct session *session, int input, const struct penstock__hearing *hearing)
{
    double deadline = penstock__now_s() + hearing->silence_s;
    char piece[512];
    while (!session->reader.done && session->bytes < MOST_BYTES) {
        struct pollfd waiting = {.fd = input, .events = POLLIN};
        double left = fmin(deadline, hearing->end_s) - penstock__now_s();
        ssize_t count;
        if ((session->late = left <= 0 || penstock__abandoned()))
            return;
        if (poll(&waiting, 1, (int)ceil(1e3 * fmin(left, LOOK_S))) <= 0)
            continue;
        count = read(input, piece, sizeof piece);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return;
        listen_to(session, piece, (size_t)count);
        deadline = penstock__now_s() + hearing->silence_s;
    }
}

/* Why a helper that is not through has ended. */
static enum penstock__holds judge(struct session *session, int status, unsigned silence_s)
{
    const char *doing = *session->reader.doing ? session->reader.doing : "was probed";
    char reason[256];
    enum penstock__holds holds = PENSTOCK__FOR_ALL;
    if (session->late) {
        snprintf(reason, sizeof reason, "the driver did not answer within %u s while it %s", silence_s, doing);
        holds = penstock__abandoned() ? PENSTOCK__FOR_NOW : PENSTOCK__FOR_PROCESS;
    } else if (status == -1) {
        snprintf(reason, sizeof reason, "the driver ended the process that probed it, while it %s", doing);
        holds = PENSTOCK__FOR_NOW;
    } else if (WIFSIGNALED(status)) {
        int signal = WTERMSIG(status);
        snprintf(reason, sizeof reason, "the driver crashed while it %s (signal %d)", doing, signal);
        if (signal != SIGSEGV && signal != SIGBUS && signal != SIGILL && signal != SIGFPE && signal != SIGABRT)
            holds = PENSTOCK__FOR_NOW;
    } else {
        snprintf(reason, sizeof reason, "the driver ended the process that probed it (exit code %d), while it %s",
                 WEXITSTATUS(status), doing);
        if (WEXITSTATUS(status) == 127 && !session->told)
            holds = PENSTOCK__NO_HELPER;
    }
    penstock__verdict_blame(&session->reader, reason);
    return holds;
}

/* Whether the helper told of an error of a device from number `first` on. */
static bool has_errors(const struct penstock__verdict *verdict, unsigned first)
{
    for (unsigned i = first; i < verdict->count; i++)
        if (*verdict->devices[i].reason)
            return true;
    return *verdict->reason;
}

enum penstock__holds penstock__hear(struct penstock__verdict *verdict, struct penstock__hearing *hearing)
{
    struct session session = {.reader = {.verdict = verdict}};
    unsigned before = verdict->count;
    struct penstock_helper helper;
    enum penstock__holds holds, end;
    int failure, status;
    hearing->through = hearing->late = false;
    if ((failure =
             penstock__helper_start(&helper, "penstock-probe", "PENSTOCK_PROBE", hearing->arguments, hearing->input))) {
        snprintf(
            verdict->reason, sizeof verdict->reason, "penstock-probe %s%s",
            failure == ENOENT ? "is not installed" : "cannot be started: ", failure == ENOENT ? "" : strerror(failure));
        return PENSTOCK__NO_HELPER;
    }
    listen_until(&session, helper.answer, hearing);
    status = penstock__helper_end(&helper, session.late || session.bytes >= MOST_BYTES);
    holds = has_errors(verdict, before) ? PENSTOCK__FOR_PROCESS : PENSTOCK__FOR_ALL;
    hearing->through = session.reader.done;
    hearing->late = session.late;
    if (hearing->through)
        return holds;
    end = judge(&session, status, hearing->silence_s);
    return end > holds ? end : holds;
}
