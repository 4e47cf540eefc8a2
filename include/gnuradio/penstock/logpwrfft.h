/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_LOGPWRFFT_H
#define INCLUDED_PENSTOCK_LOGPWRFFT_H

#include <gnuradio/penstock/device_block.h>
#include <string>
#include <vector>

namespace gr
{
namespace penstock
{

/*!
 * \brief Log power FFT: samples of type T in, vectors of fft_size decibels out.
 *
 * The parameters of the stock chain logpwrfft come first and mean the same. Of each decimation() x fft_size samples the
 * last fft_size are transformed; what comes out is 10 log10 of their power, or of its decaying mean, 0 dB being that of
 * a sine whose amplitude is ref_scale / 2, and -300 dB the least. Samples at the end that make no vector are left out.
 * A tag goes with the vector of its sample. The message port `stats` has the counters about once a second.
 */
template <typename T> class GR_PENSTOCK_API logpwrfft : public batching_block
{
  public:
    using sptr = std::shared_ptr<logpwrfft<T>>;

    /*!
     * \param sample_rate of the input, in Hz
     * \param fft_size samples of a transform, values of a vector, 1 .. 2^23
     * \param ref_scale twice the amplitude of 0 dB
     * \param frame_rate vectors a second; sample_rate / fft_size over a whole number is nearest
     * \param avg_alpha weight of a vector in the decaying mean, above 0 up to 1
     * \param average whether the mean is given, or each vector by itself
     * \param window fft_size factors
     * \param shift zero frequency in the middle
     * \param device "auto", a device's name, or "prefer:NAME"
     * \param max_latency_ms a vector waits at most so long for others to fill a batch; 0: until it is full
     */
    static sptr make(double sample_rate, int fft_size, double ref_scale, double frame_rate, double avg_alpha,
                     bool average, const std::vector<float> &window, bool shift = false,
                     const std::string &device = "auto", double max_latency_ms = 10);

    //! One vector of so many is given, from the next one on; rounded, 1 at least.
    virtual void set_decimation(double decim) = 0;
    virtual void set_vec_rate(double vec_rate) = 0;
    virtual void set_sample_rate(double sample_rate) = 0;
    //! From the next vector on; the mean goes on from there.
    virtual void set_average(bool average) = 0;
    virtual void set_avg_alpha(double avg_alpha) = 0;

    virtual double sample_rate() const = 0;
    virtual int decimation() const = 0;
    virtual double frame_rate() const = 0; //!< what comes of the decimation
    virtual bool average() const = 0;
    virtual double avg_alpha() const = 0;
};

using logpwrfft_c = logpwrfft<gr_complex>;
using logpwrfft_f = logpwrfft<float>;

} // namespace penstock
} // namespace gr

#endif
