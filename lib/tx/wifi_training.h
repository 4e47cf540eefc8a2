/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a clause 17 frame sends that the receiver knows: training fields, pilots, the order of carriers. */
#ifndef PENSTOCK_TX_WIFI_TRAINING_H
#define PENSTOCK_TX_WIFI_TRAINING_H

#include <penstock/penstock.h>

#define PENSTOCK__WIFI_FFT         64
#define PENSTOCK__WIFI_GUARD       16
#define PENSTOCK__WIFI_SYMBOL      80  /* samples: guard interval and FFT */
#define PENSTOCK__WIFI_SHORT_FIELD 160 /* samples of the short training field */
#define PENSTOCK__WIFI_LONG_FIELD  160 /* of the long one: a guard of 32, then twice the symbol */
#define PENSTOCK__WIFI_PREAMBLE    320
#define PENSTOCK__WIFI_PILOTS      4

/* Carrier k's value at [k & 63], so that the index is the FFT bin. Equations 17-6 and 17-8. */
extern const penstock_cf32 penstock__wifi_short_training[PENSTOCK__WIFI_FFT];
extern const penstock_cf32 penstock__wifi_long_training[PENSTOCK__WIFI_FFT];

/* Carriers -26 .. 26 in the order in which bits are sent (equation 17-23); pilots (17-24) and their values before the
 * polarity. */
extern const int32_t penstock__wifi_data_carriers[48];
extern const int32_t penstock__wifi_pilot_carriers[PENSTOCK__WIFI_PILOTS];
extern const float penstock__wifi_pilot_values[PENSTOCK__WIFI_PILOTS];

/* p_0 .. p_126 of equation 17-25: symbol i (SIGNAL is 0, the first DATA symbol 1) has p_(i mod 127). */
extern const signed char penstock__wifi_pilot_polarity[127];

#endif
