/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* core:datetime of SigMF: YYYY-MM-DDTHH:MM:SS.SSSZ, UTC, with any number of digits of the seconds' fraction. */
#ifndef PENSTOCK_RADIO_SIGMF_TIME_H
#define PENSTOCK_RADIO_SIGMF_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PENSTOCK__SIGMF_TIME_BYTES 48 /* of a text with its final zero */

/* Nanoseconds since 1970-01-01T00:00:00Z, further digits rounded to the nearest; false for a text of another form, a
 * date that no calendar has, and years that 64 bits cannot hold (1678 .. 2261 they can). A leap second, :60, is the
 * first one of the next minute. */
bool penstock__sigmf_time_parse(int64_t *time_ns, const char *text);

/* With as many digits as there are, 3, 6 or 9. */
void penstock__sigmf_time_text(char text[PENSTOCK__SIGMF_TIME_BYTES], int64_t time_ns);

#endif
