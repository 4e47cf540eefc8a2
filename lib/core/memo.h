/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Answers that were measured: short texts under a key, a text that names all they depend on. */
#ifndef PENSTOCK_CORE_MEMO_H
#define PENSTOCK_CORE_MEMO_H

#include "backends/backend.h"

struct penstock__memo;

/* In this context; false where there is none. */
bool penstock__memo_recall(char *answer, size_t size, penstock_context *context, const char *key);

/* The first answer holds for the context, so that the same question twice has one answer: `answer`, at most `size` - 1
 * characters, becomes the one that holds. Without memory the question is asked again; that is no failure. */
void penstock__memo_keep(char *answer, size_t size, penstock_context *context, const char *key);

/* In the cache folder, for other processes; `kind` begins the file's name. */
bool penstock__memo_read(char *answer, size_t size, penstock_context *context, const char *kind, const char *key);
void penstock__memo_write(penstock_context *context, const char *kind, const char *key, const char *answer);

void penstock__memos_free(penstock_context *context);

#endif
