/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "filter_chain.h"

#include <cstring>

namespace gr
{
namespace penstock
{

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

size_t filter_chain::push(const void *samples, size_t count)
{
    size_t total = 0;
    while (total < count) {
        auto now = d_links.begin();
        while (now + 1 != d_links.end() && (now + 1)->from <= d_samples)
            ++now;
        const auto next = now + 1;
        const char *from = static_cast<const char *>(samples) + total * d_sample_bytes;
        const size_t chunk = next == d_links.end() ? count - total : at_most(next->from - d_samples, count - total);
        size_t taken;
        check(penstock_stream_push(now->filter.get(), from, chunk, &taken));
        for (auto later = next; later != d_links.end(); ++later)
            if (later->first < d_samples + taken) {
                const auto skip = static_cast<size_t>(std::max(later->first, d_samples) - d_samples);
                later->fill(from + skip * d_sample_bytes, taken - skip, d_sample_bytes, d_scratch.data());
            }
        d_samples += taken;
        total += taken;
        if (next != d_links.end() && d_samples == next->from)
            end_link(*now);
        advance();
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
            pop();
            continue;
        }
        if (!now.drop(d_scratch.data(), wait))
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
    if (d_decimation > 1 || d_links.size() > 1 || now.foreign || std::strcmp(now.info().device, "cpu") != 0)
        return 0;
    check(penstock_stream_run(now.filter.get(), samples, std::min(count, capacity), &taken, values, capacity, &made));
    d_samples += taken;
    d_values += made;
    return made;
}

} // namespace penstock
} // namespace gr
