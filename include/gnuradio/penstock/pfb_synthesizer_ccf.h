/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_PFB_SYNTHESIZER_CCF_H
#define INCLUDED_PENSTOCK_PFB_SYNTHESIZER_CCF_H

#include <gnuradio/penstock/device_block.h>
#include <string>
#include <vector>

namespace gr
{
namespace penstock
{

/*!
 * \brief Polyphase synthesizer: streams of channels, each an input, to one stream.
 *
 * The parameters of the stock block with the same name come first and mean the same. Input i goes to channel k =
 * channel_map[i]; without twox there are M = numchans channels and o = 0, with it M = 2 numchans and o = numchans.
 * Output item n is the sum over m of taps[n - m numchans] times the sum over i of in_i[m] exp(2 pi i k (n + o) / M). N
 * input items make N numchans output items. The message port `stats` has the counters about once a second.
 */
class GR_PENSTOCK_API pfb_synthesizer_ccf : public batching_block
{
  public:
    using sptr = std::shared_ptr<pfb_synthesizer_ccf>;

    /*!
     * \param numchans 2 .. 65536; with twox even, up to 32768
     * \param taps the prototype, at the rate of the output
     * \param twox channels come at twice the rate of their distance
     * \param device "auto", a device's name, or "prefer:NAME"
     * \param max_latency_ms an item waits at most so long for more items; 0: until a batch is full
     */
    static sptr make(int numchans, const std::vector<float> &taps, bool twox = false,
                     const std::string &device = "auto", double max_latency_ms = 10);

    //! Another prototype, from the items of the next input item on; those before are made by the old one alone.
    virtual void set_taps(const std::vector<float> &taps) = 0;
    //! By branches, as the stock block gives them.
    virtual std::vector<std::vector<float>> taps() const = 0;
    //! To the log.
    virtual void print_taps() = 0;

    //! The channel of each input, none twice; empty: 0, 1, 2, ... Holds from the next input item on.
    virtual void set_channel_map(const std::vector<int> &map) = 0;
    virtual std::vector<int> channel_map() const = 0;
};

} // namespace penstock
} // namespace gr

#endif
