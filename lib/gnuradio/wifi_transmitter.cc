/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "checks.h"
#include "message_meter.h"
#include "stats.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <cmath>
#include <deque>
#include <gnuradio/io_signature.h>
#include <gnuradio/penstock/wifi_transmitter.h>
#include <vector>

namespace gr
{
namespace penstock
{

static const auto PDUS = pmt::mp("pdus"), RATE = pmt::mp("rate_mbps"), SEED = pmt::mp("scrambler_seed");
constexpr size_t FCS_BYTES = 4;

/* PDUs wait in d_pending until there is room for samples; then one at a time becomes d_samples. */
class wifi_transmitter_impl final : public wifi_transmitter
{
    penstock_wifi_profile d_profile;
    double d_rate_mbps, d_gap_us;
    int d_scrambler_seed;
    const bool d_append_fcs;
    const pmt::pmt_t d_length_tag;

    std::deque<pmt::pmt_t> d_pending;
    std::vector<gr_complex> d_samples;
    size_t d_given = 0; // of d_samples
    uint64_t d_frames = 0, d_bytes = 0, d_refused = 0;
    message_meter d_meter;
    stats_port d_stats{*this};

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

    static void check_gap(double gap_us)
    {
        check_value("wifi_transmitter", "gap_us", gap_us, gap_us >= 0 && gap_us <= 1e6, "0 .. 1e6");
    }

    void modulate(const pmt::pmt_t &pdu)
    {
        if (!pmt::is_pair(pdu) || !pmt::is_u8vector(pmt::cdr(pdu)))
            throw std::runtime_error("wifi_transmitter: a message is no PDU of bytes");
        const auto meta = pmt::car(pdu);
        auto rate = d_rate_mbps;
        auto seed = d_scrambler_seed;
        if (pmt::is_dict(meta) && !pmt::is_null(meta)) {
            rate = pmt::to_double(pmt::dict_ref(meta, RATE, pmt::from_double(rate)));
            const auto told = to_whole(pmt::dict_ref(meta, SEED, pmt::from_long(seed)));
            seed = static_cast<int>(std::clamp<long>(told, INT_MIN, INT_MAX));
        }
        auto psdu = pmt::u8vector_elements(pmt::cdr(pdu));
        if (d_append_fcs) {
            const auto fcs = penstock_wifi_fcs(psdu.data(), psdu.size());
            for (size_t i = 0; i < FCS_BYTES; i++)
                psdu.push_back(static_cast<uint8_t>(fcs >> (8 * i)));
        }
        const auto desc = settings(rate, seed);
        const auto count = penstock_wifi_frame_samples(&desc, psdu.size());
        if (!count || psdu.size() == (d_append_fcs ? FCS_BYTES : 0))
            throw std::runtime_error("wifi_transmitter: a PDU has " + std::to_string(pmt::length(pmt::cdr(pdu))) +
                                     " bytes, not 1 .. " +
                                     std::to_string(PENSTOCK_WIFI_MAX_PSDU - (d_append_fcs ? FCS_BYTES : 0)));
        std::vector<gr_complex> samples(count + static_cast<size_t>(std::llround(d_gap_us * 1e-6 * rate_hz())));
        check(
            penstock_wifi_modulate(&desc, psdu.data(), psdu.size(), reinterpret_cast<penstock_cf32 *>(samples.data())));
        d_samples.swap(samples);
        d_given = 0;
        d_frames++;
        d_bytes += psdu.size();
    }

    // The next PDU that can be sent becomes d_samples; false if there is none.
    bool next()
    {
        while (!d_pending.empty()) {
            const auto pdu = d_pending.front();
            d_pending.pop_front();
            const auto began = std::chrono::steady_clock::now();
            try {
                modulate(pdu);
                d_meter.make(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(), false);
                return true;
            } catch (const std::exception &error) {
                d_refused++;
                d_meter.make(0, true);
                d_logger->warn("{}", error.what());
            }
        }
        return false;
    }

    std::map<std::string, double> numbers() const
    {
        auto stats = description<penstock_stream_stats>();
        d_meter.read(stats);
        stats.drops = d_refused;
        auto all = stats_of({stats});
        all.insert({{"frames", to_number(d_frames)}, {"bytes", to_number(d_bytes)}, {"refused", to_number(d_refused)}});
        return all;
    }

  public:
    wifi_transmitter_impl(const std::string &profile, double rate_mbps, bool append_fcs, double gap_us,
                          int scrambler_seed, const std::string &length_tag_name)
        : gr::block("wifi_transmitter", gr::io_signature::make(0, 0, 0),
                    gr::io_signature::make(1, 1, sizeof(gr_complex))),
          d_rate_mbps(rate_mbps), d_gap_us(gap_us), d_scrambler_seed(scrambler_seed), d_append_fcs(append_fcs),
          d_length_tag(pmt::mp(length_tag_name))
    {
        check(penstock_wifi_profile_parse(&d_profile, profile.c_str()));
        settings(rate_mbps, scrambler_seed);
        check_gap(gap_us);
        message_port_register_in(PDUS);
        set_msg_handler(PDUS, [this](const pmt::pmt_t &pdu) {
            gr::thread::scoped_lock lock(d_setlock);
            d_pending.push_back(pdu);
            d_meter.take();
        });
    }

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

    std::map<std::string, double> stats() override
    {
        gr::thread::scoped_lock lock(d_setlock);
        return numbers();
    }

    bool start() override
    {
        gr::thread::scoped_lock lock(d_setlock);
        d_samples.clear(); // a frame that a stop cut off
        d_given = 0;
        d_frames = d_bytes = d_refused = 0;
        d_meter.start(d_pending.size());
        d_stats.start();
        return true;
    }

    int general_work(int noutput_items, gr_vector_int &, gr_vector_const_void_star &,
                     gr_vector_void_star &output_items) override
    {
        gr::thread::scoped_lock lock(d_setlock);
        auto out = static_cast<gr_complex *>(output_items[0]);
        const auto capacity = static_cast<size_t>(noutput_items);
        size_t produced = 0;
        while (produced < capacity) {
            if (d_given == d_samples.size() && !next())
                break;
            if (!d_given)
                add_item_tag(0, nitems_written(0) + produced, d_length_tag,
                             pmt::from_long(static_cast<long>(d_samples.size())));
            const auto count = std::min(capacity - produced, d_samples.size() - d_given);
            std::copy_n(d_samples.begin() + static_cast<ptrdiff_t>(d_given), count, out + produced);
            d_given += count;
            produced += count;
        }
        d_meter.give(produced);
        d_stats.publish([this] { return numbers(); });
        return static_cast<int>(produced);
    }
};

wifi_transmitter::sptr wifi_transmitter::make(const std::string &profile, double rate_mbps, bool append_fcs,
                                              double gap_us, int scrambler_seed, const std::string &length_tag_name)
{
    return gnuradio::make_block_sptr<wifi_transmitter_impl>(profile, rate_mbps, append_fcs, gap_us, scrambler_seed,
                                                            length_tag_name);
}

} // namespace penstock
} // namespace gr
