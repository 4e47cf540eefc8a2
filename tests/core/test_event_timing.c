/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What batches cost by a device's clock, against a clock whose times are made up: which batches are timed, what the
 * others count, a clock that fails. */
#include "core/plan/event_timing.h"
#include "core/stream/meter.h"
#include "test.h"

/* Each stamp is so many seconds after the one before it. */
static const double steps[PENSTOCK_STAMPS] = {100, 3, 5, 2};
static double noted[PENSTOCK_STAMPS], scale = 1;
static int stamps, failing = -1; /* the stamp that fails */
static bool elapsed_fails;

static int stamp(struct penstock_slot *slot, unsigned which)
{
    (void)slot;
    if (stamps++ == failing)
        return PENSTOCK_ERR_DEVICE;
    noted[which] = (which ? noted[which - 1] : 0) + scale * steps[which];
    return PENSTOCK_OK;
}

static int elapsed(struct penstock_slot *slot, unsigned from, unsigned to, double *seconds)
{
    (void)slot;
    *seconds = noted[to] - noted[from];
    return elapsed_fails ? PENSTOCK_ERR_DEVICE : PENSTOCK_OK;
}

static const struct penstock_backend backend = {.stamp = stamp, .elapsed = elapsed};
static struct penstock_device device = {.backend = &backend};
static struct penstock_slot slot = {.device = &device};

/* A batch from its start to its end; `more` frames go through the slot with the same wait. */
static bool run(struct penstock__event_clock *clock, struct penstock__event_times *event_times, size_t frames,
                size_t more, bool copied)
{
    struct penstock__event_timing timing = {.timed = 0};
    bool due = penstock__event_clock_due(clock);
    penstock__event_clock_start(clock, &timing, event_times, frames, due);
    for (unsigned i = copied ? 0 : 1; i < (copied ? PENSTOCK_STAMPS : 3); i++)
        penstock__event_clock_stamp(&timing, &slot, i);
    if (more) {
        penstock__event_clock_start(clock, &timing, event_times, more, false);
        for (unsigned i = 0; i < PENSTOCK_STAMPS; i++)
            penstock__event_clock_stamp(&timing, &slot, i);
    }
    penstock__event_clock_stop(clock, &timing, &slot, copied);
    CHECK(!timing.frames && !timing.timed && !timing.event_times, "a timing goes on");
    return due;
}

static void check(const struct penstock__event_times *event_times, double transfer_s, double kernel_s)
{
    CHECK(fabs(event_times->transfer_s - transfer_s) < 1e-9 * transfer_s + 1e-12 &&
              fabs(event_times->kernel_s - kernel_s) < 1e-9 * kernel_s,
          "%g s of copies and %g s of kernels, not %g and %g", event_times->transfer_s, event_times->kernel_s,
          transfer_s, kernel_s);
}

static void check_which(void)
{
    struct penstock__event_clock clock = {.batches = 0};
    struct penstock__event_times event_times = {0, 0};
    int timed = 0;
    for (int i = 1; i <= 1024; i++) {
        bool due = run(&clock, &event_times, 1, 0, true);
        CHECK(due == (!(i & (i - 1)) || i % 256 == 0), "batch %d", i);
        timed += due;
    }
    CHECK_EQ(timed, 12); /* 1, 2, 4 .. 256, 512, 768, 1024 */
    CHECK_EQ(stamps, 4 * 12);
    check(&event_times, 1024 * 5, 1024 * 5);
}

static void check_shares(void)
{
    struct penstock__event_clock clock = {.batches = 0};
    struct penstock__event_times event_times = {0, 0};
    run(&clock, &event_times, 10, 0, true); /* half a second a frame, copies and kernels each */
    check(&event_times, 5, 5);
    scale = 3;
    run(&clock, &event_times, 10, 0, true); /* 15 s and 15 s; with half of what came before 17.5 s for 15 frames */
    check(&event_times, 5 + 10 * 17.5 / 15, 5 + 10 * 17.5 / 15);
    run(&clock, &event_times, 30, 0, true); /* not timed */
    check(&event_times, 5 + 40 * 17.5 / 15, 5 + 40 * 17.5 / 15);
    scale = 1;
    clock = (struct penstock__event_clock){.batches = 0};
    event_times = (struct penstock__event_times){0, 0};
    run(&clock, &event_times, 4, 12, true); /* the second one's stamps are not those of the first */
    check(&event_times, 20, 20);
    clock = (struct penstock__event_clock){.batches = 0};
    event_times = (struct penstock__event_times){0, 0};
    run(&clock, &event_times, 4, 0, false);
    check(&event_times, 0, 5);
    run(&clock, NULL, 4, 0, false); /* nobody asks */
    check(&event_times, 0, 5);
}

/* One batch whose clock fails is priced by the others; where it always does nothing is known. */
static void check_failures(void)
{
    for (failing = 0; failing < 4; failing++) {
        struct penstock__event_clock clock = {.batches = 0};
        struct penstock__event_times event_times = {0, 0};
        stamps = 0;
        run(&clock, &event_times, 4, 0, true);
        CHECK(isnan(event_times.transfer_s) && isnan(event_times.kernel_s), "a time that nobody has measured");
        CHECK_EQ(stamps, failing + 1); /* no more after it */
        event_times = (struct penstock__event_times){0, 0};
        run(&clock, &event_times, 4, 0, true);
        check(&event_times, 5, 5);
    }
    struct penstock__event_clock clock = {.batches = 0};
    struct penstock__event_times event_times = {0, 0};
    failing = -1;
    run(&clock, &event_times, 4, 0, true);
    elapsed_fails = true;
    run(&clock, &event_times, 8, 0, true);
    check(&event_times, 15, 15);
}

int main(void)
{
    check_which();
    check_shares();
    check_failures();
    return test_finish();
}
