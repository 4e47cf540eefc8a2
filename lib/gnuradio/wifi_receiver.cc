/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "radio_tags.h"
#include "stream_block.h"

#include <cmath>
#include <deque>
#include <gnuradio/penstock/wifi_receiver.h>

namespace gr
{
namespace penstock
{

static const auto PDUS = pmt::mp("pdus"), REJECTED = pmt::mp("rejected"), CHANNEL = pmt::mp("channel"),
                  RX_RATE = pmt::mp("rx_rate"), PACKET_LEN = pmt::mp("packet_len"), FRAME = pmt::mp("frame");
constexpr size_t MANY_POINTS = 1 << 16; // no more samples are taken while so many points wait

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

/*
 * The scheduler ends a block without connected outputs as soon as its input is used up, without a last call. So one
 * sample that the receiver has already had stays in the input buffer (d_kept) until the end has been dealt with.
 *
 * While samples wait in the receiver, general_work() is to be called without new ones too, and sleeps itself until they
 * are due: the source may stall right behind a frame.
 */
class wifi_receiver_impl final : public batch_block<wifi_receiver>
{
    penstock_wifi_profile d_profile;
    std::deque<gr_complex> d_points;
    struct first_point {
        uint64_t point; // of the output
        size_t count;
        pmt::pmt_t frame;
    };
    std::deque<first_point> d_marks;
    radio_tags d_radio;
    bool d_rate_told = false;
    size_t d_kept = 0;
    bool d_finished = false;
    bool d_waiting = false; // for a time, not only for samples

    void read_tags(uint64_t first, size_t count)
    {
        std::vector<gr::tag_t> tags;
        get_tags_in_range(tags, 0, first, first + count);
        for (const auto &tag : tags) {
            d_radio.add(tag);
            if (!pmt::eq(tag.key, RX_RATE) || !pmt::is_number(tag.value) || d_rate_told)
                continue;
            const auto rate = pmt::to_double(tag.value);
            if (std::abs(rate - rate_hz()) > 1e-4 * rate_hz()) {
                d_rate_told = true;
                d_logger->warn("the samples come at {} a second; the profile has {}", rate, rate_hz());
            }
        }
    }

    void publish_points(const penstock_wifi_frame &frame, const pmt::pmt_t &meta)
    {
        if (detail()->noutputs() == 0 || !frame.point_count)
            return;
        d_marks.push_back({nitems_written(0) + d_points.size(), frame.point_count, meta});
        for (size_t i = 0; i < frame.point_count; i++)
            d_points.emplace_back(frame.points[i].re, frame.points[i].im);
    }

    void publish_channel(const penstock_wifi_frame &frame, const pmt::pmt_t &meta)
    {
        if (!frame.channel)
            return;
        const auto bins = reinterpret_cast<const gr_complex *>(frame.channel);
        message_port_pub(CHANNEL, pmt::cons(meta, pmt::init_c32vector(PENSTOCK_WIFI_BINS, bins)));
    }

    void publish_frames()
    {
        auto frame = description<penstock_wifi_frame>();
        int status;
        while ((status = penstock_wifi_receiver_pull(stream(), &frame)) > 0) {
            auto bytes = frame.psdu ? pmt::init_u8vector(frame.length, frame.psdu) : pmt::make_u8vector(0, 0);
            const auto meta = d_radio.describe(metadata(frame), frame.sample, rate_hz());
            message_port_pub(frame.fcs_ok ? PDUS : REJECTED, pmt::cons(meta, bytes));
            publish_channel(frame, meta);
            publish_points(frame, meta);
        }
        check(status);
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
                    {"not_finite", to_number(c.not_finite)},
                    {"ready", to_number(d_points.size())}});
        return all;
    }

    int hand_out(gr_complex *out, size_t capacity)
    {
        const size_t count = std::min(capacity, d_points.size());
        for (; !d_marks.empty() && d_marks.front().point < nitems_written(0) + count; d_marks.pop_front()) {
            const auto &mark = d_marks.front();
            add_item_tag(0, mark.point, PACKET_LEN, pmt::from_long(static_cast<long>(mark.count)));
            add_item_tag(0, mark.point, FRAME, mark.frame);
        }
        std::copy_n(d_points.begin(), count, out);
        d_points.erase(d_points.begin(), d_points.begin() + static_cast<ptrdiff_t>(count));
        return static_cast<int>(count);
    }

    // Takes `count` new samples, if any, the last ones where `ended`.
    void receive(const gr_complex *samples, size_t count, bool ended)
    {
        if (count)
            check(penstock_stream_push(stream(), samples, count, nullptr));
        if (ended) {
            check(penstock_stream_finish(stream()));
            d_finished = true;
        }
        publish_frames();
    }

    void restart() override
    {
        batch_block::restart();
        d_points.clear();
        d_marks.clear();
        d_radio.clear();
        d_rate_told = false;
        d_kept = 0;
        d_finished = d_waiting = false;
    }

    outcome work(const call &now) override
    {
        const auto available = static_cast<size_t>(now.available[0]);
        const bool ended = input_ended(*this, available), full = d_points.size() >= MANY_POINTS;
        const size_t fresh = full ? 0 : available - d_kept;
        int produced = 0;
        read_tags(nitems_read(0) + d_kept, fresh);
        if (!full && !d_finished)
            receive(static_cast<const gr_complex *>(now.in[0]) + d_kept, fresh, ended);
        const double due_s = penstock_stream_due_s(stream());
        d_waiting = std::isfinite(due_s);
        if (!now.out.empty())
            produced = hand_out(static_cast<gr_complex *>(now.out[0]), now.capacity);
        const size_t keep = d_finished && d_points.empty() ? 0 : 1, used = d_kept + fresh;
        consume(0, static_cast<int>(used - keep));
        d_kept = keep;
        const bool idle = d_waiting && !fresh && !produced; // else the block before must hear first of what was taken
        return {produced || keep ? produced : static_cast<int>(WORK_DONE), idle ? std::min(due_s, LONGEST_SLEEP_S) : 0,
                d_finished};
    }

  public:
    wifi_receiver_impl(const std::string &profile, const std::string &device, double max_latency_ms)
        : gr::block("wifi_receiver", gr::io_signature::make(1, 1, sizeof(gr_complex)),
                    gr::io_signature::make(0, 1, sizeof(gr_complex))),
          batch_block(max_latency_ms)
    {
        check(penstock_wifi_profile_parse(&d_profile, profile.c_str()));
        auto desc = description<penstock_wifi_receiver_desc>();
        desc.profile = d_profile;
        desc.points = true;
        desc.max_latency_s = max_latency_ms / 1e3;
        add_stream(penstock_wifi_receiver_open, desc, device);
        for (const auto &port : {PDUS, REJECTED, CHANNEL})
            message_port_register_out(port);
        set_tag_propagation_policy(TPP_DONT); // points are not at the rate of the samples
    }

    double rate_hz() const override
    {
        return penstock_wifi_rate_hz(d_profile);
    }

    void forecast(int, gr_vector_int &required) override
    {
        const bool wait = d_points.empty() && !d_waiting && !detail()->input(0)->done();
        required[0] = static_cast<int>(d_kept + wait);
    }
};

wifi_receiver::sptr wifi_receiver::make(const std::string &profile, const std::string &device, double max_latency_ms)
{
    return gnuradio::make_block_sptr<wifi_receiver_impl>(profile, device, max_latency_ms);
}

} // namespace penstock
} // namespace gr
