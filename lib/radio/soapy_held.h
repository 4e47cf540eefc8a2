/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Samples behind a loss that only their time stamp told of: they are not given together with those before it. */
#ifndef PENSTOCK_RADIO_SOAPY_HELD_H
#define PENSTOCK_RADIO_SOAPY_HELD_H

#include <stdbool.h>
#include <stddef.h>

struct penstock__soapy_held {
    char *samples;
    size_t sample_bytes, capacity;
    size_t count, given; /* 0: none are held */
    int flags;           /* as readStream gave them */
    long long time_ns;
};

/* Zeroed before; with room for `capacity` samples. */
int penstock__soapy_held_init(struct penstock__soapy_held *held, size_t capacity, size_t sample_bytes);
void penstock__soapy_held_free(struct penstock__soapy_held *held);

void penstock__soapy_held_keep(struct penstock__soapy_held *held, const void *samples, size_t count, int flags,
                               long long time_ns);

/* The next of them, up to `capacity`; how many. */
size_t penstock__soapy_held_give(struct penstock__soapy_held *held, void *samples, size_t capacity);

#endif
