/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The eight rates of IEEE 802.11-2020 clause 17 (table 17-4) and the SIGNAL field that names them (17.3.4). */
#ifndef PENSTOCK_FEC_WIFI_RATES_H
#define PENSTOCK_FEC_WIFI_RATES_H

#include "fec/convolutional.h"

#include <penstock/ofdm.h>

#define PENSTOCK__WIFI_RATES      8
#define PENSTOCK__WIFI_CARRIERS   48                            /* data carriers */
#define PENSTOCK__WIFI_MAX_CODED  (6 * PENSTOCK__WIFI_CARRIERS) /* the largest coded_bits */
#define PENSTOCK__WIFI_SERVICE    16                            /* bits of the SERVICE field, before the PSDU */
#define PENSTOCK__WIFI_TAIL       6                             /* zero bits after the PSDU */
#define PENSTOCK__WIFI_MAX_LENGTH 4095

struct penstock__wifi_rate {
    double mbps;               /* with 20 MHz between carriers' ends; half and quarter at 10 and 5 MHz */
    unsigned char signal;      /* RATE bits of table 17-6: R1 is bit 0 */
    unsigned char index;       /* place in penstock__wifi_rates */
    unsigned short coded_bits; /* N_CBPS, of one OFDM symbol */
    unsigned short data_bits;  /* N_DBPS */
    penstock_constellation constellation;
    enum penstock__code_rate code_rate;
};

/* From 6 to 54 Mb/s. */
extern const struct penstock__wifi_rate penstock__wifi_rates[PENSTOCK__WIFI_RATES];

/* The rate with these RATE bits, or NULL. */
const struct penstock__wifi_rate *penstock__wifi_rate_by_signal(unsigned bits);

/* The rate of so many Mb/s at 20 MHz, or NULL. */
const struct penstock__wifi_rate *penstock__wifi_rate_by_mbps(double mbps);

/* Trellis steps from the first SERVICE bit to the last tail bit, and DATA symbols, of a PSDU of `length` bytes. */
size_t penstock__wifi_steps(size_t length);
size_t penstock__wifi_symbols(const struct penstock__wifi_rate *rate, size_t length);

struct penstock__wifi_signal {
    const struct penstock__wifi_rate *rate;
    unsigned length; /* 0 .. 4095 */
    bool reserved;   /* the reserved bit, sent as 0 */
};

enum penstock__wifi_signal_status {
    PENSTOCK__SIGNAL_OK,
    PENSTOCK__SIGNAL_PARITY, /* wrong parity: nothing else is known */
    PENSTOCK__SIGNAL_RATE,   /* good parity, unknown rate: length and reserved are filled in, rate is NULL */
    PENSTOCK__SIGNAL_TAIL    /* the tail bits are not zero */
};

/* The 24 bits, first one in bit 0: three packed bytes, the first lowest. */
uint32_t penstock__wifi_signal_encode(const struct penstock__wifi_rate *rate, unsigned length);
enum penstock__wifi_signal_status penstock__wifi_signal_decode(struct penstock__wifi_signal *signal, uint32_t bits);

#endif
