/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_OFDM_DEMOD_H
#define INCLUDED_PENSTOCK_OFDM_DEMOD_H

#include <gnuradio/penstock/device_block.h>
#include <string>
#include <vector>

namespace gr
{
namespace penstock
{

/*!
 * \brief Demodulates OFDM symbols: guard interval, FFT, channel from a sync word, equaliser.
 *
 * Samples in. T gr_complex (ofdm_demod_cvc): a vector of the occupied carriers for each data symbol. T int8_t
 * (ofdm_demod_cb): soft bits, one a byte, signed, positive where 0 is likelier. The grid is given as the stock OFDM
 * blocks give it. Each frame is a tagged stream.
 *
 * A frame starts where a sample has the trigger tag: with its sync words, whose last one gives the channel, and then
 * its data symbols. The tag's value is their number, or a dictionary with `symbols` and `cfo` (turns per sample, taken
 * out), or anything else for `frame_len` symbols. With an empty trigger_tag_name there are no frames and no sync words:
 * symbols follow each other from the first sample on. The message port `stats` has the counters about once a second.
 */
template <typename T> class GR_PENSTOCK_API ofdm_demod : public device_block
{
  public:
    using sptr = std::shared_ptr<ofdm_demod<T>>;
    using numbers = std::vector<std::vector<int>>;
    using values = std::vector<std::vector<gr_complex>>;

    /*!
     * \param fft_len length of the FFT, 2 .. 8192
     * \param cp_len samples of the guard interval
     * \param occupied_carriers one list of carriers, 0 the middle one; those below it negative or from fft_len / 2 on
     * \param pilot_carriers one list, or none
     * \param pilot_symbols lists of as many values; symbol i of a frame has list i modulo their number
     * \param sync_word1 fft_len values, the middle one carrier 0; or none
     * \param sync_word2 likewise
     * \param frame_len data symbols of a frame whose trigger does not say it; 0: each must
     * \param trigger_tag_name the tag of a frame's first sample
     * \param len_tag_name the tag of a frame's first output item, whose value is the number of items
     * \param track take phase and slope of each symbol, from its pilots, out
     * \param bits bits a carrier of ofdm_demod_cb: 1, 2, 4, 6, 8 or 10, as in IEEE 802.11
     * \param device "auto", a device's name, or "prefer:NAME"
     */
    static sptr make(int fft_len, int cp_len, const numbers &occupied_carriers, const numbers &pilot_carriers = {},
                     const values &pilot_symbols = {}, const std::vector<gr_complex> &sync_word1 = {},
                     const std::vector<gr_complex> &sync_word2 = {}, int frame_len = 0,
                     const std::string &trigger_tag_name = "frame_start",
                     const std::string &len_tag_name = "packet_len", bool track = true, int bits = 2,
                     const std::string &device = "auto");

    //! For the triggers from now on.
    virtual void set_frame_len(int frame_len) = 0;
    virtual int frame_len() const = 0;
};

using ofdm_demod_cvc = ofdm_demod<gr_complex>;
using ofdm_demod_cb = ofdm_demod<int8_t>;

} // namespace penstock
} // namespace gr

#endif
