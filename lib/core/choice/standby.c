/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What work costs where it is done, and whether another processor would do it in less. */
#include "core/choice/standby.h"

#define WINDOW_S    0.1
#define WINDOWS     3    /* in a row */
#define TOO_MUCH    1.1  /* times what it would be */
#define FOR_GOOD    1.25 /* the same where the owner cannot return: less is within what a measurement scatters */
#define BRIEF_S     2e-6 /* of a batch: reading the clock would take a tenth of it */
#define SHORT_S     8e-6
#define BELIEVE_S   2.0   /* at first */
#define BELIEVES_S  600.0 /* at most */
#define NO_WAY_BACK 2.0   /* times the CPU's time at its best: more is not risked where the owner cannot return */

/* ---------------------------------------------------------------- windows --------------------- */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Seconds of a unit on the processor that stands by. */
static double known(const struct penstock__standby *standby, double now)
{
    const double timed = standby->there ? standby->timed.cpu_s : standby->timed.other_s;
    return now < standby->left_s + standby->believe_s ? larger(timed, standby->seen_s) : timed;
}

/* Where the time went since the window began, for a unit. */
struct window {
    double wall_s, busy_s, besides_s;
};

static struct window window_of(const struct penstock__standby *standby, double now)
{
    const double wall_s = now - standby->window_s;
    return (struct window){wall_s / standby->units, standby->busy_s / standby->units,
                           (wall_s - standby->busy_s) / standby->units};
}

static void judge(struct penstock__standby *standby, double now)
{
    const struct window window = window_of(standby, now);
    standby->slowdown = window.wall_s / (window.besides_s + known(standby, now));
    standby->slow = standby->slowdown > (standby->maker.both_ways ? TOO_MUCH : FOR_GOOD) ? standby->slow + 1 : 0;
    standby->last_s = window.busy_s;
}

/* In each one batch of as many stands for them as were short on average in the last one. */
static void begin_window(struct penstock__standby *standby, double now)
{
    const double batch_s = standby->batches ? standby->busy_s / standby->batches : SHORT_S;
    standby->timed_of = batch_s < BRIEF_S ? 13 : batch_s < SHORT_S ? 3 : 1; /* no number of slots */
    standby->left_out = 0;
    standby->window_s = now;
    standby->busy_s = standby->units = standby->batches = 0;
}

static void begin_timing(struct penstock__standby *standby)
{
    standby->entered_s = penstock__now_s();
    if (standby->window_s <= 0)
        begin_window(standby, standby->entered_s);
}

void penstock__standby_enter(struct penstock__standby *standby, const struct penstock__async_build *build)
{
    if (!build && !penstock__standby_waits(standby))
        return;
    standby->timing = !standby->left_out;
    if (standby->timing)
        begin_timing(standby);
    standby->left_out = (standby->left_out ? standby->left_out : standby->timed_of) - 1;
}

void penstock__standby_wait(struct penstock__standby *standby)
{
    if (standby->timing && penstock__standby_waits(standby))
        begin_timing(standby);
}

void penstock__standby_leave(struct penstock__standby *standby, struct penstock__async_build *build, size_t units)
{
    standby->units += (double)units;
    standby->batches += units > 0;
    if (standby->entered_s <= 0)
        return;
    const double now = penstock__now_s(), spent_s = now - standby->entered_s;
    standby->entered_s = 0;
    standby->busy_s += standby->timed_of * spent_s;
    if (now - standby->window_s < WINDOW_S || standby->units <= 0)
        return;
    if (build) {
        const struct window window = window_of(standby, now);
        penstock__async_build_feel(build, window.busy_s > window.besides_s ? window.busy_s : 0);
    }
    if (*standby->timed.other)
        judge(standby, now);
    begin_window(standby, now);
}

/* ---------------------------------------------------------------- moves ----------------------- */

void penstock__standby_begin(struct penstock__standby *standby, const struct penstock__async_build *build, bool there)
{
    const struct penstock__timed timed = penstock__async_build_timed(build);
    if (!*timed.other)
        return;
    *standby = (struct penstock__standby){.timed = timed,
                                          .maker = *penstock__async_build_maker(build),
                                          .owner = penstock__async_build_owner(build),
                                          .forks = penstock__forks(),
                                          .there = there};
}

void penstock__standby_moved(struct penstock__standby *standby)
{
    const double longer_s = larger(BELIEVE_S, 2 * standby->believe_s);
    standby->believe_s = longer_s < BELIEVES_S ? longer_s : BELIEVES_S;
    standby->left_s = penstock__now_s();
    standby->seen_s = standby->last_s;
    standby->there = !standby->there;
    standby->looking = false;
    standby->slow = 0;
    begin_window(standby, standby->left_s);
}

void penstock__standby_end(struct penstock__standby *standby)
{
    *standby = (struct penstock__standby){.there = standby->there};
}

bool penstock__standby_waits(const struct penstock__standby *standby)
{
    if (!*standby->timed.other || standby->forks != penstock__forks())
        return false;
    return standby->maker.both_ways ||
           (!standby->there && standby->timed.other_s <= NO_WAY_BACK * standby->timed.cpu_s);
}

bool penstock__standby_due(const struct penstock__standby *standby)
{
    return standby->slow >= WINDOWS && penstock__standby_waits(standby);
}

const char *penstock__standby_working(const struct penstock__standby *standby)
{
    return standby->there ? standby->timed.other : "cpu";
}

const char *penstock__standby_idle(const struct penstock__standby *standby)
{
    return standby->there ? "cpu" : standby->timed.other;
}
