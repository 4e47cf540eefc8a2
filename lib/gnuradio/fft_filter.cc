/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "filter_chain.h"
#include "stream_block.h"

#include <chrono>
#include <cmath>
#include <gnuradio/penstock/fft_filter.h>
#include <type_traits>

namespace gr
{
namespace penstock
{

using steady = std::chrono::steady_clock;

static filter_taps to_taps(const std::vector<float> &taps)
{
    return {{}, taps};
}

static filter_taps to_taps(const std::vector<gr_complex> &taps)
{
    filter_taps all;
    for (const auto &tap : taps)
        all.complex.push_back({tap.real(), tap.imag()});
    return all;
}

/* A value comes with the last one of the `decimation` items that it stands for, so that it never overtakes a tag on one
 * of them. */
template <typename T, typename TAP> class fft_filter_impl final : public threads_kept<batch_block<fft_filter<T, TAP>>>
{
    using base = threads_kept<batch_block<fft_filter<T, TAP>>>;
    using base::LONGEST_SLEEP_S, base::d_max_latency_ms;
    using typename base::call, typename base::outcome;

    const size_t d_decimation;
    std::vector<TAP> d_taps;
    double d_center_freq;
    const double d_sampling_freq;
    filter_chain d_filter;
    bool d_ended = false;
    bool d_more = false; // there was no room for all values
    steady::time_point d_waits_since;

    static double to_shift(double center_freq, double sampling_freq)
    {
        return std::remainder(-center_freq / sampling_freq, 1);
    }

    std::map<std::string, double> numbers() const override
    {
        const auto info = d_filter.info();
        auto all = stats_of({d_filter.stats()});
        all["block"] = static_cast<double>(info.block);
        all["transform"] = static_cast<double>(info.n);
        return all;
    }

    // Values to come of the items so far.
    uint64_t waiting() const
    {
        return (d_filter.samples() + d_decimation - 1) / d_decimation - d_filter.values();
    }

    // Those of them that may come now.
    uint64_t allowed() const
    {
        return d_ended ? waiting() : d_filter.samples() / d_decimation - d_filter.values();
    }

    // Is there a value that is due at a time?
    bool timed() const
    {
        return d_max_latency_ms > 0 && allowed();
    }

    // Until it is.
    double due_s() const
    {
        if (!timed())
            return LONGEST_SLEEP_S;
        const std::chrono::duration<double> age = steady::now() - d_waits_since;
        return std::max(0.0, std::min(d_max_latency_ms / 1e3 - age.count(), LONGEST_SLEEP_S));
    }

    size_t pull(void *out, size_t capacity)
    {
        capacity = allowed() < capacity ? static_cast<size_t>(allowed()) : capacity;
        size_t count = d_filter.pull(out, capacity, false);
        if (!count && capacity && due_s() <= 0) {
            d_filter.flush();
            count = d_filter.pull(out, capacity, true);
        }
        if (count)
            d_waits_since = steady::now();
        return count;
    }

    void restart() override
    {
        this->set_relative_rate(1, d_decimation); // what ask_for_buffers() said was for the buffers alone
        if (d_filter.samples())                   // else changes that were asked for before the first start hold
            d_filter.reset();
        d_ended = d_more = false;
    }

    outcome work(const call &now) override
    {
        const auto available = static_cast<size_t>(now.available[0]);
        size_t taken = 0, given = 0;
        if (!waiting())
            d_waits_since = steady::now();
        if (!d_ended)
            given = d_filter.run(now.in[0], available, taken, now.out[0], now.capacity);
        if (given)
            d_waits_since = steady::now();
        if (!d_ended && !taken)
            taken = d_filter.push(now.in[0], available);
        if (!d_ended && taken == available && input_ended(*this, available)) {
            d_filter.finish();
            d_ended = true;
        }
        given += pull(static_cast<T *>(now.out[0]) + given, now.capacity - given);
        d_more = given == now.capacity;
        return this->pass(taken, given, due_s());
    }

  public:
    fft_filter_impl(const char *name, int decimation, const std::vector<TAP> &taps, double center_freq,
                    double sampling_freq, const std::string &device, double max_latency_ms)
        : gr::block(name, gr::io_signature::make(1, 1, sizeof(T)), gr::io_signature::make(1, 1, sizeof(T))),
          base(max_latency_ms), d_decimation(static_cast<size_t>(decimation)), d_taps(taps), d_center_freq(center_freq),
          d_sampling_freq(sampling_freq),
          d_filter(std::is_same<T, float>::value ? PENSTOCK_F32 : PENSTOCK_CF32, to_taps(taps), d_decimation,
                   to_shift(center_freq, sampling_freq), device)
    {
        this->set_relative_rate(1, d_decimation);
    }

    std::string device() const override
    {
        return d_filter.info().device;
    }

    uint64_t set_taps(const std::vector<TAP> &taps, int64_t sample) override
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        const auto from = d_filter.change(to_taps(taps), to_shift(d_center_freq, d_sampling_freq),
                                          sample < 0 ? 0 : static_cast<uint64_t>(sample));
        d_taps = taps;
        return from;
    }

    std::vector<TAP> taps() const override
    {
        return d_taps;
    }

    int decimation() const override
    {
        return static_cast<int>(d_decimation);
    }

    uint64_t set_center_freq(double center_freq) override
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        check_freq(center_freq, d_sampling_freq);
        const auto from = d_filter.change(to_taps(d_taps), to_shift(center_freq, d_sampling_freq), 0);
        d_center_freq = center_freq;
        return from;
    }

    double center_freq() const override
    {
        return d_center_freq;
    }

    void set_max_latency_ms(double max_latency_ms) override
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        check_latency(max_latency_ms);
        d_max_latency_ms = max_latency_ms;
    }

    bool check_topology(int, int outputs) override
    {
        ask_for_buffers(*this, outputs, sizeof(T), 4 * d_filter.info().block);
        return true;
    }

    void forecast(int, gr_vector_int &required) override
    {
        const bool more = waiting() && (timed() || d_more || this->detail()->input(0)->done());
        required[0] = more ? 0 : 1;
    }

    static void check_freq(double center_freq, double sampling_freq)
    {
        if (!(sampling_freq > 0) || !std::isfinite(center_freq))
            throw std::runtime_error("fft_filter: center_freq is " + std::to_string(center_freq) +
                                     " and sampling_freq " + std::to_string(sampling_freq) +
                                     ", not a finite one and one above 0");
        if (std::is_same<T, float>::value && center_freq != 0)
            throw std::runtime_error("fft_filter: center_freq is " + std::to_string(center_freq) +
                                     ", not 0: float samples cannot be moved in frequency");
    }

    static void check_latency(double max_latency_ms)
    {
        if (!(max_latency_ms >= 0))
            throw std::runtime_error("fft_filter: max_latency_ms is " + std::to_string(max_latency_ms) +
                                     ", not 0 or more");
    }
};

template <typename T, typename TAP>
typename fft_filter<T, TAP>::sptr fft_filter<T, TAP>::make(int decimation, const std::vector<TAP> &taps, int nthreads,
                                                           double center_freq, double sampling_freq,
                                                           const std::string &device, double max_latency_ms)
{
    using impl = fft_filter_impl<T, TAP>;
    constexpr bool real = std::is_same<T, float>::value, real_taps = std::is_same<TAP, float>::value;
    if (decimation < 1)
        throw std::runtime_error("fft_filter: decimation is " + std::to_string(decimation) + ", not 1 or more");
    if (taps.empty())
        throw std::runtime_error("fft_filter: there are no taps");
    impl::check_freq(center_freq, sampling_freq);
    impl::check_latency(max_latency_ms);
    auto block = gnuradio::make_block_sptr<impl>(real        ? "fft_filter_fff"
                                                 : real_taps ? "fft_filter_ccf"
                                                             : "fft_filter_ccc",
                                                 decimation, taps, center_freq, sampling_freq, device, max_latency_ms);
    block->set_nthreads(nthreads);
    return block;
}

template class fft_filter<gr_complex, gr_complex>;
template class fft_filter<gr_complex, float>;
template class fft_filter<float, float>;

} // namespace penstock
} // namespace gr
