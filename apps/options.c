/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Options through popt, with our error lines. */
#include "options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPTIONS = 48 };

/* Long names of a table and of those that it includes, as "--name". */
static size_t collect_names(const struct poptOption *table, char (*names)[32], size_t count)
{
    for (; table->longName || table->shortName || table->arg; table++) {
        if ((table->argInfo & POPT_ARG_MASK) == POPT_ARG_INCLUDE_TABLE)
            count = collect_names(table->arg, names, count);
        else if (table->longName && count < MOST_OPTIONS)
            snprintf(names[count++], sizeof *names, "--%s", table->longName);
    }
    return count;
}

/* After a bad value popt names the value alone: the option stands before it. */
static int tell_bad_value(const struct command *command, const char **argv, const char *word, int popt_error)
{
    const char *option = "", *separator = "";
    for (size_t i = 1; argv[i] && argv[i + 1]; i++)
        if (!strcmp(argv[i + 1], word) && argv[i][0] == '-') {
            option = argv[i];
            separator = " ";
        }
    return fail(EXIT_USAGE, "%s: %s%s%s: %s", command->name, option, separator, word, poptStrerror(popt_error));
}

static int tell_mistake(const struct options *options, const struct command *command, const char **argv, int popt_error)
{
    const char *word = poptBadOption(options->context, POPT_BADOPTION_NOALIAS);
    char names[MOST_OPTIONS][32];
    const char *words[MOST_OPTIONS + 1] = {NULL};
    char option[64];
    size_t count = collect_names(options->table, names, 0);
    for (size_t i = 0; i < count; i++)
        words[i] = names[i];
    snprintf(option, sizeof option, "%.*s", (int)strcspn(word, "="), word);
    if (popt_error != POPT_ERROR_BADOPT)
        return tell_bad_value(command, argv, word, popt_error);
    const char *nearest = nearest_word(option, words);
    if (nearest)
        return fail(EXIT_USAGE, "%s: unknown option %s; did you mean %s?", command->name, option, nearest);
    return fail(EXIT_USAGE, "%s: unknown option %s; see penstock %s --help", command->name, option, command->name);
}

bool options_parse(struct options *options, const struct command *command, const struct poptOption *table, int argc,
                   const char **argv, int *exit_code)
{
    char title[64];
    int code;
    *options = (struct options){.table = table};
    snprintf(title, sizeof title, "penstock %s", command->name);
    argv[0] = title;
    options->context = poptGetContext(NULL, argc, argv, table, 0);
    if (!options->context) {
        *exit_code = fail(EXIT_DATA, "out of memory");
        return false;
    }
    poptSetOtherOptionHelp(options->context, command->synopsis);
    while ((code = poptGetNextOpt(options->context)) > 0)
        if (code == 'h') {
            printf("%s.\n", command->summary);
            poptPrintHelp(options->context, stdout, 0);
            if (command->notes)
                printf("\n%s", command->notes);
            if (command->more)
                command->more();
            *exit_code = EXIT_DONE;
            return false;
        }
    if (code < -1) {
        *exit_code = tell_mistake(options, command, argv, code);
        return false;
    }
    static const char *const none[] = {NULL};
    const char **arguments = poptGetArgs(options->context);
    options->arguments = arguments ? arguments : none;
    argv[0] = command->name;
    return true;
}

static void free_words(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}

static void free_strings(const struct poptOption *table)
{
    for (; table->longName || table->shortName || table->arg; table++) {
        if ((table->argInfo & POPT_ARG_MASK) == POPT_ARG_INCLUDE_TABLE) {
            free_strings(table->arg);
        } else if ((table->argInfo & POPT_ARG_MASK) == POPT_ARG_STRING) {
            char **value = table->arg;
            free(*value);
            *value = NULL;
        } else if ((table->argInfo & POPT_ARG_MASK) == POPT_ARG_ARGV) {
            char ***words = table->arg;
            free_words(*words);
            *words = NULL;
        }
    }
}

void options_free(struct options *options)
{
    if (!options->context)
        return;
    free_strings(options->table);
    poptFreeContext(options->context);
    options->context = NULL;
}

bool options_no_arguments(const struct options *options, const struct command *command, int *exit_code)
{
    if (!options->arguments[0])
        return true;
    *exit_code = fail(EXIT_USAGE, "%s: '%s' is not an option; see penstock %s --help", command->name,
                      options->arguments[0], command->name);
    return false;
}

bool option_range(const char *name, double value, double low, double high, int *exit_code)
{
    if (value >= low && value <= high)
        return true;
    *exit_code = fail(EXIT_USAGE, "%s %.10g is impossible: it must be from %.10g to %.10g", name, value, low, high);
    return false;
}

bool option_whole(const char *name, double value, double low, double high, uint64_t *number, int *exit_code)
{
    if (!option_range(name, value, low, high, exit_code))
        return false;
    if (value != floor(value)) {
        *exit_code = fail(EXIT_USAGE, "%s %.10g is impossible: it must be a whole number", name, value);
        return false;
    }
    *number = (uint64_t)value;
    return true;
}
