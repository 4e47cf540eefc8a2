/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "checks.h"
#include "stream_block.h"

#include <cmath>
#include <gnuradio/penstock/logpwrfft.h>
#include <limits>
#include <type_traits>

namespace gr
{
namespace penstock
{

constexpr size_t BUFFER_BYTES = 1 << 20; // stay in the second cache of most processors
constexpr size_t BUFFER_TRANSFORMS = 4;  // let the block before write while one is done

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
static int check_decimation(double decim)
{
    const bool good = std::abs(decim) <= std::numeric_limits<int>::max();
    check_value("logpwrfft", "decimation", decim, good, "2147483647 at most");
    return std::max(1, static_cast<int>(std::nearbyint(decim)));
}

template <typename T> class logpwrfft_impl final : public batch_block<logpwrfft<T>>
{
    using base = batch_block<logpwrfft<T>>;
    using typename base::call, typename base::outcome;

    const size_t d_fft_size;
    double d_sample_rate, d_vec_rate, d_alpha;
    bool d_average, d_ended = false;
    int d_decim;
    size_t d_skip = 0, d_left; // items to leave out, then of the next vector
    uint64_t d_begun = 0;      // vectors before that one
    gatherer d_gatherer;

    void begin_vector()
    {
        d_skip = (static_cast<size_t>(d_decim) - 1) * d_fft_size;
        d_left = d_fft_size;
    }

    void tell_decay()
    {
        check(penstock_spectrum_set_decay(this->stream(), d_average ? d_alpha : 1));
    }

    void decimate(int decim)
    {
        d_decim = decim;
        if (d_left == d_fft_size) // nothing of the next vector was taken
            begin_vector();
        this->set_relative_rate(1, static_cast<uint64_t>(d_decim) * d_fft_size);
    }

    // With `decim` 1 any number of items, else those of one vector at most.
    size_t piece(size_t items) const
    {
        return d_decim == 1 ? items : std::min(items, d_left);
    }

    // Tags of `items` of this call, behind `taken`, each to its vector.
    void pass_tags(size_t taken, size_t items, bool skipped)
    {
        std::vector<gr::tag_t> tags;
        const uint64_t first = this->nitems_read(0) + taken;
        this->get_tags_in_range(tags, 0, first, first + items);
        for (auto &tag : tags) {
            const uint64_t at = tag.offset - first + d_fft_size - d_left; // from the start of the next vector on
            tag.offset = d_begun + (skipped ? 0 : at / d_fft_size);
            this->add_item_tag(0, tag);
        }
    }

    void took(size_t items)
    {
        const size_t at = d_fft_size - d_left + items; // from the vector's start on
        d_begun += at / d_fft_size;
        d_left = d_fft_size - at % d_fft_size;
        if (d_left == d_fft_size && items)
            begin_vector();
    }

    size_t skip(size_t taken, size_t available)
    {
        const size_t items = std::min(d_skip, available - taken);
        pass_tags(taken, items, true);
        d_skip -= items;
        return items;
    }

    void restart() override
    {
        base::restart();
        d_ended = false;
        d_begun = this->nitems_written(0);
        d_left = d_fft_size;
        decimate(d_decim); // what ask_for_buffers() said was for the buffers alone
    }

    void gather(gr_vector_int &available) override
    {
        available[0] = static_cast<int>(d_gatherer.more(*this, static_cast<size_t>(available[0]), 0));
    }

    outcome work(const call &now) override
    {
        const auto available = d_ended ? 0 : static_cast<size_t>(now.available[0]);
        const auto *in = static_cast<const T *>(now.in[0]);
        auto *out = static_cast<float *>(now.out[0]);
        size_t taken = 0, given = 0, some, items, made;
        do {
            taken += skip(taken, available);
            items = piece(available - taken);
            check(penstock_stream_run(this->stream(), in + taken, items, &some, out + given * d_fft_size,
                                      now.capacity - given, &made));
            pass_tags(taken, some, false);
            took(some);
            taken += some;
            given += made;
        } while (some && taken < available);
        if (!d_ended && taken == available && input_ended(*this, available)) {
            check(penstock_stream_finish(this->stream()));
            d_ended = true;
        }
        return this->pass(taken, given, penstock_stream_due_s(this->stream()));
    }

  public:
    logpwrfft_impl(const penstock_spectrum_desc &desc, double sample_rate, double vec_rate, double alpha, bool average,
                   const std::string &device, double max_latency_ms)
        : gr::block(std::is_same<T, float>::value ? "logpwrfft_f" : "logpwrfft_c",
                    gr::io_signature::make(1, 1, sizeof(T)),
                    gr::io_signature::make(1, 1, static_cast<int>(sizeof(float) * desc.n))),
          base(max_latency_ms), d_fft_size(desc.n), d_sample_rate(sample_rate), d_vec_rate(vec_rate), d_alpha(alpha),
          d_average(average), d_decim(check_decimation(sample_rate / static_cast<double>(desc.n) / vec_rate)),
          d_left(desc.n)
    {
        this->add_stream(penstock_spectrum_open, desc, device);
        tell_decay();
        begin_vector();
        this->set_tag_propagation_policy(gr::block::TPP_DONT); // done here
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
        gr::thread::scoped_lock lock(this->d_setlock);
        check_alpha(d_alpha, average);
        d_average = average;
        tell_decay();
    }

    void set_avg_alpha(double avg_alpha) override
    {
        gr::thread::scoped_lock lock(this->d_setlock);
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
        return d_decim;
    }

    double frame_rate() const override
    {
        return d_sample_rate / static_cast<double>(d_fft_size) / d_decim;
    }

    bool average() const override
    {
        return d_average;
    }

    double avg_alpha() const override
    {
        return d_alpha;
    }

    bool check_topology(int, int outputs) override
    {
        ask_for_buffers(*this, outputs, sizeof(float) * d_fft_size);
        ask_for_buffers(*this, 0, sizeof(T), std::max(BUFFER_BYTES / sizeof(T), BUFFER_TRANSFORMS * d_fft_size));
        return true;
    }

    void forecast(int, gr_vector_int &required) override
    {
        auto info = description<penstock_stream_info>();
        check(penstock_stream_get_info(this->stream(), &info));
        required[0] = info.waiting ? 0 : 1;
    }
};

template <typename T>
typename logpwrfft<T>::sptr logpwrfft<T>::make(double sample_rate, int fft_size, double ref_scale, double frame_rate,
                                               double avg_alpha, bool average, const std::vector<float> &window,
                                               bool shift, const std::string &device, double max_latency_ms)
{
    double power = 0; // of the window
    check_points("logpwrfft", fft_size);
    check_window("logpwrfft", window, fft_size);
    check_rate("sample_rate", sample_rate);
    check_rate("frame_rate", frame_rate);
    check_rate("ref_scale", ref_scale);
    check_alpha(avg_alpha, average);
    for (const double factor : window)
        power += factor * factor;
    power = window.empty() ? fft_size : power;
    const double scale = 2 / ref_scale / std::sqrt(power * fft_size);
    if (!(scale >= std::numeric_limits<float>::min() && scale <= std::numeric_limits<float>::max()))
        throw std::runtime_error("logpwrfft: the window has no power, or ref_scale is beyond floats");
    auto desc = description<penstock_spectrum_desc>();
    desc.n = static_cast<size_t>(fft_size);
    desc.format = std::is_same<T, float>::value ? PENSTOCK_F32 : PENSTOCK_CF32;
    desc.two_sided = std::is_same<T, float>::value;
    desc.taps = window.empty() ? nullptr : window.data();
    desc.output = PENSTOCK_OUTPUT_DECIBEL;
    desc.scale = static_cast<float>(scale);
    desc.centered = shift;
    desc.decay = 1;
    desc.max_latency_s = max_latency_ms / 1e3;
    return gnuradio::make_block_sptr<logpwrfft_impl<T>>(desc, sample_rate, frame_rate, avg_alpha, average, device,
                                                        max_latency_ms);
}

template class logpwrfft<gr_complex>;
template class logpwrfft<float>;

} // namespace penstock
} // namespace gr
