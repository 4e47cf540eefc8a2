/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_PFB_ARB_RESAMPLER_H
#define INCLUDED_PENSTOCK_PFB_ARB_RESAMPLER_H

#include <gnuradio/penstock/device_block.h>
#include <string>
#include <vector>

namespace gr
{
namespace penstock
{

/*!
 * \brief Polyphase resampler for any rate, T samples in and out, taps of type TAP.
 *
 * The parameters of the stock block with the same name come first and mean the same. With L arms, output k stands at
 * the time t = phase + k / rate, in input items, and is the sum over i of h(f L + i L) in[n - i] for t = n + f, on the
 * straight line between two taps where f L is not whole. T input items make all outputs with t < T. Times are exact,
 * those of the stock block are sums of floats. The message port `stats` has the counters about once a second.
 */
template <typename T, typename TAP> class GR_PENSTOCK_API pfb_arb_resampler : public device_block
{
  public:
    using sptr = std::shared_ptr<pfb_arb_resampler<T, TAP>>;

    /*!
     * \param rate output items per input item, 1/1024 .. 1024
     * \param taps the prototype at filter_size times the input's rate, 1 .. 2^20
     * \param filter_size arms of the filter bank, 1 .. 65536
     * \param device "auto", "cpu", or "prefer:NAME"
     */
    static sptr make(double rate, const std::vector<TAP> &taps, int filter_size = 32,
                     const std::string &device = "auto");

    //! Other taps, from the first output on that stands behind the items taken so far.
    virtual void set_taps(const std::vector<TAP> &taps) = 0;
    //! By arms, each filled up with zeros to taps_per_filter().
    virtual std::vector<std::vector<TAP>> taps() const = 0;

    //! Another rate, from the first output on that stands behind the items taken so far; this one does not move.
    virtual void set_rate(double rate) = 0;

    //! Where the first output stands: at arm phase / (2 pi) filter_size. 0 .. 2 pi, before the first item only.
    virtual void set_phase(double phase) = 0;
    virtual double phase() const = 0;

    virtual unsigned interpolation_rate() const = 0; //!< filter_size
    virtual unsigned decimation_rate() const = 0;    //!< whole arms from one output to the next
    virtual double fractional_rate() const = 0;      //!< and the part of one
    virtual unsigned taps_per_filter() const = 0;
    virtual int group_delay() const = 0; //!< of symmetric taps, in output items
    //! Phase by which a tone of frequency `freq` at the input's rate `fs` is late, in radians.
    virtual double phase_offset(double freq, double fs) const = 0;
};

using pfb_arb_resampler_ccf = pfb_arb_resampler<gr_complex, float>;
using pfb_arb_resampler_ccc = pfb_arb_resampler<gr_complex, gr_complex>;
using pfb_arb_resampler_fff = pfb_arb_resampler<float, float>;

} // namespace penstock
} // namespace gr

#endif
