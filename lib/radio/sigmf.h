/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* SigMF metadata: what of it we use. The specification: https://sigmf.org, version 1.2. */
#ifndef PENSTOCK_RADIO_SIGMF_H
#define PENSTOCK_RADIO_SIGMF_H

#include "radio/captures.h"

#define PENSTOCK__SIGMF_MAX_BYTES ((size_t)64 << 20) /* of metadata */

struct penstock__sigmf {
    penstock_format format;
    double rate_hz;      /* 0: not said */
    double frequency_hz; /* of the first capture that says one; 0: none does */
    uint64_t header_bytes, trailing_bytes;
    uint64_t offset;                    /* core:offset, which sample_start counts from */
    char dataset[256];                  /* a file name without folder, "" for the usual one */
    bool retuned;                       /* a later capture has another frequency */
    char hardware[256];                 /* core:hw, shortened; "": not said */
    struct penstock__captures captures; /* one at least; samples from the first of the file on */
    bool indexed;                       /* core:global_index is said; the first sample's would be */
    uint64_t first_index;
    bool went_back; /* core:global_index: taken as an unknown loss */
    bool bad_time;  /* a core:datetime is none, and left out */
};

/* One element of 'captures' as it stands there. */
struct penstock__sigmf_capture {
    uint64_t sample_start; /* from the file's first sample on, less core:offset; not less than that of the one before */
    bool indexed;
    uint64_t index; /* at most INT64_MAX, like all numbers here */
    double frequency_hz;
    bool timed;
    int64_t time_ns;
};

/* Adds it to sigmf->captures where it tells anything: another frequency, a time, or samples that were lost before it.
 */
int penstock__sigmf_add_capture(struct penstock__sigmf *sigmf, const struct penstock__sigmf_capture *said);

/* After success the caller frees `sigmf` (penstock__sigmf_free).
 * `text` need not end in a zero and may be anything; `name` is for the error text. */
int penstock__sigmf_parse(struct penstock__sigmf *sigmf, const char *text, size_t bytes, const char *name);

void penstock__sigmf_free(struct penstock__sigmf *sigmf);

/* "cf32_le", "ci16_le", "ci8", "cu8"; NULL for a format that is not written. */
const char *penstock__sigmf_datatype(penstock_format format);

#endif
