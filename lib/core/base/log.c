/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The log of a context: one line a call, one call at a time. */
#include "core/base/context.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local void *log_user; /* instead of the context's */
static _Thread_local bool telling;

void *penstock_log_as(void *user)
{
    void *before = log_user;
    log_user = user;
    return before;
}

void *penstock__log_user(void)
{
    return log_user;
}

void penstock__log_settle(penstock_context *context)
{
    if (telling) /* it is this thread's */
        return;
    pthread_mutex_lock(&context->log_lock);
    pthread_mutex_unlock(&context->log_lock);
}

int penstock__log_lets_wait(void)
{
    return telling ? penstock__error(PENSTOCK_ERR_STATE, "a log callback cannot wait for a device or a measurement, "
                                                         "which may have lines of their own to tell")
                   : PENSTOCK_OK;
}

static void call(penstock_context *context, penstock_log_level level, const char *line)
{
    telling = true;
    context->log(log_user ? log_user : context->log_user, level, line);
    telling = false;
}

void penstock__log(penstock_context *context, penstock_log_level level, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    if (!context->log || telling)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    for (char *c = line; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    pthread_mutex_lock(&context->log_lock);
    if (!context->silent && !penstock__cancelled()) /* with the lock: penstock__log_settle() */
        call(context, level, line);
    pthread_mutex_unlock(&context->log_lock);
}
