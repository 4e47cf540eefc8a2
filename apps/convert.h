/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* One signal in, one signal out: from a source through a stream of the library into a file. What filter and resample
 * have in common. */
#ifndef PENSTOCK_APPS_CONVERT_H
#define PENSTOCK_APPS_CONVERT_H

#include "shared/input.h"

struct conversion {
    struct input input;
    char *output, *output_format, *device; /* of the options; NULL: not given */
    penstock_format format;                /* of the output */
    penstock_context *context;
    penstock_source *source;
    penstock_source_info info; /* of the source */
    penstock_stream *stream;
    bool real; /* its values are floats, which become complex ones */
    penstock_sink *sink;
    penstock_cf32 *values; /* pulled at once, */
    size_t capacity;       /* so many at most */
    bool live;             /* the source is a radio or pipe, whose reader waits: */
    double since_s;        /* the first push after the last values that came; 0: there was none */
};

#define CONVERSION_DEFAULTS     \
    (struct conversion)         \
    {                           \
        .input = INPUT_DEFAULTS \
    }

/* Rows of a table of options; `c` is a struct conversion that outlives the table. */
#define CONVERSION_OPTIONS(c)                                                                                    \
    INPUT_OPTIONS((c).input),                                                                                    \
        OPTION_TEXT("output", 'o', "F", &(c).output, "SigMF if it ends in .sigmf-meta, else raw; - for stdout"), \
        OPTION_WORD("output-format", 0, "FORMAT", &(c).output_format, input_formats, "format",                   \
                    "If not given the first"),                                                                   \
        OPTION_TEXT("device", 'd', "NAME", &(c).device, "auto, NAME or prefer:NAME (penstock devices)")

/* What is a command's own; the calls get `owner`. */
struct conversion_kind {
    void *owner;
    void (*note)(void *owner);          /* after each pull: what the summary will tell of the stream */
    void (*print_summary)(void *owner); /* without the counts of trouble and the end of the line */
};

/* Checks the options before anything is opened. Returns an exit code, as the next three do. */
int conversion_check(struct conversion *c, const char *command_name);

/* The context and the source. */
int conversion_open_source(struct conversion *c);

/* The sink, at `rate_hz` and `frequency_hz`: sample m is the source's m * decimation / interpolation. */
int conversion_open_sink(struct conversion *c, const char *description, double rate_hz, double frequency_hz,
                         uint64_t interpolation, uint64_t decimation);

/* All of the source through the stream, which the caller has opened, into the sink, with progress; the summary. */
int conversion_run(struct conversion *c, const struct conversion_kind *kind);

void conversion_free(struct conversion *c);

#endif
