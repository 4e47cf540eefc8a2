/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "filter_link.h"

#include <cmath>

namespace gr
{
namespace penstock
{

double turns(double shift, uint64_t samples)
{
    const auto whole = static_cast<uint64_t>(static_cast<int64_t>(shift * 0x1p63)) * 2 * samples;
    return static_cast<double>(static_cast<int64_t>(whole)) * 0x1p-64;
}

double filter_link::phase_at(uint64_t sample) const
{
    return phase + turns(shift, sample - anchor);
}

bool filter_link::drop(char *scratch, bool wait)
{
    while (foreign) {
        size_t count;
        check(penstock_stream_pull(filter.get(), scratch, at_most(foreign, SCRATCH_VALUES), wait, &count));
        if (!count)
            return false;
        foreign -= count;
    }
    return true;
}

void filter_link::fill(const char *samples, size_t count, size_t sample_bytes, char *scratch)
{
    for (size_t taken; count; samples += taken * sample_bytes, count -= taken) {
        check(penstock_stream_push(filter.get(), samples, count, &taken));
        drop(scratch, true);
    }
}

void filter_link::set_taps(const filter_taps &taps, uint64_t at)
{
    check(penstock_filter_set_taps(filter.get(), taps.complex.empty() ? nullptr : taps.complex.data(),
                                   taps.complex.empty() ? taps.real.data() : nullptr, taps.size(), at - first));
}

void filter_link::set_shift(double to, double jump, uint64_t at)
{
    check(penstock_filter_set_shift(filter.get(), 0, to, jump, at - first));
    phase = std::remainder(phase_at(at) + jump, 1);
    anchor = at;
    shift = to;
}

void filter_link::reset()
{
    check(penstock_stream_reset(filter.get()));
    first = from = foreign = anchor = 0;
    phase = made_phase;
}

penstock_filter_info filter_link::info() const
{
    auto i = description<penstock_filter_info>();
    check(penstock_filter_get_info(filter.get(), &i));
    return i;
}

} // namespace penstock
} // namespace gr
