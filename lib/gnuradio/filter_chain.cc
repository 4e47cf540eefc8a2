/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "filter_chain.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gr
{
namespace penstock
{

constexpr size_t SCRATCH_VALUES = 4096;

static uint64_t round_up(uint64_t count, uint64_t unit)
{
    return (count + unit - 1) / unit * unit;
}

static size_t at_most(uint64_t count, size_t most)
{
    return count < most ? static_cast<size_t>(count) : most;
}

filter_chain::filter_chain(block_log &log, penstock_format format, const filter_taps &taps, size_t decimation,
                           double shift, bool centred, const std::string &device)
    : d_log(log), d_format(format), d_decimation(decimation),
      d_value_bytes(taps.complex.empty() ? penstock_format_bytes(format) : sizeof(gr_complex)), d_centred(centred),
      d_device(device), d_taps(taps), d_scratch(SCRATCH_VALUES * d_value_bytes)
{
    const double phase = lag(taps, shift);
    d_links.push_back({make_filter(taps, shift, phase), 0, 0, taps.size(), shift, phase, 0, phase});
}

/* Exact to the rounding of the shift, after any number of samples. */
static double turns(double shift, uint64_t samples)
{
    const auto whole = static_cast<uint64_t>(static_cast<int64_t>(shift * 0x1p63)) * 2 * samples;
    return static_cast<double>(static_cast<int64_t>(whole)) * 0x1p-64;
}

double filter_chain::element::phase_at(uint64_t sample) const
{
    return phase + turns(shift, sample - anchor);
}

/* Turns by which the shift's oscillator is ahead, where it is centred. */
double filter_chain::lag(const filter_taps &taps, double shift) const
{
    return d_centred ? std::remainder(shift * static_cast<double>(taps.size() - 1) / 2, 1) : 0;
}

handle<penstock_stream> filter_chain::make_filter(const filter_taps &taps, double shift, double phase) const
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
    return handle<penstock_stream>(made, penstock_stream_free);
}

penstock_filter_info filter_chain::info(const element &link) const
{
    auto i = description<penstock_filter_info>();
    check(penstock_filter_get_info(link.filter.get(), &i));
    return i;
}

penstock_stream_stats filter_chain::stats() const
{
    auto stats = stats_of_one(d_links.front().filter.get());
    const uint64_t used = d_values ? (d_values - 1) * d_decimation + 1 : 0;
    stats.in = d_samples;
    stats.out = d_values;
    stats.queue = d_samples > used ? d_samples - used : 0;
    stats.fallbacks += d_fallbacks;
    stats.cpu_while_compiling += d_cpu_while_compiling;
    return stats;
}

/* Values of the samples before its own; false while some are to come. */
bool filter_chain::drop(element &link, bool wait)
{
    const uint64_t all = (link.from - link.first) / d_decimation;
    while (link.dropped < all) {
        size_t count;
        check(penstock_stream_pull(link.filter.get(), d_scratch.data(), at_most(all - link.dropped, SCRATCH_VALUES),
                                   wait, &count));
        if (!count)
            return false;
        link.dropped += count;
    }
    return true;
}

/* Samples before the first value of its own. */
void filter_chain::fill(element &link, const char *samples, size_t count)
{
    const size_t bytes = penstock_format_bytes(d_format);
    for (size_t taken; count; samples += taken * bytes, count -= taken) {
        check(penstock_stream_push(link.filter.get(), samples, count, &taken));
        drop(link, true);
    }
}

size_t filter_chain::push(const void *samples, size_t count)
{
    const size_t bytes = penstock_format_bytes(d_format);
    size_t total = 0;
    while (total < count) {
        auto now = d_links.begin();
        while (now + 1 != d_links.end() && (now + 1)->from <= d_samples)
            ++now;
        const auto next = now + 1;
        const char *from = static_cast<const char *>(samples) + total * bytes;
        const size_t chunk = next == d_links.end() ? count - total : at_most(next->from - d_samples, count - total);
        size_t taken;
        check(penstock_stream_push(now->filter.get(), from, chunk, &taken));
        for (auto later = next; later != d_links.end(); ++later)
            if (later->first < d_samples + taken) {
                const auto skip = static_cast<size_t>(std::max(later->first, d_samples) - d_samples);
                fill(*later, from + skip * bytes, taken - skip);
            }
        d_samples += taken;
        total += taken;
        if (next != d_links.end() && d_samples == next->from)
            check(penstock_stream_finish(now->filter.get()));
        if (taken < chunk)
            break;
    }
    return total;
}

size_t filter_chain::pull(void *values, size_t capacity, bool wait)
{
    size_t total = 0;
    while (total < capacity) {
        auto &now = d_links.front();
        size_t limit = capacity - total, count;
        if (d_links.size() > 1)
            limit = at_most(d_links[1].from / d_decimation - d_values, limit);
        if (!limit) {
            const auto gone = stats_of_one(now.filter.get());
            d_fallbacks += gone.fallbacks;
            d_cpu_while_compiling += gone.cpu_while_compiling;
            d_links.pop_front();
            continue;
        }
        if (!drop(now, wait))
            break;
        check(penstock_stream_pull(now.filter.get(), static_cast<char *>(values) + total * d_value_bytes, limit, wait,
                                   &count));
        if (!count)
            break;
        total += count;
        d_values += count;
    }
    return total;
}

size_t filter_chain::run(const void *samples, size_t count, size_t &taken, void *values, size_t capacity)
{
    auto &now = d_links.front();
    size_t made = 0;
    taken = 0;
    if (d_decimation > 1 || d_links.size() > 1 || now.dropped < now.from - now.first ||
        std::strcmp(info(now).device, "cpu") != 0)
        return 0;
    check(penstock_stream_run(now.filter.get(), samples, std::min(count, capacity), &taken, values, capacity, &made));
    d_samples += taken;
    d_values += made;
    return made;
}

void filter_chain::flush()
{
    for (auto &link : d_links)
        check(penstock_stream_flush(link.filter.get()));
}

void filter_chain::finish()
{
    for (auto &link : d_links)
        check(penstock_stream_finish(link.filter.get()));
}

void filter_chain::set_taps(const filter_taps &taps, uint64_t at)
{
    const auto &last = d_links.back();
    check(penstock_filter_set_taps(last.filter.get(), taps.complex.empty() ? nullptr : taps.complex.data(),
                                   taps.complex.empty() ? taps.real.data() : nullptr, taps.size(), at - last.first));
}

void filter_chain::set_shift(double shift, double jump, uint64_t at)
{
    auto &last = d_links.back();
    check(penstock_filter_set_shift(last.filter.get(), 0, shift, jump, at - last.first));
    last.phase = std::remainder(last.phase_at(at) + jump, 1);
    last.anchor = at;
    last.shift = shift;
}

void filter_chain::reset()
{
    auto &last = d_links.back();
    d_links.erase(d_links.begin(), d_links.end() - 1);
    check(penstock_stream_reset(last.filter.get()));
    last.first = last.from = last.dropped = last.anchor = 0;
    last.phase = last.made_phase;
    d_samples = d_values = d_changed = d_fallbacks = d_cpu_while_compiling = 0;
    const double phase = lag(d_taps, last.shift);
    if (last.phase != phase)
        set_shift(last.shift, phase - last.phase, 0);
}

/* Another filter, whose first value is that of sample `at` or a later one. */
uint64_t filter_chain::append(const filter_taps &taps, double shift, uint64_t at)
{
    if (at == 0) {
        const double phase = lag(taps, shift);
        auto made = make_filter(taps, shift, phase);
        d_links.clear();
        d_links.push_back({std::move(made), 0, 0, taps.size(), shift, phase, 0, phase});
        return 0;
    }
    const auto &last = d_links.back();
    const uint64_t history = round_up(taps.size() - 1, d_decimation);
    const uint64_t from = round_up(std::max(at, d_samples + history), d_decimation), first = from - history;
    const double phase = std::remainder(last.phase_at(from) - turns(shift, history) + lag(taps, shift - last.shift), 1);
    auto made = make_filter(taps, shift, phase);
    if (from == d_samples)
        check(penstock_stream_finish(last.filter.get()));
    d_links.push_back({std::move(made), first, from, taps.size(), shift, phase, first, phase});
    return from;
}

uint64_t filter_chain::change(const filter_taps &taps, double shift, uint64_t at)
{
    const auto &last = d_links.back();
    at = std::max({at, d_samples, d_changed});
    if (taps.size() > last.max_taps) {
        at = append(taps, shift, at);
    } else if (shift == last.shift) {
        set_taps(taps, at);
    } else {
        at = round_up(at, d_decimation);
        if (!(taps == d_taps))
            set_taps(taps, at);
        set_shift(shift, at ? lag(taps, shift - last.shift) : lag(taps, shift) - last.phase_at(0), at);
    }
    d_taps = taps;
    d_changed = at;
    return at;
}

} // namespace penstock
} // namespace gr
