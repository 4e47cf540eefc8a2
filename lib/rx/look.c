/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Samples are converted, and looked at for windows that stand out, in blocks side by side: a block's samples are looked
 * at by the thread that has converted them, while they are in its cache. Windows that begin in the block before, which
 * another thread may be converting, are looked at in a copy of their samples, converted again.
 */
#include "rx/condition.h"
#include "rx/receiver.h"

#include <stdatomic.h>
#include <string.h>

#define WORD 64 /* windows of a word of marks */

/* Windows that a thread looks at, multiples of WORD: at most, and at least, as some of each are converted twice. */
#define BLOCK       512
#define LEAST_BLOCK 128

/* New samples, of which `items` are the first `count`, from sample `begin` of the stream on; and the windows to be
 * looked at. Those samples that are there already begin in no block. */
struct pass {
    struct penstock__rx *rx;
    const char *items;
    int64_t begin, end;
    int64_t first, last; /* windows */
    int64_t block;       /* windows */
    size_t blocks;
    bool alone; /* blocks are worked in their order */
    atomic_uint_fast64_t clipped, not_finite;
};

static int64_t overlap(const struct penstock__rx *rx)
{
    return (int64_t)(rx->standard->window - rx->standard->group);
}

/* The first window of a block; blocks but the first one begin with a word of marks. */
static int64_t window_of(const struct pass *pass, size_t block)
{
    const int64_t next = pass->rx->search.next,
                  window = next + ((pass->first - next) / WORD * WORD + (int64_t)block * pass->block);
    return !block ? pass->first : window < pass->last ? window : pass->last;
}

/* The first sample that a block converts: behind the windows before its own. */
static int64_t sample_of(const struct pass *pass, size_t block)
{
    const struct penstock__rx *rx = pass->rx;
    const int64_t sample = window_of(pass, block) * (int64_t)rx->standard->group + overlap(rx);
    if (block == pass->blocks)
        return pass->end;
    return !block || sample < pass->begin ? pass->begin : sample;
}

/* Samples `from` .. `to` of the new ones. */
static void convert(struct pass *pass, penstock_cf32 *out, int64_t from, int64_t to, bool counts)
{
    const struct penstock__rx *rx = pass->rx;
    uint64_t clipped = 0, not_finite = 0;
    if (from >= to)
        return;
    penstock__condition(out, pass->items + (size_t)(from - pass->begin) * rx->stream.in_bytes, rx->format,
                        (size_t)(to - from), &clipped, &not_finite);
    if (counts && clipped)
        atomic_fetch_add(&pass->clipped, clipped);
    if (counts && not_finite)
        atomic_fetch_add(&pass->not_finite, not_finite);
}

/* Up to `count` windows from `first` on that begin in samples which the block before converts; how many. */
static int64_t look_at_seam(struct pass *pass, int64_t first, int64_t count, penstock_cf32 *seam, float *strength)
{
    const struct penstock__rx *rx = pass->rx;
    const int64_t group = (int64_t)rx->standard->group, from = first * group, own = from + overlap(rx),
                  begin = pass->begin < from ? from : pass->begin;
    const int64_t windows = overlap(rx) / group < count ? overlap(rx) / group : count;
    if (own <= pass->begin || pass->alone)
        return 0;
    memcpy(seam, rx->samples + (from - rx->base), (size_t)(begin - from) * sizeof *seam);
    convert(pass, seam + (begin - from), begin, own, false);
    memcpy(seam + overlap(rx), rx->samples + (own - rx->base), (size_t)(windows * group) * sizeof *seam);
    rx->standard->look(seam, (size_t)windows, strength);
    return windows;
}

static void mark(struct penstock__rx_search *search, size_t at, size_t count)
{
    const float *strength = search->strength;
    for (const size_t end = at + count; at < end;) {
        const size_t bit = at % WORD, left = end - at, part = WORD - bit < left ? WORD - bit : left;
        uint64_t marks = bit ? search->marks[at / WORD] : 0;
        for (size_t k = 0; k < part; k++)
            marks |= (uint64_t)(strength[at + k] > 0) << (bit + k);
        search->marks[at / WORD] = marks;
        at += part;
    }
}

static void work(void *argument, size_t block, unsigned worker)
{
    struct pass *pass = argument;
    struct penstock__rx *rx = pass->rx;
    const int64_t from = sample_of(pass, block), first = window_of(pass, block),
                  count = window_of(pass, block + 1) - first, next = rx->search.next;
    float *strength = rx->search.strength + (first - next);
    convert(pass, rx->samples + (from - rx->base), from, sample_of(pass, block + 1), true);
    if (!count)
        return;
    const int64_t done = block ? look_at_seam(pass, first, count, rx->workers[worker].seam, strength) : 0;
    rx->standard->look(rx->samples + ((first + done) * (int64_t)rx->standard->group - rx->base), (size_t)(count - done),
                       strength + done);
    mark(&rx->search, (size_t)(first - next), (size_t)count);
}

/* `last`: the window behind those that are looked at. */
static void run(struct penstock__rx *rx, const void *items, size_t count, int64_t last)
{
    struct pass pass = {.rx = rx,
                        .items = items,
                        .begin = rx->end,
                        .end = rx->end + (int64_t)count,
                        .first = rx->search.looked,
                        .last = last,
                        .block = BLOCK,
                        .blocks = 1,
                        .alone = penstock__threads(rx->stream.context) == 1};
    const int64_t windows = last - pass.first, before = (pass.first - rx->search.next) % WORD;
    if (windows) {
        pass.block = (int64_t)penstock__round_up(
            penstock__fair_share(rx->stream.context, (size_t)windows, LEAST_BLOCK, BLOCK), WORD);
        pass.blocks = (size_t)((before + windows + pass.block - 1) / pass.block);
    }
    penstock__parallel(rx->stream.context, pass.blocks, work, &pass);
    rx->search.looked = last;
    rx->counters.clipped += atomic_load(&pass.clipped);
    rx->counters.not_finite += atomic_load(&pass.not_finite);
}

/* Behind the last window of which all samples are before `end`. */
static int64_t windows_before(const struct penstock__rx *rx, int64_t end)
{
    const int64_t looked = rx->search.looked, last = (end - overlap(rx)) / (int64_t)rx->standard->group;
    return end > overlap(rx) && last > looked ? last : looked;
}

void penstock__rx_convert(struct penstock__rx *rx, const void *items, size_t count)
{
    const int64_t last = windows_before(rx, rx->end + (int64_t)count);
    run(rx, items, count, last - rx->search.looked < BLOCK ? rx->search.looked : last);
}

void penstock__rx_look(struct penstock__rx *rx)
{
    const int64_t last = windows_before(rx, rx->end);
    if (last > rx->search.looked)
        run(rx, NULL, 0, last);
}
