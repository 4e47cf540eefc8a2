/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "logpwrfft_items.h"

namespace gr
{
namespace penstock
{

template <typename T> class logpwrfft_impl final : public logpwrfft_items<T>
{
    using base = logpwrfft_items<T>;
    using base::d_fft_size;

  public:
    logpwrfft_impl(const penstock_spectrum_desc &desc, double sample_rate, double vec_rate, double alpha, bool average,
                   size_t decim, const std::string &device, double max_latency_ms)
        : gr::block(std::is_same<T, float>::value ? "logpwrfft_f" : "logpwrfft_c",
                    gr::io_signature::make(1, 1, sizeof(T)),
                    gr::io_signature::make(1, 1, static_cast<int>(sizeof(float) * desc.n))),
          base(desc, sample_rate, vec_rate, alpha, average, decim, device, max_latency_ms)
    {
    }

    bool check_topology(int inputs, int outputs) override
    {
        ask_for_buffers(*this, outputs, sizeof(float) * d_fft_size);
        return base::check_topology(inputs, outputs);
    }
};

template <typename T>
typename logpwrfft<T>::sptr logpwrfft<T>::make(double sample_rate, int fft_size, double ref_scale, double frame_rate,
                                               double avg_alpha, bool average, const std::vector<float> &window,
                                               bool shift, const std::string &device, double max_latency_ms)
{
    using impl = logpwrfft_impl<T>;
    double power = 0; // of the window
    check_points("logpwrfft", fft_size);
    check_window("logpwrfft", window, fft_size);
    impl::check_rate("sample_rate", sample_rate);
    impl::check_rate("frame_rate", frame_rate);
    impl::check_rate("ref_scale", ref_scale);
    impl::check_alpha(avg_alpha, average);
    for (const double factor : window)
        power += factor * factor;
    power = window.empty() ? fft_size : power;
    const double scale = 2 / ref_scale / std::sqrt(power * fft_size);
    if (!(scale >= std::numeric_limits<float>::min() && scale <= std::numeric_limits<float>::max()))
        throw std::runtime_error("logpwrfft: the window has no power, or ref_scale is beyond floats");
    const size_t decim = impl::check_decimation(sample_rate / fft_size / frame_rate);
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
    return gnuradio::make_block_sptr<impl>(desc, sample_rate, frame_rate, avg_alpha, average, decim, device,
                                           max_latency_ms);
}

template class logpwrfft<gr_complex>;
template class logpwrfft<float>;

} // namespace penstock
} // namespace gr
