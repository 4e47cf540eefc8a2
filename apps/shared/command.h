/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What the subcommands share: the row of the table of subcommands, the exit codes, and how trouble is
 * told: one line on standard error that begins with "penstock: ".
 */
#ifndef PENSTOCK_APPS_COMMAND_H
#define PENSTOCK_APPS_COMMAND_H

#include <penstock/penstock.h>

enum exit_code {
    EXIT_DONE = 0,
    EXIT_DATA = 1, /* a file, a device or the data */
    EXIT_USAGE = 2 /* a command, option, option value, profile or format that is unknown or impossible */
};

struct command {
    const char *name;
    const char *synopsis; /* what follows the name in the usage line */
    const char *summary;  /* one line */
    const char *notes;    /* printed after the options by --help; NULL: nothing */
    void (*more)(void);   /* prints more after that; NULL: nothing */
    int (*run)(const struct command *command, int argc, const char **argv);
};

extern const struct command command_devices, command_doctor, command_check, command_bench, command_spectrum,
    command_filter, command_resample, command_channelize, command_receive, command_transmit, command_fec;

/* Prints the line and returns `code`. */
int fail(enum exit_code code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints the library's error text and returns the exit code that belongs to the status. */
int fail_status(int status);

/* "penstock: warning: ..." */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The word of `words` (ended by NULL) that a slip of the fingers most likely turned into `word`, or NULL. */
const char *nearest_word(const char *word, const char *const *words);

/* fail(EXIT_USAGE) that names `what` and `word`, and the nearest of `words` or all of them. */
int fail_unknown(const char *what, const char *word, const char *const *words);

#define DRIVER_PATIENCE_S 0.2 /* for a driver that nobody named: penstock_context_desc.driver_patience_s */

/* A context whose warnings go to standard error; `threads` as in penstock_context_desc. Returns an exit code. */
int open_context(penstock_context **context, unsigned threads);

/* The same, and every driver is waited for. */
int open_patient_context(penstock_context **context);

/* The same for a stream, which the CPU serves until the device is ready where it may. */
int open_stream_context(penstock_context **context);

/* One that neither reads nor writes files of the cache folder. */
int open_context_uncached(penstock_context **context);

#endif
