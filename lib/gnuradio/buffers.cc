/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "buffers.h"

#include <algorithm>
#include <gnuradio/block_detail.h>
#include <gnuradio/buffer.h>
#include <gnuradio/buffer_reader.h>
#include <stdexcept>

namespace gr
{
namespace penstock
{

/* GNU Radio throws for a port of which it has not heard. */
static long wanted_items(gr::block &block, int port)
{
    try {
        return block.min_output_buffer(static_cast<size_t>(port));
    } catch (const std::invalid_argument &) {
        return 0;
    }
}

/* Whether the user has set a limit below that. */
static bool is_limited(gr::block &block, int port, size_t items)
{
    try {
        const long limit = block.max_output_buffer(static_cast<size_t>(port));
        return limit > 0 && static_cast<size_t>(limit) < items;
    } catch (const std::invalid_argument &) {
        return false;
    }
}

/* GNU Radio 3.10.5 writes the size of each buffer that it makes over the limit, which counts for more than what is
 * wanted at the next start. A limit of the user's leaves the buffer smaller than that. */
static void forget_made(gr::block &block, int port)
{
    const auto detail = block.detail();
    const long wanted = wanted_items(block, port);
    if (!detail || port >= detail->noutputs() || wanted <= 0)
        return;
    const auto made = static_cast<long>(detail->output(static_cast<unsigned>(port))->bufsize());
    if (made >= wanted && block.max_output_buffer(static_cast<size_t>(port)) == made)
        block.set_max_output_buffer(port, -1);
}

void ask_for_buffers(gr::block &block, int outputs, size_t item_bytes, size_t items)
{
    constexpr size_t bytes = 256 << 10, most_bytes = 8 << 20;
    items = std::min(std::max(bytes / item_bytes, items), most_bytes / item_bytes);
    if (items <= 2) // what the scheduler gives anyway
        return;
    for (int port = 0; port < outputs; port++) {
        forget_made(block, port);
        if (!is_limited(block, port, items) && wanted_items(block, port) < static_cast<long>(items))
            block.set_min_output_buffer(port, static_cast<long>(items));
    }
    block.set_relative_rate(1, items / 2); // the scheduler makes twice as many items
}

bool has_room_for(gr::block &block, size_t items, unsigned port)
{
    const auto most = static_cast<size_t>(block.detail()->input(port)->max_possible_items_available());
    return items <= most - most / 4;
}

bool input_ended(gr::block &block, size_t available, unsigned port)
{
    auto reader = block.detail()->input(port);
    return reader->done() && static_cast<size_t>(reader->items_available()) == available;
}

} // namespace penstock
} // namespace gr
