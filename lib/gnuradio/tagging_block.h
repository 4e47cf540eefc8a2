/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* Tags that a block passes on itself, each with the output item that is its own. */
#ifndef INCLUDED_PENSTOCK_TAGGING_BLOCK_H
#define INCLUDED_PENSTOCK_TAGGING_BLOCK_H

#include <algorithm>
#include <deque>
#include <gnuradio/block.h>
#include <vector>

namespace gr
{
namespace penstock
{

//! Interface is the public class of the block.
template <typename Interface> class tagging_block : public Interface
{
  protected:
    std::deque<gr::tag_t> d_later; // of output items that were not handed out, in their order

    //! Of `count` items of an input from `first` on.
    std::vector<gr::tag_t> tags_of(uint64_t first, size_t count, unsigned port = 0)
    {
        std::vector<gr::tag_t> tags;
        this->get_tags_in_range(tags, port, first, first + count);
        return tags;
    }

    //! Passes them on. `place(i)` is the output item, of the port with the same number, for the i-th of these items.
    template <typename F> void pass_tags(uint64_t first, size_t count, unsigned port, F place)
    {
        for (auto &tag : tags_of(first, count, port)) {
            tag.offset = place(tag.offset - first);
            this->add_item_tag(port, tag);
        }
    }

    //! A tag of an output item that waits in the block, or of the next one.
    void keep_tag(uint64_t item, const pmt::pmt_t &key, const pmt::pmt_t &value, const pmt::pmt_t &source = pmt::PMT_F)
    {
        d_later.emplace_back();
        d_later.back().offset = item;
        d_later.back().key = key;
        d_later.back().value = value;
        d_later.back().srcid = source;
    }

    //! In work, which gives so many items. A tag whose item is gone goes with the next one.
    void give_tags(size_t given)
    {
        const uint64_t next = this->nitems_written(0);
        for (; !d_later.empty() && d_later.front().offset < next + given; d_later.pop_front()) {
            d_later.front().offset = std::max(d_later.front().offset, next);
            this->add_item_tag(0, d_later.front());
        }
    }
};

} // namespace penstock
} // namespace gr

#endif
