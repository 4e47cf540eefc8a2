/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Tables 17-4 and 17-6 as one, and the arithmetic on SIGNAL. */
#include "fec/wifi_rates.h"

/* R1 R2 R3 R4 are sent in this order: 6 Mb/s is 1101, so 11 as a number whose bit 0 is R1. */
#define RATE(place, rate, rate_bits, point, code, coded, data) \
    [place] = {.mbps = rate,                                   \
               .signal = rate_bits,                            \
               .index = place,                                 \
               .constellation = PENSTOCK_##point,              \
               .code_rate = PENSTOCK__CODE_##code,             \
               .coded_bits = coded,                            \
               .data_bits = data}

const struct penstock__wifi_rate penstock__wifi_rates[PENSTOCK__WIFI_RATES] = {
    RATE(0, 6, 11, BPSK, 1_2, 48, 24),    RATE(1, 9, 15, BPSK, 3_4, 48, 36),     RATE(2, 12, 10, QPSK, 1_2, 96, 48),
    RATE(3, 18, 14, QPSK, 3_4, 96, 72),   RATE(4, 24, 9, QAM16, 1_2, 192, 96),   RATE(5, 36, 13, QAM16, 3_4, 192, 144),
    RATE(6, 48, 8, QAM64, 2_3, 288, 192), RATE(7, 54, 12, QAM64, 3_4, 288, 216),
};

const struct penstock__wifi_rate *penstock__wifi_rate_by_signal(unsigned bits)
{
    for (size_t i = 0; i < PENSTOCK__WIFI_RATES; i++)
        if (penstock__wifi_rates[i].signal == bits)
            return &penstock__wifi_rates[i];
    return NULL;
}

const struct penstock__wifi_rate *penstock__wifi_rate_by_mbps(double mbps)
{
    for (size_t i = 0; i < PENSTOCK__WIFI_RATES; i++)
        if (penstock__wifi_rates[i].mbps == mbps)
            return &penstock__wifi_rates[i];
    return NULL;
}

size_t penstock__wifi_steps(size_t length)
{
    return PENSTOCK__WIFI_SERVICE + 8 * length + PENSTOCK__WIFI_TAIL;
}

size_t penstock__wifi_symbols(const struct penstock__wifi_rate *rate, size_t length)
{
    return (penstock__wifi_steps(length) + rate->data_bits - 1) / rate->data_bits;
}

static uint32_t parity(uint32_t bits)
{
    bits ^= bits >> 16;
    bits ^= bits >> 8;
    bits ^= bits >> 4;
    return 0x6996u >> (bits & 15) & 1;
}

/* Bits 0 - 3 RATE, 4 reserved, 5 - 16 LENGTH, 17 even parity, 18 - 23 tail: figure 17-5. */
uint32_t penstock__wifi_signal_encode(const struct penstock__wifi_rate *rate, unsigned length)
{
    uint32_t bits = rate->signal | (uint32_t)(length & 4095) << 5;
    return bits | parity(bits) << 17;
}

enum penstock__wifi_signal_status penstock__wifi_signal_decode(struct penstock__wifi_signal *signal, uint32_t bits)
{
    *signal = (struct penstock__wifi_signal){0};
    if (parity(bits & 0x3ffff))
        return PENSTOCK__SIGNAL_PARITY;
    signal->length = bits >> 5 & 4095;
    signal->reserved = bits >> 4 & 1;
    signal->rate = penstock__wifi_rate_by_signal(bits & 15);
    if (bits >> 18 & 63)
        return PENSTOCK__SIGNAL_TAIL;
    return signal->rate ? PENSTOCK__SIGNAL_OK : PENSTOCK__SIGNAL_RATE;
}
