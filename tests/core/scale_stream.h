/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A stream that scales: the least that a kind of stream needs. */
#ifndef PENSTOCK_TEST_SCALE_STREAM_H
#define PENSTOCK_TEST_SCALE_STREAM_H

#include <penstock/penstock.h>

typedef struct penstock_scale_desc {
    size_t size;
    float factor; /* not 0 */
    double max_latency_s;
} penstock_scale_desc;

/* Items are penstock_cf32, in and out. */
int penstock_scale_open(penstock_stream **stream, penstock_context *context, const penstock_scale_desc *desc,
                        const char *device);

/* Another factor from the next sample pushed on. */
int penstock_scale_set_factor(penstock_stream *stream, float factor);

#endif
