/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Timing of candidates. time_burst() alone reads a clock for it: tests/interface/test_rules.py. */
#include "core/choice/timer.h"
#include "backends/backend.h"
#include "core/choice/async_build.h"

#include <stdlib.h>
#include <string.h>

#define SECONDS 0.05 /* of measuring, after two rounds to warm up */
#define BURST   3    /* rounds that are timed in a row, after one that fills the slots */
#define BURSTS  8    /* at most; the median of all rounds counts, since other work may disturb some */

/* `count` rounds in a row; a round's time is from its start to the next one's. */
static int time_burst(double times[], size_t count, int (*round)(void *argument), void *argument)
{
    int status = PENSTOCK_OK;
    penstock__async_build_measure();
    double before = penstock__now_s();
    for (size_t i = 0; i < count && !status; i++) {
        status = penstock__cancelled() ? penstock__error(PENSTOCK_ERR_TIMEOUT, "nobody waits for the time any more")
                                       : round(argument);
        double after = penstock__now_s();
        times[i] = after - before;
        before = after;
    }
    penstock__async_build_measured();
    return status;
}

static int compare(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

/* Of a burst the first round only fills the slots. */
int penstock__time_rounds(double *seconds, int (*round)(void *argument), void *argument)
{
    double times[BURSTS * BURST], burst[1 + BURST], spent_s = 0;
    size_t rounds = 0;
    int status;
    if ((status = round(argument)) || (status = round(argument)))
        return status;
    do {
        if ((status = time_burst(burst, 1 + BURST, round, argument)))
            return status;
        for (size_t i = 0; i <= BURST; i++)
            spent_s += burst[i];
        memcpy(times + rounds, burst + 1, BURST * sizeof *times);
        rounds += BURST;
    } while (rounds < BURSTS * BURST && spent_s < SECONDS);
    qsort(times, rounds, sizeof times[0], compare);
    *seconds = times[rounds / 2];
    return PENSTOCK_OK;
}

int penstock__time_turns(double *spent_s, unsigned most, double budget_s, int (*round)(void *argument), void *argument)
{
    double took_s;
    int status = PENSTOCK_OK;
    *spent_s = 0;
    for (unsigned i = 0; i < most && (!i || *spent_s < budget_s) && !status; i++) {
        status = time_burst(&took_s, 1, round, argument);
        *spent_s += took_s;
    }
    return status;
}
