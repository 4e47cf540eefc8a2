/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_CHANNELIZER_CC_H
#define INCLUDED_PENSTOCK_CHANNELIZER_CC_H

#include <cstdint>
#include <gnuradio/penstock/device_block.h>
#include <string>
#include <vector>

namespace gr
{
namespace penstock
{

/*!
 * \brief Polyphase channelizer: a stream to streams of its channels, each an output.
 *
 * The parameters of the stock pfb.channelizer_ccf come first and mean the same. With hop = numchans / oversample_rate,
 * item m of channel k is the sum over l of taps[l] in[p - l] exp(-2 pi i k (p - l + 1 + hop) / numchans), p = (m + 1)
 * hop - 1. T input items make exactly ceil(T / hop) output items. The message port `stats` has the counters about once
 * a second.
 */
class GR_PENSTOCK_API channelizer_cc : public batching_block
{
  public:
    using sptr = std::shared_ptr<channelizer_cc>;

    static constexpr int64_t AT_ONCE = -1;

    /*!
     * \param numchans 2 .. 65536
     * \param taps the prototype; empty: one designed for `atten`
     * \param oversample_rate numchans / hop, hop = 1 .. numchans
     * \param atten of the designed prototype, in dB, between 0.4 and 0.6 of a channel's width from its middle
     * \param device "auto", a device's name, or "prefer:NAME"
     * \param max_latency_ms an item waits at most so long for more items; 0: until a batch is full
     */
    static sptr make(int numchans, const std::vector<float> &taps = std::vector<float>(), double oversample_rate = 1,
                     double atten = 100, const std::string &device = "auto", double max_latency_ms = 10);

    /*!
     * The bank inside the stock pfb.channelizer_hier_ccf, whose oscillators have phase zero at item 0 and not at item
     * -(1 + hop). Its taps are those of that block reversed, filled up to a multiple of numchans.
     */
    static sptr make_hier(int numchans, const std::vector<float> &taps, const std::string &device = "auto",
                          double max_latency_ms = 10);

    /*!
     * Another prototype, any number of taps: output items of `sample` and of input items after it are made by it alone,
     * those before by the old one alone. AT_ONCE, or an item that was taken already, means the first possible one.
     * Returns the input item from which on it holds.
     */
    virtual uint64_t set_taps(const std::vector<float> &taps, int64_t sample = AT_ONCE) = 0;
    virtual std::vector<float> taps() const = 0;

    //! The channel of each output, none twice; empty: 0, 1, 2, ... Holds from the next output item on.
    virtual void set_channel_map(const std::vector<int> &map) = 0;
    virtual std::vector<int> channel_map() const = 0;
};

} // namespace penstock
} // namespace gr

#endif
