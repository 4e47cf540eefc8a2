/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The options that say where samples come from, shared by the commands that read them. */
#ifndef PENSTOCK_APPS_INPUT_H
#define PENSTOCK_APPS_INPUT_H

#include "options.h"

#include <math.h>

struct input {
    char *source, *format, *antenna;
    double rate_hz, frequency_hz, gain_db, bandwidth_hz, channel, count, seconds;
};

/* What was not given is NAN where zero means something else. */
#define INPUT_DEFAULTS                                \
    (struct input)                                    \
    {                                                 \
        .gain_db = NAN, .count = NAN, .seconds = NAN, \
    }

/* Rows of a popt table; `in` is a struct input that outlives the table. */
#define INPUT_OPTIONS(in)                                                                                              \
    {"input", 'i', POPT_ARG_STRING, &(in).source, 0, "SigMF or raw file, - for standard input, or soapy:ARGS", "SRC"}, \
        {"format", 'f', POPT_ARG_STRING, &(in).format, 0, "Of raw samples: cf32, cs16, cs8, cu8", "FORMAT"},           \
        {"rate", 'r', POPT_ARG_DOUBLE, &(in).rate_hz, 0, "Sample rate", "HZ"},                                         \
        {"frequency", 0, POPT_ARG_DOUBLE, &(in).frequency_hz, 0, "Tune the radio", "HZ"},                              \
        {"gain", 0, POPT_ARG_DOUBLE, &(in).gain_db, 0, "Of the radio", "DB"},                                          \
        {"antenna", 0, POPT_ARG_STRING, &(in).antenna, 0, "Of the radio", "NAME"},                                     \
        {"bandwidth", 0, POPT_ARG_DOUBLE, &(in).bandwidth_hz, 0, "Of the radio's filter", "HZ"},                       \
        {"channel", 0, POPT_ARG_DOUBLE, &(in).channel, 0, "Of the radio", "N"},                                        \
        {"seconds", 0, POPT_ARG_DOUBLE, &(in).seconds, 0, "Stop after this much signal", "S"},                         \
    {                                                                                                                  \
        "count", 'n', POPT_ARG_DOUBLE, &(in).count, 0, "Stop after this many samples", "N"                             \
    }

/* Opens the source. Returns an exit code. */
int input_open(penstock_source **source, penstock_context *context, const struct input *input,
               const char *command_name);

/* Warns, and returns EXIT_DATA, where the input ended within a sample. */
int input_check_end(const penstock_source *source);

/* A radio's stream has no end of its own. */
bool input_is_radio(const struct input *input);

/* The names of the sample formats that files have, ended by NULL. */
extern const char *const input_formats[];

/* fail() unless `text` names such a format. */
int parse_format(penstock_format *format, const char *text);

#endif
