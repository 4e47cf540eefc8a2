/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The contract's rules on objects and calls, for the trace backend's own files. */
#ifndef PENSTOCK_TRACE_RULES_H
#define PENSTOCK_TRACE_RULES_H

#include "backends/backend.h"

/* First member of each private part. */
struct trace_object {
    uint32_t state; /* 0: not made */
};

/* Counts a breach of the contract and logs it. */
void penstock__trace_violation(penstock_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Logs a call that can fail, and fails where it was asked to. */
int penstock__trace_call(penstock_context *context, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Logs a call that cannot fail. */
void penstock__trace_note(penstock_context *context, const char *what);

/* An init function is entered: the private part must come zeroed and aligned. */
void penstock__trace_fresh(penstock_context *context, const void *priv, size_t bytes, const char *what);

/* An init function has succeeded, a free function is entered, an object is used. */
void penstock__trace_made(struct trace_object *object);
void penstock__trace_freed(penstock_context *context, struct trace_object *object, const char *what);
bool penstock__trace_alive(penstock_context *context, const struct trace_object *object, const char *what);

#endif
