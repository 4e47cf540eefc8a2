/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Results in the cache folder, for other processes. */
#ifndef PENSTOCK_PROBE_MEMORY_H
#define PENSTOCK_PROBE_MEMORY_H

#include "probe/result.h"

#define PENSTOCK__PROBE_KEY_BYTES 4096

/* `kind` begins the file's name; `key`, shorter than that, is a text that names all that the result depends on. */
void penstock__result_keep(const struct penstock__probe_result *result, penstock_context *context, const char *kind,
                           const char *key);

/* False where there is none, or one that holds no longer: a crash for an hour, as it may have had other causes than the
 * driver's files; all else until the key changes. */
bool penstock__result_recall(struct penstock__probe_result *result, penstock_context *context, const char *kind,
                             const char *key);

#endif
