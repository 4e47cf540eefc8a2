/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "checks.h"
#include "stream_block.h"

#include <deque>
#include <gnuradio/penstock/spectrum_cvf.h>

namespace gr
{
namespace penstock
{

static const auto FREQ = pmt::mp("freq"), RX_FREQ = pmt::mp("rx_freq");
constexpr size_t BUFFER_BYTES = 1 << 20; // stay in the second cache of most processors
constexpr size_t BUFFER_TRANSFORMS = 4;  // let the block before write while one is done

class spectrum_cvf_impl final : public batch_block<spectrum_cvf>
{
    const size_t d_fft_size, d_step, d_span; // samples from one vector to the next, and of one
    bool d_finished = false;
    size_t d_left = 0;            // samples in the input buffer that made no transform yet
    std::deque<gr::tag_t> d_tags; // of samples that were taken, for vectors that were not handed out
    gatherer d_gatherer;

    // Vectors that are complete and were not handed out.
    uint64_t waiting() const
    {
        auto info = description<penstock_stream_info>();
        check(penstock_stream_get_info(stream(), &info));
        return info.waiting;
    }

    // Samples that complete the next vector, which can then be made straight from the input buffer.
    size_t missing()
    {
        const uint64_t vectors = nitems_written(0) + waiting();
        const uint64_t end = vectors * d_step + d_span;
        return end > nitems_read(0) ? static_cast<size_t>(end - nitems_read(0)) : 0;
    }

    // Does what transforms it can of a vector that is not complete, and leaves the samples after these in the input
    // buffer, where that has room for a transform's.
    bool prepare(const void *samples, size_t available, size_t &taken)
    {
        d_left = 0;
        if (d_finished || available >= missing() || !has_room_for(*this, d_fft_size) || input_ended(*this, available))
            return false;
        size_t wanted;
        check(penstock_spectrum_prepare(stream(), samples, available, &taken, &wanted));
        d_left = wanted ? available - taken : 0;
        return wanted > 0;
    }

    // Tags of `taken` samples, each with the number of its vector.
    void take_tags(size_t taken)
    {
        std::vector<gr::tag_t> tags;
        get_tags_in_range(tags, 0, nitems_read(0), nitems_read(0) + taken);
        std::sort(tags.begin(), tags.end(), gr::tag_t::offset_compare);
        for (auto &tag : tags) {
            if (pmt::equal(tag.key, RX_FREQ) && pmt::is_number(tag.value))
                message_port_pub(FREQ, pmt::cons(FREQ, tag.value));
            tag.offset = tag.offset / d_step;
            d_tags.push_back(tag);
        }
    }

    // A tag in a gap behind its vector, which may be gone, goes with the next one.
    void give_tags(size_t given)
    {
        for (; !d_tags.empty() && d_tags.front().offset < nitems_written(0) + given; d_tags.pop_front()) {
            d_tags.front().offset = std::max(d_tags.front().offset, nitems_written(0));
            add_item_tag(0, d_tags.front());
        }
    }

    void restart() override
    {
        set_relative_rate(1, d_step);
        batch_block::restart();
        d_tags.clear();
        d_finished = false;
        d_left = 0;
    }

    void gather(gr_vector_int &available) override
    {
        available[0] = static_cast<int>(d_gatherer.more(*this, static_cast<size_t>(available[0]),
                                                        has_room_for(*this, d_fft_size) ? 0 : missing(), d_left));
    }

    outcome work(const call &now) override
    {
        const auto available = static_cast<size_t>(now.available[0]);
        size_t taken = 0, given = 0;
        if (!prepare(now.in[0], available, taken)) {
            check(penstock_stream_run(stream(), now.in[0], d_finished ? 0 : available, &taken, now.out[0], now.capacity,
                                      &given));
            if (!d_finished && taken == available && input_ended(*this, available)) {
                check(penstock_stream_finish(stream()));
                d_finished = true;
            }
        }
        take_tags(taken);
        give_tags(given);
        return pass(taken, given, penstock_stream_due_s(stream()));
    }

  public:
    spectrum_cvf_impl(const penstock_spectrum_desc &desc, const std::string &device, double max_latency_ms)
        : gr::block("spectrum_cvf", gr::io_signature::make(1, 1, sizeof(gr_complex)),
                    gr::io_signature::make(1, 1, static_cast<int>(sizeof(float) * desc.n))),
          batch_block(max_latency_ms), d_fft_size(desc.n), d_step(desc.hop * desc.average),
          d_span(d_step - desc.hop + desc.n)
    {
        add_stream(penstock_spectrum_open, desc, device);
        set_tag_propagation_policy(TPP_DONT); // done here
        message_port_register_out(FREQ);
    }

    int fft_size() const override
    {
        return static_cast<int>(d_fft_size);
    }

    bool set_window(const std::vector<float> &window) override
    {
        if (!window.empty() && window.size() != d_fft_size)
            return false;
        check_finite("spectrum", window);
        ask([this, window] {
            check(penstock_spectrum_set_window(stream(), nullptr, window.empty() ? nullptr : window.data()));
        });
        settle();
        return true;
    }

    bool check_topology(int, int) override
    {
        ask_for_buffers(*this, 0, sizeof(gr_complex),
                        std::max(BUFFER_BYTES / sizeof(gr_complex), BUFFER_TRANSFORMS * d_fft_size));
        return true;
    }

    void forecast(int, gr_vector_int &required) override
    {
        required[0] = waiting() ? 0 : 1;
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
