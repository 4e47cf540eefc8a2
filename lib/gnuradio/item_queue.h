/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_ITEM_QUEUE_H
#define INCLUDED_PENSTOCK_ITEM_QUEUE_H

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gr
{
namespace penstock
{

/* Output items that were made and not handed out. */
class item_queue
{
    const size_t d_item_bytes;
    std::vector<char> d_items; // from byte d_given on
    size_t d_given = 0;

  public:
    explicit item_queue(size_t item_bytes) : d_item_bytes(item_bytes)
    {
    }

    size_t bytes() const
    {
        return d_items.size() - d_given;
    }

    size_t size() const
    {
        return bytes() / d_item_bytes;
    }

    void clear()
    {
        d_items.clear();
        d_given = 0;
    }

    //! So many more, all zero, to be written where it returns.
    void *extend(size_t count)
    {
        d_items.erase(d_items.begin(), d_items.begin() + static_cast<std::ptrdiff_t>(d_given));
        d_given = 0;
        d_items.resize(d_items.size() + count * d_item_bytes);
        return d_items.data() + d_items.size() - count * d_item_bytes;
    }

    void add(const void *items, size_t count)
    {
        std::copy_n(static_cast<const char *>(items), count * d_item_bytes, static_cast<char *>(extend(count)));
    }

    //! Hands out `capacity` items at most, and returns how many.
    size_t give(void *out, size_t capacity)
    {
        const size_t count = std::min(capacity, size()), some = count * d_item_bytes;
        std::copy_n(d_items.begin() + static_cast<std::ptrdiff_t>(d_given), some, static_cast<char *>(out));
        d_given += some;
        return count;
    }
};

} // namespace penstock
} // namespace gr

#endif
