/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* Linked blocks that part in mid-stream, as one can take no items from a stream any more: hand_over_join.cc's way back.
 * The first one gives none meanwhile, and what it gave so far is made without more. */
#include "hand_over.h"

namespace gr
{
namespace penstock
{

/* Items of GNU Radio's that the stream has not taken. */
uint64_t hand_over_end::items_ahead()
{
    auto info = description<penstock_stream_info>();
    check(penstock_stream_get_info(own_stream(), &info));
    return own_block().nitems_read(0) - info.taken;
}

/* Whether no value is on its way from stream to stream, and all that were made count as given. */
bool hand_over::is_settled()
{
    bool settled = true;
    first()->flush_items();
    for (size_t i = 1; i < d_linked; i++)
        settled &= d_ends[i - 1]->can_join() && d_ends[i]->items_ahead() == d_ends[i]->d_ahead;
    return settled;
}

/* Those that are wanted no more go on by themselves. */
void hand_over::leave()
{
    const size_t left = d_wanted;
    for (size_t i = left; i < d_linked; i++)
        penstock_stream_unlink(d_ends[i - 1]->own_stream(), d_ends[i]->own_stream());
    for (size_t i = left > 1 ? left : 0; i < d_linked; i++)
        d_ends[i]->set_linked(false);
    d_linked = left;
}

} // namespace penstock
} // namespace gr
