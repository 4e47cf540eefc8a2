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

uint64_t filter_chain::taken_on() const
{
    auto info = description<penstock_stream_info>();
    check(penstock_stream_get_info(stream(), &info));
    return info.given;
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
