/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "filter_chain.h"

#include <cmath>

namespace gr
{
namespace penstock
{

static uint64_t round_up(uint64_t count, uint64_t unit)
{
    return (count + unit - 1) / unit * unit;
}

filter_chain::filter_chain(block_log &log, penstock_format format, const filter_taps &taps, size_t decimation,
                           double shift, bool centred, const std::string &device)
    : d_log(log), d_format(format), d_decimation(decimation), d_sample_bytes(penstock_format_bytes(format)),
      d_value_bytes(taps.complex.empty() ? d_sample_bytes : sizeof(gr_complex)), d_centred(centred), d_device(device),
      d_taps(taps), d_scratch(filter_link::SCRATCH_VALUES * d_value_bytes)
{
    d_links.push_back(make_link(taps, shift, lag(taps, shift), 0, 0));
}

/* Turns by which the shift's oscillator is ahead, where it is centred. */
double filter_chain::lag(const filter_taps &taps, double shift) const
{
    return d_centred ? std::remainder(shift * static_cast<double>(taps.size() - 1) / 2, 1) : 0;
}

filter_link filter_chain::make_link(const filter_taps &taps, double shift, double phase, uint64_t first,
                                    uint64_t from) const
{
    auto desc = description<penstock_filter_desc>();
    desc.format = d_format;
    desc.taps = taps.complex.empty() ? nullptr : taps.complex.data();
    desc.real_taps = taps.complex.empty() ? taps.real.data() : nullptr;
    desc.tap_count = taps.size();
    desc.decimation = d_decimation;
    desc.shift = shift;
    desc.phase = phase;
    desc.tunable = d_value_bytes == sizeof(gr_complex);
    const works_for me(d_log);
    penstock_stream *made;
    check(penstock_filter_open(&made, d_context.get(), &desc, d_device.c_str()));
    handle<penstock_stream> filter(made, penstock_stream_free);
    const uint64_t foreign = (from - first) / d_decimation;
    return {std::move(filter), first, from, foreign, taps.size(), shift, phase, first, phase};
}

void filter_chain::reset()
{
    d_links.erase(d_links.begin(), d_links.end() - 1);
    auto &last = d_links.back();
    last.reset();
    d_samples = d_values = d_changed = d_fallbacks = d_cpu_while_compiling = 0;
    const double phase = lag(d_taps, last.shift);
    if (last.phase != phase)
        last.set_shift(last.shift, phase - last.phase, 0);
}

/* Another filter, whose first value is that of sample `at` or a later one. */
uint64_t filter_chain::append(const filter_taps &taps, double shift, uint64_t at)
{
    if (at == 0) {
        auto link = make_link(taps, shift, lag(taps, shift), 0, 0);
        if (d_linked)
            check(penstock_stream_relink(stream(), link.filter.get()));
        d_links.clear();
        d_links.push_back(std::move(link));
        return 0;
    }
    auto &last = d_links.back();
    const uint64_t history = round_up(taps.size() - 1, d_decimation);
    const uint64_t from = round_up(std::max(at, d_samples + history), d_decimation), first = from - history;
    const double phase = std::remainder(last.phase_at(from) - turns(shift, history) + lag(taps, shift - last.shift), 1);
    auto link = make_link(taps, shift, phase, first, from);
    if (from == d_samples)
        end_link(last);
    d_links.push_back(std::move(link));
    return from;
}

uint64_t filter_chain::change(const filter_taps &taps, double shift, uint64_t at)
{
    auto &last = d_links.back();
    at = std::max({at, d_samples, d_changed});
    if (taps.size() > last.max_taps) {
        at = append(taps, shift, at);
    } else if (shift == last.shift) {
        last.set_taps(taps, at);
    } else {
        at = round_up(at, d_decimation);
        if (!(taps == d_taps))
            last.set_taps(taps, at);
        last.set_shift(shift, at ? lag(taps, shift - last.shift) : lag(taps, shift) - last.phase_at(0), at);
    }
    d_taps = taps;
    d_changed = at;
    return at;
}

} // namespace penstock
} // namespace gr
