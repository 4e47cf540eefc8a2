/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* The settings of a log power FFT: the rates, from which the decimation comes, and the decaying mean. */
#ifndef INCLUDED_PENSTOCK_LOGPWRFFT_SETTINGS_H
#define INCLUDED_PENSTOCK_LOGPWRFFT_SETTINGS_H

#include "spectrum_block.h"
#include "vector_picker.h"

#include <atomic>
#include <cmath>
#include <gnuradio/penstock/logpwrfft.h>
#include <limits>

namespace gr
{
namespace penstock
{

template <typename T> class logpwrfft_settings : public spectrum_block<logpwrfft<T>, T>
{
    using base = spectrum_block<logpwrfft<T>, T>;

    double d_sample_rate, d_vec_rate, d_alpha;
    bool d_average;
    size_t d_decim;            // the picker's, once a call of work has seen it
    std::atomic<bool> d_whole; // no vector is left out

    void tell_decay()
    {
        check(penstock_spectrum_set_decay(this->stream(), d_average ? d_alpha : 1));
    }

    void decimate(size_t decim)
    {
        d_decim = decim;
        d_whole = d_whole && decim == 1;
        this->tell_again();
    }

  protected:
    using base::d_fft_size;

    vector_picker d_picker;

    logpwrfft_settings(const penstock_spectrum_desc &desc, double sample_rate, double vec_rate, double alpha,
                       bool average, size_t decim, const std::string &device, double max_latency_ms)
        : base(desc, device, max_latency_ms), d_sample_rate(sample_rate), d_vec_rate(vec_rate), d_alpha(alpha),
          d_average(average), d_decim(decim), d_whole(decim == 1), d_picker(desc.n, decim)
    {
        tell_decay();
    }

    void use_decimation()
    {
        d_picker.set_decim(d_decim);
        this->set_relative_rate(1, d_decim * d_fft_size);
    }

    // In work, where it is not linked.
    void keep_decimation()
    {
        if (d_picker.decim() != d_decim)
            use_decimation();
        if (d_whole != d_picker.is_whole())
            this->tell_again();
        d_whole = d_picker.is_whole();
    }

    // Vectors that are left out cannot be left out of another stream's results.
    bool can_take() const override
    {
        return d_whole;
    }

  public:
    static void check_alpha(double alpha, bool average)
    {
        const bool good = alpha >= 0 && alpha <= 1 && !(average && alpha == 0);
        check_value("logpwrfft", "avg_alpha", alpha, good, "above 0 up to 1");
    }

    static void check_rate(const char *name, double rate)
    {
        const bool good = rate > 0 && rate <= std::numeric_limits<double>::max();
        check_value("logpwrfft", name, rate, good, "above 0 and finite");
    }

    /* As Python rounds. */
    static size_t check_decimation(double decim)
    {
        const bool good = std::abs(decim) <= std::numeric_limits<int>::max();
        check_value("logpwrfft", "decimation", decim, good, "2147483647 at most");
        return static_cast<size_t>(std::max(1, static_cast<int>(std::nearbyint(decim))));
    }

    void set_decimation(double decim) override
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        decimate(check_decimation(decim));
    }

    void set_vec_rate(double vec_rate) override
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        check_rate("vec_rate", vec_rate);
        decimate(check_decimation(d_sample_rate / static_cast<double>(d_fft_size) / vec_rate));
        d_vec_rate = vec_rate;
    }

    void set_sample_rate(double sample_rate) override
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        check_rate("sample_rate", sample_rate);
        decimate(check_decimation(sample_rate / static_cast<double>(d_fft_size) / d_vec_rate));
        d_sample_rate = sample_rate;
    }

    void set_average(bool average) override
    {
        const typename base::setting lock(*this);
        check_alpha(d_alpha, average);
        d_average = average;
        tell_decay();
    }

    void set_avg_alpha(double avg_alpha) override
    {
        const typename base::setting lock(*this);
        check_alpha(avg_alpha, d_average);
        d_alpha = avg_alpha;
        tell_decay();
    }

    double sample_rate() const override
    {
        return d_sample_rate;
    }

    int decimation() const override
    {
        return static_cast<int>(d_decim);
    }

    double frame_rate() const override
    {
        return d_sample_rate / static_cast<double>(d_fft_size) / decimation();
    }

    bool average() const override
    {
        return d_average;
    }

    double avg_alpha() const override
    {
        return d_alpha;
    }
};

} // namespace penstock
} // namespace gr

#endif
