/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* One table of the settings that are numbers; the antenna is a name. */
#include "radio/soapy_settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RATE_TOLERANCE 1e-3 /* of the rate: a radio that gives another one was asked for what it cannot do */

void penstock__join(char *text, size_t size, char **names, size_t count)
{
    size_t used = 0;
    snprintf(text, size, "none");
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", names[i]);
}

/* ---------------------------------------------------------------- numbers --------------------- */

struct setting {
    const char *name, *unit;
    double value;
    bool wanted;
    bool read_back; /* between points that are listed it is for the device to say what it can */
    /* NULL: the gain, which has a single range */
    SoapySDRRange *(*ranges)(const SoapySDRDevice *, const int, const size_t, size_t *);
    int (*set)(SoapySDRDevice *, const int, const size_t, const double);
};

static int set_frequency(SoapySDRDevice *device, const int direction, const size_t channel, const double value)
{
    return SoapySDRDevice_setFrequency(device, direction, channel, value, NULL);
}

static bool are_points(const SoapySDRRange *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ranges[i].minimum < ranges[i].maximum)
            return false;
    return true;
}

/* Is the value in a range that the device names, give or take rounding? A device that names none is asked. */
static bool offered(const SoapySDRRange *ranges, size_t count, double value)
{
    double slack = 1e-9 * fabs(value);
    for (size_t i = 0; i < count; i++)
        if (value >= ranges[i].minimum - slack && value <= ranges[i].maximum + slack)
            return true;
    return !count;
}

static void list_ranges(char *text, size_t size, const SoapySDRRange *ranges, size_t count)
{
    size_t used = 0;
    for (size_t i = 0; i < count && used < size; i++) {
        const char *comma = i ? ", " : "";
        double low = ranges[i].minimum, high = ranges[i].maximum;
        used += (size_t)(low == high ? snprintf(text + used, size - used, "%s%.12g", comma, low)
                                     : snprintf(text + used, size - used, "%s%.12g .. %.12g", comma, low, high));
    }
}

static int apply_number(struct penstock__soapy_device *self, unsigned channel, const struct setting *setting)
{
    SoapySDRRange gain, *list_of_device = NULL;
    const SoapySDRRange *ranges = &gain;
    size_t count = 0;
    int status = PENSTOCK_OK;
    if (!setting->wanted)
        return PENSTOCK_OK;
    if (setting->ranges)
        ranges = list_of_device = setting->ranges(self->device, SOAPY_SDR_RX, channel, &count);
    else {
        gain = SoapySDRDevice_getGainRange(self->device, SOAPY_SDR_RX, channel);
        count = gain.maximum > gain.minimum; /* a driver that does not know says 0 .. 0 */
    }
    const bool listed = offered(ranges, count, setting->value),
               asked = listed || (setting->read_back && are_points(ranges, count)),
               refused = asked && setting->set(self->device, SOAPY_SDR_RX, channel, setting->value);
    if (!listed && (!asked || refused)) {
        char list[200];
        list_ranges(list, sizeof list, ranges, count);
        status = penstock__error(PENSTOCK_ERR_ARGUMENT, "%s has no %s of %.12g %s: it offers %s %s", self->name,
                                 setting->name, setting->value, setting->unit, list, setting->unit);
    } else if (refused) {
        status = penstock__error(PENSTOCK_ERR_ARGUMENT, "%s refuses a %s of %.12g %s: %s", self->name, setting->name,
                                 setting->value, setting->unit, SoapySDRDevice_lastError());
    }
    SoapySDR_free(list_of_device);
    return status;
}

/* ---------------------------------------------------------------- antenna --------------------- */

static int apply_antenna(struct penstock__soapy_device *self, const penstock_source_desc *desc)
{
    size_t count = 0;
    char **names;
    bool found = false;
    int status = PENSTOCK_OK;
    if (!desc->antenna)
        return PENSTOCK_OK;
    names = SoapySDRDevice_listAntennas(self->device, SOAPY_SDR_RX, desc->channel, &count);
    for (size_t i = 0; i < count; i++)
        found = found || !strcmp(names[i], desc->antenna);
    if (!found) {
        char list[200];
        penstock__join(list, sizeof list, names, count);
        status = penstock__error(PENSTOCK_ERR_ARGUMENT, "%s has no antenna '%.40s': it has %s", self->name,
                                 desc->antenna, list);
    } else if (SoapySDRDevice_setAntenna(self->device, SOAPY_SDR_RX, desc->channel, desc->antenna)) {
        status = penstock__error(PENSTOCK_ERR_ARGUMENT, "%s refuses the antenna '%.40s': %s", self->name, desc->antenna,
                                 SoapySDRDevice_lastError());
    }
    SoapySDRStrings_clear(&names, count);
    return status;
}

/* ---------------------------------------------------------------- all ------------------------- */

static int read_back(struct penstock__soapy_device *self, const penstock_source_desc *desc)
{
    self->rate_hz = SoapySDRDevice_getSampleRate(self->device, SOAPY_SDR_RX, desc->channel);
    self->frequency_hz = SoapySDRDevice_getFrequency(self->device, SOAPY_SDR_RX, desc->channel);
    if (!(self->rate_hz > 0.0 && self->rate_hz <= 1e12))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s has no sample rate of its own: give one", self->name);
    if (desc->rate_hz > 0.0 && fabs(self->rate_hz - desc->rate_hz) > RATE_TOLERANCE * desc->rate_hz)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s runs at %.12g samples per second, not at %.12g", self->name,
                               self->rate_hz, desc->rate_hz);
    return PENSTOCK_OK;
}

int penstock__soapy_apply(struct penstock__soapy_device *self, const penstock_source_desc *desc)
{
    /* the rate first: on many radios it moves the master clock, and with it what else is possible */
    const struct setting settings[] = {
        {"sample rate", "Hz", desc->rate_hz, desc->rate_hz > 0.0, true, SoapySDRDevice_getSampleRateRange,
         SoapySDRDevice_setSampleRate},
        {"bandwidth", "Hz", desc->bandwidth_hz, desc->bandwidth_hz > 0.0, false, SoapySDRDevice_getBandwidthRange,
         SoapySDRDevice_setBandwidth},
        {"frequency", "Hz", desc->frequency_hz, desc->frequency_hz > 0.0, false, SoapySDRDevice_getFrequencyRange,
         set_frequency},
        {"gain", "dB", desc->gain_db, desc->gain_set, false, NULL, SoapySDRDevice_setGain},
    };
    int status = apply_antenna(self, desc);
    for (size_t i = 0; !status && i < sizeof settings / sizeof settings[0]; i++)
        status = apply_number(self, desc->channel, &settings[i]);
    return status ? status : read_back(self, desc);
}
