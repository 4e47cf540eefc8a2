/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* SoapySDR devices through SoapySDR's C API: opening, the choice of a stream format, starting. */
#include "radio/soapy_device.h"
#include "radio/soapy_settings.h"

#include <SoapySDR/Formats.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct stream_format {
    const char *name;
    penstock_format format;
    double full_scale; /* that our format means; drivers differ from it by one at most */
} stream_formats[] = {
    {SOAPY_SDR_CF32, PENSTOCK_CF32, 1.0},
    {SOAPY_SDR_CS16, PENSTOCK_CS16, 32768.0},
    {SOAPY_SDR_CS8, PENSTOCK_CS8, 128.0},
    {SOAPY_SDR_CU8, PENSTOCK_CU8, 128.0},
};

#define STREAM_FORMATS (sizeof stream_formats / sizeof stream_formats[0])
#define LEAST_MTU      1024
#define MOST_MTU       ((size_t)1 << 20)

/* ---------------------------------------------------------------- device ---------------------- */

static void read_serial(struct penstock__soapy_device *self)
{
    SoapySDRKwargs known = SoapySDRDevice_getHardwareInfo(self->device);
    const char *serial = SoapySDRKwargs_get(&known, "serial");
    snprintf(self->serial, sizeof self->serial, "%s", serial ? serial : "");
    SoapySDRKwargs_clear(&known);
}

static int open_device(struct penstock__soapy_device *self, const char *args, unsigned channel)
{
    char *driver, *hardware;
    size_t channels;
    if (!(self->device = SoapySDRDevice_makeStrArgs(args)))
        return penstock__error(PENSTOCK_ERR_NO_DEVICE, "no radio 'soapy:%.200s': %s", args, SoapySDRDevice_lastError());
    driver = SoapySDRDevice_getDriverKey(self->device);
    hardware = SoapySDRDevice_getHardwareKey(self->device);
    snprintf(self->name, sizeof self->name, "%s (%s)", driver ? driver : "?", hardware ? hardware : "?");
    SoapySDR_free(driver);
    SoapySDR_free(hardware);
    read_serial(self);
    channels = SoapySDRDevice_getNumChannels(self->device, SOAPY_SDR_RX);
    if (channel >= channels)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s has no receive channel %u: it has %zu, counted from 0",
                               self->name, channel, channels);
    return PENSTOCK_OK;
}

void penstock__soapy_close(struct penstock__soapy_device *self)
{
    if (self->active)
        SoapySDRDevice_deactivateStream(self->device, self->stream, 0, 0);
    if (self->stream)
        SoapySDRDevice_closeStream(self->device, self->stream);
    if (self->device)
        SoapySDRDevice_unmake(self->device);
    self->device = NULL;
    self->stream = NULL;
    self->active = false;
}

/* ---------------------------------------------------------------- format ---------------------- */

static bool listed(char **names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

/* The native format, if it is one of ours, and the full scale that the driver means by it. */
static const struct stream_format *native_format(struct penstock__soapy_device *self, unsigned channel,
                                                 double *full_scale)
{
    const struct stream_format *found = NULL;
    char *name = SoapySDRDevice_getNativeStreamFormat(self->device, SOAPY_SDR_RX, channel, full_scale);
    for (size_t i = 0; name && i < STREAM_FORMATS; i++)
        if (!strcmp(name, stream_formats[i].name))
            found = &stream_formats[i];
    SoapySDR_free(name);
    return found;
}

/* Of CS16 by a driver whose full scale is a smaller power of two, give or take one: 2048 of twelve bits, say. */
static unsigned shift_of(double full_scale)
{
    for (unsigned bits = 1; bits < 12; bits++)
        if (fabs(full_scale - ldexp(32768.0, -(int)bits)) <= 1.0)
            return bits;
    return 0;
}

void penstock__soapy_widen(const struct penstock__soapy_device *self, void *samples, size_t count)
{
    const int most = INT16_MAX >> self->shift, factor = 1 << self->shift;
    int16_t *values = samples;
    for (size_t i = 0; self->shift && i < 2 * count; i++)
        values[i] = (int16_t)(values[i] >= most ? INT16_MAX : values[i] <= -most - 1 ? INT16_MIN : values[i] * factor);
}

/* Also `self->shift`. NULL with an error if the device has none that would do. */
static const struct stream_format *choose_format(struct penstock__soapy_device *self, const penstock_source_desc *desc)
{
    size_t count = 0;
    char **names = SoapySDRDevice_getStreamFormats(self->device, SOAPY_SDR_RX, desc->channel, &count);
    double full_scale = 0.0;
    const struct stream_format *native = desc->raw ? NULL : native_format(self, desc->channel, &full_scale);
    const struct stream_format *chosen = native && fabs(full_scale - native->full_scale) <= 1.0 ? native : NULL;
    if (chosen && !listed(names, count, chosen->name))
        chosen = NULL;
    for (size_t i = 0; i < STREAM_FORMATS && !chosen; i++) /* CF32 comes first */
        if (listed(names, count, stream_formats[i].name) && (!desc->raw || desc->format == stream_formats[i].format))
            chosen = &stream_formats[i];
    if (!chosen) {
        char list[128];
        penstock__join(list, sizeof list, names, count);
        penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s gives no samples as %s: it offers %s", self->name,
                        !desc->raw                           ? "CF32, CS16, CS8 or CU8"
                        : penstock_format_name(desc->format) ? penstock_format_name(desc->format)
                                                             : "an unknown format",
                        list);
    }
    self->shift = chosen && chosen == native && chosen->format == PENSTOCK_CS16 ? shift_of(full_scale) : 0;
    SoapySDRStrings_clear(&names, count);
    return chosen;
}

/* ---------------------------------------------------------------- stream ---------------------- */

/* Those of the device arguments that the driver lists as stream arguments. */
static SoapySDRKwargs stream_arguments(struct penstock__soapy_device *self, const char *args, unsigned channel)
{
    SoapySDRKwargs given = SoapySDRKwargs_fromString(args), chosen = {0};
    size_t count = 0;
    SoapySDRArgInfo *known = SoapySDRDevice_getStreamArgsInfo(self->device, SOAPY_SDR_RX, channel, &count);
    for (size_t i = 0; i < count; i++) {
        const char *value = SoapySDRKwargs_get(&given, known[i].key);
        if (value)
            SoapySDRKwargs_set(&chosen, known[i].key, value);
    }
    SoapySDRArgInfoList_clear(known, count);
    SoapySDRKwargs_clear(&given);
    return chosen;
}

static int start_stream(struct penstock__soapy_device *self, const char *args, const penstock_source_desc *desc)
{
    const struct stream_format *format = choose_format(self, desc);
    const size_t channel = desc->channel;
    SoapySDRKwargs arguments;
    int code;
    if (!format)
        return PENSTOCK_ERR_UNSUPPORTED;
    self->format = format->format;
    arguments = stream_arguments(self, args, desc->channel);
    self->stream = SoapySDRDevice_setupStream(self->device, SOAPY_SDR_RX, format->name, &channel, 1, &arguments);
    SoapySDRKwargs_clear(&arguments);
    if (!self->stream)
        return penstock__error(PENSTOCK_ERR_RADIO, "%s gives no stream of %s: %s", self->name, format->name,
                               SoapySDRDevice_lastError());
    self->mtu = SoapySDRDevice_getStreamMTU(self->device, self->stream);
    self->mtu = self->mtu < LEAST_MTU ? LEAST_MTU : self->mtu > MOST_MTU ? MOST_MTU : self->mtu;
    if ((code = SoapySDRDevice_activateStream(self->device, self->stream, 0, 0, 0)))
        return penstock__error(PENSTOCK_ERR_RADIO, "%s does not start its stream: %s", self->name,
                               SoapySDR_errToStr(code));
    self->active = true;
    return PENSTOCK_OK;
}

int penstock__soapy_open(struct penstock__soapy_device *self, const char *args, const penstock_source_desc *desc)
{
    int status;
    *self = (struct penstock__soapy_device){0};
    if ((status = open_device(self, args, desc->channel)) || (status = penstock__soapy_apply(self, desc)) ||
        (status = start_stream(self, args, desc)))
        penstock__soapy_close(self);
    return status;
}
