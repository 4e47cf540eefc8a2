/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The filter's definition in double precision, sum by sum, and a stream pushed and pulled in chunks of random size. */
#ifndef PENSTOCK_TEST_FILTER_DIRECT_H
#define PENSTOCK_TEST_FILTER_DIRECT_H

#include "test.h"

#include <penstock/penstock.h>

#define TEST_PI 3.14159265358979323846

/* Sample j of a format as filter.h's x[j], from what the formats' definitions say. */
static inline void direct_sample(double x[2], const void *samples, penstock_format format, size_t j, size_t total)
{
    switch (format) {
    case PENSTOCK_CF32:
        x[0] = (double)((const float *)samples)[2 * j], x[1] = (double)((const float *)samples)[2 * j + 1];
        break;
    case PENSTOCK_CS16:
        x[0] = ((const int16_t *)samples)[2 * j] / 32768.0, x[1] = ((const int16_t *)samples)[2 * j + 1] / 32768.0;
        break;
    case PENSTOCK_CS8:
        x[0] = ((const int8_t *)samples)[2 * j] / 128.0, x[1] = ((const int8_t *)samples)[2 * j + 1] / 128.0;
        break;
    case PENSTOCK_CU8:
        x[0] = (((const uint8_t *)samples)[2 * j] - 127.5) / 128;
        x[1] = (((const uint8_t *)samples)[2 * j + 1] - 127.5) / 128;
        break;
    case PENSTOCK_PLANAR:
        x[0] = (double)((const float *)samples)[j], x[1] = (double)((const float *)samples)[total + j];
        break;
    case PENSTOCK_F32:
        x[0] = (double)((const float *)samples)[j], x[1] = 0;
        break;
    case PENSTOCK_CF16: {
        float parts[2];
        penstock_half_to_float(parts, (const uint16_t *)samples + 2 * j, 2);
        x[0] = (double)parts[0], x[1] = (double)parts[1];
        break;
    }
    }
}

/* y of filter.h at position p. */
static inline void direct_value(double y[2], const void *samples, size_t total, const penstock_filter_desc *desc,
                                uint64_t p)
{
    size_t up = desc->interpolation ? desc->interpolation : 1;
    y[0] = y[1] = 0;
    for (size_t k = (size_t)(p % up); k < desc->tap_count && k <= p; k += up) {
        double x[2] = {0, 0}, h[2] = {desc->real_taps ? (double)desc->real_taps[k] : (double)desc->taps[k].re,
                                      desc->real_taps ? 0 : (double)desc->taps[k].im};
        size_t j = (size_t)(p - k) / up;
        if (j >= total)
            continue;
        direct_sample(x, samples, desc->format, j, total);
        double angle = 2 * TEST_PI * remainder(desc->shift * (double)j, 1), c = cos(angle), s = sin(angle);
        double re = x[0] * c - x[1] * s, im = x[0] * s + x[1] * c;
        y[0] += h[0] * re - h[1] * im;
        y[1] += h[0] * im + h[1] * re;
    }
}

/* A chunk of samples and a number of values by one call, into memory that is not aligned. */
static inline int stream_run(penstock_stream *filter, const char *samples, size_t chunk, size_t *taken, char *values,
                             size_t value_bytes, size_t capacity, size_t *made)
{
    size_t pulled = 0;
    int status = penstock_stream_run(filter, samples, chunk, taken, values + *made * value_bytes, capacity, &pulled);
    CHECK(pulled <= capacity && *taken <= chunk, "%zu values of %zu, %zu samples of %zu", pulled, capacity, *taken,
          chunk);
    *made += pulled;
    return status;
}

/* Gives `count` samples in chunks of up to `most` and takes what comes, in chunks too, by calls of all kinds; values so
 * far in `*made`. */
static inline int stream_push(penstock_stream *filter, const char *samples, size_t sample_bytes, size_t count,
                              size_t most, char *values, size_t value_bytes, size_t *made, uint64_t *seed)
{
    size_t at = 0, taken, pulled;
    int status = 0;
    while (at < count && !status) {
        size_t chunk = (size_t)(test_random(seed) % most) + 1, room = (size_t)(test_random(seed) % most) + 1;
        chunk = chunk < count - at ? chunk : count - at;
        if (test_random(seed) % 2) {
            status = stream_run(filter, samples + at * sample_bytes, chunk, &taken, values, value_bytes, room, made);
            at += taken;
            continue;
        }
        status = penstock_stream_push(filter, samples + at * sample_bytes, chunk, &taken);
        at += taken;
        do {
            int pull =
                penstock_stream_pull(filter, values + *made * value_bytes, (size_t)(test_random(seed) % most) + 1,
                                     test_random(seed) % 4 == 0, &pulled);
            *made += pulled;
            status = status ? status : pull;
        } while (pulled);
    }
    return status;
}

/* The end of the stream: all that is left. */
static inline int stream_end(penstock_stream *filter, char *values, size_t value_bytes, size_t *made)
{
    size_t pulled;
    int status = penstock_stream_finish(filter);
    while (!status && !(status = penstock_stream_pull(filter, values + *made * value_bytes, 1000, true, &pulled)) &&
           pulled)
        *made += pulled;
    return status;
}

#endif
