/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Frames put together to a signal, and compared with what a receiver makes of it. */
#include "air.h"

#include "shared/mpdu.h"
#include "shared/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static penstock_cf32 *extend(struct air *air, size_t count)
{
    if (air->count + count > air->capacity) {
        size_t capacity = 2 * (air->count + count);
        penstock_cf32 *more = realloc(air->samples, capacity * sizeof *more);
        if (!more)
            return NULL;
        air->samples = more;
        air->capacity = capacity;
    }
    air->count += count;
    return air->samples + air->count - count;
}

bool air_silence(struct air *air, size_t samples)
{
    penstock_cf32 *at = extend(air, samples);
    if (at)
        memset(at, 0, samples * sizeof *at);
    return at != NULL;
}

static bool remember(struct air *air, const uint8_t *psdu, size_t length)
{
    struct sent_frame *more = realloc(air->frames, (air->frame_count + 1) * sizeof *more);
    if (!more)
        return false;
    air->frames = more;
    more += air->frame_count;
    *more = (struct sent_frame){.start = air->count, .length = length, .psdu = malloc(length)};
    if (!more->psdu)
        return false;
    memcpy(more->psdu, psdu, length);
    air->frame_count++;
    return true;
}

bool air_samples(struct air *air, const penstock_cf32 *samples, size_t count, const uint8_t *psdu, size_t length)
{
    penstock_cf32 *at = remember(air, psdu, length) ? extend(air, count) : NULL;
    if (at)
        memcpy(at, samples, count * sizeof *at);
    return at != NULL;
}

bool air_frame(struct air *air, const penstock_wifi_transmit_desc *desc, size_t length, uint64_t number)
{
    uint8_t psdu[PENSTOCK_WIFI_MAX_PSDU];
    mpdu_fill(psdu, length, number, 1);
    penstock_cf32 *at = remember(air, psdu, length) ? extend(air, penstock_wifi_frame_samples(desc, length)) : NULL;
    return at && !penstock_wifi_modulate(desc, psdu, length, at);
}

void air_noise(struct air *air, double power, uint64_t seed)
{
    enum { BLOCK = 4096 };
    penstock_cf32 noise[BLOCK];
    for (size_t done = 0; done < air->count; done += BLOCK) {
        size_t count = air->count - done < BLOCK ? air->count - done : BLOCK;
        random_noise(noise, count, power, &seed);
        for (size_t i = 0; i < count; i++) {
            air->samples[done + i].re += noise[i].re;
            air->samples[done + i].im += noise[i].im;
        }
    }
}

void air_shift(struct air *air, double turns_per_sample)
{
    const double turn = 6.28318530717958647692;
    for (size_t i = 0; i < air->count; i++) {
        double phase = turn * fmod(turns_per_sample * (double)i, 1), c = cos(phase), s = sin(phase);
        penstock_cf32 x = air->samples[i];
        air->samples[i] = (penstock_cf32){(float)(x.re * c - x.im * s), (float)(x.re * s + x.im * c)};
    }
}

void air_free(struct air *air)
{
    for (size_t i = 0; i < air->frame_count; i++)
        free(air->frames[i].psdu);
    free(air->frames);
    free(air->samples);
    *air = (struct air){0};
}

static bool is_same(const struct sent_frame *sent, const penstock_wifi_frame *frame)
{
    uint64_t apart = sent->start > frame->sample ? sent->start - frame->sample : frame->sample - sent->start;
    return apart <= 4 && sent->length == frame->length && !memcmp(sent->psdu, frame->psdu, sent->length);
}

/* Both come in the order of their first samples: `*next` is the first sent frame that may still match. */
static void match(struct air_result *result, const struct air *air, const penstock_wifi_frame *frame, size_t *next)
{
    if (!frame->fcs_ok)
        return;
    while (*next < air->frame_count && air->frames[*next].start + 4 < frame->sample)
        ++*next;
    if (*next < air->frame_count && is_same(&air->frames[*next], frame)) {
        result->found++;
        ++*next;
    } else {
        result->unexpected++;
    }
}

int air_receive(struct air_result *result, const struct air *air, penstock_stream *receiver, size_t chunk)
{
    penstock_wifi_frame frame = PENSTOCK_WIFI_FRAME;
    size_t next = 0, done = 0;
    int status = penstock_stream_reset(receiver), got = 0;
    *result = (struct air_result){.counters = PENSTOCK_WIFI_COUNTERS};
    while (!status && done <= air->count) {
        size_t count = air->count - done < chunk ? air->count - done : chunk;
        status =
            count ? penstock_stream_push(receiver, air->samples + done, count, NULL) : penstock_stream_finish(receiver);
        while (!status && (got = penstock_wifi_receiver_pull(receiver, &frame)) > 0)
            match(result, air, &frame, &next);
        if (got < 0)
            status = got;
        if (!count)
            break;
        done += count;
    }
    return status ? status : penstock_wifi_receiver_get_counters(receiver, &result->counters);
}
