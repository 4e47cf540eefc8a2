/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* What a Wi-Fi receiver tells: a message for each frame, with what a radio's tags say of its samples, and counters. */
#ifndef INCLUDED_PENSTOCK_WIFI_REPORTS_H
#define INCLUDED_PENSTOCK_WIFI_REPORTS_H

#include "radio_tags.h"
#include "stream_block.h"

#include <cmath>
#include <gnuradio/penstock/wifi_receiver.h>

namespace gr
{
namespace penstock
{

class wifi_reports : public batch_block<wifi_receiver>
{
    const pmt::pmt_t d_pdus = pmt::mp("pdus"), d_rejected = pmt::mp("rejected"), d_channel = pmt::mp("channel"),
                     d_rx_rate = pmt::mp("rx_rate");
    radio_tags d_radio;
    bool d_rate_told = false;

    static pmt::pmt_t number(double value)
    {
        return std::isfinite(value) ? pmt::from_double(value) : pmt::PMT_NIL;
    }

    static pmt::pmt_t metadata(const penstock_wifi_frame &frame)
    {
        static const char *const formats[] = {"legacy", "HT", "VHT", "unknown"};
        auto dict = pmt::make_dict();
        auto add = [&dict](const char *key, pmt::pmt_t value) { dict = pmt::dict_add(dict, pmt::mp(key), value); };
        add("sample", pmt::from_uint64(frame.sample));
        add("samples", pmt::from_uint64(frame.samples));
        add("format", pmt::mp(formats[frame.format]));
        add("bandwidth_hz", number(frame.bandwidth_hz));
        add("rate_mbps", number(frame.rate_mbps));
        add("mcs", frame.mcs < 0 ? pmt::PMT_NIL : pmt::from_long(frame.mcs));
        add("length", pmt::from_long(frame.length));
        add("fcs_ok", pmt::from_bool(frame.fcs_ok));
        add("snr_db", number(frame.snr_db));
        add("evm_db", number(frame.evm_db));
        add("cfo_hz", number(frame.cfo_hz));
        add("sfo_ppm", number(frame.sfo_ppm));
        add("raw_ber", number(frame.raw_ber));
        if (frame.reason)
            add("reason", pmt::mp(frame.reason));
        return dict;
    }

  protected:
    penstock_wifi_profile d_profile;

    wifi_reports(const std::string &profile, double max_latency_ms) : batch_block(max_latency_ms)
    {
        check(penstock_wifi_profile_parse(&d_profile, profile.c_str()));
        for (const auto &port : {d_pdus, d_rejected, d_channel})
            message_port_register_out(port);
    }

    void read_tags(uint64_t first, size_t count)
    {
        for (const auto &tag : tags_of(first, count)) {
            d_radio.add(tag);
            if (!pmt::eq(tag.key, d_rx_rate) || !pmt::is_number(tag.value) || d_rate_told)
                continue;
            const auto rate = pmt::to_double(tag.value);
            if (std::abs(rate - rate_hz()) > 1e-4 * rate_hz()) {
                d_rate_told = true;
                d_logger->warn("the samples come at {} a second; the profile has {}", rate, rate_hz());
            }
        }
    }

    //! The frame's dictionary.
    pmt::pmt_t publish(const penstock_wifi_frame &frame)
    {
        const auto bytes = frame.psdu ? pmt::init_u8vector(frame.length, frame.psdu) : pmt::make_u8vector(0, 0);
        const auto meta = d_radio.describe(metadata(frame), frame.sample, rate_hz());
        message_port_pub(frame.fcs_ok ? d_pdus : d_rejected, pmt::cons(meta, bytes));
        if (frame.channel) {
            const auto bins = reinterpret_cast<const gr_complex *>(frame.channel);
            message_port_pub(d_channel, pmt::cons(meta, pmt::init_c32vector(PENSTOCK_WIFI_BINS, bins)));
        }
        return meta;
    }

    std::map<std::string, double> numbers() const override
    {
        auto c = description<penstock_wifi_counters>();
        check(penstock_wifi_receiver_get_counters(stream(), &c));
        auto all = batch_block::numbers();
        all.insert({{"samples", to_number(c.samples)},
                    {"triggers", to_number(c.triggers)},
                    {"synchronised", to_number(c.synchronised)},
                    {"signals", to_number(c.signals)},
                    {"decoded", to_number(c.decoded)},
                    {"fcs_ok", to_number(c.fcs_ok)},
                    {"unsupported", to_number(c.unsupported)},
                    {"truncated", to_number(c.truncated)},
                    {"clipped", to_number(c.clipped)},
                    {"not_finite", to_number(c.not_finite)}});
        return all;
    }

    void restart() override
    {
        batch_block::restart();
        d_radio.clear();
        d_rate_told = false;
    }

  public:
    double rate_hz() const override
    {
        return penstock_wifi_rate_hz(d_profile);
    }
};

} // namespace penstock
} // namespace gr

#endif
