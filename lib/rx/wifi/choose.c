/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The device of a receiver at "auto": whole receivers are timed, on frames one after the other. Of a frame's work its
 * transforms are little; where it is decoded counts. */
#include "core/choice/choice.h"
#include "core/choice/timer.h"
#include "core/device/devices.h"
#include "rx/wifi/receiver.h"

#include <string.h>

#define FRAMES 64   /* of a push: what a device takes at once */
#define LENGTH 1500 /* octets of one */
#define MBPS   54
#define APART  320 /* samples: SIFS, the shortest time between two frames */
#define FCS    4

/* How one is made. */
struct maker {
    penstock_context *context;
    penstock__wifi_open *open;
};

/* A receiver at work, on frames nobody reads. */
struct rig {
    penstock_stream *receiver;
    penstock_cf32 *samples;
    size_t count, pushes; /* samples of a push, and pushes of a round */
};

static void rig_free(struct rig *rig)
{
    if (rig->receiver)
        penstock__stream_free(rig->receiver);
    penstock__free(rig->samples);
}

/* The same frame again and again: a receiver does with each what it does with any. */
static int make_samples(struct rig *rig)
{
    const penstock_wifi_transmit_desc desc = PENSTOCK_WIFI_TRANSMIT_DESC(.mbps = MBPS);
    const size_t frame = penstock_wifi_frame_samples(&desc, LENGTH), pitch = frame + APART;
    uint8_t psdu[LENGTH];
    rig->count = FRAMES * pitch;
    if (!(rig->samples = penstock__calloc(rig->count, sizeof *rig->samples)))
        return PENSTOCK_ERR_MEMORY;
    for (unsigned i = 0; i < LENGTH - FCS; i++)
        psdu[i] = (uint8_t)(167 * i + (i >> 3));
    const uint32_t fcs = penstock_wifi_fcs(psdu, LENGTH - FCS);
    for (unsigned i = 0; i < FCS; i++)
        psdu[LENGTH - FCS + i] = (uint8_t)(fcs >> 8 * i);
    int status = penstock_wifi_modulate(&desc, psdu, LENGTH, rig->samples);
    for (size_t i = 1; i < FRAMES && !status; i++)
        memcpy(rig->samples + i * pitch, rig->samples, frame * sizeof *rig->samples);
    return status;
}

static struct penstock__rx *rx_of(const struct rig *rig)
{
    return (struct penstock__rx *)(void *)rig->receiver;
}

/* A receiver that is ahead of the radio waits until all threads have enough: as many samples are a round, as another
 * one has no work in it. */
static size_t pushes_of(const struct rig *rig)
{
    const struct penstock__rx *rx = rx_of(rig);
    return ((size_t)(rx->most_hops * rx->hop) + rig->count - 1) / rig->count;
}

/* Samples in, and the frames out that are ready: others are on their way, as they are between an application's calls.
 */
static int run_round(void *argument)
{
    const struct rig *rig = argument;
    int status = PENSTOCK_OK;
    for (size_t i = 0, taken; i < rig->pushes && !status; i++) {
        status = penstock_stream_push(rig->receiver, rig->samples, rig->count, &taken);
        for (int found = 1; !status && found;)
            if ((found = penstock__rx_pull(rx_of(rig))) < 0)
                status = found;
    }
    return status;
}

/* Whether frames came, and from this device. */
static int check(const struct rig *rig, const struct penstock_device *device)
{
    return rx_of(rig)->counters.checked && !strcmp(penstock_stream_device(rig->receiver), device->name)
               ? PENSTOCK_OK
               : penstock__error(PENSTOCK_ERR_DEVICE, "%s gives no Wi-Fi frames", device->name);
}

/* Seconds of a symbol. */
static int time_on(void *owner, struct penstock_device *device, double *seconds)
{
    const struct maker *maker = owner;
    double round_s;
    struct rig rig = {.receiver = NULL};
    int status = make_samples(&rig);
    if (!status &&
        !(status = maker->open(&rig.receiver, maker->context, &PENSTOCK_WIFI_RECEIVER_DESC(), device->name))) {
        rig.pushes = pushes_of(&rig);
        status = penstock__time_rounds(&round_s, run_round, &rig);
    }
    if (!status && !(status = check(&rig, device)))
        *seconds = round_s / (double)(rig.pushes * rig.count) * PENSTOCK__WIFI_SYMBOL;
    rig_free(&rig);
    return status;
}

static void ask(void *owner, struct penstock__question *question, const struct penstock__candidates *list)
{
    (void)owner;
    (void)list;
    penstock__question_add(question, "Wi-Fi receiver: pushes of %d frames of %d octets at %d Mb/s\n", FRAMES, LENGTH,
                           MBPS);
}

int penstock__wifi_choose(char device[64], penstock_context *context, const struct penstock_problem *problem,
                          penstock__wifi_open *open)
{
    struct maker maker = {context, open};
    return penstock__choice_prefer(device, &(struct penstock__choice){.context = context,
                                                                      .problem = problem,
                                                                      .kind = "receiver",
                                                                      .unit = "symbol",
                                                                      .owner = &maker,
                                                                      .ask = ask,
                                                                      .time = time_on});
}
