/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* How samples lie in memory. */
#ifndef PENSTOCK_SAMPLES_H
#define PENSTOCK_SAMPLES_H

#include <penstock/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Layout of `float _Complex`, std::complex<float> and gr_complex. */
typedef struct penstock_cf32 {
    float re, im;
} penstock_cf32;

/* How samples lie in memory. Integers are full scale at 1.0. */
typedef enum penstock_format {
    PENSTOCK_CF32,   /* float I, Q */
    PENSTOCK_CS16,   /* int16 I, Q; value / 32768 */
    PENSTOCK_CS8,    /* int8 I, Q; value / 128 */
    PENSTOCK_CU8,    /* uint8 I, Q; (value - 127.5) / 128 */
    PENSTOCK_PLANAR, /* float: all I of the call, then all Q of the call */
    PENSTOCK_F32,    /* float, real samples */
    PENSTOCK_CF16    /* half I, Q: half.h */
} penstock_format;

/* Bytes of one sample (I and Q together); 0 for a value that is no format. */
PENSTOCK_API size_t penstock_format_bytes(penstock_format format);

/* "cf32", "cs16", "cs8", "cu8", "planar", "f32", "cf16" to a format and back; NULL for no format. */
PENSTOCK_API int penstock_format_parse(penstock_format *format, const char *text);
PENSTOCK_API const char *penstock_format_name(penstock_format format);

#ifdef __cplusplus
}
#endif

#endif
