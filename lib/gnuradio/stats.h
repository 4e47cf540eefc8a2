/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* What a block tells of itself: numbers by name. */
#ifndef INCLUDED_PENSTOCK_STATS_H
#define INCLUDED_PENSTOCK_STATS_H

#include "core.h"

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace gr
{
namespace penstock
{

//! A count among them.
inline double to_number(uint64_t count)
{
    return static_cast<double>(count);
}

pmt::pmt_t to_pmt(const std::map<std::string, double> &values);

//! What the streams of a block tell: counts and rates of all of them together, times of the slowest.
std::map<std::string, double> stats_of(const std::vector<penstock_stream_stats> &streams);
penstock_stream_stats stats_of_one(const penstock_stream *stream);

//! A message port `stats` of a block: its numbers as a dictionary, about once a second.
class stats_port
{
    gr::block &d_block;
    std::chrono::steady_clock::time_point d_sent;

  public:
    explicit stats_port(gr::block &block);

    //! The next publish() sends.
    void start()
    {
        d_sent = {};
    }

    //! What `numbers()` gives, if a second has passed since the last time or `now`.
    template <typename F> void publish(F numbers, bool now = false)
    {
        const auto time = std::chrono::steady_clock::now();
        if (!now && time - d_sent < std::chrono::seconds(1))
            return;
        d_sent = time;
        d_block.message_port_pub(pmt::mp("stats"), to_pmt(numbers()));
    }
};

} // namespace penstock
} // namespace gr

#endif
