/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* How fast this machine copies memory: the roof over every transform. Built so that the compiler leaves the loop a
 * loop. */
#include "bench_run.h"
#include "shared/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct copy {
    char *from, *to;
    size_t bytes;
    bool loop;
};

static void copy_share(void *argument, unsigned member, unsigned count)
{
    const struct copy *copy = argument;
    size_t words = copy->bytes / sizeof(uint64_t), first = words * member / count,
           share = words * (member + 1) / count - first;
    const uint64_t *restrict from = (const uint64_t *)(const void *)copy->from + first;
    uint64_t *restrict to = (uint64_t *)(void *)copy->to + first;
    if (!copy->loop) {
        memcpy(to, from, share * sizeof *to);
        return;
    }
    for (size_t i = 0; i < share; i++)
        to[i] = from[i];
}

/* The median time of several copies, in seconds. */
static double copy_time(struct team *team, struct copy *copy)
{
    enum { COPIES = 9 };
    double times[COPIES];
    for (size_t i = 0; i < COPIES; i++) {
        double start = seconds_now();
        team_run(team, copy_share, copy);
        double time = seconds_now() - start;
        size_t place = i;
        for (; place && times[place - 1] > time; place--)
            times[place] = times[place - 1];
        times[place] = time;
    }
    return times[COPIES / 2];
}

double bench_copy_gbps(size_t bytes, unsigned threads)
{
    struct copy copy = {.bytes = bytes};
    struct team *team = team_new(threads);
    double best = NAN;
    copy.from = aligned_alloc(64, (bytes + 63) / 64 * 64);
    copy.to = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (team && copy.from && copy.to) {
        memset(copy.from, 1, bytes);
        memset(copy.to, 2, bytes);
        double by_memcpy = copy_time(team, &copy);
        copy.loop = true;
        best = 2e-9 * (double)bytes / fmin(by_memcpy, copy_time(team, &copy));
    }
    team_free(team);
    free(copy.from);
    free(copy.to);
    return best;
}
