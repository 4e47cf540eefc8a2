/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_FFT_V_H
#define INCLUDED_PENSTOCK_FFT_V_H

#include <gnuradio/penstock/device_block.h>
#include <string>
#include <vector>

namespace gr
{
namespace penstock
{

/*!
 * \brief Fourier transforms of vectors, complex or (T float) real in, complex out.
 *
 * The parameters of the stock block with the same name come first and mean the same. Up to 1024 streams, each its
 * own input and output. The message port `stats` has stats() about once a second.
 */
template <typename T> class GR_PENSTOCK_API fft_v : public batching_block
{
  public:
    using sptr = std::shared_ptr<fft_v<T>>;

    /*!
     * \param fft_size values in a vector
     * \param forward forward or reverse, neither divided by fft_size
     * \param window fft_size factors, or none
     * \param shift zero frequency in the middle: of the output forward, of a complex input in reverse
     * \param nthreads kept for the stock block's users; the library's thread pool serves all blocks
     * \param device "auto", a device's name, or "prefer:NAME"
     * \param max_latency_ms a vector waits at most so long for more vectors; 0: until a batch is full
     */
    static sptr make(int fft_size, bool forward, const std::vector<float> &window, bool shift = false, int nthreads = 1,
                     const std::string &device = "auto", double max_latency_ms = 10);

    virtual int fft_size() const = 0;
    virtual void set_nthreads(int nthreads) = 0;
    virtual int nthreads() const = 0;

    //! From the next vector on; false if it has neither fft_size factors nor none.
    virtual bool set_window(const std::vector<float> &window) = 0;
};

using fft_vcc = fft_v<gr_complex>;
using fft_vfc = fft_v<float>;

//! `n` factors of a window by name, as penstock_window_fill() knows them.
GR_PENSTOCK_API std::vector<float> window(const std::string &name, int n);

} // namespace penstock
} // namespace gr

#endif
