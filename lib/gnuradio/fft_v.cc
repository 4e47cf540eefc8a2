/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "core.h"

#include <chrono>
#include <cmath>
#include <deque>
#include <gnuradio/io_signature.h>
#include <gnuradio/penstock/fft_v.h>
#include <type_traits>

namespace gr
{
namespace penstock
{

static const auto STATS = pmt::mp("stats");
constexpr double STATS_PERIOD_S = 1.0, LONGEST_SLEEP_S = 1.0;

/* The stream gathers vectors. While some wait in it, general_work() is to be called without new input too, and sleeps
 * itself until the first one is due. */
template <typename T> class fft_v_impl final : public fft_v<T>
{
    using stream_handle = handle<penstock_fft_stream>;

    std::shared_ptr<penstock_context> d_context = shared_context();
    const int d_fft_size;
    const bool d_forward, d_shift;
    int d_nthreads;
    const std::string d_device;
    const double d_max_latency_s;
    std::deque<stream_handle>
        d_streams;        // the last one takes vectors, those before it are finished and give what is left
    size_t d_waiting = 0; // vectors taken and not handed out
    uint64_t d_in = 0, d_out = 0, d_fallbacks = 0;
    std::chrono::steady_clock::time_point d_stats_sent;

    stream_handle make_stream(const std::vector<float> &window) const
    {
        auto desc = description<penstock_fft_stream_desc>();
        desc.n = static_cast<size_t>(d_fft_size);
        desc.direction = d_forward ? PENSTOCK_FORWARD : PENSTOCK_REVERSE;
        desc.real = std::is_same<T, float>::value;
        desc.centered = d_shift;
        desc.window = window.empty() ? nullptr : window.data();
        desc.max_latency_s = d_max_latency_s;
        penstock_fft_stream *made;
        check(penstock_fft_stream_new(&made, d_context.get(), &desc, d_device.c_str()));
        return stream_handle(made, penstock_fft_stream_free);
    }

    penstock_fft_stream_counters counters(const stream_handle &stream) const
    {
        auto c = description<penstock_fft_stream_counters>();
        check(penstock_fft_stream_get_counters(stream.get(), &c));
        return c;
    }

    std::map<std::string, double> numbers() const
    {
        const auto now = counters(d_streams.back());
        auto value = [](uint64_t count) { return static_cast<double>(count); };
        return {{"vectors_in", value(d_in)},
                {"vectors_out", value(d_out)},
                {"queue", value(d_waiting)},
                {"batch", value(now.batch)},
                {"fallbacks", value(d_fallbacks + now.fallbacks)}};
    }

    void publish_stats()
    {
        const auto time = std::chrono::steady_clock::now();
        if (time - d_stats_sent < std::chrono::duration<double>(STATS_PERIOD_S))
            return;
        d_stats_sent = time;
        this->message_port_pub(STATS, to_pmt(numbers()));
    }

    // Into the last stream and out of the first one. Between them may be others, after changes of the window.
    void run(const T *in, size_t count, size_t &taken, gr_complex *out, size_t capacity, size_t &given)
    {
        auto to = reinterpret_cast<penstock_cf32 *>(out);
        if (d_streams.size() == 1) {
            check(penstock_fft_stream_run(d_streams.back().get(), in, count, &taken, to, capacity, &given));
        } else {
            if (count)
                check(penstock_fft_stream_push(d_streams.back().get(), in, count, &taken));
            check(penstock_fft_stream_pull(d_streams.front().get(), to, capacity, false, &given));
            if (!given && capacity) {
                d_fallbacks += counters(d_streams.front()).fallbacks;
                d_streams.pop_front();
            }
        }
        d_in += taken;
        d_out += given;
        d_waiting = d_waiting + taken - given;
    }

  public:
    fft_v_impl(int fft_size, bool forward, const std::vector<float> &window, bool shift, int nthreads,
               const std::string &device, double max_latency_ms)
        : gr::block(std::is_same<T, float>::value ? "fft_vfc" : "fft_vcc",
                    gr::io_signature::make(1, 1, static_cast<int>(sizeof(T)) * fft_size),
                    gr::io_signature::make(1, 1, static_cast<int>(sizeof(gr_complex)) * fft_size)),
          d_fft_size(fft_size), d_forward(forward), d_shift(shift), d_nthreads(nthreads), d_device(device),
          d_max_latency_s(max_latency_ms / 1e3)
    {
        if (!window.empty() && window.size() != static_cast<size_t>(fft_size))
            throw std::runtime_error("fft: the window has " + std::to_string(window.size()) + " factors, not " +
                                     std::to_string(fft_size) + " or none");
        d_streams.push_back(make_stream(window));
        this->message_port_register_out(STATS);
    }

    std::string device() const override
    {
        return penstock_fft_stream_device(d_streams.back().get());
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
        if (!window.empty() && window.size() != static_cast<size_t>(d_fft_size))
            return false;
        auto next = make_stream(window);
        gr::thread::scoped_lock lock(this->d_setlock);
        check(penstock_fft_stream_finish(d_streams.back().get()));
        d_streams.push_back(std::move(next));
        return true;
    }

    std::map<std::string, double> stats() override
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        return numbers();
    }

    bool check_topology(int, int outputs) override
    {
        ask_for_buffers(*this, outputs, sizeof(gr_complex) * static_cast<size_t>(d_fft_size));
        return true;
    }

    bool start() override
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        this->set_relative_rate(1, 1); // what ask_for_buffers() said was for the buffers alone
        while (d_streams.size() > 1)
            d_streams.pop_front();
        check(penstock_fft_stream_reset(d_streams.back().get()));
        d_waiting = 0;
        d_in = d_out = 0;
        d_stats_sent = {};
        return true;
    }

    void forecast(int, gr_vector_int &required) override
    {
        required[0] = d_waiting ? 0 : 1;
    }

    int general_work(int noutput_items, gr_vector_int &ninput_items, gr_vector_const_void_star &input_items,
                     gr_vector_void_star &output_items) override
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        const auto available = static_cast<size_t>(ninput_items[0]), capacity = static_cast<size_t>(noutput_items);
        size_t taken = 0, given = 0;
        double sleep_s = 0;
        try {
            run(static_cast<const T *>(input_items[0]), available, taken, static_cast<gr_complex *>(output_items[0]),
                capacity, given);
            if (taken == available && input_ended(*this, available))
                check(penstock_fft_stream_finish(d_streams.back().get()));
            if (!taken && !given)
                sleep_s = std::min(penstock_fft_stream_due_s(d_streams.front().get()), LONGEST_SLEEP_S);
            publish_stats();
        } catch (const std::runtime_error &error) {
            this->d_logger->error("{}", error.what());
            return gr::block::WORK_DONE;
        }
        lock.unlock();
        this->consume(0, static_cast<int>(taken));
        if (sleep_s > 0)
            wait_for_input(*this, sleep_s);
        return static_cast<int>(given);
    }
};

template <typename T>
typename fft_v<T>::sptr fft_v<T>::make(int fft_size, bool forward, const std::vector<float> &window, bool shift,
                                       int nthreads, const std::string &device, double max_latency_ms)
{
    if (fft_size < 1)
        throw std::runtime_error("fft: fft_size is " + std::to_string(fft_size) + ", not 1 or more");
    return gnuradio::make_block_sptr<fft_v_impl<T>>(fft_size, forward, window, shift, nthreads, device, max_latency_ms);
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
