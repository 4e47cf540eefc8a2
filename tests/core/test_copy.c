/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Copies by all threads, through the caches and past them: every byte arrives, and none beside them changes. */
#include "test.h"

#include "backends/backend.h"

#define MOST  ((size_t)1 << 20)
#define EDGE  ((size_t)80)
#define GUARD 0x5a

static unsigned char from[MOST + 2 * EDGE], to[MOST + 2 * EDGE];

typedef void copy_fn(penstock_context *context, void *to, const void *from, size_t bytes);

static void check(penstock_context *context, copy_fn *copy, const char *name, size_t bytes, size_t at, size_t source)
{
    memset(to, GUARD, sizeof to);
    copy(context, to + at, from + source, bytes);
    bool beside = true;
    for (size_t i = 0; i < EDGE; i++)
        beside = beside && (i >= at || to[at - 1 - i] == GUARD) && to[at + bytes + i] == GUARD;
    CHECK(!memcmp(to + at, from + source, bytes), "%s: %zu bytes to %zu from %zu differ", name, bytes, at, source);
    CHECK(beside, "%s: %zu bytes to %zu: others changed", name, bytes, at);
}

int main(void)
{
    static const size_t sizes[] = {0,      1,      63,     64,     65,     4095,   16384,    131071,
                                   131072, 131073, 131199, 147456, 262143, 500009, MOST - 1, MOST};
    uint64_t seed = 1;
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        penstock_context *context;
        CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = threads, .cache_dir = "")));
        for (size_t i = 0; i < sizeof from; i++)
            from[i] = (unsigned char)(128 * (1 + test_uniform(&seed)));
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (size_t offset = 0; offset < EDGE; offset += 9) {
                check(context, penstock__copy, "copy", sizes[i], offset, EDGE - offset);
                check(context, penstock__copy_past_caches, "past the caches", sizes[i], offset, 16);
                check(context, penstock__copy_past_caches, "past the caches", sizes[i], 64, offset);
            }
        penstock_context_free(context);
    }
    return test_finish();
}
