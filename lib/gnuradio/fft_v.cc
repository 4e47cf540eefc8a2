/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "checks.h"
#include "stream_block.h"

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

/* One stream of the library a port. A port whose input has ended keeps no other from going on. */
template <typename T> class fft_v_impl final : public threads_kept<batch_block<fft_v<T>>>
{
    using base = threads_kept<batch_block<fft_v<T>>>;
    using typename base::call, typename base::outcome;

    struct port_state {
        size_t waiting = 0; // vectors taken and not handed out
        bool finished = false;
    };

    penstock_fft_stream_desc d_desc;
    const std::string d_device;
    std::vector<float> d_window;
    std::vector<port_state> d_ports;
    gatherer d_gatherer;

    void add_port()
    {
        d_desc.window = d_window.empty() ? nullptr : d_window.data();
        d_desc.max_latency_s = this->d_max_latency_ms / 1e3;
        this->add_stream(penstock_fft_stream_open, d_desc, d_device);
    }

    void restart() override
    {
        this->set_relative_rate(1, 1); // what ask_for_buffers() said was for the buffers alone
        this->d_streams.erase(this->d_streams.begin() + this->detail()->ninputs(), this->d_streams.end());
        d_ports.assign(this->d_streams.size(), {});
        base::restart();
    }

    // GNU Radio would pass them on after general_work(): too late for who takes at once what produce() hands out.
    void pass_tags(unsigned index, size_t taken, size_t waited)
    {
        std::vector<gr::tag_t> tags;
        const uint64_t first = this->nitems_read(index);
        this->get_tags_in_range(tags, index, first, first + taken);
        for (auto &tag : tags) {
            tag.offset += this->nitems_written(index) + waited - first;
            this->add_item_tag(index, tag);
        }
    }

    // Whether anything came or went.
    bool run(unsigned index, const call &now)
    {
        auto &port = d_ports[index];
        const auto available = static_cast<size_t>(now.available[index]);
        size_t taken, given;
        check(penstock_stream_run(this->d_streams[index].get(), now.in[index], port.finished ? 0 : available, &taken,
                                  now.out[index], now.capacity, &given));
        if (!port.finished && taken == available && input_ended(*this, available, index)) {
            check(penstock_stream_finish(this->d_streams[index].get()));
            port.finished = true;
        }
        pass_tags(index, taken, port.waiting);
        port.waiting += taken - given;
        this->consume(static_cast<int>(index), static_cast<int>(taken));
        this->produce(static_cast<int>(index), static_cast<int>(given));
        return taken || given;
    }

    void gather(gr_vector_int &available) override
    {
        if (available.size() == 1) // others would have to wait for it
            available[0] = static_cast<int>(d_gatherer.more(*this, static_cast<size_t>(available[0]), 0));
    }

    outcome work(const call &now) override
    {
        bool busy = false;
        double due_s = base::LONGEST_SLEEP_S;
        for (unsigned i = 0; i < now.out.size(); i++) {
            busy |= run(i, now);
            due_s = std::min(due_s, penstock_stream_due_s(this->d_streams[i].get()));
        }
        return {gr::block::WORK_CALLED_PRODUCE, busy ? 0 : due_s};
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
        if (!window.empty() && window.size() != d_desc.n)
            return false;
        check_finite("fft", window);
        this->ask([this, window] {
            for (const auto &each : this->d_streams)
                check(penstock_fft_stream_set_window(each.get(), window.empty() ? nullptr : window.data()));
            d_window = window;
        });
        this->settle();
        return true;
    }

    bool check_topology(int inputs, int outputs) override
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        while (this->d_streams.size() < static_cast<size_t>(inputs))
            add_port();
        ask_for_buffers(*this, outputs, sizeof(gr_complex) * d_desc.n, d_desc.n == DVBT_POINTS ? DVBT_VECTORS : 16);
        return inputs == outputs;
    }

    void forecast(int, gr_vector_int &required) override
    {
        bool waiting = false, all_ended = true;
        for (unsigned i = 0; i < required.size(); i++) {
            const bool ended = input_ended(*this, 0, i);
            required[i] = ended ? 0 : 1;
            waiting |= d_ports[i].waiting > 0;
            all_ended &= ended;
        }
        if (waiting || all_ended) // work without input, or the end
            std::fill(required.begin(), required.end(), waiting ? 0 : 1);
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
