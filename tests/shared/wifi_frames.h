/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the tests of the receiver share: all frames of a stream, kept, and streams made of transmitted frames. */
#ifndef PENSTOCK_TEST_WIFI_FRAMES_H
#define PENSTOCK_TEST_WIFI_FRAMES_H

#include "test.h"

#include <penstock/penstock.h>

#define WIFI_MAX_FRAMES 512

struct wifi_frames {
    size_t count;
    penstock_wifi_frame frame[WIFI_MAX_FRAMES]; /* their pointers are to own copies */
    uint64_t values[WIFI_MAX_FRAMES];           /* a hash of each one's channel and points */
    penstock_wifi_counters counters;
};

static inline void wifi_frames_free(struct wifi_frames *frames)
{
    for (size_t i = 0; i < frames->count; i++) {
        free((void *)(uintptr_t)frames->frame[i].psdu);
        free((void *)(uintptr_t)frames->frame[i].reason);
    }
    frames->count = 0;
}

/* FNV-1a, over words of 32 bits: G. Fowler, L. Noll, K. Vo. */
static inline uint64_t wifi_hash(uint64_t hash, const penstock_cf32 *values, size_t count)
{
    for (size_t i = 0; values && i < count; i++) {
        uint32_t bits[2];
        memcpy(bits, &values[i], sizeof bits);
        hash = (hash ^ bits[0]) * 0x100000001b3u;
        hash = (hash ^ bits[1]) * 0x100000001b3u;
    }
    return hash;
}

/* Appends what is ready. */
static inline void wifi_frames_pull(struct wifi_frames *frames, penstock_stream *receiver)
{
    int status = 0;
    while (frames->count < WIFI_MAX_FRAMES) {
        penstock_wifi_frame *frame = &frames->frame[frames->count];
        *frame = PENSTOCK_WIFI_FRAME;
        if ((status = penstock_wifi_receiver_pull(receiver, frame)) != 1)
            break;
        if (frame->psdu) {
            uint8_t *copy = malloc(frame->length);
            memcpy(copy, frame->psdu, frame->length);
            frame->psdu = copy;
        }
        uint64_t hash = wifi_hash(0xcbf29ce484222325u, frame->channel, PENSTOCK_WIFI_BINS);
        frames->values[frames->count] = wifi_hash(hash, frame->points, frame->point_count);
        frame->points = NULL;
        frame->reason = frame->reason ? strdup(frame->reason) : NULL;
        frames->count++;
    }
    CHECK(status == 0, "pull returned %d: %s", status, penstock_error_text());
    frames->counters = PENSTOCK_WIFI_COUNTERS;
    CHECK_OK(penstock_wifi_receiver_get_counters(receiver, &frames->counters));
}

/* All frames of a stream, pushed in chunks of `chunk` samples (0: at once). */
static inline void wifi_frames_receive(struct wifi_frames *frames, penstock_stream *receiver, penstock_format format,
                                       const void *samples, size_t count, size_t chunk)
{
    size_t width = penstock_format_bytes(format);
    frames->count = 0;
    for (size_t done = 0, part; done < count; done += part) {
        part = chunk && count - done > chunk ? chunk : count - done;
        CHECK_OK(penstock_stream_push(receiver, (const char *)samples + done * width, part, NULL));
    }
    CHECK_OK(penstock_stream_finish(receiver));
    wifi_frames_pull(frames, receiver);
}

/* Equal to the bit in everything that was found. */
static inline bool wifi_frames_equal(const struct wifi_frames *a, const struct wifi_frames *b)
{
    bool equal = a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++) {
        const penstock_wifi_frame *x = &a->frame[i], *y = &b->frame[i];
        equal = a->values[i] == b->values[i] && x->sample == y->sample && x->samples == y->samples &&
                x->format == y->format && x->rate_mbps == y->rate_mbps && x->mcs == y->mcs && x->length == y->length &&
                x->decoded == y->decoded && x->fcs_ok == y->fcs_ok && !memcmp(&x->snr_db, &y->snr_db, 8) &&
                !memcmp(&x->evm_db, &y->evm_db, 8) && !memcmp(&x->cfo_hz, &y->cfo_hz, 8) &&
                !memcmp(&x->sfo_ppm, &y->sfo_ppm, 8) && !memcmp(&x->raw_ber, &y->raw_ber, 8) && !x->psdu == !y->psdu &&
                (!x->psdu || !memcmp(x->psdu, y->psdu, x->length));
    }
    return equal;
}

static inline size_t wifi_frames_good(const struct wifi_frames *frames)
{
    size_t good = 0;
    for (size_t i = 0; i < frames->count; i++)
        good += frames->frame[i].fcs_ok;
    return good;
}

/* Random octets and their FCS. */
static inline void wifi_psdu(uint8_t *psdu, size_t length, uint64_t *state)
{
    for (size_t i = 0; i < length - 4; i++)
        psdu[i] = (uint8_t)test_random(state);
    uint32_t fcs = penstock_wifi_fcs(psdu, length - 4);
    for (size_t i = 0; i < 4; i++)
        psdu[length - 4 + i] = (uint8_t)(fcs >> (8 * i));
}

/* A frame from the transmitter, `before` and `after` zeros around it. The caller frees it. */
static inline penstock_cf32 *wifi_transmit(const penstock_wifi_transmit_desc *desc, const uint8_t *psdu, size_t length,
                                           size_t before, size_t after, size_t *count)
{
    size_t samples = penstock_wifi_frame_samples(desc, length);
    penstock_cf32 *stream = calloc(before + samples + after, sizeof *stream);
    CHECK_OK(penstock_wifi_modulate(desc, psdu, length, stream + before));
    *count = before + samples + after;
    return stream;
}

/* Standard normal numbers: G. Box and M. Muller, Ann. Math. Stat. 29(2), 1958. */
static inline void wifi_add_noise(penstock_cf32 *samples, size_t count, double power, uint64_t *state)
{
    for (size_t i = 0; i < count; i++) {
        double u = (double)((test_random(state) >> 11) + 1) * 0x1p-53;
        double radius = sqrt(-power * log(u)), angle = 3.141592653589793 * test_uniform(state);
        samples[i].re += (float)(radius * cos(angle));
        samples[i].im += (float)(radius * sin(angle));
    }
}

#endif
