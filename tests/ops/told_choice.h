/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* For tests of "auto" between "cpu" and "trace": what a context told of its last choice, and how many it told of. */
#ifndef PENSTOCK_TESTS_TOLD_CHOICE_H
#define PENSTOCK_TESTS_TOLD_CHOICE_H

#include <penstock/choice.h>
#include <stdio.h>
#include <string.h>

static struct {
    char what[3000], unit[32], chosen[32];
    unsigned candidates, timed, choices;
    bool remembered;
    double cpu_s, trace_s;
} told;

/* For penstock_context_tell_choices(). */
static inline void tell_choice(void *user, const penstock_choice *choice)
{
    (void)user;
    if (!strcmp(choice->device, "cpu")) { /* the first row */
        told.choices++;
        told.candidates = told.timed = 0;
        told.cpu_s = choice->seconds;
    } else if (!strcmp(choice->device, "trace")) {
        told.trace_s = choice->seconds;
    }
    snprintf(told.what, sizeof told.what, "%s", choice->what);
    snprintf(told.unit, sizeof told.unit, "%s", choice->unit);
    told.candidates += choice->candidate;
    told.timed += choice->seconds > 0;
    told.remembered = choice->remembered;
    if (choice->chosen)
        snprintf(told.chosen, sizeof told.chosen, "%s", choice->device);
}

#endif
