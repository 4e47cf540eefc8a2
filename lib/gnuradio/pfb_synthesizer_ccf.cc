/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "synthesizer_bank.h"

namespace gr
{
namespace penstock
{

class pfb_synthesizer_ccf_impl final : public synthesizer_bank
{
    // Output items to come of what was taken.
    uint64_t waiting() const
    {
        const auto info = stream_info();
        return info.taken * d_hop - info.given;
    }

    void restart() override
    {
        set_relative_rate(d_hop, 1); // what ask_for_buffers() said was for the buffers alone
        synthesizer_bank::restart();
    }

    // Whether an input has no more than the `count` items that each has.
    bool ended(const call &now, size_t count)
    {
        for (unsigned i = 0; i < d_inputs; i++)
            if (static_cast<size_t>(now.available[i]) == count && input_ended(*this, count, i))
                return true;
        return false;
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
          synthesizer_bank(static_cast<size_t>(numchans), static_cast<size_t>(twox ? 2 * numchans : numchans), taps,
                           device, max_latency_ms)
    {
        set_relative_rate(d_hop, 1);
    }

    bool check_topology(int inputs, int outputs) override
    {
        check_ports("pfb_synthesizer", d_map, static_cast<size_t>(inputs), "inputs"); // start() has nobody to tell
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
