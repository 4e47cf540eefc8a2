/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* SigMF metadata: what of it we use. The specification: https://sigmf.org, version 1.2. */
#ifndef PENSTOCK_RADIO_SIGMF_H
#define PENSTOCK_RADIO_SIGMF_H

#include <penstock/penstock.h>

#define PENSTOCK__SIGMF_MAX_BYTES ((size_t)64 << 20) /* of metadata */

struct penstock__sigmf {
    penstock_format format;
    double rate_hz;      /* 0: not said */
    double frequency_hz; /* of the first capture; 0: not said */
    uint64_t header_bytes, trailing_bytes;
    char dataset[256]; /* a file name without folder, "" for the usual one */
    bool retuned;      /* a later capture has another frequency */
};

/* `text` need not end in a zero and may be anything; `name` is for the error text. */
int penstock__sigmf_parse(struct penstock__sigmf *sigmf, const char *text, size_t bytes, const char *name);

/* "cf32_le", "ci16_le", "ci8", "cu8"; NULL for a format that is not written. */
const char *penstock__sigmf_datatype(penstock_format format);

#endif
