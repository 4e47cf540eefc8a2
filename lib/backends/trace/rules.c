/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Counts, failures on request and the contract's rules. The counters are the process's: tests run alone in it. */
#include "backends/trace/rules.h"
#include "backends/trace/trace.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#define MADE 0x7ace7ace

static atomic_long calls, live, violations;
static atomic_long countdown = -1; /* < 0: no failure is due */
static atomic_bool failing_from;   /* all calls fail once the countdown is over */
static atomic_bool failing;
static char first_violation[256];

long penstock__trace_calls(void)
{
    return atomic_load(&calls);
}

void penstock__trace_fail_at(long k)
{
    atomic_store(&failing, false);
    atomic_store(&failing_from, false);
    atomic_store(&countdown, k);
}

void penstock__trace_fail_from(long k)
{
    penstock__trace_fail_at(k);
    atomic_store(&failing_from, k >= 0);
}

long penstock__trace_live(void)
{
    return atomic_load(&live);
}

long penstock__trace_violations(void)
{
    return atomic_load(&violations);
}

const char *penstock__trace_violation_text(void)
{
    return atomic_load(&violations) ? first_violation : "";
}

void penstock__trace_violation(penstock_context *context, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!atomic_fetch_add(&violations, 1))
        snprintf(first_violation, sizeof first_violation, "%s", text);
    penstock__log(context, PENSTOCK_LOG_WARNING, "trace: the contract is broken: %s", text);
}

static bool must_fail(void)
{
    long left = atomic_load(&countdown);
    if (atomic_load(&failing))
        return true;
    while (left >= 0)
        if (atomic_compare_exchange_weak(&countdown, &left, left - 1)) {
            if (left == 0)
                atomic_store(&failing, atomic_load(&failing_from));
            return left == 0;
        }
    return false;
}

int penstock__trace_call(penstock_context *context, const char *format, ...)
{
    char text[128];
    va_list arguments;
    long number = atomic_fetch_add(&calls, 1);
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    penstock__log(context, PENSTOCK_LOG_DEBUG, "trace: call %ld: %s", number, text);
    return must_fail() ? penstock__error(PENSTOCK_ERR_DEVICE, "trace: call %ld (%s) was told to fail", number, text)
                       : PENSTOCK_OK;
}

void penstock__trace_note(penstock_context *context, const char *what)
{
    penstock__log(context, PENSTOCK_LOG_DEBUG, "trace: %s", what);
}

void penstock__trace_fresh(penstock_context *context, const void *priv, size_t bytes, const char *what)
{
    const unsigned char *byte = priv;
    if ((uintptr_t)priv % 64)
        penstock__trace_violation(context, "the private part of a %s is not aligned to 64 bytes", what);
    for (size_t i = 0; i < bytes; i++)
        if (byte[i]) {
            penstock__trace_violation(context, "the private part of a %s is not zeroed", what);
            return;
        }
}

void penstock__trace_made(struct trace_object *object)
{
    object->state = MADE;
    atomic_fetch_add(&live, 1);
}

void penstock__trace_freed(penstock_context *context, struct trace_object *object, const char *what)
{
    if (object->state != MADE) {
        penstock__trace_violation(context, "a %s is freed that was not made", what);
        return;
    }
    object->state = 0;
    atomic_fetch_sub(&live, 1);
}

bool penstock__trace_alive(penstock_context *context, const struct trace_object *object, const char *what)
{
    if (object && object->state == MADE)
        return true;
    penstock__trace_violation(context, "a %s is used that was not made", what);
    return false;
}
