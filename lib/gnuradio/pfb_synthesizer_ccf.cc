/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "checks.h"
#include "stream_block.h"

#include <gnuradio/penstock/pfb_synthesizer_ccf.h>
#include <limits>
#include <numeric>
#include <sstream>

namespace gr
{
namespace penstock
{

class pfb_synthesizer_ccf_impl final : public batch_block<pfb_synthesizer_ccf>
{
    const size_t d_hop, d_channels;
    const std::string d_device;
    std::vector<float> d_taps; // those that were asked for last
    std::vector<int> d_map;    // whole
    size_t d_inputs;
    bool d_ended = false, d_started = false;

    std::vector<size_t> selected() const
    {
        return {d_map.begin(), d_map.begin() + static_cast<std::ptrdiff_t>(d_inputs)};
    }

    void select()
    {
        const auto channels = selected();
        check(penstock_synthesizer_set_select(stream(), channels.data(), channels.size()));
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

    // Output items to come of what was taken.
    uint64_t waiting() const
    {
        auto info = description<penstock_stream_info>();
        check(penstock_stream_get_info(stream(), &info));
        return info.taken * d_hop - info.given;
    }

    void restart() override
    {
        set_relative_rate(d_hop, 1); // what ask_for_buffers() said was for the buffers alone
        const auto inputs = static_cast<size_t>(detail()->ninputs());
        if (inputs != d_inputs)
            open(inputs);
        select();
        batch_block::restart();
        d_started = true;
        d_ended = false;
    }

    // Whether an input has no more than the `count` items that each has.
    bool ended(const call &now, size_t count)
    {
        for (unsigned i = 0; i < d_inputs; i++)
            if (static_cast<size_t>(now.available[i]) == count && input_ended(*this, count, i))
                return true;
        return false;
    }

    void check_map(const std::vector<int> &map, size_t inputs) const
    {
        if (map.size() < inputs)
            throw std::runtime_error("pfb_synthesizer: channel_map has " + std::to_string(map.size()) +
                                     " channels, there are " + std::to_string(inputs) + " inputs");
    }

    outcome work(const call &now) override
    {
        const auto count = static_cast<size_t>(*std::min_element(now.available.begin(), now.available.end()));
        size_t taken = 0, given = 0;
        if (!d_ended)
            check(penstock_stream_push_channels(stream(), now.in.data(), count, &taken));
        if (!d_ended && taken == count && ended(now, count)) {
            check(penstock_stream_finish(stream()));
            d_ended = true;
        }
        check(penstock_stream_pull(stream(), now.out[0], now.capacity, false, &given));
        consume_each(static_cast<int>(taken));
        const bool busy = taken || given;
        return {static_cast<int>(given), busy ? 0 : std::min(penstock_stream_due_s(stream()), LONGEST_SLEEP_S)};
    }

  public:
    pfb_synthesizer_ccf_impl(int numchans, const std::vector<float> &taps, bool twox, const std::string &device,
                             double max_latency_ms)
        : gr::block("pfb_synthesizer_ccf", gr::io_signature::make(1, numchans, sizeof(gr_complex)),
                    gr::io_signature::make(1, 1, sizeof(gr_complex))),
          batch_block(max_latency_ms), d_hop(static_cast<size_t>(numchans)), d_channels(twox ? 2 * d_hop : d_hop),
          d_device(device), d_taps(taps), d_map(d_channels)
    {
        std::iota(d_map.begin(), d_map.end(), 0);
        open(d_hop);
        set_relative_rate(d_hop, 1);
    }

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
        std::vector<bool> seen(d_channels);
        for (const int channel : map) {
            if (channel < 0 || static_cast<size_t>(channel) >= d_channels || seen[static_cast<size_t>(channel)])
                throw std::runtime_error("pfb_synthesizer: channel_map has " + std::to_string(channel) +
                                         ", not each of 0 .. " + std::to_string(d_channels - 1) + " once at most");
            seen[static_cast<size_t>(channel)] = true;
        }
        gr::thread::scoped_lock lock(d_setlock);
        auto next = map;
        if (map.empty()) {
            next.resize(d_channels);
            std::iota(next.begin(), next.end(), 0);
        }
        if (d_started)
            check_map(next, d_inputs);
        d_map.swap(next);
        if (d_started)
            select();
    }

    std::vector<int> channel_map() const override
    {
        return d_map;
    }

    bool check_topology(int inputs, int outputs) override
    {
        check_map(d_map, static_cast<size_t>(inputs)); // start() has nobody to tell
        ask_for_buffers(*this, outputs, sizeof(gr_complex));
        return true;
    }

    void forecast(int, gr_vector_int &required) override
    {
        std::fill(required.begin(), required.end(), waiting() ? 0 : 1);
    }
};

pfb_synthesizer_ccf::sptr pfb_synthesizer_ccf::make(int numchans, const std::vector<float> &taps, bool twox,
                                                    const std::string &device, double max_latency_ms)
{
    const int most = twox ? 32768 : 65536;
    const bool good = numchans >= 2 && numchans <= most && !(twox && numchans % 2);
    check_value("pfb_synthesizer", "numchans", numchans, good,
                (twox ? "even and 2 .. " : "2 .. ") + std::to_string(most));
    check_taps("pfb_synthesizer", taps);
    return gnuradio::make_block_sptr<pfb_synthesizer_ccf_impl>(numchans, taps, twox, device, max_latency_ms);
}

} // namespace penstock
} // namespace gr
