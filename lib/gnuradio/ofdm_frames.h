/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* The frames of an OFDM demodulator, each announced by the tag on its first sample. */
#ifndef INCLUDED_PENSTOCK_OFDM_FRAMES_H
#define INCLUDED_PENSTOCK_OFDM_FRAMES_H

#include "stream_block.h"

namespace gr
{
namespace penstock
{

//! Interface is the public class of the block.
template <typename Interface> class ofdm_frames : public stream_block<Interface>
{
    using base = stream_block<Interface>;

    int d_frame_len;         // symbols, where the tag does not say it
    const bool d_continuous; // there are no frames
    const pmt::pmt_t d_trigger, d_length;
    const pmt::pmt_t d_symbols = pmt::mp("symbols"), d_cfo = pmt::mp("cfo");
    uint64_t d_refused = 0;

    void announce(const gr::tag_t &tag)
    {
        auto symbols = static_cast<long>(d_frame_len);
        double cfo = 0;
        try {
            if (is_whole(tag.value)) {
                symbols = to_whole(tag.value);
            } else if (pmt::is_dict(tag.value) && !pmt::is_null(tag.value)) {
                symbols = to_whole(pmt::dict_ref(tag.value, d_symbols, pmt::from_long(symbols)));
                cfo = pmt::to_double(pmt::dict_ref(tag.value, d_cfo, pmt::from_double(0)));
            }
            check(penstock_ofdm_stream_frame(this->stream(), tag.offset, static_cast<size_t>(std::max(symbols, 0L)),
                                             cfo));
        } catch (const std::exception &error) {
            d_refused++;
            this->d_logger->warn("the frame at item {}: {}", tag.offset, error.what());
        }
    }

  protected:
    ofdm_frames(int frame_len, const std::string &trigger_tag_name, const std::string &len_tag_name)
        : d_frame_len(frame_len), d_continuous(trigger_tag_name.empty()), d_trigger(pmt::mp(trigger_tag_name)),
          d_length(pmt::mp(len_tag_name))
    {
    }

    //! Those that begin in the next `count` samples.
    void announce_frames(size_t count)
    {
        std::vector<gr::tag_t> tags;
        if (d_continuous)
            return;
        this->get_tags_in_range(tags, 0, this->nitems_read(0), this->nitems_read(0) + count, d_trigger);
        std::sort(tags.begin(), tags.end(), gr::tag_t::offset_compare);
        for (const auto &tag : tags)
            announce(tag);
    }

    //! Of so many items from an output item on, which is to come.
    void begin_frame(uint64_t item, size_t items)
    {
        if (!d_continuous)
            this->keep_tag(item, d_length, pmt::from_long(static_cast<long>(items)));
    }

    void restart() override
    {
        base::restart();
        d_refused = 0;
    }

    std::map<std::string, double> numbers() const override
    {
        auto c = description<penstock_ofdm_stream_counters>();
        check(penstock_ofdm_stream_get_counters(this->stream(), &c));
        auto all = base::numbers();
        all.insert(
            {{"frames", to_number(c.frames)}, {"waiting", to_number(c.waiting)}, {"refused", to_number(d_refused)}});
        return all;
    }

  public:
    void set_frame_len(int frame_len) override
    {
        check_value("ofdm_demod", "frame_len", frame_len, frame_len >= 0, "0 or more");
        gr::thread::scoped_lock lock(this->d_setlock);
        d_frame_len = frame_len;
    }

    int frame_len() const override
    {
        return d_frame_len;
    }
};

} // namespace penstock
} // namespace gr

#endif
