/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "radio/soapy_clock.h"

#define MOST_LOST 0x1p62 /* samples: more than any time stamp can tell of */
#define RIGHT     16     /* stamps from which on a jump is believed */

bool penstock__soapy_clock_lost(const struct penstock__soapy_clock *clock, double rate_hz, long long time_ns,
                                double *lost)
{
    long long passed_ns;
    if (!clock->stamped || __builtin_sub_overflow(time_ns, clock->stamp_ns, &passed_ns))
        return false;
    *lost = (double)passed_ns * rate_hz * 1e-9 - (double)clock->since;
    return *lost > -0.5 && *lost < MOST_LOST;
}

bool penstock__soapy_clock_jumps(const struct penstock__soapy_clock *clock, double rate_hz, long long time_ns)
{
    double lost;
    return clock->right >= RIGHT && penstock__soapy_clock_lost(clock, rate_hz, time_ns, &lost) && lost >= 0.5;
}

void penstock__soapy_clock_stamp(struct penstock__soapy_clock *clock, double rate_hz, long long time_ns)
{
    double lost;
    const bool forward = penstock__soapy_clock_lost(clock, rate_hz, time_ns, &lost);
    if (!forward || (lost >= 0.5 && clock->right < RIGHT))
        clock->right = 0;
    else if (clock->right < RIGHT)
        clock->right++;
    clock->stamped = true;
    clock->stamp_ns = time_ns;
    clock->since = 0;
}
