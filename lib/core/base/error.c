/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Errors as values with text: one line per thread. */
#include "backends/backend.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char error_text[512];

int penstock__error(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error_text, sizeof error_text, format, arguments);
    va_end(arguments);
    for (char *c = error_text; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    return status;
}

const char *penstock_error_text(void)
{
    return error_text;
}

int penstock__failure_keep(struct penstock__failure *failure, int status)
{
    failure->status = status;
    snprintf(failure->text, sizeof failure->text, "%s", error_text);
    return status;
}

int penstock__failure_tell(const struct penstock__failure *failure)
{
    return failure->status ? penstock__error(failure->status, "%s", failure->text) : PENSTOCK_OK;
}

const char *penstock_status_text(int status)
{
    switch (status) {
#define CASE(name, value, text) \
    case value:                 \
        return text;
        PENSTOCK_STATUS_MAP(CASE)
#undef CASE
    default:
        return "unknown status";
    }
}

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

const char *penstock_version(void)
{
    return TEXT(PENSTOCK_VERSION_MAJOR) "." TEXT(PENSTOCK_VERSION_MINOR) "." TEXT(PENSTOCK_VERSION_PATCH);
}
