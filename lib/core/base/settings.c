/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What everybody may ask of a context. */
#include "core/base/context.h"

unsigned penstock__threads(const penstock_context *context)
{
    return context->threads;
}

/* Turns of a thread. Who is late costs one of them at the most; of many threads one is late most of the time. */
#define TURNS      2
#define MANY       8
#define MANY_TURNS 4

static size_t most_turns(size_t threads)
{
    if (threads < 2)
        return 1;
    return threads < MANY ? TURNS : MANY_TURNS;
}

/* Of the numbers of turns that may be, that with which the busiest thread has least, the higher of two. */
size_t penstock__fair_share(const penstock_context *context, size_t count, size_t least, size_t most)
{
    const size_t threads = context->threads;
    most = most ? most : 1;
    least = least > most ? most : least ? least : 1;
    const size_t worth = count / (threads * least), least_turns = count ? (count - 1) / (threads * most) + 1 : 1;
    size_t turns = worth < most_turns(threads) ? worth : most_turns(threads), share = least, busiest = SIZE_MAX;
    if (!worth && least_turns == 1)
        return least;
    for (turns = turns > least_turns ? turns : least_turns; turns >= least_turns; turns--) {
        const size_t some = (count - 1) / (threads * turns) + 1, has = ((count - 1) / some / threads + 1) * some;
        share = has < busiest ? some : share;
        busiest = has < busiest ? has : busiest;
    }
    return share;
}

const char *penstock__cache_dir(const penstock_context *context)
{
    return context->cache_dir;
}

const char *penstock__kernel_path(const penstock_context *context)
{
    return context->kernel_path;
}
