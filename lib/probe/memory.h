/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Results: the last ones of this process, and those in the cache folder, for other processes. */
#ifndef PENSTOCK_PROBE_MEMORY_H
#define PENSTOCK_PROBE_MEMORY_H

#include "probe/result.h"

#define PENSTOCK__PROBE_KEY_BYTES 4096

/* Values, each under the hash of a text. Few are asked for again, and few texts are there. */
struct penstock__recent {
    struct penstock_guard guard;
    size_t count, bytes; /* of a value */
    uint64_t *keys;      /* 0: none */
    void *values;
    size_t next;
};

/* `keys` and `values` are arrays as long as each other. */
#define PENSTOCK__RECENT(keys_, values_)                                                                           \
    {                                                                                                              \
        .guard = PENSTOCK_GUARD_AWAITED, .count = sizeof(values_) / sizeof *(values_), .bytes = sizeof *(values_), \
        .keys = (keys_), .values = (values_)                                                                       \
    }

bool penstock__recent_recall(struct penstock__recent *recent, const char *key, void *value);

/* In the place of the oldest one, or of the one that has this key. */
void penstock__recent_keep(struct penstock__recent *recent, const char *key, const void *value);

/* `kind` begins the file's name; `key`, shorter than that, is a text that names all that the result depends on. */
void penstock__result_keep(const struct penstock__probe_result *result, penstock_context *context, const char *kind,
                           const char *key);

/* False where there is none, or one that holds no longer: a crash for an hour, as it may have had other causes than the
 * driver's files; all else until the key changes. */
bool penstock__result_recall(struct penstock__probe_result *result, penstock_context *context, const char *kind,
                             const char *key);

#endif
