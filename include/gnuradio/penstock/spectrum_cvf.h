/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_SPECTRUM_CVF_H
#define INCLUDED_PENSTOCK_SPECTRUM_CVF_H

#include <gnuradio/penstock/device_block.h>
#include <string>
#include <vector>

namespace gr
{
namespace penstock
{

/*!
 * \brief Power spectra of a stream: complex samples in, vectors of fft_size floats out.
 *
 * Transform j covers the samples from j * hop on, vector i is the mean power of transforms i * average ..
 * (i + 1) * average - 1. Samples at the end that make no vector are left out. A tag goes with the vector of its sample,
 * vector i being that of the average * hop samples from i * average * hop on. Message port `stats`: stats() about once
 * a second; `freq`: the pair (freq . Hz) for every rx_freq tag, so that displays follow the radio.
 */
class GR_PENSTOCK_API spectrum_cvf : public batching_block
{
  public:
    using sptr = std::shared_ptr<spectrum_cvf>;

    /*!
     * \param fft_size samples of a transform, bins of a vector
     * \param hop samples from one transform to the next; 0: fft_size
     * \param window its name, as penstock_window_fill() knows them
     * \param average transforms averaged into one vector
     * \param decibel 10 log10 of the power instead of the power
     * \param centered zero frequency in the middle, at index fft_size / 2
     * \param device "auto", a device's name, or "prefer:NAME"
     * \param max_latency_ms a vector waits at most so long for others to fill a batch; 0: until it is full
     */
    static sptr make(int fft_size, int hop = 0, const std::string &window = "hann", int average = 1,
                     bool decibel = false, bool centered = true, const std::string &device = "auto",
                     double max_latency_ms = 10);

    //! The same with fft_size factors instead of a name; none: all one.
    static sptr make(int fft_size, int hop, const std::vector<float> &window, int average = 1, bool decibel = false,
                     bool centered = true, const std::string &device = "auto", double max_latency_ms = 10);

    virtual int fft_size() const = 0;

    //! From the next vector on; false if it has neither fft_size factors nor none.
    virtual bool set_window(const std::vector<float> &window) = 0;
};

} // namespace penstock
} // namespace gr

#endif
