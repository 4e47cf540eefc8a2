/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What work costs where it is done, and whether another processor would do it in less. */
#include "core/choice/standby.h"

#define WINDOW_S    0.1
#define WINDOWS     3    /* in a row */
#define TOO_MUCH    1.1  /* times what it would be */
#define FOR_GOOD    1.25 /* the same where the owner cannot return: less is within what a measurement scatters */
#define NO_GAIN     1.0  /* the same right after a try: both have been seen at work */
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

static bool believes(const struct penstock__standby *standby, double now)
{
    return now < standby->left_s + standby->believe_s;
}

/* Where the time went since the window began. */
static struct penstock__cost window_of(const struct penstock__standby *standby, double now)
{
    const double wall_s = now - standby->window_s;
    return (struct penstock__cost){standby->busy_s / standby->units, (wall_s - standby->busy_s) / standby->units};
}

/* On the processor that stands by, for a window on the one that works. */
static struct penstock__cost instead(const struct penstock__standby *standby, const struct penstock__cost *window,
                                     double now)
{
    const struct penstock__cost *here = &standby->seen[standby->there], *idle = &standby->seen[!standby->there];
    const double timed_s = standby->there ? standby->timed.cpu_s : standby->timed.other_s,
                 copies_s = here->busy_s > 0 && idle->busy_s > 0 ? idle->besides_s - here->besides_s : 0;
    return (struct penstock__cost){believes(standby, now) ? larger(timed_s, idle->busy_s) : timed_s,
                                   larger(window->besides_s + copies_s, 0)};
}

/* Of the last windows: batches may be nearly as long as these, so that one has more of them than the next. */
static void blend(struct penstock__cost *mean, const struct penstock__cost *window)
{
    const bool first = mean->busy_s <= 0;
    mean->busy_s = first ? window->busy_s : (mean->busy_s + window->busy_s) / 2;
    mean->besides_s = first ? window->besides_s : (mean->besides_s + window->besides_s) / 2;
}

static void see(struct penstock__standby *standby, const struct penstock__cost *window)
{
    blend(&standby->last, window);
    if (standby->windows++ < WINDOWS) /* later ones may be of another source, and tell nothing of copies */
        blend(&standby->seen[standby->there], window);
}

static double most_slowdown(const struct penstock__standby *standby)
{
    if (standby->tried && standby->windows <= WINDOWS)
        return NO_GAIN;
    return standby->maker.both_ways ? TOO_MUCH : FOR_GOOD;
}

static void judge(struct penstock__standby *standby, double now)
{
    const struct penstock__maker *maker = &standby->maker;
    const struct penstock__cost window = window_of(standby, now);
    see(standby, &window);
    const struct penstock__cost other = instead(standby, &window, now);
    const double wall_s = window.busy_s + window.besides_s, least_s = larger(other.busy_s, other.besides_s);
    const bool may_try = !standby->there && maker->both_ways && maker->overlaps && !believes(standby, now);
    if (standby->looking)
        return;
    standby->slowdown = wall_s / (other.busy_s + other.besides_s);
    standby->slow = standby->slowdown > most_slowdown(standby) ? standby->slow + 1 : 0;
    standby->promising = may_try && wall_s > TOO_MUCH * least_s ? standby->promising + 1 : 0;
    if (penstock__standby_tries(standby))
        standby->slowdown = wall_s / least_s;
}

/* On the CPU that serves until another device is ready. */
static void feel(struct penstock__standby *standby, struct penstock__async_build *build, double now)
{
    const struct penstock__cost window = window_of(standby, now);
    penstock__async_build_feel(build, window.busy_s > window.besides_s ? window.busy_s : 0);
    blend(&standby->seen[0], &window);
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
    if (build && !standby->looking)
        feel(standby, build, now);
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
    const struct penstock__cost served = there ? standby->seen[0] : (struct penstock__cost){0};
    *standby = (struct penstock__standby){.timed = timed,
                                          .maker = *penstock__async_build_maker(build),
                                          .owner = penstock__async_build_owner(build),
                                          .forks = penstock__forks(),
                                          .there = there,
                                          .seen = {served}};
}

void penstock__standby_moved(struct penstock__standby *standby)
{
    const double longer_s = larger(BELIEVE_S, 2 * standby->believe_s);
    standby->believe_s = longer_s < BELIEVES_S ? longer_s : BELIEVES_S;
    standby->left_s = penstock__now_s();
    standby->seen[standby->there] = standby->last;
    standby->there = !standby->there;
    standby->seen[standby->there] = standby->last = (struct penstock__cost){0};
    standby->windows = 0;
    standby->tried = penstock__standby_tries(standby);
    standby->looking = false;
    standby->slow = standby->promising = 0;
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
    return (standby->slow >= WINDOWS || standby->promising >= WINDOWS) && penstock__standby_waits(standby);
}

bool penstock__standby_tries(const struct penstock__standby *standby)
{
    return standby->slow < WINDOWS && standby->promising >= WINDOWS;
}

const char *penstock__standby_working(const struct penstock__standby *standby)
{
    return standby->there ? standby->timed.other : "cpu";
}

const char *penstock__standby_idle(const struct penstock__standby *standby)
{
    return standby->there ? "cpu" : standby->timed.other;
}
