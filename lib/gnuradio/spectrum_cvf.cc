/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "early_spectrum.h"

namespace gr
{
namespace penstock
{

static const auto FREQ = pmt::mp("freq"), RX_FREQ = pmt::mp("rx_freq");

class spectrum_cvf_impl final : public early_spectrum
{
    // Tags of `taken` samples, each for its vector. One in a gap behind a vector that is gone goes with the next one.
    void take_tags(size_t taken)
    {
        auto tags = tags_of(nitems_read(0), taken);
        std::sort(tags.begin(), tags.end(), gr::tag_t::offset_compare);
        for (const auto &tag : tags) {
            if (pmt::equal(tag.key, RX_FREQ) && pmt::is_number(tag.value))
                message_port_pub(FREQ, pmt::cons(FREQ, tag.value));
            keep_tag(tag.offset / d_step, tag.key, tag.value, tag.srcid);
        }
    }

    void restart() override
    {
        set_relative_rate(1, d_step);
        early_spectrum::restart();
    }

    outcome work(const call &now) override
    {
        size_t taken = 0, given = 0;
        run(now, taken, given);
        take_tags(taken);
        give_tags(given);
        return pass(taken, given, taken || given ? 0 : due_s());
    }

  public:
    spectrum_cvf_impl(const penstock_spectrum_desc &desc, const std::string &device, double max_latency_ms)
        : gr::block("spectrum_cvf", gr::io_signature::make(1, 1, sizeof(gr_complex)),
                    gr::io_signature::make(1, 1, static_cast<int>(sizeof(float) * desc.n))),
          early_spectrum(desc, device, max_latency_ms)
    {
        message_port_register_out(FREQ);
    }

    int fft_size() const override
    {
        return static_cast<int>(d_fft_size);
    }

    bool set_window(const std::vector<float> &window) override
    {
        return ask_for_window("spectrum", window, d_fft_size, [this](const auto &factors) {
            check(penstock_spectrum_set_window(stream(), nullptr, factors.empty() ? nullptr : factors.data()));
        });
    }
};

static spectrum_cvf::sptr make_block(int fft_size, int hop, const char *window, const std::vector<float> &factors,
                                     int average, bool decibel, bool centered, const std::string &device,
                                     double max_latency_ms)
{
    check_points("spectrum", fft_size);
    check_window("spectrum", factors, fft_size);
    if (hop < 0 || average < 1)
        throw std::runtime_error("spectrum: hop is " + std::to_string(hop) + " and average " + std::to_string(average) +
                                 ", not 0 or more and 1 or more");
    auto desc = description<penstock_spectrum_desc>();
    desc.n = static_cast<size_t>(fft_size);
    desc.hop = static_cast<size_t>(hop ? hop : fft_size);
    desc.window = window;
    desc.taps = factors.empty() ? nullptr : factors.data();
    desc.average = static_cast<unsigned>(average);
    desc.output = decibel ? PENSTOCK_OUTPUT_DECIBEL : PENSTOCK_OUTPUT_POWER;
    desc.centered = centered;
    desc.max_latency_s = max_latency_ms / 1e3;
    return gnuradio::make_block_sptr<spectrum_cvf_impl>(desc, device, max_latency_ms);
}

spectrum_cvf::sptr spectrum_cvf::make(int fft_size, int hop, const std::string &window, int average, bool decibel,
                                      bool centered, const std::string &device, double max_latency_ms)
{
    return make_block(fft_size, hop, window.c_str(), {}, average, decibel, centered, device, max_latency_ms);
}

spectrum_cvf::sptr spectrum_cvf::make(int fft_size, int hop, const std::vector<float> &window, int average,
                                      bool decibel, bool centered, const std::string &device, double max_latency_ms)
{
    return make_block(fft_size, hop, nullptr, window, average, decibel, centered, device, max_latency_ms);
}

} // namespace penstock
} // namespace gr
