/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* From text to numbers. */
#include "number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 64 }; /* characters of a number */

static size_t skip_digits(const char *text, size_t at, size_t length)
{
    while (at < length && text[at] >= '0' && text[at] <= '9')
        at++;
    return at;
}

/* strtod() takes more than is a number here: blanks, nan, inf, 0x10. */
static bool is_decimal(const char *text, size_t length)
{
    size_t at = length && (*text == '+' || *text == '-'), before = at, digits;
    at = skip_digits(text, at, length);
    digits = at - before;
    if (at < length && text[at] == '.') {
        before = ++at;
        at = skip_digits(text, at, length);
        digits += at - before;
    }
    if (!digits)
        return false;
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        at += at < length && (text[at] == '+' || text[at] == '-');
        before = at;
        at = skip_digits(text, at, length);
        if (at == before)
            return false;
    }
    return at == length;
}

bool number_read(const char *text, size_t length, double *number)
{
    char copy[LONGEST + 1];
    if (length > LONGEST || !is_decimal(text, length))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    errno = 0;
    double value = strtod(copy, NULL);
    if (errno == ERANGE || !isfinite(value))
        return false;
    *number = value;
    return true;
}

bool number_read_list(const char *text, char separator, double *numbers, size_t wanted)
{
    for (size_t i = 0; i < wanted; i++) {
        const char *end = strchr(text, separator);
        size_t length = end ? (size_t)(end - text) : strlen(text);
        if (!end != (i + 1 == wanted) || !number_read(text, length, &numbers[i]))
            return false;
        text += length + 1;
    }
    return true;
}

bool number_read_digits(const char *text, size_t length, double most, size_t *number)
{
    double value = 0;
    if (skip_digits(text, 0, length) != length || !number_read(text, length, &value) || value > most)
        return false;
    *number = (size_t)value;
    return true;
}

bool number_fits(double number, const struct number_range *range)
{
    return number >= range->low && number <= range->high && (!range->whole || number == floor(number));
}
