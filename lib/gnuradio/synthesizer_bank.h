/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* The filter bank of a synthesizer, whose prototype and channels may change while it runs. */
#ifndef INCLUDED_PENSTOCK_SYNTHESIZER_BANK_H
#define INCLUDED_PENSTOCK_SYNTHESIZER_BANK_H

#include "checks.h"
#include "stream_block.h"

#include <gnuradio/penstock/pfb_synthesizer_ccf.h>
#include <numeric>
#include <sstream>

namespace gr
{
namespace penstock
{

class synthesizer_bank : public batch_block<pfb_synthesizer_ccf>
{
    const std::string d_device;
    std::vector<float> d_taps; // those that were asked for last
    bool d_started = false;

    std::vector<size_t> selected() const
    {
        return {d_map.begin(), d_map.begin() + static_cast<std::ptrdiff_t>(d_inputs)};
    }

    void select()
    {
        const auto channels = selected();
        check(penstock_synthesizer_set_select(stream(), channels.data(), channels.size()));
    }

    std::vector<int> whole(std::vector<int> map) const
    {
        if (map.empty()) {
            map.resize(d_channels);
            std::iota(map.begin(), map.end(), 0);
        }
        return map;
    }

    // The stream, anew, for so many inputs: its frames hold as many channels.
    void open(size_t inputs)
    {
        d_inputs = inputs;
        const auto channels = selected();
        auto desc = description<penstock_synthesizer_desc>();
        desc.channels = d_channels;
        desc.hop = d_hop;
        const std::lock_guard<std::mutex> guard(d_wanted_mutex);
        desc.taps = d_taps.data();
        desc.tap_count = d_taps.size();
        desc.select = channels.data();
        desc.select_count = channels.size();
        desc.max_latency_s = d_max_latency_ms / 1e3;
        desc.origin = d_channels - d_hop;
        add_stream(penstock_synthesizer_open, desc, d_device);
        d_streams.erase(d_streams.begin(), d_streams.end() - 1);
    }

  protected:
    const size_t d_hop, d_channels;
    std::vector<int> d_map = whole({});
    size_t d_inputs;

    synthesizer_bank(size_t hop, size_t channels, const std::vector<float> &taps, const std::string &device,
                     double max_latency_ms)
        : batch_block(max_latency_ms), d_device(device), d_taps(taps), d_hop(hop), d_channels(channels)
    {
        open(hop);
    }

    void restart() override
    {
        const auto inputs = static_cast<size_t>(detail()->ninputs());
        if (inputs != d_inputs)
            open(inputs);
        select();
        batch_block::restart();
        d_started = true;
    }

  public:
    void set_taps(const std::vector<float> &taps) override
    {
        check_other_taps("pfb_synthesizer", taps);
        {
            const std::lock_guard<std::mutex> guard(d_wanted_mutex);
            d_taps = taps;
            ask([this, taps] { check(penstock_synthesizer_set_taps(stream(), taps.data(), taps.size(), 0, nullptr)); });
        }
        settle();
    }

    /* With twox each branch of the first half has every second tap of its own from the second one on, and the branch
     * with the same number of the second half those between. */
    std::vector<std::vector<float>> taps() const override
    {
        const std::lock_guard<std::mutex> guard(d_wanted_mutex);
        std::vector<std::vector<float>> branches(d_channels, std::vector<float>((d_taps.size() + d_hop - 1) / d_hop));
        for (size_t i = 0; i < d_taps.size(); i++) {
            const size_t branch = i % d_hop, turn = i / d_hop;
            branches[d_channels > d_hop && turn % 2 == 0 ? d_hop + branch : branch][turn] = d_taps[i];
        }
        return branches;
    }

    void print_taps() override
    {
        size_t number = 0;
        for (const auto &branch : taps()) {
            std::ostringstream line;
            for (const float tap : branch)
                line << ' ' << tap;
            d_logger->info("filter[{}]: [{}]", number++, line.str());
        }
    }

    void set_channel_map(const std::vector<int> &map) override
    {
        check_channels("pfb_synthesizer", map, d_channels);
        gr::thread::scoped_lock lock(d_setlock);
        if (d_started)
            check_ports("pfb_synthesizer", map, d_inputs, "inputs");
        d_map = whole(map);
        if (d_started)
            select();
    }

    std::vector<int> channel_map() const override
    {
        return d_map;
    }
};

} // namespace penstock
} // namespace gr

#endif
