/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "item_queue.h"
#include "wifi_reports.h"

namespace gr
{
namespace penstock
{

static const auto PACKET_LEN = pmt::mp("packet_len"), FRAME = pmt::mp("frame");
constexpr size_t MANY_POINTS = 1 << 16; // no more samples are taken while so many points wait

/*
 * The scheduler ends a block without connected outputs as soon as its input is used up, without a last call. So one
 * sample that the receiver has already had stays in the input buffer (d_kept) until the end has been dealt with.
 *
 * While samples wait in the receiver, general_work() is to be called without new ones too, and sleeps itself until they
 * are due: the source may stall right behind a frame.
 */
class wifi_receiver_impl final : public wifi_reports
{
    item_queue d_points{sizeof(gr_complex)};
    size_t d_kept = 0;
    bool d_waiting = false; // for a time, not only for samples

    void add_points(const penstock_wifi_frame &frame, const pmt::pmt_t &meta)
    {
        if (detail()->noutputs() == 0 || !frame.point_count)
            return;
        const uint64_t first = nitems_written(0) + d_points.size();
        keep_tag(first, PACKET_LEN, pmt::from_long(static_cast<long>(frame.point_count)));
        keep_tag(first, FRAME, meta);
        d_points.add(frame.points, frame.point_count);
    }

    std::map<std::string, double> numbers() const override
    {
        auto all = wifi_reports::numbers();
        all["ready"] = to_number(d_points.size());
        return all;
    }

    // Takes `count` new samples, if any, the last ones where `ended`.
    void receive(const gr_complex *samples, size_t count, bool ended)
    {
        auto frame = description<penstock_wifi_frame>();
        int status;
        if (count)
            check(penstock_stream_push(stream(), samples, count, nullptr));
        if (ended) {
            check(penstock_stream_finish(stream()));
            d_ended = true;
        }
        while ((status = penstock_wifi_receiver_pull(stream(), &frame)) > 0)
            add_points(frame, publish(frame));
        check(status);
    }

    void restart() override
    {
        wifi_reports::restart();
        d_points.clear();
        d_kept = 0;
        d_waiting = false;
    }

    outcome work(const call &now) override
    {
        const auto available = static_cast<size_t>(now.available[0]);
        const bool ended = input_ended(*this, available), full = d_points.size() >= MANY_POINTS;
        const size_t fresh = full ? 0 : available - d_kept;
        size_t produced = 0;
        read_tags(nitems_read(0) + d_kept, fresh);
        if (!full && !d_ended)
            receive(static_cast<const gr_complex *>(now.in[0]) + d_kept, fresh, ended);
        const double due_s = penstock_stream_due_s(stream());
        d_waiting = std::isfinite(due_s);
        if (!now.out.empty()) {
            produced = d_points.give(now.out[0], now.capacity);
            give_tags(produced);
        }
        const size_t keep = d_ended && !d_points.size() ? 0 : 1, used = d_kept + fresh;
        consume(0, static_cast<int>(used - keep));
        d_kept = keep;
        const bool idle = d_waiting && !fresh && !produced; // else the block before must hear first of what was taken
        return {produced || keep ? static_cast<int>(produced) : static_cast<int>(WORK_DONE),
                idle ? std::min(due_s, LONGEST_SLEEP_S) : 0, d_ended};
    }

  public:
    wifi_receiver_impl(const std::string &profile, const std::string &device, double max_latency_ms)
        : gr::block("wifi_receiver", gr::io_signature::make(1, 1, sizeof(gr_complex)),
                    gr::io_signature::make(0, 1, sizeof(gr_complex))),
          wifi_reports(profile, max_latency_ms)
    {
        auto desc = description<penstock_wifi_receiver_desc>();
        desc.profile = d_profile;
        desc.points = true;
        desc.max_latency_s = max_latency_ms / 1e3;
        add_stream(penstock_wifi_receiver_open, desc, device);
        set_tag_propagation_policy(TPP_DONT); // points are not at the rate of the samples
    }

    void forecast(int, gr_vector_int &required) override
    {
        const bool wait = !d_points.size() && !d_waiting && !detail()->input(0)->done();
        required[0] = static_cast<int>(d_kept + wait);
    }
};

wifi_receiver::sptr wifi_receiver::make(const std::string &profile, const std::string &device, double max_latency_ms)
{
    return gnuradio::make_block_sptr<wifi_receiver_impl>(profile, device, max_latency_ms);
}

} // namespace penstock
} // namespace gr
