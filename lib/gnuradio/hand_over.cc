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
    d_linked = 1;
    while (d_linked < d_ends.size() && can_pass(d_ends[d_linked - 1], d_ends[d_linked]))
        d_linked++;
    const bool linked = d_linked > 1;
    for (size_t i = 0; linked && i < d_linked; i++)
        d_ends[i]->set_linked(true);
    d_state = linked ? state::LINKED : state::APART;
}

void hand_over::cut()
{
    const std::lock_guard<std::mutex> guard(d_mutex);
    for (size_t i = 0; d_state == state::LINKED && i < d_linked; i++) {
        d_ends[i]->set_linked(false);
        if (i > 0)
            penstock_stream_unlink(d_ends[i - 1]->own_stream(), d_ends[i]->own_stream());
    }
    d_state = state::APART;
}

} // namespace penstock
} // namespace gr
