/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_MESSAGE_METER_H
#define INCLUDED_PENSTOCK_MESSAGE_METER_H

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <penstock/stream.h>
#include <vector>

namespace gr
{
namespace penstock
{

/* What a block of messages in and items out tells in penstock_stream_stats, which streams of the library measure
 * themselves: rates over the last one to two seconds, latencies of the last thousand messages. */
class message_meter
{
    using clock = std::chrono::steady_clock;
    static constexpr size_t LATENCIES = 1000;

    struct mark {
        clock::time_point at;
        uint64_t in, out;
    };
    mark d_older, d_newer;
    uint64_t d_in, d_out, d_made;
    double d_kernel_s;                        // of all messages
    std::deque<clock::time_point> d_arrivals; // of those that wait
    std::deque<double> d_latencies;

    static double seconds(clock::duration time)
    {
        return std::chrono::duration<double>(time).count();
    }

    void mark_time(clock::time_point now)
    {
        if (now - d_newer.at < std::chrono::seconds(1))
            return;
        d_older = d_newer;
        d_newer = {now, d_in, d_out};
    }

    double latency(double share) const
    {
        if (d_latencies.empty())
            return 0;
        std::vector<double> sorted(d_latencies.begin(), d_latencies.end());
        const auto place = sorted.begin() + static_cast<ptrdiff_t>(share * static_cast<double>(sorted.size() - 1));
        std::nth_element(sorted.begin(), place, sorted.end());
        return *place;
    }

  public:
    message_meter()
    {
        start(0);
    }

    // The stream begins; so many messages wait since before.
    void start(size_t waiting)
    {
        const auto now = clock::now();
        d_older = d_newer = {now, 0, 0};
        d_in = waiting;
        d_out = d_made = 0;
        d_kernel_s = 0;
        d_arrivals.assign(waiting, now);
        d_latencies.clear();
    }

    void take()
    {
        d_arrivals.push_back(clock::now());
        d_in++;
        mark_time(d_arrivals.back());
    }

    // The oldest message was turned into items in `kernel_s`, or refused.
    void make(double kernel_s, bool refused)
    {
        if (!refused) {
            d_latencies.push_back(seconds(clock::now() - d_arrivals.front()));
            d_kernel_s += kernel_s;
            d_made++;
        }
        if (d_latencies.size() > LATENCIES)
            d_latencies.pop_front();
        d_arrivals.pop_front();
    }

    void give(uint64_t items)
    {
        d_out += items;
        mark_time(clock::now());
    }

    // All but size, fallbacks, drops and cpu_while_compiling.
    void read(penstock_stream_stats &stats) const
    {
        const double time = seconds(clock::now() - d_older.at);
        stats.in = d_in;
        stats.out = d_out;
        stats.queue = d_arrivals.size();
        stats.in_rate_hz = time > 0 ? static_cast<double>(d_in - d_older.in) / time : 0;
        stats.out_rate_hz = time > 0 ? static_cast<double>(d_out - d_older.out) / time : 0;
        stats.batch = d_made ? static_cast<double>(d_out) / static_cast<double>(d_made) : 0;
        stats.kernel_s = d_made ? d_kernel_s / static_cast<double>(d_made) : 0;
        stats.latency_p50_s = latency(0.5);
        stats.latency_p99_s = latency(0.99);
    }
};

} // namespace penstock
} // namespace gr

#endif
