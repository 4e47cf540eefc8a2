/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "checks.h"
#include "resampler_block.h"

#include <gnuradio/penstock/rational_resampler.h>

namespace gr
{
namespace penstock
{

template <typename IN, typename OUT, typename TAP>
class rational_resampler_impl final : public resampler_block<rational_resampler<IN, OUT, TAP>, IN, OUT, TAP>
{
    using base = resampler_block<rational_resampler<IN, OUT, TAP>, IN, OUT, TAP>;

    const uint64_t d_decimation;

    void tell_rate() override
    {
        this->set_relative_rate(this->d_arms, d_decimation);
    }

  public:
    rational_resampler_impl(size_t interpolation, uint64_t decimation, const std::vector<TAP> &taps,
                            const std::string &device)
        : gr::block(typed_name<IN, OUT, TAP>("rational_resampler"), gr::io_signature::make(1, 1, sizeof(IN)),
                    gr::io_signature::make(1, 1, sizeof(OUT))),
          base(taps, interpolation, device), d_decimation(decimation)
    {
        this->open(0, interpolation, decimation, 0);
        tell_rate();
    }

    unsigned interpolation() const override
    {
        return static_cast<unsigned>(this->d_arms);
    }

    unsigned decimation() const override
    {
        return static_cast<unsigned>(d_decimation);
    }

    std::vector<TAP> taps() const override
    {
        auto taps = this->all_taps();
        taps.resize((taps.size() + this->d_arms - 1) / this->d_arms * this->d_arms);
        return taps;
    }
};

template <typename IN, typename OUT, typename TAP>
typename rational_resampler<IN, OUT, TAP>::sptr
rational_resampler<IN, OUT, TAP>::make(unsigned interpolation, unsigned decimation, const std::vector<TAP> &taps,
                                       const std::string &device)
{
    if (interpolation < 1 || interpolation > 65536 || decimation < 1 || decimation > 1 << 20 ||
        interpolation > decimation * uint64_t{1024} || decimation > interpolation * uint64_t{1024})
        throw std::runtime_error("rational_resampler: interpolation is " + std::to_string(interpolation) +
                                 " and decimation " + std::to_string(decimation) +
                                 ", not 1 .. 65536 and 1 .. 2^20 with a ratio of 1/1024 .. 1024");
    check_taps("rational_resampler", taps);
    return gnuradio::make_block_sptr<rational_resampler_impl<IN, OUT, TAP>>(interpolation, decimation, taps, device);
}

template class rational_resampler<gr_complex, gr_complex, float>;
template class rational_resampler<gr_complex, gr_complex, gr_complex>;
template class rational_resampler<float, gr_complex, gr_complex>;
template class rational_resampler<float, float, float>;

} // namespace penstock
} // namespace gr
