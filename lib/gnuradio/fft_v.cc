/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "core.h"

#include <algorithm>
#include <cmath>
#include <gnuradio/block_detail.h>
#include <gnuradio/io_signature.h>
#include <gnuradio/penstock/fft_v.h>
#include <type_traits>

namespace gr
{
namespace penstock
{

constexpr double LONGEST_SLEEP_S = 0.01; // while it sleeps the block before may have to, too

/* One stream of the library a port. While vectors wait in one, general_work() is to be called without new input too,
 * and sleeps itself until the first one is due. A port whose input has ended keeps no other from going on. */
template <typename T> class fft_v_impl final : public fft_v<T>
{
    struct port_state {
        handle<penstock_stream> stream;
        size_t waiting = 0; // vectors taken and not handed out
        bool finished = false;
    };

    std::shared_ptr<penstock_context> d_context = shared_context();
    const size_t d_fft_size;
    const bool d_forward, d_shift;
    int d_nthreads;
    const std::string d_device;
    double d_max_latency_s;
    std::vector<float> d_window;
    std::vector<port_state> d_ports;
    gatherer d_gatherer;
    stats_port d_stats{*this};

    void add_port()
    {
        auto desc = description<penstock_fft_stream_desc>();
        desc.n = d_fft_size;
        desc.direction = d_forward ? PENSTOCK_FORWARD : PENSTOCK_REVERSE;
        desc.real = std::is_same<T, float>::value;
        desc.centered = d_shift;
        desc.window = d_window.empty() ? nullptr : d_window.data();
        desc.max_latency_s = d_max_latency_s;
        penstock_stream *made;
        check(penstock_fft_stream_open(&made, d_context.get(), &desc, d_device.c_str()));
        d_ports.push_back({{made, penstock_stream_free}});
    }

    std::map<std::string, double> numbers() const
    {
        std::vector<penstock_stream_stats> all;
        for (const auto &port : d_ports) {
            all.push_back(description<penstock_stream_stats>());
            check(penstock_stream_get_stats(port.stream.get(), &all.back()));
        }
        return stats_of(all);
    }

    struct counts {
        size_t taken = 0, given = 0;
    };

    counts run(unsigned index, const void *in, size_t available, void *out, size_t capacity)
    {
        auto &port = d_ports[index];
        counts n;
        check(penstock_stream_run(port.stream.get(), in, port.finished ? 0 : available, &n.taken,
                                  static_cast<penstock_cf32 *>(out), capacity, &n.given));
        port.waiting += n.taken - n.given;
        if (!port.finished && n.taken == available && input_ended(*this, available, index)) {
            check(penstock_stream_finish(port.stream.get()));
            port.finished = true;
        }
        return n;
    }

    // GNU Radio would pass them on after general_work(): too late for who takes at once what produce() hands out.
    void pass_tags(unsigned index, const counts &n)
    {
        std::vector<gr::tag_t> tags;
        const uint64_t first = this->nitems_read(index);
        const size_t waited = d_ports[index].waiting + n.given - n.taken;
        this->get_tags_in_range(tags, index, first, first + n.taken);
        for (auto &tag : tags) {
            tag.offset += this->nitems_written(index) + waited - first;
            this->add_item_tag(index, tag);
        }
    }

    double due_s() const
    {
        double seconds = LONGEST_SLEEP_S;
        for (const auto &port : d_ports)
            seconds = std::min(seconds, penstock_stream_due_s(port.stream.get()));
        return seconds;
    }

  public:
    fft_v_impl(size_t fft_size, bool forward, const std::vector<float> &window, bool shift, int nthreads,
               const std::string &device, double max_latency_ms)
        : gr::block(std::is_same<T, float>::value ? "fft_vfc" : "fft_vcc",
                    gr::io_signature::make(1, -1, static_cast<int>(sizeof(T) * fft_size)),
                    gr::io_signature::make(1, -1, static_cast<int>(sizeof(gr_complex) * fft_size))),
          d_fft_size(fft_size), d_forward(forward), d_shift(shift), d_nthreads(nthreads), d_device(device),
          d_max_latency_s(max_latency_ms / 1e3), d_window(window)
    {
        if (!window.empty() && window.size() != fft_size)
            throw std::runtime_error("fft: the window has " + std::to_string(window.size()) + " factors, not " +
                                     std::to_string(fft_size) + " or none");
        add_port();
        this->set_tag_propagation_policy(gr::block::TPP_DONT); // done here
    }

    std::string device() const override
    {
        return penstock_stream_device(d_ports.front().stream.get());
    }

    int fft_size() const override
    {
        return static_cast<int>(d_fft_size);
    }

    void set_nthreads(int nthreads) override
    {
        d_nthreads = nthreads;
    }

    int nthreads() const override
    {
        return d_nthreads;
    }

    bool set_window(const std::vector<float> &window) override
    {
        if (!window.empty() && window.size() != d_fft_size)
            return false;
        gr::thread::scoped_lock lock(this->d_setlock);
        for (const auto &port : d_ports)
            check(penstock_fft_stream_set_window(port.stream.get(), window.empty() ? nullptr : window.data()));
        d_window = window;
        return true;
    }

    void set_max_latency_ms(double max_latency_ms) override
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        for (const auto &port : d_ports)
            check(penstock_stream_set_max_latency(port.stream.get(), max_latency_ms / 1e3));
        d_max_latency_s = max_latency_ms / 1e3;
    }

    double max_latency_ms() const override
    {
        return 1e3 * d_max_latency_s;
    }

    std::map<std::string, double> stats() override
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        return numbers();
    }

    bool check_topology(int inputs, int outputs) override
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        while (d_ports.size() < static_cast<size_t>(inputs))
            add_port();
        ask_for_buffers(*this, outputs, sizeof(gr_complex) * d_fft_size);
        return inputs == outputs;
    }

    bool start() override
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        this->set_relative_rate(1, 1); // what ask_for_buffers() said was for the buffers alone
        d_ports.erase(d_ports.begin() + this->detail()->ninputs(), d_ports.end());
        for (auto &port : d_ports) {
            check(penstock_stream_reset(port.stream.get()));
            port.waiting = 0;
            port.finished = false;
        }
        d_stats.start();
        return true;
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

    int general_work(int noutput_items, gr_vector_int &ninput_items, gr_vector_const_void_star &input_items,
                     gr_vector_void_star &output_items) override
    {
        if (ninput_items.size() == 1) // others would have to wait for it
            ninput_items[0] = static_cast<int>(d_gatherer.more(*this, static_cast<size_t>(ninput_items[0]), 0));
        gr::thread::scoped_lock lock(this->d_setlock);
        bool idle = true;
        double sleep_s = 0;
        try {
            for (unsigned i = 0; i < output_items.size(); i++) {
                const auto n = run(i, input_items[i], static_cast<size_t>(ninput_items[i]), output_items[i],
                                   static_cast<size_t>(noutput_items));
                pass_tags(i, n);
                this->consume(static_cast<int>(i), static_cast<int>(n.taken));
                this->produce(static_cast<int>(i), static_cast<int>(n.given));
                idle &= !n.taken && !n.given;
            }
            sleep_s = idle ? due_s() : 0;
            d_stats.publish([this] { return numbers(); });
        } catch (const std::runtime_error &error) {
            this->d_logger->error("{}", error.what());
            return gr::block::WORK_DONE;
        }
        lock.unlock();
        if (sleep_s > 0)
            wait_for_input(*this, sleep_s);
        return gr::block::WORK_CALLED_PRODUCE;
    }
};

template <typename T>
typename fft_v<T>::sptr fft_v<T>::make(int fft_size, bool forward, const std::vector<float> &window, bool shift,
                                       int nthreads, const std::string &device, double max_latency_ms)
{
    if (fft_size < 1 || fft_size > MOST_POINTS) // GNU Radio cannot count the bytes of more
        throw std::runtime_error("fft: fft_size is " + std::to_string(fft_size) + ", not 1 .. " +
                                 std::to_string(MOST_POINTS));
    return gnuradio::make_block_sptr<fft_v_impl<T>>(static_cast<size_t>(fft_size), forward, window, shift, nthreads,
                                                    device, max_latency_ms);
}

template class fft_v<gr_complex>;
template class fft_v<float>;

std::vector<float> window(const std::string &name, int n)
{
    if (n < 1)
        throw std::runtime_error("window: n is " + std::to_string(n) + ", not 1 or more");
    std::vector<float> factors(static_cast<size_t>(n));
    check(penstock_window_fill(factors.data(), factors.size(), name.c_str()));
    return factors;
}

} // namespace penstock
} // namespace gr
