/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "stats.h"

#include <algorithm>

namespace gr
{
namespace penstock
{

pmt::pmt_t to_pmt(const std::map<std::string, double> &values)
{
    auto dict = pmt::make_dict();
    for (const auto &[key, value] : values)
        dict = pmt::dict_add(dict, pmt::mp(key), pmt::from_double(value));
    return dict;
}

stats_port::stats_port(gr::block &block) : d_block(block)
{
    block.message_port_register_out(pmt::mp("stats"));
}

std::map<std::string, double> stats_of(const std::vector<penstock_stream_stats> &streams)
{
    std::map<std::string, double> values;
    for (const auto &s : streams) {
        const std::pair<const char *, double> sums[] = {
            {"items_in", to_number(s.in)},
            {"items_out", to_number(s.out)},
            {"queue", to_number(s.queue)},
            {"in_rate_hz", s.in_rate_hz},
            {"out_rate_hz", s.out_rate_hz},
            {"fallbacks", to_number(s.fallbacks)},
            {"drops", to_number(s.drops)},
            {"batch", s.batch / to_number(streams.size())},
            {"cpu_while_compiling", to_number(s.cpu_while_compiling)},
            {"handed_over", to_number(s.handed_over)},
        };
        const std::pair<const char *, double> times[] = {
            {"transfer_ms", 1e3 * s.transfer_s},
            {"kernel_ms", 1e3 * s.kernel_s},
            {"latency_p50_ms", 1e3 * s.latency_p50_s},
            {"latency_p99_ms", 1e3 * s.latency_p99_s},
        };
        for (const auto &[name, value] : sums)
            values[name] += value;
        for (const auto &[name, value] : times)
            values[name] = values.count(name) ? std::max(values[name], value) : value;
    }
    return values;
}

penstock_stream_stats stats_of_one(const penstock_stream *stream)
{
    auto stats = description<penstock_stream_stats>();
    check(penstock_stream_get_stats(stream, &stats));
    return stats;
}

} // namespace penstock
} // namespace gr
