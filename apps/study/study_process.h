/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Processes that measure when they are asked: children of one that has opened no device, so that none finds what
 * another one left but files. */
#ifndef PENSTOCK_APPS_STUDY_PROCESS_H
#define PENSTOCK_APPS_STUDY_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define STUDY_PROCESSES 17 /* at a time */

struct study_process {
    pid_t id; /* 0: none */
    int line;
};

/* Calls work(argument, line) in a child, which ends with it, with study_process_end(), when `limit_s` are over, and
 * with this process, as those do that keep processors busy. */
bool study_process_start(struct study_process *process, void (*work)(const void *argument, int line),
                         const void *argument, unsigned limit_s);

/* What the child tells next; false where it ended before. */
bool study_process_hear(const struct study_process *process, void *what, size_t bytes);

/* Asks the child for its next turn, which it begins on processor `cpu`. */
void study_process_ask(const struct study_process *process, int cpu);

/* Ends the child and all that it started. A process with zeros only is taken. */
void study_process_end(struct study_process *process);

/* Ends all of them; for the thread of an interrupt. */
void study_process_end_all(void);

/* Processes that keep every second processor busy, for `limit_s` at most; each time that they move the other half of
 * them. */
struct study_busy {
    size_t count, moves;
    pid_t process[512];
};

void study_busy_start(struct study_busy *busy, unsigned limit_s);
void study_busy_move(struct study_busy *busy);
void study_busy_end(struct study_busy *busy);

/* A processor that they leave alone, another one each turn. */
int study_busy_spares(const struct study_busy *busy, size_t turn);

/* In the child: tells, and waits until it is asked; false where nobody listens any more. */
bool study_tell(int line, const void *what, size_t bytes);
bool study_asked(int line);

#endif
