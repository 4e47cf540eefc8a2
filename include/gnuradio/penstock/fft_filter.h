/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_FFT_FILTER_H
#define INCLUDED_PENSTOCK_FFT_FILTER_H

#include <cstdint>
#include <gnuradio/penstock/device_block.h>
#include <string>
#include <vector>

namespace gr
{
namespace penstock
{

/*!
 * \brief FIR filter by FFT, T samples in and out, taps of type TAP, with frequency translation and decimation.
 *
 * The parameters of the stock block with the same name come first and mean the same. T input items make exactly
 * floor(T / decimation) output items. The message port `stats` has the counters about once a second.
 */
template <typename T, typename TAP> class GR_PENSTOCK_API fft_filter : public batching_block
{
  public:
    using sptr = std::shared_ptr<fft_filter<T, TAP>>;

    static constexpr int64_t AT_ONCE = -1;

    /*!
     * \param decimation >= 1
     * \param taps the filter's taps, at least one
     * \param nthreads kept for the stock block's users; the library's thread pool serves all blocks
     * \param center_freq what is at this frequency moves to zero before it is filtered; not with float samples
     * \param sampling_freq the input's sample rate, in the unit of center_freq
     * \param device "auto", a device's name, or "prefer:NAME"
     * \param max_latency_ms an item waits at most so long for more items; 0: until a block is full
     */
    static sptr make(int decimation, const std::vector<TAP> &taps, int nthreads = 1, double center_freq = 0,
                     double sampling_freq = 1, const std::string &device = "auto", double max_latency_ms = 10);

    /*!
     * Other taps, any number: all output items from the one of input item `sample` on are made by them alone, those
     * before by the old ones alone. AT_ONCE, or an item that was taken already, means the first possible one.
     * Returns the item from which on they hold.
     */
    virtual uint64_t set_taps(const std::vector<TAP> &taps, int64_t sample = AT_ONCE) = 0;
    virtual std::vector<TAP> taps() const = 0;
    virtual int decimation() const = 0;

    virtual void set_nthreads(int nthreads) = 0;
    virtual int nthreads() const = 0;

    //! Another frequency, with no jump of the phase; where it begins is returned, as by set_taps().
    virtual uint64_t set_center_freq(double center_freq) = 0;
    virtual double center_freq() const = 0;
};

using fft_filter_ccc = fft_filter<gr_complex, gr_complex>;
using fft_filter_ccf = fft_filter<gr_complex, float>;
using fft_filter_fff = fft_filter<float, float>;

} // namespace penstock
} // namespace gr

#endif
