/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* A block over a spectrum of the C library: samples of type T in, vectors of floats out. */
#ifndef INCLUDED_PENSTOCK_SPECTRUM_BLOCK_H
#define INCLUDED_PENSTOCK_SPECTRUM_BLOCK_H

#include "stream_block.h"

namespace gr
{
namespace penstock
{

//! Interface is the public class of the block.
template <typename Interface, typename T> class spectrum_block : public batch_block<Interface>
{
    static constexpr size_t BUFFER_BYTES = 1 << 20; // stay in the second cache of most processors
    static constexpr size_t BUFFER_TRANSFORMS = 4;  // let the block before write while one is done

  protected:
    const size_t d_fft_size;
    gatherer d_gatherer;

    spectrum_block(const penstock_spectrum_desc &desc, const std::string &device, double max_latency_ms)
        : batch_block<Interface>(max_latency_ms), d_fft_size(desc.n)
    {
        this->add_stream(penstock_spectrum_open, desc, device);
        this->set_tag_propagation_policy(gr::block::TPP_DONT); // done here
    }

    //! Vectors that are complete and were not handed out.
    virtual uint64_t waiting()
    {
        return this->stream_info().waiting;
    }

  public:
    bool check_topology(int, int) override
    {
        ask_for_buffers(*this, 0, sizeof(T), std::max(BUFFER_BYTES / sizeof(T), BUFFER_TRANSFORMS * d_fft_size));
        return true;
    }

    void forecast(int, gr_vector_int &required) override
    {
        const auto alone = this->look_lock();
        required[0] = waiting() || this->is_asked() ? 0 : 1;
    }
};

} // namespace penstock
} // namespace gr

#endif
