/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* What linked blocks do for each other while they work. */
#include "hand_over.h"

#include <algorithm>
#include <gnuradio/block_detail.h>

namespace gr
{
namespace penstock
{

hand_over_end::role hand_over_end::role_in_chain() const
{
    const auto state = d_chain ? d_chain->d_state.load() : hand_over::state::APART;
    if (state == hand_over::state::MEETING)
        return role::MEETING;
    const size_t linked = state == hand_over::state::APART ? 1 : d_chain->d_linked.load();
    if (linked < 2 || d_place >= linked)
        return role::ALONE;
    return d_place == 0 ? role::FIRST : d_place + 1 < linked ? role::MIDDLE : role::LAST;
}

std::unique_lock<std::mutex> hand_over_end::chain_lock() const
{
    return role_in_chain() == role::ALONE && !(d_chain && d_chain->is_changing())
               ? std::unique_lock<std::mutex>()
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

/* What is on its way on the device is waited for first: where that takes long, a flush brings nothing sooner. */
size_t hand_over_end::pull_chain(void *out, size_t capacity)
{
    size_t count = 0;
    auto *first = d_chain->first();
    if (capacity)
        check(penstock_stream_pull(own_stream(), out, capacity, false, &count));
    if (capacity && !count && first->items_due_s() <= 0) {
        check(penstock_stream_pull(own_stream(), out, capacity, true, &count));
        if (!count && first->items_due_s() <= 0)
            first->flush_items();
    }
    if (count && d_chain->d_waits) {
        d_chain->d_waits = false;
        hand_over::wake(first);
    }
    return count;
}

double hand_over_end::chain_due_s() const
{
    auto *stream = const_cast<hand_over_end *>(this)->own_stream();
    return std::min(penstock_stream_due_s(stream), d_chain->first()->items_due_s());
}

void hand_over_end::finish_chain()
{
    d_chain->first()->finish_items();
}

} // namespace penstock
} // namespace gr
