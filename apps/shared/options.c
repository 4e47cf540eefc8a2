/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Options through popt, which hands the values on as text, with our error lines. */
#include "options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROW = 1000, NAME = 40, SHOWN = 48 };

/* ---------------------------------------------------------------- mistakes -------------------- */

/* A plain number as it is, anything else between quotes, the end of what is long left out. */
static const char *show(char shown[SHOWN], const char *value)
{
    enum { MOST = 36 };
    size_t length = strlen(value);
    bool plain = length && length <= MOST && strspn(value, "+-.0123456789eE") == length;
    snprintf(shown, SHOWN, plain ? "%.*s" : "'%.*s%s'", MOST, value, length > MOST ? "..." : "");
    return shown;
}

int option_fail(const char *name, const char *value, const char *must_be)
{
    char shown[SHOWN];
    return fail(EXIT_USAGE, "--%s %s is impossible: it must be %s", name, show(shown, value), must_be);
}

/* With as many digits as it has: 1048576, 1e+09, 0.001. */
static const char *show_number(char shown[SHOWN], double number)
{
    snprintf(shown, SHOWN, "%.6g", number);
    if (strtod(shown, NULL) != number)
        snprintf(shown, SHOWN, "%.10g", number);
    return shown;
}

static int fail_range(const char *name, const char *value, const struct number_range *range)
{
    char must_be[160], low[SHOWN], high[SHOWN];
    snprintf(must_be, sizeof must_be, "a %snumber from %s to %s%s%s", range->whole ? "whole " : "",
             show_number(low, range->low), show_number(high, range->high), *range->unit ? " " : "", range->unit);
    return option_fail(name, value, must_be);
}

int option_check(const char *name, double number, const struct number_range *range)
{
    char value[SHOWN];
    return number_fits(number, range) ? EXIT_DONE : fail_range(name, show_number(value, number), range);
}

static int tell_unknown(const struct options *options, const char *word)
{
    char names[MOST_OPTIONS + 1][NAME] = {"--help"}, option[64];
    const char *words[MOST_OPTIONS + 2] = {names[0]};
    for (size_t i = 0; i < options->count; i++) {
        snprintf(names[i + 1], NAME, "--%s", options->table[i].name);
        words[i + 1] = names[i + 1];
    }
    snprintf(option, sizeof option, "%.*s", (int)strcspn(word, "="), word);
    const char *nearest = nearest_word(option, words), *command = options->command->name;
    if (nearest)
        return fail(EXIT_USAGE, "%s: unknown option %s; did you mean %s?", command, option, nearest);
    return fail(EXIT_USAGE, "%s: unknown option %s; see penstock %s --help", command, option, command);
}

static int tell_mistake(const struct options *options, int popt_error)
{
    const char *word = poptBadOption(options->context, POPT_BADOPTION_NOALIAS);
    if (popt_error == POPT_ERROR_BADOPT)
        return tell_unknown(options, word);
    if (popt_error == POPT_ERROR_MALLOC)
        return fail(EXIT_DATA, "out of memory");
    return fail(EXIT_USAGE, "%s: %.64s: %s", options->command->name, word, poptStrerror(popt_error));
}

/* ---------------------------------------------------------------- values ---------------------- */

static int set_number(const struct option_row *row, const char *value)
{
    double number;
    if (!number_read(value, strlen(value), &number) || !number_fits(number, &row->range))
        return fail_range(row->name, value, &row->range);
    if (row->whole)
        *row->whole = (uint64_t)number;
    else
        *row->number = number;
    return EXIT_DONE;
}

static bool is_word(const char *value, const char *const *words)
{
    for (; *words; words++)
        if (!strcmp(value, *words))
            return true;
    return false;
}

/* Takes the value over. */
static int set_text(const struct option_row *row, char *value)
{
    *row->text = value;
    if (!*value)
        return fail(EXIT_USAGE, "--%s '' is impossible: it must not be empty", row->name);
    return row->words && !is_word(value, row->words) ? fail_unknown(row->noun, value, row->words) : EXIT_DONE;
}

/* Takes the value over. */
static int add_text(const struct option_row *row, char *value)
{
    size_t count = 0;
    while (*row->list && (*row->list)[count])
        count++;
    char **longer = realloc(*row->list, (count + 2) * sizeof *longer);
    if (!longer) {
        free(value);
        return fail(EXIT_DATA, "out of memory");
    }
    longer[count] = value;
    longer[count + 1] = NULL;
    *row->list = longer;
    return *value ? EXIT_DONE : fail(EXIT_USAGE, "--%s '' is impossible: it must not be empty", row->name);
}

static int set_value(struct options *options, size_t index)
{
    const struct option_row *row = &options->table[index];
    bool again = options->given[index];
    options->given[index] = true;
    if (row->kind == OPTION_KIND_FLAG) {
        *row->flag = true;
        return EXIT_DONE;
    }
    if (again && row->kind != OPTION_KIND_LIST)
        return fail(EXIT_USAGE, "%s: --%s is given twice", options->command->name, row->name);
    char *value = poptGetOptArg(options->context);
    if (!value)
        return fail(EXIT_DATA, "out of memory");
    if (row->kind == OPTION_KIND_TEXT)
        return set_text(row, value);
    if (row->kind == OPTION_KIND_LIST)
        return add_text(row, value);
    int code = set_number(row, value);
    free(value);
    return code;
}

/* ---------------------------------------------------------------- help ------------------------ */

/* The row's text, what the value may be, and the default where it is one that could be given. */
static void describe(char text[OPTION_ABOUT], const struct option_row *row)
{
    size_t used = (size_t)snprintf(text, OPTION_ABOUT, "%s", row->about);
    for (const char *const *word = row->words; word && *word && used < OPTION_ABOUT; word++)
        used += (size_t)snprintf(text + used, OPTION_ABOUT - used, "%s%s", word == row->words ? ": " : ", ", *word);
    if (row->kind != OPTION_KIND_NUMBER || used >= OPTION_ABOUT)
        return;
    char low[SHOWN], high[SHOWN];
    double standard = row->whole ? (double)*row->whole : *row->number;
    used += (size_t)snprintf(text + used, OPTION_ABOUT - used, ": %s%s .. %s%s%s", row->range.whole ? "whole, " : "",
                             show_number(low, row->range.low), show_number(high, row->range.high),
                             *row->range.unit ? " " : "", row->range.unit);
    if (number_fits(standard, &row->range) && used < OPTION_ABOUT)
        snprintf(text + used, OPTION_ABOUT - used, " (%s)", show_number(low, standard));
}

static void make_popt(struct options *options)
{
    size_t count = 0;
    for (const struct option_row *row = options->table; row->kind && count < MOST_OPTIONS; row++, count++) {
        describe(options->about[count], row);
        options->popt[count] =
            (struct poptOption){.longName = row->name,
                                .shortName = row->letter,
                                .argInfo = row->kind == OPTION_KIND_FLAG ? POPT_ARG_NONE : POPT_ARG_STRING,
                                .val = FIRST_ROW + (int)count,
                                .descrip = options->about[count],
                                .argDescrip = row->placeholder};
    }
    options->count = count;
    options->popt[count] = (struct poptOption){"help", 'h', POPT_ARG_NONE, NULL, 'h', "Show this text", NULL};
    options->popt[count + 1] = (struct poptOption)POPT_TABLEEND;
}

static void print_help(const struct options *options)
{
    printf("%s.\n", options->command->summary);
    poptPrintHelp(options->context, stdout, 0);
    if (options->command->notes)
        printf("\n%s", options->command->notes);
    if (options->command->more)
        options->command->more();
}

/* ---------------------------------------------------------------- the whole ------------------- */

/* What is no option: no name of anything is empty. */
static int take_arguments(struct options *options)
{
    static const char *const none[] = {NULL};
    const char **arguments = poptGetArgs(options->context);
    options->arguments = arguments ? arguments : none;
    for (const char *const *argument = options->arguments; *argument; argument++)
        if (!**argument)
            return fail(EXIT_USAGE, "%s: an argument is empty", options->command->name);
    return EXIT_DONE;
}

bool options_parse(struct options *options, const struct command *command, const struct option_row *table, int argc,
                   const char **argv, int *exit_code)
{
    char title[64];
    int code;
    *options = (struct options){.command = command, .table = table};
    make_popt(options);
    snprintf(title, sizeof title, "penstock %s", command->name);
    argv[0] = title;
    options->context = poptGetContext(NULL, argc, argv, options->popt, 0);
    if (!options->context) {
        *exit_code = fail(EXIT_DATA, "out of memory");
        return false;
    }
    poptSetOtherOptionHelp(options->context, command->synopsis);
    while ((code = poptGetNextOpt(options->context)) > 0) {
        if (code == 'h') {
            print_help(options);
            *exit_code = EXIT_DONE;
            return false;
        }
        if ((*exit_code = set_value(options, (size_t)(code - FIRST_ROW))))
            return false;
    }
    *exit_code = code < -1 ? tell_mistake(options, code) : take_arguments(options);
    argv[0] = command->name;
    return !*exit_code;
}

void options_free(struct options *options)
{
    for (size_t i = 0; i < options->count; i++) {
        const struct option_row *row = &options->table[i];
        if (row->kind == OPTION_KIND_TEXT) {
            free(*row->text);
            *row->text = NULL;
        } else if (row->kind == OPTION_KIND_LIST) {
            for (char **text = *row->list; text && *text; text++)
                free(*text);
            free(*row->list);
            *row->list = NULL;
        }
    }
    if (options->context)
        poptFreeContext(options->context);
    options->context = NULL;
}

bool option_given(const struct options *options, const char *name)
{
    for (size_t i = 0; i < options->count; i++)
        if (!strcmp(options->table[i].name, name))
            return options->given[i];
    return false;
}

int options_check_places(const struct options *options, const struct option_place *places, const char *where)
{
    for (; places->name; places++)
        if (!places->fits && option_given(options, places->name))
            return fail(EXIT_USAGE, "%s: --%s has no place %s", options->command->name, places->name, where);
    return EXIT_DONE;
}

bool options_no_arguments(const struct options *options, const struct command *command, int *exit_code)
{
    if (!options->arguments[0])
        return true;
    *exit_code = fail(EXIT_USAGE, "%s: '%s' is not an option; see penstock %s --help", command->name,
                      options->arguments[0], command->name);
    return false;
}
