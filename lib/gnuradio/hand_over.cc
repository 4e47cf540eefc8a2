/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "hand_over.h"

#include <algorithm>
#include <gnuradio/prefs.h>

namespace gr
{
namespace penstock
{

static std::mutex meetings; // taken before a chain's

void hand_over_end::part()
{
    const std::lock_guard<std::mutex> guard(meetings);
    if (d_chain)
        d_chain->cut();
    d_chain.reset();
}

void hand_over_end::meet()
{
    const std::lock_guard<std::mutex> guard(meetings);
    if (!gr::prefs::singleton()->get_bool("penstock", "hand_over", true))
        return;
    const auto ends = hand_over::find(this);
    if (ends.size() < 2)
        return;
    for (const auto *end : ends) {
        const auto &chain = end->d_chain;
        if (chain && chain->d_state == hand_over::state::MEETING && !chain->d_stopped && chain->d_ends == ends)
            d_chain = chain;
    }
    if (!d_chain)
        d_chain = std::make_shared<hand_over>(ends);
    d_place = static_cast<size_t>(std::find(ends.begin(), ends.end(), this) - ends.begin());
    if (++d_chain->d_met == ends.size())
        d_chain->link();
}

void hand_over_end::stop_in_chain()
{
    const std::lock_guard<std::mutex> guard(meetings);
    if (d_chain && ++d_chain->d_stopped == d_chain->d_ends.size())
        d_chain->cut();
}

void hand_over::link()
{
    const std::lock_guard<std::mutex> guard(d_mutex);
    for (auto *end : d_ends) {
        const char *device = penstock_stream_device(end->own_stream());
        end->d_device = device ? device : "";
        end->d_written = end->own_block().nitems_written(0);
        end->d_read = end->own_block().nitems_read(0);
    }
    for (d_most = 1; d_most < d_ends.size() && is_empty_between(d_ends[d_most - 1], d_ends[d_most]);)
        d_most++;
    want();
    join();
    d_state = state::MET;
}

void hand_over::cut()
{
    const std::lock_guard<std::mutex> guard(d_mutex);
    for (size_t i = 0; d_state == state::MET && d_linked > 1 && i < d_linked; i++) {
        d_ends[i]->set_linked(false);
        if (i > 0)
            penstock_stream_unlink(d_ends[i - 1]->own_stream(), d_ends[i]->own_stream());
    }
    d_state = state::APART;
}

} // namespace penstock
} // namespace gr
