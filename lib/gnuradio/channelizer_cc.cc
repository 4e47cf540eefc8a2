/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "checks.h"
#include "stream_block.h"

#include <cmath>
#include <gnuradio/penstock/channelizer_cc.h>

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

static void check_outputs(const std::vector<int> &map, size_t outputs)
{
    if (!map.empty() && map.size() < outputs)
        throw std::runtime_error("channelizer: channel_map has " + std::to_string(map.size()) +
                                 " channels, there are " + std::to_string(outputs) + " outputs");
}

static void check_channels(const std::vector<int> &map, size_t channels)
{
    std::vector<bool> seen(channels);
    for (const int channel : map) {
        if (channel < 0 || static_cast<size_t>(channel) >= channels || seen[static_cast<size_t>(channel)])
            throw std::runtime_error("channelizer: channel_map has " + std::to_string(channel) + ", not each of 0 .. " +
                                     std::to_string(channels - 1) + " once at most");
        seen[static_cast<size_t>(channel)] = true;
    }
}

/*
 * Items of each channel for which there is room before the block. They gather while it works and wakes who is behind
 * it, one thread for each channel perhaps, which costs more than the items of a small piece do. The stock block's
 * streams hold as many between its two parts.
 */
constexpr size_t BUFFER_ITEMS = 8192;

class channelizer_cc_impl final : public batch_block<channelizer_cc>
{
    const size_t d_channels, d_hop;
    std::vector<float> d_taps;
    size_t d_newest_taps = 0; // of the prototype that was asked for last
    uint64_t d_frame = 0;     // from which on it holds
    std::vector<int> d_map;
    bool d_ended = false, d_started = false;

    // An item's last input item is the last one of its hop, so the prototype reaches back that far at least.
    std::vector<float> prototype(std::vector<float> taps) const
    {
        taps.resize(std::max(taps.size(), d_hop));
        return taps;
    }

    // The library makes the channels of the outputs alone.
    void select(const std::vector<int> &map, size_t outputs)
    {
        std::vector<size_t> channels;
        for (size_t i = 0; i < outputs; i++)
            channels.push_back(map.empty() ? i : static_cast<size_t>(map[i]));
        const bool all = map.empty() && outputs == d_channels;
        check(penstock_channelizer_set_select(stream(), all ? nullptr : channels.data(), all ? 0 : channels.size()));
    }

    // Items to come of those that were taken; `ended`: the last one is that of any number of input items.
    uint64_t waiting(bool ended) const
    {
        auto info = description<penstock_channelizer_info>();
        check(penstock_channelizer_get_info(stream(), &info));
        return (info.samples + (ended ? d_hop - 1 : 0)) / d_hop - info.frames;
    }

    void restart() override
    {
        set_relative_rate(1, d_hop); // what ask_for_buffers() said was for the buffers alone
        if (d_started) {
            const std::lock_guard<std::mutex> guard(d_wanted_mutex);
            batch_block::restart();
            d_frame = d_reach = 0;
        }
        select(d_map, static_cast<size_t>(detail()->noutputs()));
        d_started = true;
        d_ended = false;
    }

    uint64_t items_taken() const override
    {
        auto info = description<penstock_channelizer_info>();
        check(penstock_channelizer_get_info(stream(), &info));
        return info.samples;
    }

    // The first frame that ends with `sample` or a later item, behind what may be taken.
    uint64_t frame_from(uint64_t sample) const
    {
        return std::max(std::max(sample, d_reach) / d_hop, d_frame);
    }

    // A longer one, whose place in the stream is known when it is made.
    uint64_t set_longer_taps(const std::vector<float> &taps, const std::vector<float> &padded, uint64_t sample)
    {
        const setting lock(*this);
        const std::lock_guard<std::mutex> guard(d_wanted_mutex);
        uint64_t last; // input item of the first output item
        make_changes();
        check(penstock_channelizer_set_taps(stream(), padded.data(), padded.size(), sample, &last));
        d_taps = taps;
        d_newest_taps = padded.size();
        d_frame = last / d_hop;
        return d_frame * d_hop;
    }

    outcome work(const call &now) override
    {
        const auto available = static_cast<size_t>(now.available[0]);
        size_t taken = 0, given;
        if (!d_ended)
            check(penstock_stream_push(stream(), now.in[0], available, &taken));
        reach(0);
        if (!d_ended && taken == available && input_ended(*this, available)) {
            check(penstock_stream_finish(stream()));
            d_ended = true;
        }
        check(penstock_stream_pull_channels(stream(), now.out.data(), now.capacity, false, &given));
        return pass(taken, given, penstock_stream_due_s(stream()));
    }

  public:
    channelizer_cc_impl(int numchans, size_t hop, size_t origin, const std::vector<float> &taps,
                        const std::string &device, double max_latency_ms)
        : gr::block("channelizer_cc", gr::io_signature::make(1, 1, sizeof(gr_complex)),
                    gr::io_signature::make(1, numchans, sizeof(gr_complex))),
          batch_block(max_latency_ms), d_channels(static_cast<size_t>(numchans)), d_hop(hop), d_taps(taps)
    {
        const auto padded = prototype(taps);
        d_newest_taps = padded.size();
        auto desc = description<penstock_channelizer_desc>();
        desc.channels = d_channels;
        desc.hop = d_hop;
        desc.taps = padded.data();
        desc.tap_count = padded.size();
        desc.advance = d_hop - 1;
        desc.origin = origin % d_channels;
        desc.max_latency_s = max_latency_ms / 1e3;
        add_stream(penstock_channelizer_open, desc, device);
        set_relative_rate(1, d_hop);
    }

    uint64_t set_taps(const std::vector<float> &taps, int64_t sample) override
    {
        check_other_taps("channelizer", taps);
        const auto padded = prototype(taps);
        const uint64_t at = sample < 0 ? 0 : static_cast<uint64_t>(sample);
        std::unique_lock<std::mutex> guard(d_wanted_mutex);
        if (padded.size() > d_newest_taps) {
            guard.unlock();
            return set_longer_taps(taps, padded, at);
        }
        const uint64_t from = (d_frame = frame_from(at)) * d_hop;
        d_newest_taps = padded.size();
        d_taps = taps;
        ask([this, padded, from] {
            check(penstock_channelizer_set_taps(stream(), padded.data(), padded.size(), from, nullptr));
        });
        guard.unlock();
        settle();
        return from;
    }

    std::vector<float> taps() const override
    {
        const std::lock_guard<std::mutex> guard(d_wanted_mutex);
        return d_taps;
    }

    void set_channel_map(const std::vector<int> &map) override
    {
        check_channels(map, d_channels);
        const setting lock(*this);
        if (d_started) {
            check_outputs(map, static_cast<size_t>(detail()->noutputs()));
            select(map, static_cast<size_t>(detail()->noutputs()));
        }
        d_map = map;
    }

    std::vector<int> channel_map() const override
    {
        return d_map;
    }

    bool check_topology(int, int outputs) override
    {
        check_outputs(d_map, static_cast<size_t>(outputs)); // start() has nobody to tell
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
