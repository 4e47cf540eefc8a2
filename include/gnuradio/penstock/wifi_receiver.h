/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_WIFI_RECEIVER_H
#define INCLUDED_PENSTOCK_WIFI_RECEIVER_H

#include <gnuradio/penstock/device_block.h>
#include <string>

namespace gr
{
namespace penstock
{

/*!
 * \brief Receives IEEE 802.11a/g/p frames.
 *
 * Samples in at the profile's rate. Messages: `pdus` has a PDU for each frame with a good FCS, `rejected` one for each
 * other frame that was found (its bytes where they could be decoded, and the reason); `channel` has for each frame a
 * pair of its dictionary and the channel estimate, 64 values by FFT bin as in penstock/wifi.h; `stats` has the counters
 * about once a second and at the end. The output, which need not be connected, carries the frames' equalised points,
 * with the tags `packet_len` (points of the frame) and `frame` (its dictionary) on its first. A radio's tags rx_time
 * and rx_freq on the samples give the dictionaries the time of the frame's first sample and the centre frequency.
 */
class GR_PENSTOCK_API wifi_receiver : public batching_block
{
  public:
    using sptr = std::shared_ptr<wifi_receiver>;

    /*!
     * \param profile "wifi" (20 MHz), "wifi-10mhz" or "wifi-5mhz"
     * \param device "auto", a device's name, or "prefer:NAME"
     * \param max_latency_ms a frame comes at most so long after its last sample, although the source stalls there;
     *                       0: the library's choice, at most 10 ms
     */
    static sptr make(const std::string &profile = "wifi", const std::string &device = "auto",
                     double max_latency_ms = 0);

    //! Samples per second that the profile asks for.
    virtual double rate_hz() const = 0;
};

} // namespace penstock
} // namespace gr

#endif
