/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Answers that were measured: short texts under a question, a text that names all they depend on. */
#ifndef PENSTOCK_CORE_WISDOM_H
#define PENSTOCK_CORE_WISDOM_H

#include "backends/backend.h"

struct penstock__wisdom;

#define PENSTOCK__QUESTION_BYTES 8192

struct penstock__question {
    penstock_context *context;
    const char *kind; /* begins the names of its files in the cache folder */
    size_t used;
    char text[PENSTOCK__QUESTION_BYTES];
};

/* It begins with the library's version and the context's threads; then come a problem, with all its fields
 * (core/plan/problem_bytes.h), devices with their drivers, whose update asks anew, and what else there is. */
void penstock__question_begin(struct penstock__question *question, penstock_context *context, const char *kind);
void penstock__question_add(struct penstock__question *question, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void penstock__question_add_problem(struct penstock__question *question, const struct penstock_problem *problem);
void penstock__question_add_device(struct penstock__question *question, const struct penstock_device *device);

/* The context's answer or, where it has none, that of the cache folder, at most `size` - 1 characters; false where
 * there is neither. */
bool penstock__wisdom_find(char *answer, size_t size, const struct penstock__question *question);

/* The first answer holds for the context, so that the same question twice has one answer. Without memory the question
 * is asked again; that is no failure. */
void penstock__wisdom_hold(const struct penstock__question *question, const char *answer);

/* The same, and in the cache folder, for other processes: a question that was measured now. */
void penstock__wisdom_learn(const struct penstock__question *question, const char *answer);

void penstock__wisdom_free(penstock_context *context);

#endif
