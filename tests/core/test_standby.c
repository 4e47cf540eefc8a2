/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * When an owner goes over to the processor that stands by: by what its batches, long or short, and the waits for them
 * cost beside what they would there, and how often a clock is read for it; where one of the two needs copies besides;
 * and when it tries one that may have its batches meanwhile. Time is the test's own.
 */
#include "core/base/fork.h"
#include "core/choice/standby.h"
#include "test.h"

static long long now_ns, reads;

/* The clock of the library, put in its place by the linker (--wrap). */
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    reads++;
    *time = (struct timespec){.tv_sec = now_ns / 1000000000, .tv_nsec = now_ns % 1000000000};
    return 0;
}

/* What a batch of four units takes: to be given out, to be waited for, and its caller besides. */
struct pace {
    const char *name;
    long long submit_ns, wait_ns, besides_ns;
    double reads; /* of the clock, a batch, at most */
};

static const struct pace paces[] = {
    {"long", 60000, 0, 0, 4},
    {"long, waited for", 9000, 51000, 0, 4},
    {"short", 4000, 0, 0, 1.4},
    {"short, waited for", 3000, 2000, 0, 1.4},
    {"brief", 700, 0, 0, 0.4},
    {"brief, waited for", 100, 900, 0, 0.4},
    {"brief, beside other work", 1000, 0, 1500, 0.4},
    {"changing", 0, 0, 3000, 1.4},
};

/* Nothing given: batches of 1 and of 11 us in turns, as where a ring is full each second time. */
static long long submit_ns(const struct pace *pace, long batch)
{
    return pace->submit_ns + pace->wait_ns ? pace->submit_ns : batch % 2 ? 1000 : 11000;
}

static double busy_ns(const struct pace *pace)
{
    return (double)(submit_ns(pace, 0) + submit_ns(pace, 1)) / 2 + (double)pace->wait_ns;
}

enum { UNITS = 4 };

static void pass_batch(struct penstock__standby *standby, const struct pace *pace, long batch)
{
    penstock__standby_enter(standby, NULL);
    now_ns += submit_ns(pace, batch);
    penstock__standby_leave(standby, NULL, UNITS);
    penstock__standby_wait(standby);
    now_ns += pace->wait_ns;
    penstock__standby_leave(standby, NULL, 0);
    now_ns += pace->besides_ns;
}

/* Batches for a second, on which it is due or not where the other one would make the whole `factor` times faster. */
static bool is_due(const struct pace *pace, double factor, bool both_ways)
{
    const double whole = busy_ns(pace) + (double)pace->besides_ns, there = whole / factor - (double)pace->besides_ns;
    struct penstock__standby standby = {.timed = {.cpu_s = 1e-9, .other_s = 1e-9 * there / UNITS, .other = "other"},
                                        .maker = {.both_ways = both_ways},
                                        .forks = penstock__forks()};
    const long long end_ns = now_ns + 1000000000, known_ns = now_ns + 150000000; /* how long batches take */
    long batches = 0, first = 0;
    if (!both_ways)
        standby.timed.cpu_s = standby.timed.other_s;
    for (; now_ns < end_ns; batches++) {
        if (!first && now_ns > known_ns) {
            first = batches;
            reads = 0;
        }
        pass_batch(&standby, pace, batches);
    }
    CHECK((double)reads <= pace->reads * (double)(batches - first) + 10,
          "%s: the clock is read %lld times for %ld batches", pace->name, reads, batches - first);
    return penstock__standby_due(&standby);
}

/* So many nanoseconds of batches; whether it is due by then. */
static bool due_after(struct penstock__standby *standby, const struct pace *pace, long long for_ns)
{
    const long long end_ns = now_ns + for_ns;
    for (long batch = 0; now_ns < end_ns && !penstock__standby_due(standby); batch++)
        pass_batch(standby, pace, batch);
    return penstock__standby_due(standby);
}

static const struct pace on_cpu = {"on the CPU", 22000, 0, 55000, 4}, quick = {"quick", 2000, 1000, 55000, 4},
                         slow = {"slow", 2000, 50000, 55000, 4}, costly = {"with copies", 2000, 10000, 80000, 4},
                         as_fast = {"no gain", 2000, 22000, 55000, 4}, nearly = {"a gain", 2000, 17000, 55000, 4};

/* Batches of 18 us by themselves, which the other device may have while the 55 us of on_cpu pass. */
static struct penstock__standby overlapping(bool overlaps)
{
    return (struct penstock__standby){.timed = {.cpu_s = 22e-6 / UNITS, .other_s = 18e-6 / UNITS, .other = "other"},
                                      .maker = {.both_ways = true, .overlaps = overlaps},
                                      .forks = penstock__forks()};
}

static void test_tries(void)
{
    struct penstock__standby standby = overlapping(false);
    CHECK(!due_after(&standby, &on_cpu, 1000000000), "tried where nothing overlaps");
    standby = overlapping(true);
    CHECK(due_after(&standby, &on_cpu, 1000000000) && penstock__standby_tries(&standby), "not tried");
    penstock__standby_moved(&standby);
    CHECK(!due_after(&standby, &quick, 60000000000), "left though it is quicker");

    standby = overlapping(true);
    CHECK(due_after(&standby, &on_cpu, 1000000000), "not tried");
    penstock__standby_moved(&standby);
    CHECK(due_after(&standby, &slow, 500000000) && !penstock__standby_tries(&standby), "kept though it is slower");
    penstock__standby_moved(&standby);
    CHECK(!due_after(&standby, &on_cpu, 3500000000), "tried again at once");
    CHECK(due_after(&standby, &on_cpu, 1000000000), "never tried again");
    penstock__standby_moved(&standby);
    CHECK(due_after(&standby, &costly, 500000000) && !penstock__standby_tries(&standby),
          "kept though its copies are slower");
    penstock__standby_moved(&standby);
    CHECK(!due_after(&standby, &on_cpu, 60000000000), "tried again though its copies are known");

    /* Of the CPU's 77.5 and 77 us; the device's 79 are no gain, its 74 are one. */
    const struct pace mostly_besides = {"mostly besides", 10500, 0, 67000, 4};
    standby = overlapping(true);
    CHECK(due_after(&standby, &mostly_besides, 1000000000) && penstock__standby_tries(&standby), "1.16 is not tried");
    standby = overlapping(true);
    CHECK(due_after(&standby, &on_cpu, 1000000000), "not tried");
    penstock__standby_moved(&standby);
    CHECK(due_after(&standby, &as_fast, 500000000), "kept though it is no gain");
    standby = overlapping(true);
    CHECK(due_after(&standby, &on_cpu, 1000000000), "not tried");
    penstock__standby_moved(&standby);
    CHECK(!due_after(&standby, &nearly, 60000000000), "left though it is a gain");

    const struct pace waiting = {"waits for its source", 22000, 0, 400000, 4};
    standby = overlapping(true);
    CHECK(!due_after(&standby, &waiting, 10000000000), "tried though the source is slower");
}

/* Of the CPU 40 us are known when it served, and nothing besides; the device needs copies, which are besides. */
static void test_copies(void)
{
    const struct pace with_copies = {"with copies", 5000, 10000, 40000, 4}, few = {"few copies", 5000, 10000, 25000, 4};
    const struct penstock__standby there = {.timed = {.cpu_s = 40e-6 / UNITS, .other_s = 1e-6, .other = "other"},
                                            .maker = {.both_ways = true},
                                            .forks = penstock__forks(),
                                            .there = true,
                                            .seen = {{40e-6 / UNITS, 0}}};
    struct penstock__standby standby = there;
    CHECK(due_after(&standby, &with_copies, 1000000000), "55 us are less than 40");
    standby = there;
    CHECK(!due_after(&standby, &few, 1000000000), "40 us are more than 40");
    standby = there;
    standby.seen[0] = (struct penstock__cost){0};
    CHECK(!due_after(&standby, &with_copies, 1000000000), "what is besides is left out though nobody has seen the CPU");
}

int main(void)
{
    now_ns = 1000000000;
    test_tries();
    test_copies();
    for (size_t i = 0; i < sizeof paces / sizeof *paces; i++) {
        const struct pace *pace = &paces[i];
        CHECK(is_due(pace, 1.13, true), "%s: not due at 1.13", pace->name);
        CHECK(!is_due(pace, 1.07, true), "%s: due at 1.07", pace->name);
        CHECK(is_due(pace, 1.3, false), "%s: not due at 1.3 without a way back", pace->name);
        CHECK(!is_due(pace, 1.2, false), "%s: due at 1.2 without a way back", pace->name);
    }
    return test_finish();
}
