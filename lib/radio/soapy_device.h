/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A SoapySDR device with one receive stream: opening it with its settings, and closing it. */
#ifndef PENSTOCK_RADIO_SOAPY_DEVICE_H
#define PENSTOCK_RADIO_SOAPY_DEVICE_H

#include "radio/source_kind.h"

#include <SoapySDR/Device.h>

struct penstock__soapy_device {
    SoapySDRDevice *device; /* NULL: not open */
    SoapySDRStream *stream;
    bool active;
    char name[128];   /* "replay (recording)": driver and hardware */
    char serial[128]; /* "" where the driver tells none */
    size_t mtu;       /* samples that the driver gives at a time, or so */
    unsigned shift;   /* by which numbers are to be widened for our full scale */
    penstock_format format;
    double rate_hz;
    double frequency_hz;
};

/*
 * Opens the device that `args` name, applies the settings of `desc` that are set, and starts a stream in desc->format
 * if desc->raw, else in the device's native format if that is one of ours, else in CF32. Device arguments that the
 * driver lists among its stream arguments go to the stream too. An error says what the device refuses and what it
 * offers. After a failure it is closed.
 */
int penstock__soapy_open(struct penstock__soapy_device *self, const char *args, const penstock_source_desc *desc);
void penstock__soapy_close(struct penstock__soapy_device *self);

/* Samples that were read become those of our format's full scale. Where the driver's is less, its largest numbers
 * become the largest there are: they clipped. */
void penstock__soapy_widen(const struct penstock__soapy_device *self, void *samples, size_t count);

/* Someone who gets SoapySDR's messages. */
struct penstock__soapy_listener {
    penstock_context *context;
    struct penstock__soapy_listener *next;
};

/* From `listen` to `unlisten` SoapySDR's messages go to the listener's context instead of standard error. SoapySDR has
 * one handler for the process: the last listener gets the messages, and when none is left SoapySDR's own is restored.
 */
void penstock__soapy_listen(struct penstock__soapy_listener *listener);
void penstock__soapy_unlisten(struct penstock__soapy_listener *listener);

#endif
