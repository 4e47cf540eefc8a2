/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Settings of a SoapySDR device: checked against what it says it can do, so that a refusal names what it offers. */
#ifndef PENSTOCK_RADIO_SOAPY_SETTINGS_H
#define PENSTOCK_RADIO_SOAPY_SETTINGS_H

#include "radio/soapy_device.h"

/* Antenna, rate, bandwidth, frequency and gain, as far as `desc` sets them; reads back rate_hz and frequency_hz. */
int penstock__soapy_apply(struct penstock__soapy_device *self, const penstock_source_desc *desc);

/* "a, b, c" into `text`, cut off where it is full; "none" for no name. */
void penstock__join(char *text, size_t size, char **names, size_t count);

#endif
