/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The frames that bench --study per sends: recorded ones where there are some, the transmitter's elsewhere. */
#include "study_frames.h"

#include "cases/air.h"
#include "shared/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void normalise(struct study_frame *frame)
{
    double power = 0;
    for (size_t i = 0; i < frame->count; i++)
        power += pow(frame->samples[i].re, 2) + pow(frame->samples[i].im, 2);
    float scale = (float)sqrt((double)frame->count / power);
    for (size_t i = 0; i < frame->count; i++) {
        frame->samples[i].re *= scale;
        frame->samples[i].im *= scale;
    }
}

/* Replaces the samples with what a receiver with these offsets gets. */
static bool impair(struct study_frame *frame, const struct study *study)
{
    size_t capacity = frame->count + frame->count / 1000 + 256, taken, count = 0, tail = 0;
    penstock_cf32 *samples = malloc(capacity * sizeof *samples);
    penstock_channel *channel = NULL;
    bool good =
        samples &&
        !penstock_channel_new(&channel, &PENSTOCK_CHANNEL_DESC(.rate_hz = penstock_wifi_rate_hz(PENSTOCK_WIFI),
                                                               .cfo_hz = study->cfo_hz, .sfo_ppm = study->sfo_ppm)) &&
        !penstock_channel_run(channel, frame->samples, frame->count, &taken, samples, capacity, &count) &&
        !penstock_channel_run(channel, NULL, 0, &taken, samples + count, capacity - count, &tail);
    penstock_channel_free(channel);
    if (!good) {
        free(samples);
        return false;
    }
    free(frame->samples);
    frame->samples = samples;
    frame->count = count + tail;
    return true;
}

/* Takes over `samples`. */
static bool add(struct study_frames *frames, const struct study *study, penstock_cf32 *samples, size_t count,
                const uint8_t *psdu)
{
    struct study_frame *frame = &frames->frame[frames->count];
    frame->samples = samples;
    frame->count = count;
    if (!(frame->psdu = malloc(study->length)))
        return false;
    memcpy(frame->psdu, psdu, study->length);
    normalise(frame);
    if ((study->cfo_hz != 0 || study->sfo_ppm != 0) && !impair(frame, study))
        return false;
    frames->count++;
    return true;
}

static bool add_recorded(struct study_frames *frames, const struct study *study, const struct recordings *recordings,
                         const struct recorded_frame *row)
{
    penstock_wifi_transmit_desc desc = PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = row->rate_mbps);
    size_t total = 0, length = penstock_wifi_frame_samples(&desc, row->length);
    penstock_cf32 *samples = recordings_load(recordings, row->file, &total), *part = NULL;
    bool good = samples && row->start + length <= total && (part = malloc(length * sizeof *part));
    if (good) {
        memcpy(part, samples + row->start, length * sizeof *part);
        good = add(frames, study, part, length, row->psdu);
    }
    free(samples);
    return good;
}

static bool add_made(struct study_frames *frames, const struct study *study, double mbps)
{
    penstock_wifi_transmit_desc desc = PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = mbps);
    bool good = true;
    for (uint64_t i = 0; i < STUDY_MOST_FRAMES && good; i++) {
        struct air air = {0};
        if ((good = air_frame(&air, &desc, study->length, i))) {
            penstock_cf32 *samples = air.samples;
            air.samples = NULL;
            good = add(frames, study, samples, air.count, air.frames[0].psdu);
        }
        air_free(&air);
    }
    return good;
}

int study_frames_find(struct study_frames *frames, const struct study *study, const struct recordings *recordings,
                      double mbps)
{
    for (size_t i = 0; i < recordings->count && frames->count < STUDY_MOST_FRAMES; i++) {
        const struct recorded_frame *row = &recordings->frames[i];
        if (row->legacy && row->fcs_ok && row->rate_mbps == mbps && row->length == study->length &&
            !strncmp(row->file, "conducted/", 10) && !add_recorded(frames, study, recordings, row))
            return fail(EXIT_DATA, "%s: its frame at sample %llu cannot be read", row->file,
                        (unsigned long long)row->start);
    }
    frames->recorded = frames->count > 0;
    if (frames->recorded || add_made(frames, study, mbps))
        return EXIT_DONE;
    return fail(EXIT_DATA, "no frame of %g Mb/s could be made: %s", mbps, penstock_error_text());
}

void study_frames_free(struct study_frames *frames)
{
    for (size_t i = 0; i < STUDY_MOST_FRAMES; i++) {
        free(frames->frame[i].samples);
        free(frames->frame[i].psdu);
    }
}
