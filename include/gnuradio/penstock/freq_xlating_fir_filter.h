/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_FREQ_XLATING_FIR_FILTER_H
#define INCLUDED_PENSTOCK_FREQ_XLATING_FIR_FILTER_H

#include <cstdint>
#include <gnuradio/penstock/device_block.h>
#include <string>
#include <vector>

namespace gr
{
namespace penstock
{

/*!
 * \brief Frequency translation, FIR filter and decimation: IN samples in, complex ones out, taps of type TAP.
 *
 * The parameters of the stock block with the same name come first and mean the same. What is at center_freq moves to
 * zero; the oscillator has phase zero in the middle of the taps. T input items make exactly floor(T / decimation)
 * output items. A message at port `freq`, a pair (freq . Hz) or a dictionary with `freq`, is a set_center_freq(); the
 * tag `freq` marks the output item from which on another frequency holds. The message port `stats` has the counters.
 */
template <typename IN, typename TAP> class GR_PENSTOCK_API freq_xlating_fir_filter : public batching_block
{
  public:
    using sptr = std::shared_ptr<freq_xlating_fir_filter<IN, TAP>>;

    /*!
     * \param decimation 1 .. 2^20
     * \param taps the filter's taps, at least one
     * \param center_freq what is there moves to zero
     * \param sampling_freq the input's sample rate, in the unit of center_freq
     * \param device "auto", a device's name, or "prefer:NAME"
     * \param max_latency_ms an item waits at most so long for more items; 0: until a block is full
     */
    static sptr make(int decimation, const std::vector<TAP> &taps, double center_freq, double sampling_freq,
                     const std::string &device = "auto", double max_latency_ms = 10);

    //! Other taps, any number, from an input item on, which is returned: the first possible one.
    virtual uint64_t set_taps(const std::vector<TAP> &taps) = 0;
    virtual std::vector<TAP> taps() const = 0;
    virtual int decimation() const = 0;

    //! Another frequency, likewise.
    virtual uint64_t set_center_freq(double center_freq) = 0;
    virtual double center_freq() const = 0;
};

using freq_xlating_fir_filter_ccc = freq_xlating_fir_filter<gr_complex, gr_complex>;
using freq_xlating_fir_filter_ccf = freq_xlating_fir_filter<gr_complex, float>;
using freq_xlating_fir_filter_fcc = freq_xlating_fir_filter<float, gr_complex>;
using freq_xlating_fir_filter_fcf = freq_xlating_fir_filter<float, float>;
using freq_xlating_fir_filter_scc = freq_xlating_fir_filter<short, gr_complex>;
using freq_xlating_fir_filter_scf = freq_xlating_fir_filter<short, float>;

} // namespace penstock
} // namespace gr

#endif
