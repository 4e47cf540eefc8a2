/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "message_meter.h"
#include "stats.h"
#include "wifi_modulator.h"

#include <chrono>
#include <deque>
#include <gnuradio/io_signature.h>

namespace gr
{
namespace penstock
{

static const auto PDUS = pmt::mp("pdus");

/* PDUs wait in d_pending until there is room for samples; then one at a time becomes d_samples. */
class wifi_transmitter_impl final : public wifi_modulator
{
    const pmt::pmt_t d_length_tag;
    std::deque<pmt::pmt_t> d_pending;
    item_queue d_samples{sizeof(gr_complex)};
    uint64_t d_frames = 0, d_bytes = 0, d_refused = 0;
    message_meter d_meter;
    stats_port d_stats{*this};

    // The next PDU that can be sent becomes d_samples, from `item` on; false if there is none.
    bool next(uint64_t item)
    {
        while (!d_pending.empty()) {
            const auto pdu = d_pending.front();
            d_pending.pop_front();
            const auto began = std::chrono::steady_clock::now();
            try {
                d_bytes += modulate(pdu, d_samples);
                d_frames++;
                d_meter.make(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(), false);
                add_item_tag(0, item, d_length_tag, pmt::from_long(static_cast<long>(d_samples.size())));
                return true;
            } catch (const std::exception &error) {
                d_samples.clear();
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
          wifi_modulator(profile, rate_mbps, append_fcs, gap_us, scrambler_seed), d_length_tag(pmt::mp(length_tag_name))
    {
        message_port_register_in(PDUS);
        set_msg_handler(PDUS, [this](const pmt::pmt_t &pdu) {
            gr::thread::scoped_lock lock(d_setlock);
            d_pending.push_back(pdu);
            d_meter.take();
        });
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
        while (produced < capacity && (d_samples.size() || next(nitems_written(0) + produced)))
            produced += d_samples.give(out + produced, capacity - produced);
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
