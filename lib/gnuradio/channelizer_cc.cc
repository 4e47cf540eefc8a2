/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "channelizer_bank.h"

#include <cmath>

namespace gr
{
namespace penstock
{

/* The pass band of the stock block's own design ends at 0.4 of a channel's width, the stop band begins at 0.6. */
static std::vector<float> design(size_t channels, double atten)
{
    const auto width = static_cast<double>(channels);
    std::vector<float> taps(penstock_taps_length(0.2 / width, atten));
    if (taps.empty())
        throw std::runtime_error("channelizer: no prototype of 2^20 taps at most for " + std::to_string(channels) +
                                 " channels with an attenuation of " + std::to_string(atten) + " dB");
    check(penstock_taps_design(taps.data(), taps.size(), PENSTOCK_LOW_PASS, 0.5 / width, 0, atten));
    return taps;
}

/*
 * Items of each channel for which there is room before the block. They gather while it works and wakes who is behind
 * it, one thread for each channel perhaps, which costs more than the items of a small piece do. The stock block's
 * streams hold as many between its two parts.
 */
constexpr size_t BUFFER_ITEMS = 8192;

class channelizer_cc_impl final : public channelizer_bank
{
    // Items to come of those that were taken; `ended`: the last one is that of any number of input items.
    uint64_t waiting(bool ended) const
    {
        const auto info = stream_info();
        return (info.taken + (ended ? d_hop - 1 : 0)) / d_hop - info.given;
    }

    void restart() override
    {
        set_relative_rate(1, d_hop); // what ask_for_buffers() said was for the buffers alone
        channelizer_bank::restart();
    }

    outcome work(const call &now) override
    {
        const auto available = static_cast<size_t>(now.available[0]);
        size_t taken = 0, given;
        if (!d_ended)
            check(penstock_stream_push(stream(), now.in[0], available, &taken));
        reach(0);
        finish_at_end(taken, available);
        check(penstock_stream_pull_channels(stream(), now.out.data(), now.capacity, false, &given));
        return pass(taken, given, penstock_stream_due_s(stream()));
    }

  public:
    channelizer_cc_impl(int numchans, size_t hop, size_t origin, const std::vector<float> &taps,
                        const std::string &device, double max_latency_ms)
        : gr::block("channelizer_cc", gr::io_signature::make(1, 1, sizeof(gr_complex)),
                    gr::io_signature::make(1, numchans, sizeof(gr_complex))),
          channelizer_bank(static_cast<size_t>(numchans), hop, origin, taps, device, max_latency_ms)
    {
        set_relative_rate(1, d_hop);
    }

    bool check_topology(int, int outputs) override
    {
        check_ports("channelizer", d_map, static_cast<size_t>(outputs), "outputs"); // start() has nobody to tell
        ask_for_buffers(*this, 0, sizeof(gr_complex), BUFFER_ITEMS * d_hop);
        return true;
    }

    void forecast(int, gr_vector_int &required) override
    {
        required[0] = waiting(detail()->input(0)->done()) ? 0 : 1;
    }
};

channelizer_cc::sptr channelizer_cc::make(int numchans, const std::vector<float> &taps, double oversample_rate,
                                          double atten, const std::string &device, double max_latency_ms)
{
    const double hop = std::round(numchans / oversample_rate);
    const bool whole = hop >= 1 && hop <= numchans && std::abs(hop * oversample_rate - numchans) < 1e-6 * numchans;
    check_range("channelizer", "numchans", numchans, 2, 65536);
    check_value("channelizer", "oversample_rate", oversample_rate, whole, "numchans / i for an i of 1 .. numchans");
    const auto prototype = taps.empty() ? design(static_cast<size_t>(numchans), atten) : taps;
    return gnuradio::make_block_sptr<channelizer_cc_impl>(
        numchans, static_cast<size_t>(hop), static_cast<size_t>(hop) + 1, prototype, device, max_latency_ms);
}

channelizer_cc::sptr channelizer_cc::make_hier(int numchans, const std::vector<float> &taps, const std::string &device,
                                               double max_latency_ms)
{
    check_range("channelizer", "n_chans", numchans, 2, 65536);
    check_taps("channelizer", taps);
    return gnuradio::make_block_sptr<channelizer_cc_impl>(numchans, static_cast<size_t>(numchans), 0, taps, device,
                                                          max_latency_ms);
}

} // namespace penstock
} // namespace gr
