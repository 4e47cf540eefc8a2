/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* The log power FFT's way with items: vectors that are used, with their tags, alone or as the last one of a chain. */
#ifndef INCLUDED_PENSTOCK_LOGPWRFFT_ITEMS_H
#define INCLUDED_PENSTOCK_LOGPWRFFT_ITEMS_H

#include "logpwrfft_settings.h"

#include <type_traits>

namespace gr
{
namespace penstock
{

template <typename T> class logpwrfft_items : public logpwrfft_settings<T>
{
    using base = logpwrfft_settings<T>;
    using base::d_ended, base::d_picker;
    using typename base::call, typename base::outcome;

    // So many items of this call behind `taken`, with the tags that are theirs.
    void take(size_t taken, size_t items)
    {
        this->pass_tags(this->nitems_read(0) + taken, items, 0, [this](uint64_t i) { return d_picker.vector_of(i); });
        d_picker.take(items);
    }

    void restart() override
    {
        base::restart();
        this->use_decimation(); // what ask_for_buffers() said was for the buffers alone
        d_picker.restart(this->nitems_written(0));
    }

    bool can_link() const override
    {
        return std::is_same<T, gr_complex>::value;
    }

    uint64_t waiting() override
    {
        if (this->role_in_chain() == base::role::MEETING)
            return 0;
        return this->is_linked() ? d_picker.vectors() - this->nitems_written(0) : base::waiting();
    }

    void gather(gr_vector_int &available) override
    {
        available[0] = static_cast<int>(this->d_gatherer.more(*this, static_cast<size_t>(available[0]), 0));
    }

    // All that come count as taken.
    outcome hand_on(const call &now)
    {
        const size_t taken = d_ended ? 0 : static_cast<size_t>(now.available[0]);
        if (!d_ended && input_ended(*this, taken)) {
            this->finish_chain();
            d_ended = true;
        }
        take(0, taken);
        const size_t most = waiting() < now.capacity ? static_cast<size_t>(waiting()) : now.capacity;
        return this->pass(taken, this->pull_chain(now.out[0], most), this->chain_due_s());
    }

    outcome work(const call &now) override
    {
        if (this->is_linked())
            return hand_on(now);
        this->keep_decimation();
        const auto available = d_ended ? 0 : static_cast<size_t>(now.available[0]);
        const auto *in = static_cast<const T *>(now.in[0]);
        auto *out = static_cast<float *>(now.out[0]);
        size_t taken = 0, given = 0, some, made;
        do {
            const size_t unused = d_picker.unused(available - taken);
            take(taken, unused);
            taken += unused;
            check(penstock_stream_run(this->stream(), in + taken, d_picker.piece(available - taken), &some,
                                      out + given * d_fft_size, now.capacity - given, &made));
            take(taken, some);
            taken += some;
            given += made;
        } while (some && taken < available);
        this->finish_at_end(taken, available);
        return this->pass(taken, given, penstock_stream_due_s(this->stream()));
    }

  protected:
    using base::base, base::d_fft_size;
};

} // namespace penstock
} // namespace gr

#endif
