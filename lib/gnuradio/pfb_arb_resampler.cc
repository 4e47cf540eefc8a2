/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "resampler_block.h"

#include <cmath>
#include <gnuradio/math.h>
#include <gnuradio/penstock/pfb_arb_resampler.h>

namespace gr
{
namespace penstock
{

template <typename T, typename TAP>
class pfb_arb_resampler_impl final : public resampler_block<pfb_arb_resampler<T, TAP>, T, T, TAP>
{
    using base = resampler_block<pfb_arb_resampler<T, TAP>, T, T, TAP>;
    using base::d_arms, base::all_taps;
    using typename base::call, typename base::outcome;

    double d_rate;
    uint64_t d_rate_from = 0; // the input item from which on that is the rate,
    double d_rate_at = 0;     // and the place of it among the outputs
    size_t d_first_arm;       // of the first output: at first the middle tap's, as with the stock block
    const double d_middle_arm = static_cast<double>(d_first_arm); // of the first taps

    void tell_rate() override
    {
        this->set_relative_rate(d_rate);
    }

    double place(uint64_t item) const
    {
        return d_rate_at + static_cast<double>(item - d_rate_from) * d_rate;
    }

    void restart() override
    {
        d_rate_from = 0;
        d_rate_at = 0;
        base::restart();
    }

    //! GNU Radio would move all tags by the rate that holds now.
    outcome work(const call &now) override
    {
        const auto tags = this->tags_of(this->nitems_read(0), static_cast<size_t>(now.available[0]));
        const auto done = base::work(now);
        for (const auto &tag : tags)
            if (tag.offset < this->nitems_read(0))
                this->keep_tag(static_cast<uint64_t>(place(tag.offset) + 0.5), tag.key, tag.value, tag.srcid);
        this->give_tags(static_cast<size_t>(done.items));
        return done;
    }

  public:
    pfb_arb_resampler_impl(double rate, const std::vector<TAP> &taps, int filter_size, const std::string &device)
        : gr::block(typed_name<T, T, TAP>("pfb_arb_resampler"), gr::io_signature::make(1, 1, sizeof(T)),
                    gr::io_signature::make(1, 1, sizeof(T))),
          base(taps, static_cast<size_t>(filter_size), device), d_rate(rate), d_first_arm(taps.size() / 2 % d_arms)
    {
        this->open(rate, 0, 0, d_middle_arm / static_cast<double>(d_arms));
        this->set_tag_propagation_policy(gr::block::TPP_DONT);
        tell_rate();
    }

    std::vector<std::vector<TAP>> taps() const override
    {
        std::vector<std::vector<TAP>> arms(d_arms, std::vector<TAP>(taps_per_filter()));
        for (size_t i = 0; i < all_taps().size(); i++)
            arms[i % d_arms][i / d_arms] = all_taps()[i];
        return arms;
    }

    void set_rate(double rate) override
    {
        const typename base::setting lock(*this);
        check(penstock_resampler_set_ratio(this->stream(), rate, this->taken()));
        d_rate_at = place(this->taken());
        d_rate_from = this->taken();
        d_rate = rate;
        tell_rate();
    }

    void set_phase(double phase) override
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        check_value("pfb_arb_resampler", "phase", phase, phase >= 0 && phase < 2 * GR_M_PI, "0 .. 2 pi");
        if (this->taken())
            throw std::runtime_error("pfb_arb_resampler: set_phase() after the first item");
        d_first_arm = static_cast<size_t>(phase / (2 * GR_M_PI) * static_cast<double>(d_arms));
        this->open(d_rate, 0, 0, static_cast<double>(d_first_arm) / static_cast<double>(d_arms));
    }

    double phase() const override
    {
        return static_cast<double>(d_first_arm) * 2 * GR_M_PI / static_cast<double>(d_arms);
    }

    unsigned interpolation_rate() const override
    {
        return static_cast<unsigned>(d_arms);
    }

    unsigned decimation_rate() const override
    {
        return static_cast<unsigned>(interpolation_rate() / d_rate);
    }

    double fractional_rate() const override
    {
        return std::fmod(interpolation_rate() / d_rate, 1);
    }

    unsigned taps_per_filter() const override
    {
        return static_cast<unsigned>((all_taps().size() + d_arms - 1) / d_arms);
    }

    int group_delay() const override
    {
        return static_cast<int>(std::lround(d_rate * (taps_per_filter() - 1.0) / 2));
    }

    double phase_offset(double freq, double fs) const override
    {
        const double delay = group_delay(), arms = delay * fractional_rate(), whole = std::floor(arms);
        const double end =
            std::round(std::fmod(d_middle_arm + delay * decimation_rate() + whole, interpolation_rate()));
        return -2 * GR_M_PI * freq / fs / static_cast<double>(d_arms) * (d_middle_arm - (end + arms - whole));
    }
};

template <typename T, typename TAP>
typename pfb_arb_resampler<T, TAP>::sptr pfb_arb_resampler<T, TAP>::make(double rate, const std::vector<TAP> &taps,
                                                                         int filter_size, const std::string &device)
{
    check_value("pfb_arb_resampler", "rate", rate, rate >= 1.0 / 1024 && rate <= 1024, "1/1024 .. 1024");
    check_range("pfb_arb_resampler", "filter_size", filter_size, 1, 65536);
    check_taps("pfb_arb_resampler", taps);
    return gnuradio::make_block_sptr<pfb_arb_resampler_impl<T, TAP>>(rate, taps, filter_size, device);
}

template class pfb_arb_resampler<gr_complex, float>;
template class pfb_arb_resampler<gr_complex, gr_complex>;
template class pfb_arb_resampler<float, float>;

} // namespace penstock
} // namespace gr
