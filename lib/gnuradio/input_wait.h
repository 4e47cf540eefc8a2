/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* How a block waits for input. */
#ifndef INCLUDED_PENSTOCK_INPUT_WAIT_H
#define INCLUDED_PENSTOCK_INPUT_WAIT_H

#include <gnuradio/block.h>

namespace gr
{
namespace penstock
{

/*!
 * Patience with one port of a block whose input is always on its way. The scheduler wakes a block for the first few
 * samples, and where that is faster than its source, each of the two wakes the other for little; this costs more than
 * the samples do. So a call of a thread with a real-time priority may wait, without sleeping, as long as input comes
 * every few microseconds.
 */
class gatherer
{
    unsigned d_in_vain = 0, d_skipped = 0; // waits in a row, and calls since the last one

  public:
    //! In general_work(), without locks: `available` items, or those that there are after a wait for `enough`, at most
    //! half of what the buffer has room for, and for what makes a call worth it. Where nothing comes of waiting, hardly
    //! any call waits. `old`: the first items, which a call before had already.
    size_t more(gr::block &block, size_t available, size_t enough, size_t old = 0, unsigned port = 0);
};

/*!
 * Sleeps until input or a message comes, but no longer than `seconds`. To be called in general_work() without locks:
 * the scheduler itself calls no block that has no new input.
 */
void wait_for_input(gr::block &block, double seconds);

} // namespace penstock
} // namespace gr

#endif
