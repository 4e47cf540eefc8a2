/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A subcommand's options: a popt table that ends with OPTIONS_END, parsed in one call that also answers
 * --help and names the nearest known option after a slip.
 */
#ifndef PENSTOCK_APPS_OPTIONS_H
#define PENSTOCK_APPS_OPTIONS_H

#include "command.h"

#include <popt.h>

struct options {
    poptContext context;
    const struct poptOption *table;
    const char *const *arguments; /* what is no option; ended by NULL */
};

#define OPTIONS_END {"help", 'h', POPT_ARG_NONE, NULL, 'h', "Show this text", NULL}, POPT_TABLEEND

/* True: go on. False: leave with *exit_code; --help was answered, or the mistake told. In both cases call
 * options_free(), which also frees the table's string values. */
bool options_parse(struct options *options, const struct command *command, const struct poptOption *table, int argc,
                   const char **argv, int *exit_code);
void options_free(struct options *options);

/* For commands that take nothing but options. */
bool options_no_arguments(const struct options *options, const struct command *command, int *exit_code);

/* A whole number within bounds from an option that popt read as a double; tells the mistake otherwise. */
bool option_whole(const char *name, double value, double low, double high, uint64_t *number, int *exit_code);

/* A number within bounds; tells the mistake otherwise. */
bool option_range(const char *name, double value, double low, double high, int *exit_code);

#endif
