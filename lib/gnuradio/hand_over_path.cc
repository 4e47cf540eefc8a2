/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* How blocks find their neighbours in a flowgraph. */
#include "hand_over.h"

#include <gnuradio/block_detail.h>
#include <gnuradio/blocks/stream_to_vector.h>
#include <gnuradio/blocks/vector_to_stream.h>
#include <gnuradio/buffer_reader.h>
#include <numeric>

namespace gr
{
namespace penstock
{

/* With what they copy nothing is done but that it goes on, whatever an item is called. */
static bool only_copies(const gr::block *block)
{
    return dynamic_cast<const gr::blocks::stream_to_vector *>(block) ||
           dynamic_cast<const gr::blocks::vector_to_stream *>(block);
}

/* The one block that reads what a block writes, or nullptr. */
static gr::block_sptr only_reader(gr::block &block)
{
    const auto detail = block.detail();
    if (!detail || detail->noutputs() != 1 || detail->output(0)->nreaders() != 1)
        return nullptr;
    auto reader = detail->output(0)->reader(0)->link();
    return reader && reader->detail() && reader->detail()->ninputs() == 1 ? reader : nullptr;
}

static gr::block_sptr only_writer(gr::block &block)
{
    const auto detail = block.detail();
    return detail && detail->ninputs() == 1 ? detail->input(0)->buffer()->link() : nullptr;
}

hand_over_end *hand_over::next(hand_over_end *end)
{
    auto block = only_reader(end->own_block());
    while (block && only_copies(block.get()))
        block = only_reader(*block);
    return dynamic_cast<hand_over_end *>(block.get());
}

hand_over_end *hand_over::before(hand_over_end *end)
{
    auto block = only_writer(end->own_block());
    while (block && only_copies(block.get()))
        block = only_writer(*block);
    auto *found = dynamic_cast<hand_over_end *>(block.get());
    return found && next(found) == end ? found : nullptr;
}

std::vector<hand_over_end *> hand_over::find(hand_over_end *end)
{
    std::vector<hand_over_end *> ends;
    while (end->can_link() && !end->begins_chain() && before(end) && before(end)->can_link())
        end = before(end);
    for (; end && end->can_link() && (ends.empty() ? end->begins_chain() : !end->begins_chain()); end = next(end))
        ends.push_back(end);
    return ends;
}

/* Items that are on their way between two blocks are of no stream's. */
bool hand_over::is_empty_between(hand_over_end *from, hand_over_end *to)
{
    bool empty = true;
    for (auto *block = &to->own_block(); block != &from->own_block(); block = only_writer(*block).get())
        empty &= block->detail()->input(0)->items_available() == 0;
    return empty;
}

uint64_t hand_over::unit_between(hand_over_end *first, hand_over_end *last)
{
    const uint64_t item = first->own_block().detail()->output(0)->get_sizeof_item();
    uint64_t bytes = item;
    for (auto *block = &last->own_block(); block != &first->own_block(); block = only_writer(*block).get())
        bytes = std::lcm(bytes, uint64_t{block->detail()->input(0)->get_sizeof_item()});
    return bytes / item;
}

bool hand_over::can_pass(hand_over_end *from, hand_over_end *to)
{
    if (penstock_stream_link(from->own_stream(), to->own_stream()))
        return false;
    auto info = description<penstock_stream_info>();
    if (!penstock_stream_get_info(to->own_stream(), &info) && info.linked_on)
        return true;
    penstock_stream_unlink(from->own_stream(), to->own_stream());
    return false;
}

} // namespace penstock
} // namespace gr
