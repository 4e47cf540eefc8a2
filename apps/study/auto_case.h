/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The cases of bench --study auto: plans, every kind of stream and receivers, small and large. */
#ifndef PENSTOCK_APPS_AUTO_CASE_H
#define PENSTOCK_APPS_AUTO_CASE_H

#include <penstock/penstock.h>

/* What a case works with, and how much a step takes. */
struct auto_work {
    penstock_context *context;
    const char *device;
    penstock_plan *plan;
    penstock_stream *stream;
    penstock_ofdm *ofdm;
    void *in, *out;
    size_t count;   /* frames of a plan, items of a push, symbols */
    size_t results; /* room for a pull */
    size_t samples; /* of a step */
    float *taps;
    penstock_cf32 *channel;
    penstock_ofdm_symbol *symbols;
};

struct auto_case {
    const char *name;
    int (*open)(struct auto_work *work, size_t size, size_t count);
    int (*step)(struct auto_work *work); /* a call of a plan, or a push and the pulls that follow it */
    size_t size, count;
};

extern const struct auto_case auto_cases[];
extern const size_t auto_case_count;

/* Name of the device that works now. */
const char *auto_work_device(const struct auto_work *work);

#endif
