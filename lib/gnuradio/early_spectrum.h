/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* The spectrum block's way with samples: a transform is done as soon as its own are there, in the input buffer. */
#ifndef INCLUDED_PENSTOCK_EARLY_SPECTRUM_H
#define INCLUDED_PENSTOCK_EARLY_SPECTRUM_H

#include "spectrum_block.h"

#include <gnuradio/penstock/spectrum_cvf.h>

namespace gr
{
namespace penstock
{

class early_spectrum : public spectrum_block<spectrum_cvf, gr_complex>
{
    const size_t d_span; // samples of a vector
    size_t d_left = 0;   // samples in the input buffer that made no transform yet

    // Samples that complete the next vector, which can then be made straight from the input buffer.
    size_t missing()
    {
        const uint64_t vectors = nitems_written(0) + waiting();
        const uint64_t end = vectors * d_step + d_span;
        return end > nitems_read(0) ? static_cast<size_t>(end - nitems_read(0)) : 0;
    }

    // Does what transforms it can of a vector that is not complete, and leaves the samples after these in the input
    // buffer, where that has room for a transform's.
    bool prepare(const void *samples, size_t available, size_t &taken)
    {
        d_left = 0;
        if (d_ended || available >= missing() || !has_room_for(*this, d_fft_size) || input_ended(*this, available))
            return false;
        size_t wanted;
        check(penstock_spectrum_prepare(stream(), samples, available, &taken, &wanted));
        d_left = wanted ? available - taken : 0;
        return wanted > 0;
    }

    // In a chain, with so many items: what can be pulled now or later.
    uint64_t complete(uint64_t items)
    {
        const uint64_t vectors = items < d_span ? 0 : (items - d_span) / d_step + 1;
        return vectors - std::min(vectors, nitems_written(0));
    }

    uint64_t waiting() override
    {
        if (role_in_chain() == role::MEETING)
            return 0;
        return is_linked() ? complete(nitems_read(0)) : spectrum_block::waiting();
    }

    bool can_link() const override
    {
        return true;
    }

    void gather(gr_vector_int &available) override
    {
        size_t enough = 0;
        if (!has_room_for(*this, d_fft_size)) {
            const auto alone = look_lock();
            enough = missing();
        }
        available[0] = static_cast<int>(d_gatherer.more(*this, static_cast<size_t>(available[0]), enough, d_left));
    }

  protected:
    const size_t d_step; // samples from one vector to the next

    early_spectrum(const penstock_spectrum_desc &desc, const std::string &device, double max_latency_ms)
        : spectrum_block(desc, device, max_latency_ms), d_span((desc.average - 1) * desc.hop + desc.n),
          d_step(desc.average * desc.hop)
    {
    }

    void restart() override
    {
        spectrum_block::restart();
        d_left = 0;
    }

    // All that come count as taken.
    void hand_on(const call &now, size_t &taken, size_t &given)
    {
        taken = d_ended ? 0 : static_cast<size_t>(now.available[0]);
        if (!d_ended && input_ended(*this, taken)) {
            finish_chain();
            d_ended = true;
        }
        const uint64_t vectors = complete(nitems_read(0) + taken);
        given = pull_chain(now.out[0], vectors < now.capacity ? static_cast<size_t>(vectors) : now.capacity);
    }

    double due_s() const
    {
        return is_linked() ? chain_due_s() : penstock_stream_due_s(stream());
    }

    void run(const call &now, size_t &taken, size_t &given)
    {
        const auto available = static_cast<size_t>(now.available[0]);
        if (is_linked())
            return hand_on(now, taken, given);
        if (prepare(now.in[0], available, taken))
            return;
        check(penstock_stream_run(stream(), now.in[0], d_ended ? 0 : available, &taken, now.out[0], now.capacity,
                                  &given));
        finish_at_end(taken, available);
    }
};

} // namespace penstock
} // namespace gr

#endif
