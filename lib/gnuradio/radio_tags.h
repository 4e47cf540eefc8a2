/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_RADIO_TAGS_H
#define INCLUDED_PENSTOCK_RADIO_TAGS_H

#include <cmath>
#include <deque>
#include <gnuradio/tags.h>

namespace gr
{
namespace penstock
{

/* The tags of a radio (rx_time, rx_freq) that hold from a sample on. */
class radio_tags
{
    static constexpr uint64_t LATEST = 1 << 19; // nobody asks for a sample that lies so far back

    static pmt::pmt_t rx_time()
    {
        return pmt::mp("rx_time");
    }

    static pmt::pmt_t rx_freq()
    {
        return pmt::mp("rx_freq");
    }

    struct entry {
        uint64_t sample;
        pmt::pmt_t value;
    };
    std::deque<entry> d_times, d_freqs;

    static void keep(std::deque<entry> &tags, uint64_t sample, const pmt::pmt_t &value)
    {
        while (tags.size() > 1 && tags[1].sample + LATEST < sample)
            tags.pop_front();
        tags.push_back({sample, value});
    }

    // The last one up to `sample`, or NULL.
    static const entry *find(const std::deque<entry> &tags, uint64_t sample)
    {
        const entry *found = nullptr;
        for (const auto &each : tags)
            if (each.sample <= sample)
                found = &each;
        return found;
    }

  public:
    void clear()
    {
        d_times.clear();
        d_freqs.clear();
    }

    void add(const gr::tag_t &tag)
    {
        if (pmt::eq(tag.key, rx_time()) && pmt::is_tuple(tag.value) && pmt::length(tag.value) == 2)
            keep(d_times, tag.offset, tag.value);
        if (pmt::eq(tag.key, rx_freq()) && pmt::is_number(tag.value))
            keep(d_freqs, tag.offset, tag.value);
    }

    // rx_time and rx_freq of a sample, where they are known.
    pmt::pmt_t describe(pmt::pmt_t dict, uint64_t sample, double rate_hz) const
    {
        if (const auto *time = find(d_times, sample)) {
            const auto after = static_cast<double>(sample - time->sample) / rate_hz;
            const auto part = pmt::to_double(pmt::tuple_ref(time->value, 1)) + after, whole = std::floor(part);
            const auto seconds = pmt::to_uint64(pmt::tuple_ref(time->value, 0)) + static_cast<uint64_t>(whole);
            dict = pmt::dict_add(dict, rx_time(),
                                 pmt::make_tuple(pmt::from_uint64(seconds), pmt::from_double(part - whole)));
        }
        if (const auto *freq = find(d_freqs, sample))
            dict = pmt::dict_add(dict, rx_freq(), freq->value);
        return dict;
    }
};

} // namespace penstock
} // namespace gr

#endif
