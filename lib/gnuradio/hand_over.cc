/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "hand_over.h"

#include <algorithm>
#include <gnuradio/block_detail.h>

namespace gr
{
namespace penstock
{

static std::mutex meetings; // taken before a chain's

/* ---------------------------------------------------------------- life ------------------------ */

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

/* ---------------------------------------------------------------- at work --------------------- */

hand_over_end::role hand_over_end::role_in_chain() const
{
    const auto state = d_chain ? d_chain->d_state.load() : hand_over::state::APART;
    if (state == hand_over::state::MEETING)
        return role::MEETING;
    if (state == hand_over::state::APART || d_place >= d_chain->d_linked)
        return role::ALONE;
    return d_place == 0 ? role::FIRST : d_place + 1 < d_chain->d_linked ? role::MIDDLE : role::LAST;
}

std::unique_lock<std::mutex> hand_over_end::chain_lock() const
{
    return role_in_chain() == role::ALONE ? std::unique_lock<std::mutex>()
                                          : std::unique_lock<std::mutex>(d_chain->d_mutex);
}

void hand_over::wake(hand_over_end *end)
{
    end->own_block().detail()->d_tpb.notify_msg();
}

void hand_over_end::wait_for_room()
{
    d_chain->d_waits = true;
    hand_over::wake(d_chain->last());
}

size_t hand_over_end::pull_chain(void *out, size_t capacity)
{
    size_t count = 0;
    if (capacity)
        check(penstock_stream_pull(own_stream(), out, capacity, false, &count));
    if (count && d_chain->d_waits) {
        d_chain->d_waits = false;
        hand_over::wake(d_chain->first());
    }
    return count;
}

double hand_over_end::chain_due_s() const
{
    auto *stream = const_cast<hand_over_end *>(this)->own_stream();
    return std::min(penstock_stream_due_s(stream), d_chain->first()->hurry_items());
}

void hand_over_end::finish_chain()
{
    d_chain->first()->finish_items();
}

} // namespace penstock
} // namespace gr
