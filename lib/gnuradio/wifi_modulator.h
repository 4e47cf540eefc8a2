/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* The settings of a Wi-Fi transmitter, and the samples that they make of a PDU. */
#ifndef INCLUDED_PENSTOCK_WIFI_MODULATOR_H
#define INCLUDED_PENSTOCK_WIFI_MODULATOR_H

#include "checks.h"
#include "core.h"
#include "item_queue.h"

#include <climits>
#include <cmath>
#include <gnuradio/penstock/wifi_transmitter.h>

namespace gr
{
namespace penstock
{

class wifi_modulator : public wifi_transmitter
{
    static constexpr size_t FCS_BYTES = 4;

    penstock_wifi_profile d_profile;
    double d_rate_mbps, d_gap_us;
    int d_scrambler_seed;
    const bool d_append_fcs;
    const pmt::pmt_t d_rate = pmt::mp("rate_mbps"), d_seed = pmt::mp("scrambler_seed");

    // What the library makes of these settings; an exception where they are wrong.
    penstock_wifi_transmit_desc settings(double rate_mbps, int seed) const
    {
        auto desc = description<penstock_wifi_transmit_desc>();
        desc.profile = d_profile;
        desc.mbps = rate_mbps;
        desc.scrambler_seed = static_cast<unsigned>(seed);
        if (!penstock_wifi_frame_samples(&desc, 1))
            throw std::runtime_error("wifi_transmitter: rate_mbps is " + std::to_string(rate_mbps) +
                                     " and scrambler_seed " + std::to_string(seed) +
                                     ", not a rate of the profile and 0 .. 127");
        return desc;
    }

    // Those that hold for a PDU.
    penstock_wifi_transmit_desc settings(const pmt::pmt_t &meta) const
    {
        auto rate = d_rate_mbps;
        auto seed = d_scrambler_seed;
        if (pmt::is_dict(meta) && !pmt::is_null(meta)) {
            rate = pmt::to_double(pmt::dict_ref(meta, d_rate, pmt::from_double(rate)));
            const auto told = to_whole(pmt::dict_ref(meta, d_seed, pmt::from_long(seed)));
            seed = static_cast<int>(std::clamp<long>(told, INT_MIN, INT_MAX));
        }
        return settings(rate, seed);
    }

    static void check_gap(double gap_us)
    {
        check_value("wifi_transmitter", "gap_us", gap_us, gap_us >= 0 && gap_us <= 1e6, "0 .. 1e6");
    }

  protected:
    wifi_modulator(const std::string &profile, double rate_mbps, bool append_fcs, double gap_us, int scrambler_seed)
        : d_rate_mbps(rate_mbps), d_gap_us(gap_us), d_scrambler_seed(scrambler_seed), d_append_fcs(append_fcs)
    {
        check(penstock_wifi_profile_parse(&d_profile, profile.c_str()));
        settings(rate_mbps, scrambler_seed);
        check_gap(gap_us);
    }

    //! The samples of a PDU, the gap behind them; returns how many bytes it has, with its FCS.
    size_t modulate(const pmt::pmt_t &pdu, item_queue &samples) const
    {
        if (!pmt::is_pair(pdu) || !pmt::is_u8vector(pmt::cdr(pdu)))
            throw std::runtime_error("wifi_transmitter: a message is no PDU of bytes");
        const auto desc = settings(pmt::car(pdu));
        const size_t fcs_bytes = d_append_fcs ? FCS_BYTES : 0;
        auto psdu = pmt::u8vector_elements(pmt::cdr(pdu));
        if (d_append_fcs) {
            const auto fcs = penstock_wifi_fcs(psdu.data(), psdu.size());
            for (size_t i = 0; i < FCS_BYTES; i++)
                psdu.push_back(static_cast<uint8_t>(fcs >> (8 * i)));
        }
        const auto count = penstock_wifi_frame_samples(&desc, psdu.size());
        if (!count || psdu.size() == fcs_bytes)
            throw std::runtime_error("wifi_transmitter: a PDU has " + std::to_string(pmt::length(pmt::cdr(pdu))) +
                                     " bytes, not 1 .. " + std::to_string(PENSTOCK_WIFI_MAX_PSDU - fcs_bytes));
        void *room = samples.extend(count + static_cast<size_t>(std::llround(d_gap_us * 1e-6 * rate_hz())));
        check(penstock_wifi_modulate(&desc, psdu.data(), psdu.size(), static_cast<penstock_cf32 *>(room)));
        return psdu.size();
    }

  public:
    double rate_hz() const override
    {
        return penstock_wifi_rate_hz(d_profile);
    }

    void set_rate_mbps(double rate_mbps) override
    {
        gr::thread::scoped_lock lock(d_setlock);
        settings(rate_mbps, d_scrambler_seed);
        d_rate_mbps = rate_mbps;
    }

    double rate_mbps() const override
    {
        return d_rate_mbps;
    }

    void set_gap_us(double gap_us) override
    {
        gr::thread::scoped_lock lock(d_setlock);
        check_gap(gap_us);
        d_gap_us = gap_us;
    }

    double gap_us() const override
    {
        return d_gap_us;
    }

    void set_scrambler_seed(int scrambler_seed) override
    {
        gr::thread::scoped_lock lock(d_setlock);
        settings(d_rate_mbps, scrambler_seed);
        d_scrambler_seed = scrambler_seed;
    }

    int scrambler_seed() const override
    {
        return d_scrambler_seed;
    }
};

} // namespace penstock
} // namespace gr

#endif
