/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* A block over a resampler of the C library with the user's taps. */
#ifndef INCLUDED_PENSTOCK_RESAMPLER_BLOCK_H
#define INCLUDED_PENSTOCK_RESAMPLER_BLOCK_H

#include "stream_block.h"

#include <type_traits>

namespace gr
{
namespace penstock
{

//! Interface is the public class of the block.
template <typename Interface, typename IN, typename OUT, typename TAP>
class resampler_block : public stream_block<Interface>
{
    using base = stream_block<Interface>;
    static constexpr double LATENCY_S = 10e-3; // on a device: an item waits at most so long for more items
    static constexpr size_t MOST_TAPS = 1 << 20, SPARE = 128; // taps of an arm that others may have

    const std::string d_device;
    std::vector<TAP> d_taps;
    size_t d_most_taps;

    static const penstock_cf32 *complex(const std::vector<gr_complex> &taps)
    {
        return reinterpret_cast<const penstock_cf32 *>(taps.data());
    }

    static const penstock_cf32 *complex(const std::vector<float> &)
    {
        return nullptr;
    }

    static const float *real(const std::vector<float> &taps)
    {
        return taps.data();
    }

    static const float *real(const std::vector<gr_complex> &)
    {
        return nullptr;
    }

  protected:
    using base::d_ended;
    using typename base::call, typename base::outcome;

    const size_t d_arms;

    resampler_block(const std::vector<TAP> &taps, size_t arms, const std::string &device)
        : d_device(device), d_taps(taps), d_most_taps(std::max(taps.size(), std::min(SPARE * arms, MOST_TAPS))),
          d_arms(arms)
    {
    }

    //! The stream, anew: outputs / inputs is the ratio, or up / down where it is 0, and the first output at `phase`.
    void open(double ratio, uint64_t up, uint64_t down, double phase)
    {
        auto desc = description<penstock_resampler_desc>();
        desc.format = std::is_same<IN, float>::value ? PENSTOCK_F32 : PENSTOCK_CF32;
        desc.ratio = ratio;
        desc.interpolation = up;
        desc.decimation = down;
        desc.phase = phase;
        desc.taps = complex(d_taps);
        desc.real_taps = real(d_taps);
        desc.tap_count = d_taps.size();
        desc.max_taps = d_most_taps;
        desc.arms = d_arms;
        desc.max_latency_s = LATENCY_S;
        this->add_stream(penstock_resampler_open, desc, d_device);
        this->d_streams.erase(this->d_streams.begin(), this->d_streams.end() - 1);
    }

    //! Items taken so far: what changes holds from there on.
    uint64_t taken() const
    {
        return this->stream_info().taken;
    }

    //! Of tags.
    virtual void tell_rate() = 0;

    const std::vector<TAP> &all_taps() const
    {
        return d_taps;
    }

    void restart() override
    {
        tell_rate(); // what ask_for_buffers() said was for the buffers alone
        base::restart();
    }

    outcome work(const call &now) override
    {
        const auto available = static_cast<size_t>(now.available[0]);
        size_t taken = 0, given = 0;
        check(penstock_stream_run(this->stream(), now.in[0], d_ended ? 0 : available, &taken, now.out[0], now.capacity,
                                  &given));
        this->finish_at_end(taken, available);
        size_t more = 0;
        check(penstock_stream_pull(this->stream(), static_cast<OUT *>(now.out[0]) + given, now.capacity - given, false,
                                   &more));
        return this->pass(taken, given + more, penstock_stream_due_s(this->stream()));
    }

  public:
    void set_taps(const std::vector<TAP> &taps) override
    {
        const typename base::setting lock(*this);
        if (taps.empty() || taps.size() > d_most_taps)
            throw std::runtime_error(this->name() + ": set_taps() with " + std::to_string(taps.size()) +
                                     " taps, not 1 .. " + std::to_string(d_most_taps));
        check(penstock_resampler_set_taps(this->stream(), complex(taps), real(taps), taps.size(), taken()));
        d_taps = taps;
    }

    bool check_topology(int, int outputs) override
    {
        ask_for_buffers(*this, outputs, sizeof(OUT));
        return true;
    }

    void forecast(int, gr_vector_int &required) override
    {
        const bool more = penstock_stream_due_s(this->stream()) <= 0 || (!d_ended && this->detail()->input(0)->done());
        required[0] = more ? 0 : 1;
    }
};

} // namespace penstock
} // namespace gr

#endif
