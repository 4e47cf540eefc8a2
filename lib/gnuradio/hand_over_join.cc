/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/*
 * Blocks that are linked in mid-stream, as "auto" and "prefer:" begin on the CPU. Once some have come to one device
 * each uses its stream with the chain's lock; from the call on in which all do the first one gives whole items of all
 * and then none, until each has taken what the one before has given. What waits in a stream then goes on by the link.
 */
#include "hand_over.h"

#include <algorithm>
#include <gnuradio/block_detail.h>
#include <gnuradio/buffer.h>
#include <gnuradio/buffer_reader.h>

namespace gr
{
namespace penstock
{

static bool is_the_host(const std::string &device)
{
    return device.empty() || device == "cpu" || device == "reference";
}

/* As many as are on one device; those that are linked stay so as long as they can take items. */
void hand_over::want()
{
    const std::string &device = first()->d_device;
    size_t most = 1;
    while (most < d_most && d_ends[most]->can_take() &&
           (most < d_linked || (!is_the_host(device) && d_ends[most]->d_device == device)))
        most++;
    for (auto *end : d_ends)
        end->d_heeds = false;
    d_wanted = most;
    d_unit = unit_between(first(), d_ends[concerned() - 1]);
    for (size_t i = 0; is_changing() && i < concerned(); i++)
        wake(d_ends[i]);
}

bool hand_over::all_heed() const
{
    return std::all_of(d_ends.begin(), d_ends.begin() + static_cast<ptrdiff_t>(concerned()),
                       [](const hand_over_end *end) { return end->d_heeds.load(); });
}

/* By what was counted under the lock: a block between two may have taken items and not given them yet. */
bool hand_over::is_drained() const
{
    bool drained = true;
    for (size_t i = 1; i < concerned(); i++) {
        auto &from = d_ends[i - 1]->own_block(), &to = d_ends[i]->own_block();
        const uint64_t written = from.nitems_written(0) - d_ends[i - 1]->d_written,
                       read = to.nitems_read(0) - d_ends[i]->d_read;
        drained &=
            written * from.detail()->output(0)->get_sizeof_item() == read * to.detail()->input(0)->get_sizeof_item();
    }
    return drained;
}

void hand_over::join()
{
    const size_t before = d_linked > 1 ? d_linked.load() : 0;
    size_t linked = d_linked;
    while (linked < d_wanted && can_pass(d_ends[linked - 1], d_ends[linked]))
        linked++;
    for (size_t i = before; linked > 1 && i < linked; i++) {
        d_ends[i]->d_ahead = d_ends[i]->items_ahead();
        d_ends[i]->set_linked(true);
    }
    d_linked = linked;
    d_wanted = linked;
}

bool hand_over_end::is_asked() const
{
    return d_chain && !d_heeds && d_chain->is_changing() && d_place < d_chain->concerned();
}

size_t hand_over_end::room_in_chain(size_t capacity, const std::unique_lock<std::mutex> &lock)
{
    if (!lock || !d_chain->is_changing())
        return capacity;
    d_heeds = true;
    auto &block = own_block();
    if (d_place > 0 || !d_chain->all_heed() || !can_join() || block.detail()->input(0)->done())
        return capacity;
    const uint64_t over = (block.nitems_written(0) - d_written) % d_chain->d_unit;
    if (over) {
        hurry();
        return static_cast<size_t>(std::min<uint64_t>(capacity, d_chain->d_unit - over));
    }
    const bool leaves = d_chain->d_wanted < d_chain->d_linked;
    if (!d_chain->is_drained() || (leaves && !d_chain->is_settled()))
        return 0;
    leaves ? d_chain->leave() : d_chain->join();
    return capacity;
}

void hand_over_end::tell_device(std::unique_lock<std::mutex> &lock)
{
    if (!d_chain || d_chain->d_state != hand_over::state::MET || !(d_chain->is_open() || d_changed))
        return;
    const char *device = penstock_stream_device(own_stream());
    if (!device || (d_device == device && !d_changed))
        return;
    if (!lock)
        lock = std::unique_lock<std::mutex>(d_chain->d_mutex);
    d_changed = false;
    d_device = device;
    d_chain->want();
}

} // namespace penstock
} // namespace gr
