/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "ports_block.h"

#include <gnuradio/penstock/fft_v.h>
#include <type_traits>

namespace gr
{
namespace penstock
{

/* Of a block with any number of them GNU Radio forgets the limit that a user sets for the buffers of all. */
constexpr int MOST_STREAMS = 1024;

/*
 * Symbols of DVB-T's 8k mode fill GNU Radio's usual buffer one by one, and its dvbt_demod_reference_signals finds no
 * superframe where it is called for several. With four in the buffer it is not; a minimum that the user sets holds.
 */
constexpr size_t DVBT_POINTS = 8192, DVBT_VECTORS = 4;

template <typename T> class fft_v_impl final : public threads_kept<ports_block<fft_v<T>>>
{
    using base = threads_kept<ports_block<fft_v<T>>>;

    penstock_fft_stream_desc d_desc;
    const std::string d_device;
    std::vector<float> d_window;
    gatherer d_gatherer;

    void add_port()
    {
        d_desc.window = d_window.empty() ? nullptr : d_window.data();
        d_desc.max_latency_s = this->d_max_latency_ms / 1e3;
        this->add_stream(penstock_fft_stream_open, d_desc, d_device);
    }

    bool can_link() const override
    {
        return !d_desc.real;
    }

    void gather(gr_vector_int &available) override
    {
        if (available.size() == 1) // others would have to wait for it
            available[0] = static_cast<int>(d_gatherer.more(*this, static_cast<size_t>(available[0]), 0));
    }

  public:
    fft_v_impl(const penstock_fft_stream_desc &desc, const std::vector<float> &window, const std::string &device,
               double max_latency_ms)
        : gr::block(desc.real ? "fft_vfc" : "fft_vcc",
                    gr::io_signature::make(1, MOST_STREAMS, static_cast<int>(sizeof(T) * desc.n)),
                    gr::io_signature::make(1, MOST_STREAMS, static_cast<int>(sizeof(gr_complex) * desc.n))),
          base(max_latency_ms), d_desc(desc), d_device(device), d_window(window)
    {
        add_port();
        this->set_tag_propagation_policy(gr::block::TPP_DONT); // done here
    }

    int fft_size() const override
    {
        return static_cast<int>(d_desc.n);
    }

    bool set_window(const std::vector<float> &window) override
    {
        return this->ask_for_window("fft", window, d_desc.n, [this](const std::vector<float> &factors) {
            for (const auto &each : this->d_streams)
                check(penstock_fft_stream_set_window(each.get(), factors.empty() ? nullptr : factors.data()));
            d_window = factors;
        });
    }

    bool check_topology(int inputs, int outputs) override
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        while (this->d_streams.size() < static_cast<size_t>(inputs))
            add_port();
        ask_for_buffers(*this, outputs, sizeof(gr_complex) * d_desc.n, d_desc.n == DVBT_POINTS ? DVBT_VECTORS : 16);
        return inputs == outputs;
    }
};

template <typename T>
typename fft_v<T>::sptr fft_v<T>::make(int fft_size, bool forward, const std::vector<float> &window, bool shift,
                                       int nthreads, const std::string &device, double max_latency_ms)
{
    check_points("fft", fft_size);
    check_window("fft", window, fft_size);
    auto desc = description<penstock_fft_stream_desc>();
    desc.n = static_cast<size_t>(fft_size);
    desc.direction = forward ? PENSTOCK_FORWARD : PENSTOCK_REVERSE;
    desc.real = std::is_same<T, float>::value;
    desc.centered = shift;
    auto block = gnuradio::make_block_sptr<fft_v_impl<T>>(desc, window, device, max_latency_ms);
    block->set_nthreads(nthreads);
    return block;
}

template class fft_v<gr_complex>;
template class fft_v<float>;

} // namespace penstock
} // namespace gr
