/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_VECTOR_PICKER_H
#define INCLUDED_PENSTOCK_VECTOR_PICKER_H

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace gr
{
namespace penstock
{

/* Where a stream of items is, of which each `decim` vectors of `n` items the last one is used. */
class vector_picker
{
    const size_t d_n;
    size_t d_decim, d_skip, d_left; // items to leave out, then of the next vector
    uint64_t d_begun = 0;           // vectors before that one

    void begin_vector()
    {
        d_skip = (d_decim - 1) * d_n;
        d_left = d_n;
    }

  public:
    vector_picker(size_t n, size_t decim) : d_n(n), d_decim(decim)
    {
        begin_vector();
    }

    size_t decim() const
    {
        return d_decim;
    }

    void set_decim(size_t decim)
    {
        d_decim = decim;
        if (d_left == d_n) // nothing of the next vector was taken; those left out are, as the others, left out whole
            d_skip = (d_decim - 1) * d_n + d_skip % d_n;
    }

    //! Whether all items from here on are used.
    bool is_whole() const
    {
        return d_decim == 1 && !d_skip;
    }

    //! Number of the next vector: those before are complete.
    uint64_t vectors() const
    {
        return d_begun;
    }

    //! At the first item; the next vector has this number.
    void restart(uint64_t vector)
    {
        d_begun = vector;
        begin_vector();
    }

    //! How many of the next items are left out.
    size_t unused(size_t items) const
    {
        return std::min(d_skip, items);
    }

    //! Else, with `decim` 1 any number of items, or those of one vector at most.
    size_t piece(size_t items) const
    {
        return d_decim == 1 ? items : std::min(items, d_left);
    }

    //! The vector of the i-th item from here on, of those that unused() or piece() gives.
    uint64_t vector_of(uint64_t i) const
    {
        return d_begun + (d_skip ? 0 : (d_n - d_left + i) / d_n);
    }

    void take(size_t items)
    {
        const size_t at = d_n - d_left + items; // from the vector's start on
        if (d_skip) {
            d_skip -= items;
            return;
        }
        d_begun += at / d_n;
        d_left = d_n - at % d_n;
        if (d_left == d_n && items)
            begin_vector();
    }
};

} // namespace penstock
} // namespace gr

#endif
