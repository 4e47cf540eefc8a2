/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_FILTER_LINK_H
#define INCLUDED_PENSTOCK_FILTER_LINK_H

#include "core.h"

#include <algorithm>
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

inline size_t at_most(uint64_t count, size_t most)
{
    return count < most ? static_cast<size_t>(count) : most;
}

//! Exact to the rounding of the shift, after any number of samples.
double turns(double shift, uint64_t samples);

/* One filter of a filter_chain. */
struct filter_link {
    static constexpr size_t SCRATCH_VALUES = 4096;

    handle<penstock_stream> filter;
    uint64_t first, from; // first sample that it takes; first sample whose value is its own
    uint64_t foreign;     // values of the samples between the two, which are to be dropped
    size_t max_taps;
    double shift, made_phase;
    uint64_t anchor; // a sample from which on the shift holds
    double phase;    // in turns, there

    double phase_at(uint64_t sample) const;

    //! Drops the foreign values; false while some are to come. `scratch` has room for SCRATCH_VALUES.
    bool drop(char *scratch, bool wait);

    //! Takes samples before its first own value.
    void fill(const char *samples, size_t count, size_t sample_bytes, char *scratch);

    void set_taps(const filter_taps &taps, uint64_t at);
    void set_shift(double to, double jump, uint64_t at);

    //! Back to the first sample of all.
    void reset();

    penstock_filter_info info() const;
};

} // namespace penstock
} // namespace gr

#endif
