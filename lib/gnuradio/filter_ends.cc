/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* The ends of a filter chain and of its filters, and its values where other streams take them. */
#include "filter_chain.h"

namespace gr
{
namespace penstock
{

/* It has all its samples. Where other streams take its values the next filter's follow. */
void filter_chain::end_link(filter_link &link)
{
    check(d_linked ? penstock_stream_flush(link.filter.get()) : penstock_stream_finish(link.filter.get()));
}

void filter_chain::pop()
{
    const auto gone = stats_of_one(d_links.front().filter.get());
    d_fallbacks += gone.fallbacks;
    d_cpu_while_compiling += gone.cpu_while_compiling;
    d_links.pop_front();
}

/* The next filter's values follow, once those that are not its own are there to be dropped. */
void filter_chain::advance()
{
    while (d_linked && d_links.size() > 1 && d_samples >= d_links[1].from && d_links[1].drop(d_scratch.data(), true)) {
        check(penstock_stream_relink(d_links[0].filter.get(), d_links[1].filter.get()));
        pop();
    }
}

void filter_chain::set_linked(bool linked, double latency_s)
{
    d_linked = linked;
    d_latency_s = linked ? latency_s : 0;
    for (auto &link : d_links)
        check(penstock_stream_set_max_latency(link.filter.get(), d_latency_s));
}

uint64_t filter_chain::blocks() const
{
    const auto &link = d_links.back();
    return d_samples > link.first ? (d_samples - link.first) / link.info().block : 0;
}

void filter_chain::flush()
{
    for (auto &link : d_links)
        check(penstock_stream_flush(link.filter.get()));
    advance();
}

void filter_chain::finish()
{
    if (d_linked)
        flush();
    for (auto &link : d_links)
        check(penstock_stream_finish(link.filter.get()));
}

} // namespace penstock
} // namespace gr
