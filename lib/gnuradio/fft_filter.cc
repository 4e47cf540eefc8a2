/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "filter_block.h"

#include <gnuradio/penstock/fft_filter.h>

namespace gr
{
namespace penstock
{

template <typename T, typename TAP>
class fft_filter_impl final : public threads_kept<filter_block<fft_filter<T, TAP>, T, T, TAP>>
{
    using base = threads_kept<filter_block<fft_filter<T, TAP>, T, T, TAP>>;

  public:
    fft_filter_impl(int decimation, const std::vector<TAP> &taps, double center_freq, double sampling_freq,
                    const std::string &device, double max_latency_ms)
        : gr::block(typed_name<T, T, TAP>("fft_filter"), gr::io_signature::make(1, 1, sizeof(T)),
                    gr::io_signature::make(1, 1, sizeof(T))),
          base("fft_filter", decimation, taps, center_freq, sampling_freq, false, device, max_latency_ms)
    {
    }

    uint64_t set_taps(const std::vector<TAP> &taps, int64_t sample) override
    {
        return this->change_taps(taps, sample);
    }

    uint64_t set_center_freq(double center_freq) override
    {
        return this->change_center_freq(center_freq);
    }
};

template <typename T, typename TAP>
typename fft_filter<T, TAP>::sptr fft_filter<T, TAP>::make(int decimation, const std::vector<TAP> &taps, int nthreads,
                                                           double center_freq, double sampling_freq,
                                                           const std::string &device, double max_latency_ms)
{
    using impl = fft_filter_impl<T, TAP>;
    check_value("fft_filter", "decimation", decimation, decimation >= 1, "1 or more");
    check_taps("fft_filter", taps);
    impl::check_freq("fft_filter", center_freq, sampling_freq);
    impl::check_latency("fft_filter", max_latency_ms);
    auto block = gnuradio::make_block_sptr<impl>(decimation, taps, center_freq, sampling_freq, device, max_latency_ms);
    block->set_nthreads(nthreads);
    return block;
}

template class fft_filter<gr_complex, gr_complex>;
template class fft_filter<gr_complex, float>;
template class fft_filter<float, float>;

} // namespace penstock
} // namespace gr
