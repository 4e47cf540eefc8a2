/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The table of streams that tests of what all kinds have in common run through: for each kind its calls, with the
 * object's type forgotten, and for each case a description and what is pushed. Results of any kind are items of a
 * fixed size.
 */
#ifndef PENSTOCK_TEST_STREAM_KINDS_H
#define PENSTOCK_TEST_STREAM_KINDS_H

#include <penstock/penstock.h>

/* A call that a kind does not have is NULL. */
struct stream_kind {
    const char *name;
    int (*open)(void **stream, penstock_context *context, const void *desc, const char *device);
    void (*free)(void *stream);
    int (*push)(void *stream, const void *items, size_t count, size_t *taken);
    int (*pull)(void *stream, void *items, size_t capacity, bool wait, size_t *count);
    int (*run)(void *stream, const void *in, size_t count, size_t *taken, void *out, size_t capacity, size_t *given);
    int (*finish)(void *stream);
    int (*reset)(void *stream);
    int (*get_stats)(const void *stream, penstock_stream_stats *stats);
    double (*due_s)(const void *stream);
    int (*set_max_latency)(void *stream, double max_latency_s);
    int (*change)(void *stream, const void *desc, uint64_t pushed); /* to the window or taps that it has */
};

/* How an item out is compared where another device may have made it. */
enum stream_values {
    STREAM_FLOATS, /* floats alone */
    STREAM_SYMBOL, /* the points of a symbol, then its soft bits */
    STREAM_RECORD  /* equal to the bit */
};

struct stream_case {
    const char *name;
    const struct stream_kind *kind;
    const void *desc;
    const void *in; /* `count` items */
    size_t count, in_bytes, out_bytes;
    enum stream_values values;
};

/* Makes descriptions and what is pushed; the cases, `*count` of them, live until stream_cases_free(). */
const struct stream_case *stream_cases(size_t *count);
void stream_cases_free(void);

/* Whether `got` and `want`, items of a case, agree as values do that different processors made. */
bool stream_values_agree(const struct stream_case *c, const void *got, const void *want, size_t items);

#endif
