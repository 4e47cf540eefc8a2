/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_WIFI_TRANSMITTER_H
#define INCLUDED_PENSTOCK_WIFI_TRANSMITTER_H

#include <gnuradio/block.h>
#include <gnuradio/penstock/api.h>
#include <map>
#include <string>

namespace gr
{
namespace penstock
{

/*!
 * \brief Makes IEEE 802.11a/g/p frames.
 *
 * Message port `pdus`: PDUs whose bytes are an MPDU, 1 to 4091 without FCS, 1 to 4095 with it. Each becomes a tagged
 * stream of samples at the profile's rate, of mean power one over the data symbols. In a PDU's dictionary `rate_mbps`
 * and `scrambler_seed` hold for this frame instead of the block's own. `stats` has the counters about once a second.
 */
class GR_PENSTOCK_API wifi_transmitter : virtual public gr::block
{
  public:
    using sptr = std::shared_ptr<wifi_transmitter>;

    /*!
     * \param profile "wifi" (20 MHz), "wifi-10mhz" or "wifi-5mhz"
     * \param rate_mbps 6, 9, 12, 18, 24, 36, 48 or 54, times the profile's clock; 0: the lowest
     * \param append_fcs the bytes come without FCS
     * \param gap_us zeros after each frame, a part of its tagged stream
     * \param scrambler_seed 1 .. 127; 0: the standard's example, 93
     * \param length_tag_name the tag of a frame's first sample, whose value is the number of samples
     */
    static sptr make(const std::string &profile = "wifi", double rate_mbps = 0, bool append_fcs = true,
                     double gap_us = 0, int scrambler_seed = 0, const std::string &length_tag_name = "packet_len");

    //! Samples per second that the profile gives.
    virtual double rate_hz() const = 0;

    //! From the next frame on.
    virtual void set_rate_mbps(double rate_mbps) = 0;
    virtual double rate_mbps() const = 0;
    virtual void set_gap_us(double gap_us) = 0;
    virtual double gap_us() const = 0;
    virtual void set_scrambler_seed(int scrambler_seed) = 0;
    virtual int scrambler_seed() const = 0;

    //! Counters, as in the `stats` message.
    virtual std::map<std::string, double> stats() = 0;
};

} // namespace penstock
} // namespace gr

#endif
