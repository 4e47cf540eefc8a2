/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Windows of the stream that stand out, in runs, each of which makes a candidate. What look.c has marked is gone
 * through in its order. */
#include "rx/receiver.h"

#define AHEAD 32 /* words of marks, of 64 windows */
#define LINE  64 /* of the processor's caches, bytes */

int penstock__rx_search_init(struct penstock__rx *rx)
{
    const struct penstock__rx_standard *standard = rx->standard;
    const size_t windows = (size_t)((rx->most_hops + 1) * rx->hop) / standard->group + 64;
    rx->most_candidates = windows / (standard->gap_most + 1) + 64;
    rx->search.strength = penstock__alloc(windows * sizeof *rx->search.strength);
    rx->search.marks = penstock__alloc((windows / 64 + 1) * sizeof *rx->search.marks);
    rx->candidates = penstock__alloc(rx->most_candidates * sizeof *rx->candidates);
    return rx->search.strength && rx->search.marks && rx->candidates ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

void penstock__rx_search_start(struct penstock__rx *rx)
{
    rx->search.next = rx->search.looked = 0;
    rx->search.run_length = rx->search.run_gap = 0;
    rx->candidate_count = 0;
}

void penstock__rx_search_free(struct penstock__rx *rx)
{
    penstock__free(rx->search.strength);
    penstock__free(rx->search.marks);
    penstock__free(rx->candidates);
}

int64_t penstock__rx_horizon(const struct penstock__rx *rx)
{
    const struct penstock__rx_search *search = &rx->search;
    int64_t window = search->run_length ? search->run_window : search->next;
    int64_t position = window * (int64_t)rx->standard->group;
    if (rx->candidate_count)
        position = rx->candidates[0].position;
    else if (!search->run_length && rx->stream.finished)
        return INT64_MAX;
    return position - (int64_t)rx->standard->before;
}

/* ---------------------------------------------------------------- in their order -------------- */

static void end_run(struct penstock__rx *rx)
{
    struct penstock__rx_candidate *added = &rx->candidates[rx->candidate_count++];
    added->position = rx->search.run_window * (int64_t)rx->standard->group;
    added->until = added->position + (int64_t)rx->standard->needed;
    rx->search.run_length = rx->search.run_gap = 0;
    rx->counters.triggers++;
}

static void step(struct penstock__rx *rx, int64_t window, float strength)
{
    struct penstock__rx_search *search = &rx->search;
    if (!search->run_length++) {
        search->run_best = 0;
        search->run_gap = 0;
    }
    search->run_gap = strength > 0 ? 0 : search->run_gap + 1;
    if (strength > search->run_best) {
        search->run_best = strength;
        search->run_window = window;
    }
    if (search->run_gap >= rx->standard->gap_most || search->run_length >= rx->standard->run_most)
        end_run(rx);
}

/* The first marked window from `from` on, or `count`. */
static size_t next_mark(const uint64_t *marks, size_t from, size_t count)
{
    while (from < count) {
        uint64_t word = marks[from / 64] >> from % 64;
        if (word)
            return from + (size_t)__builtin_ctzll(word);
        from = (from / 64 + 1) * 64;
    }
    return count;
}

/* Other threads have written the strength of windows: where one of the word's stands out, its run is fetched. */
static void fetch(const struct penstock__rx_search *search, size_t word, size_t windows)
{
    const uint64_t marks = word < windows / 64 ? search->marks[word] : 0;
    if (!marks)
        return;
    const float *run = search->strength + 64 * word + __builtin_ctzll(marks);
    __builtin_prefetch(run);
    __builtin_prefetch(run + LINE / sizeof *run);
}

void penstock__rx_search(struct penstock__rx *rx)
{
    struct penstock__rx_search *search = &rx->search;
    size_t fetched = 0;
    penstock__rx_look(rx);
    const size_t windows = (size_t)(search->looked - search->next);
    for (size_t i = 0; i < windows; i++) {
        if (!search->run_length && (i = next_mark(search->marks, i, windows)) == windows)
            break;
        while (fetched <= i / 64 + AHEAD)
            fetch(search, fetched++, windows);
        step(rx, search->next + (int64_t)i, search->strength[i]);
    }
    search->next = search->looked;
    if (rx->stream.finished && search->run_length)
        end_run(rx);
}
