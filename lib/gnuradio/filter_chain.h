/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/*
 * A filter of the C library whose taps and shift may change for any others. Where they are more taps than the filter at
 * hand may have, another one follows it: both take the samples that fill its history, and it takes over at a value.
 */
#ifndef INCLUDED_PENSTOCK_FILTER_CHAIN_H
#define INCLUDED_PENSTOCK_FILTER_CHAIN_H

#include "stats.h"

#include <algorithm>
#include <deque>
#include <vector>

namespace gr
{
namespace penstock
{

//! Of one kind: the other is empty.
struct filter_taps {
    std::vector<penstock_cf32> complex;
    std::vector<float> real;

    bool operator==(const filter_taps &other) const
    {
        return real == other.real && complex.size() == other.complex.size() &&
               std::equal(complex.begin(), complex.end(), other.complex.begin(),
                          [](auto a, auto b) { return a.re == b.re && a.im == b.im; });
    }

    size_t size() const
    {
        return complex.empty() ? real.size() : complex.size();
    }
};

class filter_chain
{
    struct element {
        handle<penstock_stream> filter;
        uint64_t first, from; // first sample that it takes; first sample whose value is its own
        size_t max_taps;
        double shift, made_phase;
        uint64_t anchor;      // a sample from which on the shift holds
        double phase;         // in turns, there
        uint64_t dropped = 0; // values between the two

        double phase_at(uint64_t sample) const;
    };

    block_log &d_log;
    std::shared_ptr<penstock_context> d_context = shared_context();
    const penstock_format d_format;
    const size_t d_decimation, d_value_bytes;
    const bool d_centred;
    const std::string d_device;
    filter_taps d_taps;
    std::deque<element> d_links; // the first one is that of the next value
    uint64_t d_samples = 0, d_values = 0, d_changed = 0;
    uint64_t d_fallbacks = 0, d_cpu_while_compiling = 0; // of filters that are gone
    std::vector<char> d_scratch;

    handle<penstock_stream> make_filter(const filter_taps &taps, double shift, double phase) const;
    penstock_filter_info info(const element &link) const;
    bool drop(element &link, bool wait);
    void fill(element &link, const char *samples, size_t count);
    double lag(const filter_taps &taps, double shift) const;
    uint64_t append(const filter_taps &taps, double shift, uint64_t at);
    void set_taps(const filter_taps &taps, uint64_t at);
    void set_shift(double shift, double jump, uint64_t at);

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
        return info(d_links.back());
    }
};

} // namespace penstock
} // namespace gr

#endif
