/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* The filter bank of a channelizer, whose prototype and channels may change while it runs. */
#ifndef INCLUDED_PENSTOCK_CHANNELIZER_BANK_H
#define INCLUDED_PENSTOCK_CHANNELIZER_BANK_H

#include "checks.h"
#include "stream_block.h"

#include <gnuradio/penstock/channelizer_cc.h>

namespace gr
{
namespace penstock
{

class channelizer_bank : public batch_block<channelizer_cc>
{
    std::vector<float> d_taps;
    size_t d_newest_taps; // of the prototype that was asked for last
    uint64_t d_frame = 0; // from which on it holds
    bool d_started = false;

    // An item's last input item is the last one of its hop, so the prototype reaches back that far at least.
    std::vector<float> prototype(std::vector<float> taps) const
    {
        taps.resize(std::max(taps.size(), d_hop));
        return taps;
    }

    size_t outputs() const
    {
        return static_cast<size_t>(detail()->noutputs());
    }

    // The library makes the channels of the outputs alone.
    void select(const std::vector<int> &map)
    {
        std::vector<size_t> channels;
        for (size_t i = 0; i < outputs(); i++)
            channels.push_back(map.empty() ? i : static_cast<size_t>(map[i]));
        const bool all = map.empty() && channels.size() == d_channels;
        check(penstock_channelizer_set_select(stream(), all ? nullptr : channels.data(), all ? 0 : channels.size()));
    }

    uint64_t items_taken() const override
    {
        return stream_info().taken;
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

  protected:
    const size_t d_channels, d_hop;
    std::vector<int> d_map;

    channelizer_bank(size_t channels, size_t hop, size_t origin, const std::vector<float> &taps,
                     const std::string &device, double max_latency_ms)
        : batch_block(max_latency_ms), d_taps(taps), d_channels(channels), d_hop(hop)
    {
        const auto padded = prototype(taps);
        d_newest_taps = padded.size();
        auto desc = description<penstock_channelizer_desc>();
        desc.channels = channels;
        desc.hop = hop;
        desc.taps = padded.data();
        desc.tap_count = padded.size();
        desc.advance = hop - 1;
        desc.origin = origin % channels;
        desc.max_latency_s = max_latency_ms / 1e3;
        add_stream(penstock_channelizer_open, desc, device);
    }

    void restart() override
    {
        if (d_started) {
            const std::lock_guard<std::mutex> guard(d_wanted_mutex);
            batch_block::restart();
            d_frame = d_reach = 0;
        }
        select(d_map);
        d_started = true;
    }

  public:
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
        // The first frame that ends with that item or a later one, behind what may be taken.
        d_frame = std::max(std::max(at, d_reach) / d_hop, d_frame);
        const uint64_t from = d_frame * d_hop;
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
        check_channels("channelizer", map, d_channels);
        const setting lock(*this);
        if (d_started) {
            check_ports("channelizer", map, outputs(), "outputs");
            select(map);
        }
        d_map = map;
    }

    std::vector<int> channel_map() const override
    {
        return d_map;
    }
};

} // namespace penstock
} // namespace gr

#endif
