/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* How a device's places become arms. */
#include "backends/backend.h"

/* 2^96 arms / (unit << shift), rounded down: the quotient digit by digit. */
void penstock__resample_scale(struct penstock_resample_head *head)
{
    uint64_t rest = head->arms % head->unit, scale = head->arms / head->unit;
    head->shift = 0;
    while (!(head->unit << head->shift >> 63))
        head->shift++;
    for (unsigned bit = 0; bit < 96 - head->shift; bit++) {
        rest *= 2;
        scale = 2 * scale + (rest >= head->unit);
        rest -= rest >= head->unit ? head->unit : 0;
    }
    head->scale = scale;
    head->inverse = 1 / (float)head->unit;
}
