/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Answers that were measured: short texts under a key, a text that names all they depend on. */
#ifndef PENSTOCK_CORE_WISDOM_H
#define PENSTOCK_CORE_WISDOM_H

#include "backends/backend.h"

struct penstock__wisdom;

/* In this context; false where there is none. */
bool penstock__wisdom_recall(char *answer, size_t size, penstock_context *context, const char *key);

/* The first answer holds for the context, so that the same question twice has one answer: `answer`, at most `size` - 1
 * characters, becomes the one that holds. Without memory the question is asked again; that is no failure. */
void penstock__wisdom_keep(char *answer, size_t size, penstock_context *context, const char *key);

/* In the cache folder, for other processes; `kind` begins the file's name. */
bool penstock__wisdom_read(char *answer, size_t size, penstock_context *context, const char *kind, const char *key);
void penstock__wisdom_write(penstock_context *context, const char *kind, const char *key, const char *answer);

void penstock__wisdom_free(penstock_context *context);

#endif
