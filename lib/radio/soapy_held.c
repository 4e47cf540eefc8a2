/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "radio/soapy_held.h"
#include "backends/backend.h"

#include <string.h>

int penstock__soapy_held_init(struct penstock__soapy_held *held, size_t capacity, size_t sample_bytes)
{
    held->sample_bytes = sample_bytes;
    held->capacity = capacity;
    held->samples = penstock__alloc(capacity * sample_bytes);
    return held->samples ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

void penstock__soapy_held_free(struct penstock__soapy_held *held)
{
    penstock__free(held->samples);
}

void penstock__soapy_held_keep(struct penstock__soapy_held *held, const void *samples, size_t count, int flags,
                               long long time_ns)
{
    memcpy(held->samples, samples, count * held->sample_bytes);
    held->count = count;
    held->given = 0;
    held->flags = flags;
    held->time_ns = time_ns;
}

size_t penstock__soapy_held_give(struct penstock__soapy_held *held, void *samples, size_t capacity)
{
    const size_t left = held->count - held->given, count = capacity < left ? capacity : left;
    memcpy(samples, held->samples + held->given * held->sample_bytes, count * held->sample_bytes);
    held->given += count;
    if (held->given == held->count)
        held->count = held->given = 0;
    return count;
}
