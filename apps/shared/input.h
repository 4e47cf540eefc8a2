/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The options that say where samples come from, shared by the commands that read them. */
#ifndef PENSTOCK_APPS_INPUT_H
#define PENSTOCK_APPS_INPUT_H

#include "options.h"

struct input {
    char *source, *format, *antenna;
    double rate_hz, frequency_hz, gain_db, bandwidth_hz, seconds;
    uint64_t channel, count;
};

/* What was not given is zero, or NAN where zero means something else. */
#define INPUT_DEFAULTS \
    (struct input)     \
    {                  \
        .gain_db = NAN \
    }

/* Rows of a table of options; `in` is a struct input that outlives the table. */
#define INPUT_OPTIONS(in)                                                                                     \
    OPTION_TEXT("input", 'i', "SRC", &(in).source, "SigMF or raw file, - for standard input, or soapy:ARGS"), \
        OPTION_WORD("format", 'f', "FORMAT", &(in).format, input_formats, "format", "Of raw samples"),        \
        OPTION_NUMBER("rate", 'r', "HZ", &(in).rate_hz, 1e-3, 1e10, "Hz", "Sample rate"),                     \
        OPTION_NUMBER("frequency", 0, "HZ", &(in).frequency_hz, 0, 1e12, "Hz",                                \
                      "Tune the radio; 0 leaves it as it is"),                                                \
        OPTION_NUMBER("gain", 0, "DB", &(in).gain_db, -1000, 1000, "dB", "Of the radio"),                     \
        OPTION_TEXT("antenna", 0, "NAME", &(in).antenna, "Of the radio"),                                     \
        OPTION_NUMBER("bandwidth", 0, "HZ", &(in).bandwidth_hz, 0, 1e10, "Hz",                                \
                      "Of the radio's filter; 0 leaves it as it is"),                                         \
        OPTION_WHOLE("channel", 0, "N", &(in).channel, 0, 1023, "", "Of the radio"),                          \
        OPTION_NUMBER("seconds", 0, "S", &(in).seconds, 1e-9, 1e9, "s", "Stop after this much signal"),       \
        OPTION_WHOLE("count", 'n', "N", &(in).count, 1, 9e15, "samples", "Stop after this many")

/* Tells before anything is opened what cannot be a source. Returns an exit code. */
int input_check(const struct input *input, const char *command_name);

/* Opens a source that input_check() has seen. Returns an exit code. */
int input_open(penstock_source **source, penstock_context *context, const struct input *input);

/* EXIT_DATA, with a warning, where the input ended within a sample or has become shorter while it was read. */
int input_check_end(const penstock_source *source);

/* A radio's stream has no end of its own. */
bool input_is_radio(const struct input *input);

/* The names of the sample formats that files have, ended by NULL. */
extern const char *const input_formats[];

/* fail() unless `text` names such a format. */
int parse_format(penstock_format *format, const char *text);

#endif
