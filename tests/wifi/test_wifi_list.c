/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which found frames are new: against a look at all that were entered, whatever their order and length, and however
 * soon they are taken out. */
#include "core/base/memory.h"
#include "rx/receiver.h"
#include "test.h"

enum { FOUND = 3000, LONGEST = 20000, SAME = 160, SPLICE = 64, OVERLAPS = 3, GROUP = 16 };

static const struct penstock__rx_standard standard = {
    .group = GROUP, .longest = LONGEST, .same = SAME, .splice = SPLICE, .overlaps = OVERLAPS};

static struct penstock__rx rx;
static struct penstock__rx_past known[FOUND];
static size_t known_count, taken;
static uint64_t state;

static bool is_new(int64_t start)
{
    unsigned covering = 0;
    bool same = false;
    for (size_t i = 0; i < known_count; i++) {
        covering += known[i].start < start && known[i].end - SPLICE > start;
        same |= llabs(known[i].start - start) < SAME;
    }
    return !same && covering < OVERLAPS;
}

static void find(int64_t from, bool sparse)
{
    struct penstock__rx_frame *frame = penstock__calloc(1, sizeof *frame);
    const uint64_t longest = test_random(&state) % 4 ? 2000 : LONGEST - 400;
    frame->start = from + (int64_t)(test_random(&state) % (sparse ? 30000 : 3000));
    frame->end = frame->start + 400 + (int64_t)(test_random(&state) % longest);
    frame->state = PENSTOCK__RX_DONE;
    const struct penstock__rx_past past = {frame->start, frame->end};
    const bool expected = is_new(past.start);
    const uint64_t before = rx.counters.found;
    penstock__rx_enter(&rx, frame);
    CHECK((rx.counters.found > before) == expected, "a frame at %lld is %snew", (long long)past.start,
          expected ? "" : "not ");
    if (expected)
        known[known_count++] = past;
}

/* In the order of their starts, all of those before `horizon`. */
static void take(int64_t horizon)
{
    struct penstock__rx_frame *frame;
    int64_t last = INT64_MIN;
    while ((frame = penstock__rx_take(&rx))) {
        CHECK(frame->start >= last && frame->start < horizon, "%lld behind %lld", (long long)frame->start,
              (long long)last);
        last = frame->start;
        taken++;
        penstock__rx_give_back(&rx, frame);
    }
}

static void test(uint64_t seed, bool sparse)
{
    rx = (struct penstock__rx){.standard = &standard};
    state = seed;
    known_count = taken = 0;
    for (size_t i = 0; i < FOUND; i++) {
        const int64_t horizon = rx.search.next * GROUP;
        find(horizon, sparse);
        if (test_random(&state) % 3)
            rx.search.next += (int64_t)(test_random(&state) % (sparse ? 1200 : 120));
        if (test_random(&state) % 4 == 0)
            take(rx.search.next * GROUP);
    }
    CHECK(known_count > FOUND / 10 && known_count < FOUND, "%zu of %d frames were new", known_count, FOUND);
    rx.search.next += LONGEST;
    take(rx.search.next * GROUP);
    CHECK_EQ(taken, known_count);
    penstock__rx_frames_clear(&rx);
    penstock__rx_spare_free(&rx);
}

int main(void)
{
    const long live = penstock__memory_live();
    for (uint64_t seed = 1; seed <= 4; seed++) {
        test(seed, false);
        test(seed, true);
    }
    CHECK_EQ(penstock__memory_live(), live);
    return test_finish();
}
