/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/*
 * A filter of the C library whose taps and shift may change for any others. Where they are more taps than the filter at
 * hand may have, another one follows it: both take the samples that fill its history, and it takes over at a value.
 */
#ifndef INCLUDED_PENSTOCK_FILTER_CHAIN_H
#define INCLUDED_PENSTOCK_FILTER_CHAIN_H

#include "filter_link.h"
#include "stats.h"

#include <deque>
#include <string>

namespace gr
{
namespace penstock
{

class filter_chain
{
    block_log &d_log;
    const std::shared_ptr<penstock_context> d_context = shared_context();
    const penstock_format d_format;
    const size_t d_decimation, d_sample_bytes, d_value_bytes;
    const bool d_centred;
    const std::string d_device;
    filter_taps d_taps;
    std::deque<filter_link> d_links; // the first one is that of the next value
    uint64_t d_samples = 0, d_values = 0, d_changed = 0;
    uint64_t d_fallbacks = 0, d_cpu_while_compiling = 0; // of filters that are gone
    std::vector<char> d_scratch;
    bool d_linked = false; // the first one's values go to another stream

    void end_link(filter_link &link);
    void pop();
    void advance();
    double lag(const filter_taps &taps, double shift) const;
    filter_link make_link(const filter_taps &taps, double shift, double phase, uint64_t first, uint64_t from) const;
    uint64_t append(const filter_taps &taps, double shift, uint64_t at);

  public:
    //! `centred`: a shift has phase zero at the middle of the taps that hold at the first sample, and moves with them.
    filter_chain(block_log &log, penstock_format format, const filter_taps &taps, size_t decimation, double shift,
                 bool centred, const std::string &device);

    //! How many of `count` samples were taken; not all where values wait to be pulled.
    size_t push(const void *samples, size_t count);

    //! How many values came; `wait` as for penstock_stream_pull().
    size_t pull(void *values, size_t capacity, bool wait);

    /*!
     * Both at once, as many values as samples at most, without a copy of either: how many values came. Where nothing is
     * to be had by that, on another device or while taps change, no sample is taken.
     */
    size_t run(const void *samples, size_t count, size_t &taken, void *values, size_t capacity);

    //! The stream of the next values.
    penstock_stream *stream() const
    {
        return d_links.front().filter.get();
    }

    //! From now on another stream takes the values from stream(), whichever it is then, and nothing is pulled.
    void set_linked(bool linked)
    {
        d_linked = linked;
    }

    //! No other filter is to follow, and the next value is its own.
    bool is_one() const
    {
        return d_links.size() == 1 && !d_links.front().foreign;
    }

    //! How many of its values that one has taken.
    uint64_t taken_on() const;

    //! So many count as given.
    void hand_on(uint64_t values)
    {
        d_values += values;
    }

    //! All values of the samples so far can be pulled at once.
    void flush();

    //! No more samples come.
    void finish();

    //! Back to the first sample, with the taps and shift that were set last.
    void reset();

    //! Taps and shift (turns per sample) from sample `at` on, or the first possible one after it; which is returned.
    uint64_t change(const filter_taps &taps, double shift, uint64_t at);

    uint64_t samples() const
    {
        return d_samples;
    }

    uint64_t values() const
    {
        return d_values;
    }

    //! Counts of all, the rest of the filter at hand.
    penstock_stream_stats stats() const;

    penstock_filter_info info() const
    {
        return d_links.back().info();
    }
};

} // namespace penstock
} // namespace gr

#endif
