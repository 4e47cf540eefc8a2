/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * When an owner goes over to the processor that stands by: by what its batches, long or short, and the waits for them
 * cost beside what they would there, and how often a clock is read for it. Time is the test's own.
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

/* Batches for a second, on which it is due or not where the other one would make the whole `factor` times faster. */
static bool is_due(const struct pace *pace, double factor, bool both_ways)
{
    enum { UNITS = 4 };
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
        penstock__standby_enter(&standby, NULL);
        now_ns += submit_ns(pace, batches);
        penstock__standby_leave(&standby, NULL, UNITS);
        penstock__standby_wait(&standby);
        now_ns += pace->wait_ns;
        penstock__standby_leave(&standby, NULL, 0);
        now_ns += pace->besides_ns;
    }
    CHECK((double)reads <= pace->reads * (double)(batches - first) + 10,
          "%s: the clock is read %lld times for %ld batches", pace->name, reads, batches - first);
    return penstock__standby_due(&standby);
}

int main(void)
{
    now_ns = 1000000000;
    for (size_t i = 0; i < sizeof paces / sizeof *paces; i++) {
        const struct pace *pace = &paces[i];
        CHECK(is_due(pace, 1.13, true), "%s: not due at 1.13", pace->name);
        CHECK(!is_due(pace, 1.07, true), "%s: due at 1.07", pace->name);
        CHECK(is_due(pace, 1.3, false), "%s: not due at 1.3 without a way back", pace->name);
        CHECK(!is_due(pace, 1.2, false), "%s: due at 1.2 without a way back", pace->name);
    }
    return test_finish();
}
