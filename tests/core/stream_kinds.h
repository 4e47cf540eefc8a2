/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The table of streams that tests of what all kinds have in common run through: for each kind the calls that are its
 * own, and for each case a description and what is pushed. Results of any kind are items of a fixed size.
 */
#ifndef PENSTOCK_TEST_STREAM_KINDS_H
#define PENSTOCK_TEST_STREAM_KINDS_H

#include <penstock/penstock.h>

struct stream_kind {
    int (*open)(penstock_stream **stream, penstock_context *context, const void *desc, const char *device);
    int (*change)(penstock_stream *stream, const void *desc, uint64_t pushed); /* to the window or taps that it has;
                                                                                  NULL: it has none */
    bool untraced;                                                             /* an error on the backend "trace" */

    /* Where results are frames: as penstock_stream_push(), _pull(). Else NULL. */
    int (*push)(penstock_stream *stream, const void *items, size_t count, size_t *taken);
    int (*pull)(penstock_stream *stream, void *items, size_t capacity, bool wait, size_t *count);
};

/* How an item out is compared where another device may have made it. */
enum stream_values {
    STREAM_FLOATS, /* floats alone */
    STREAM_SYMBOL, /* the points of a symbol, then its soft bits */
    STREAM_SOFT,   /* soft bits */
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

int stream_push(const struct stream_case *c, penstock_stream *stream, const void *items, size_t count, size_t *taken);
int stream_pull(const struct stream_case *c, penstock_stream *stream, void *items, size_t capacity, bool wait,
                size_t *count);

/* Whether `got` and `want`, items of a case, agree as values do that different processors made. */
bool stream_values_agree(const struct stream_case *c, const void *got, const void *want, size_t items);

#endif
