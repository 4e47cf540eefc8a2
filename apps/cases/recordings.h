/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Wi-Fi recordings with known content, where a folder of them is at hand: PENSTOCK_RECORDINGS, or a default. */
#ifndef PENSTOCK_APPS_RECORDINGS_H
#define PENSTOCK_APPS_RECORDINGS_H

#include <penstock/penstock.h>

/* A row of truth.tsv. */
struct recorded_frame {
    char file[160]; /* below the folder wifi */
    uint64_t start; /* first sample of the short training field */
    bool legacy, fcs_ok;
    double rate_mbps;
    unsigned length;
    uint8_t psdu[PENSTOCK_WIFI_MAX_PSDU];
};

struct recordings {
    struct recorded_frame *frames;
    size_t count;
    char folder[400];
    char reason[480]; /* why there are none; "" */
};

/* False with the reason where there are none. */
bool recordings_open(struct recordings *recordings);
void recordings_free(struct recordings *recordings);

/* All samples of one of the files, 20 Msamples/s; NULL if it cannot be read. Free with free(). */
penstock_cf32 *recordings_load(const struct recordings *recordings, const char *file, size_t *count);

#endif
