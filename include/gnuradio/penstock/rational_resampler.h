/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_RATIONAL_RESAMPLER_H
#define INCLUDED_PENSTOCK_RATIONAL_RESAMPLER_H

#include <gnuradio/penstock/device_block.h>
#include <string>
#include <vector>

namespace gr
{
namespace penstock
{

/*!
 * \brief Polyphase resampler for interpolation / decimation, IN samples in and OUT out, taps of type TAP.
 *
 * The parameters of the stock block with the same name come first and mean the same. T input items make exactly
 * ceil(T interpolation / decimation) output items. The message port `stats` has the counters about once a second.
 */
template <typename IN, typename OUT, typename TAP> class GR_PENSTOCK_API rational_resampler : public device_block
{
  public:
    using sptr = std::shared_ptr<rational_resampler<IN, OUT, TAP>>;

    /*!
     * \param interpolation 1 .. 65536
     * \param decimation 1 .. 2^20, interpolation / decimation from 1/1024 to 1024
     * \param taps the prototype at interpolation times the input's rate, 1 .. 2^20
     * \param device "auto", "cpu", or "prefer:NAME"
     */
    static sptr make(unsigned interpolation, unsigned decimation, const std::vector<TAP> &taps,
                     const std::string &device = "auto");

    virtual unsigned interpolation() const = 0;
    virtual unsigned decimation() const = 0;

    //! Other taps, from the first output on that stands behind the items taken so far.
    virtual void set_taps(const std::vector<TAP> &taps) = 0;
    //! Filled up with zeros to a multiple of the interpolation.
    virtual std::vector<TAP> taps() const = 0;
};

using rational_resampler_ccf = rational_resampler<gr_complex, gr_complex, float>;
using rational_resampler_ccc = rational_resampler<gr_complex, gr_complex, gr_complex>;
using rational_resampler_fcc = rational_resampler<float, gr_complex, gr_complex>;
using rational_resampler_fff = rational_resampler<float, float, float>;

} // namespace penstock
} // namespace gr

#endif
