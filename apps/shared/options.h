/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A subcommand's options: a table whose rows say what a value may be. One call parses them (by popt), answers --help
 * from the same rows, and tells of the first mistake in one line: an unknown option with the nearest known one, a value
 * that is missing, empty or out of its range, an option that is given twice.
 *
 *     const struct option_row table[] = {
 *         OPTION_TEXT("output", 'o', "FILE", &output, "The result"),
 *         OPTION_NUMBER("gain", 0, "DB", &gain_db, -100, 100, "dB", "Of the radio"),
 *         OPTION_WHOLE("fft", 'n', "N", &length, 2, 8192, "", "Transform length"),
 *         OPTIONS_END,
 *     };
 *
 * What a place holds before is its default: it stays where the option is not given, and --help names it. So NAN in the
 * place of a number, and any number out of the range, stand for "not given" and are not named.
 */
#ifndef PENSTOCK_APPS_OPTIONS_H
#define PENSTOCK_APPS_OPTIONS_H

#include "command.h"
#include "number.h"

#include <math.h>
#include <popt.h>

enum option_kind { OPTION_KIND_END, OPTION_KIND_FLAG, OPTION_KIND_TEXT, OPTION_KIND_LIST, OPTION_KIND_NUMBER };

struct option_row {
    enum option_kind kind;
    const char *name;
    char letter;             /* of the short form; 0: none */
    const char *placeholder; /* of the value, in --help */
    const char *about;       /* in --help, before the range and the default */
    bool *flag;
    char **text;              /* options_free() frees it */
    char ***list;             /* of the texts of an option that may be given several times, ended by NULL; likewise */
    double *number;           /* one of these two */
    uint64_t *whole;          /* from `range.low` on, which is 0 or more, to 2^53 */
    const char *const *words; /* what a text may be, ended by NULL; NULL: anything but nothing */
    const char *noun;         /* for such a word: "unknown NOUN 'x'" */
    struct number_range range;
};

#define OPTION_FLAG(NAME, LETTER, FLAG, ABOUT)                                                         \
    {                                                                                                  \
        .kind = OPTION_KIND_FLAG, .name = (NAME), .letter = (LETTER), .flag = (FLAG), .about = (ABOUT) \
    }
#define OPTION_TEXT(NAME, LETTER, PLACEHOLDER, TEXT, ABOUT)                                                         \
    {                                                                                                               \
        .kind = OPTION_KIND_TEXT, .name = (NAME), .letter = (LETTER), .placeholder = (PLACEHOLDER), .text = (TEXT), \
        .about = (ABOUT)                                                                                            \
    }
#define OPTION_WORD(NAME, LETTER, PLACEHOLDER, TEXT, WORDS, NOUN, ABOUT)                                            \
    {                                                                                                               \
        .kind = OPTION_KIND_TEXT, .name = (NAME), .letter = (LETTER), .placeholder = (PLACEHOLDER), .text = (TEXT), \
        .words = (WORDS), .noun = (NOUN), .about = (ABOUT)                                                          \
    }
#define OPTION_LIST(NAME, LETTER, PLACEHOLDER, LIST, ABOUT)                                                         \
    {                                                                                                               \
        .kind = OPTION_KIND_LIST, .name = (NAME), .letter = (LETTER), .placeholder = (PLACEHOLDER), .list = (LIST), \
        .about = (ABOUT)                                                                                            \
    }
#define OPTION_NUMBER(NAME, LETTER, PLACEHOLDER, NUMBER, LOW, HIGH, UNIT, ABOUT)                      \
    {                                                                                                 \
        .kind = OPTION_KIND_NUMBER, .name = (NAME), .letter = (LETTER), .placeholder = (PLACEHOLDER), \
        .number = (NUMBER), .range = {.low = (LOW), .high = (HIGH), .unit = (UNIT)}, .about = (ABOUT) \
    }
#define OPTION_WHOLE(NAME, LETTER, PLACEHOLDER, WHOLE, LOW, HIGH, UNIT, ABOUT)                                     \
    {                                                                                                              \
        .kind = OPTION_KIND_NUMBER, .name = (NAME), .letter = (LETTER), .placeholder = (PLACEHOLDER),              \
        .whole = (WHOLE), .range = {.low = (LOW), .high = (HIGH), .unit = (UNIT), .whole = true}, .about = (ABOUT) \
    }
#define OPTIONS_END             \
    {                           \
        .kind = OPTION_KIND_END \
    }

enum { MOST_OPTIONS = 40, OPTION_ABOUT = 400 };

struct options {
    const struct command *command;
    const struct option_row *table;
    poptContext context;
    const char *const *arguments; /* what is no option; ended by NULL, none of them empty */
    size_t count;                 /* rows of the table */
    bool given[MOST_OPTIONS];
    struct poptOption popt[MOST_OPTIONS + 2]; /* the table as popt reads it */
    char about[MOST_OPTIONS][OPTION_ABOUT];
};

/* True: go on. False: leave with *exit_code; --help was answered, or the mistake told. In both cases call
 * options_free(), which also frees the table's texts. */
bool options_parse(struct options *options, const struct command *command, const struct option_row *table, int argc,
                   const char **argv, int *exit_code);
void options_free(struct options *options);

/* Was the option, one of the table's, given? */
bool option_given(const struct options *options, const char *name);

/* An option that not all of what a command does has a use for. */
struct option_place {
    const char *name;
    bool fits;
};

/* fail(EXIT_USAGE) for the first that is given and does not fit, which would be left aside in silence: "--NAME has no
 * place WHERE". The places end with a row without a name. */
int options_check_places(const struct options *options, const struct option_place *places, const char *where);

/* For commands that take nothing but options. */
bool options_no_arguments(const struct options *options, const struct command *command, int *exit_code);

/* fail(EXIT_USAGE) that names the option, its value and what it must be, "N or N/D". */
int option_fail(const char *name, const char *value, const char *must_be);

/* For a range that is known when other things are: EXIT_DONE, or fail(EXIT_USAGE) like that of the table. */
int option_check(const char *name, double number, const struct number_range *range);

#endif
