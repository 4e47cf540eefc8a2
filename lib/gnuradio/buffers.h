/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* The buffers before and behind a block. */
#ifndef INCLUDED_PENSTOCK_BUFFERS_H
#define INCLUDED_PENSTOCK_BUFFERS_H

#include <gnuradio/block.h>

namespace gr
{
namespace penstock
{

/*!
 * Room for more items before and behind a block that gives one item for each that it takes: GNU Radio's own buffers of
 * 64 KiB let a thread sleep and wake for every few vectors, or for each one. A limit that the user sets holds. To be
 * called in check_topology(), which comes before the buffers are made, with set_relative_rate(1, 1) in start(), which
 * comes after: the scheduler makes the buffer before a block large only for the sake of a rate.
 */
void ask_for_buffers(gr::block &block, int outputs, size_t item_bytes, size_t items = 16);

//! Whether `items` can lie in the buffer before a port, with so much room behind them that the block before works on.
bool has_room_for(gr::block &block, size_t items, unsigned port = 0);

//! No more input will come to a port than the `available` items.
bool input_ended(gr::block &block, size_t available, unsigned port = 0);

} // namespace penstock
} // namespace gr

#endif
