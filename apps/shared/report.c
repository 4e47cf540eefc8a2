/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* How the command tells of trouble: one line on standard error, and an exit code. */
#include "command.h"
#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* One line, whatever bytes the names in it have; the end of what is too long is left out. */
static void print_line(const char *prefix, const char *format, va_list arguments)
{
    char line[2048], whole[sizeof line + 40];
    if (vsnprintf(line, sizeof line, format, arguments) < 0)
        return;
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    snprintf(whole, sizeof whole, "penstock: %.20s%s\n", prefix, line);
    progress_print(whole);
}

int fail(enum exit_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line("", format, arguments);
    va_end(arguments);
    return code;
}

void warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line("warning: ", format, arguments);
    va_end(arguments);
}

int fail_status(int status)
{
    const char *text = penstock_error_text();
    bool asked_wrongly = status == PENSTOCK_ERR_ARGUMENT || status == PENSTOCK_ERR_UNSUPPORTED;
    return fail(asked_wrongly ? EXIT_USAGE : EXIT_DATA, "%s", *text ? text : penstock_status_text(status));
}

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other: the optimal
 * string alignment distance. Words longer than the table are as far apart as can be. */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 40 };
    static size_t table[LONGEST + 1][LONGEST + 1];
    size_t rows = strlen(a), columns = strlen(b);
    if (rows > LONGEST || columns > LONGEST)
        return LONGEST;
    for (size_t i = 0; i <= rows; i++)
        for (size_t j = 0; j <= columns; j++) {
            if (!i || !j) {
                table[i][j] = i + j;
                continue;
            }
            table[i][j] =
                smallest(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && table[i - 2][j - 2] < table[i][j])
                table[i][j] = table[i - 2][j - 2] + 1;
        }
    return table[rows][columns];
}

const char *nearest_word(const char *word, const char *const *words)
{
    const char *nearest = NULL;
    size_t least = strlen(word) / 3 + 2; /* farther words are no help */
    for (; *words; words++) {
        size_t d = distance(word, *words);
        if (d < least) {
            least = d;
            nearest = *words;
        }
    }
    return nearest;
}

int fail_unknown(const char *what, const char *word, const char *const *words)
{
    const char *nearest = nearest_word(word, words);
    char all[512] = "";
    size_t used = 0;
    if (nearest)
        return fail(EXIT_USAGE, "unknown %s '%s'; did you mean '%s'?", what, word, nearest);
    for (; *words && used < sizeof all; words++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", used ? ", " : "", *words);
    return fail(EXIT_USAGE, "unknown %s '%s'; known: %s", what, word, all);
}

static void show_log(void *user, penstock_log_level level, const char *line)
{
    (void)user;
    if (level == PENSTOCK_LOG_WARNING)
        warn("%s", line);
}

int open_context(penstock_context **context, unsigned threads)
{
    int status = penstock_context_new(
        context, &PENSTOCK_CONTEXT_DESC(.threads = threads, .log = show_log, .driver_patience_s = DRIVER_PATIENCE_S));
    return status ? fail_status(status) : EXIT_DONE;
}

int open_patient_context(penstock_context **context)
{
    int status = penstock_context_new(context, &PENSTOCK_CONTEXT_DESC(.log = show_log));
    return status ? fail_status(status) : EXIT_DONE;
}

int open_stream_context(penstock_context **context)
{
    int status = penstock_context_new(context, &PENSTOCK_CONTEXT_DESC(.log = show_log, .cpu_while_compiling = true,
                                                                      .driver_patience_s = DRIVER_PATIENCE_S));
    return status ? fail_status(status) : EXIT_DONE;
}

int open_context_uncached(penstock_context **context)
{
    int status = penstock_context_new(
        context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "", .log = show_log, .driver_patience_s = DRIVER_PATIENCE_S));
    return status ? fail_status(status) : EXIT_DONE;
}
