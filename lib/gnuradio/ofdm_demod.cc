/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "checks.h"
#include "ofdm_grid.h"
#include "stream_block.h"

#include <cstring>
#include <deque>
#include <gnuradio/penstock/ofdm_demod.h>
#include <type_traits>

namespace gr
{
namespace penstock
{

static const auto SYMBOLS = pmt::mp("symbols"), CFO = pmt::mp("cfo");
constexpr size_t MANY_BYTES = 1 << 22; // no more samples are taken while so many bytes wait

template <typename T> class ofdm_demod_impl final : public stream_block<ofdm_demod<T>>
{
    using base = stream_block<ofdm_demod<T>>;
    using base::stream;
    using typename base::call, typename base::outcome;

    const size_t d_carriers, d_bits;
    int d_frame_len;
    const pmt::pmt_t d_trigger, d_length;
    const bool d_continuous;

    struct first_item {
        uint64_t item;
        size_t count;
    };
    std::deque<first_item> d_firsts;
    std::vector<char> d_made; // bytes to hand out, from d_given on
    size_t d_given = 0;
    uint64_t d_refused = 0;

    static constexpr bool soft()
    {
        return !std::is_same<T, gr_complex>::value;
    }

    static size_t item_bytes(size_t carriers)
    {
        return soft() ? 1 : carriers * sizeof(gr_complex);
    }

    std::map<std::string, double> numbers() const override
    {
        auto c = description<penstock_ofdm_stream_counters>();
        check(penstock_ofdm_stream_get_counters(stream(), &c));
        auto all = base::numbers();
        all.insert({{"frames", to_number(c.frames)},
                    {"waiting", to_number(c.waiting)},
                    {"refused", to_number(d_refused)},
                    {"ready", to_number(waiting())}});
        return all;
    }

    // Items to hand out.
    size_t waiting() const
    {
        return (d_made.size() - d_given) / item_bytes(d_carriers);
    }

    void announce(const gr::tag_t &tag)
    {
        auto symbols = static_cast<long>(d_frame_len);
        double cfo = 0;
        try {
            if (is_whole(tag.value)) {
                symbols = to_whole(tag.value);
            } else if (pmt::is_dict(tag.value) && !pmt::is_null(tag.value)) {
                symbols = to_whole(pmt::dict_ref(tag.value, SYMBOLS, pmt::from_long(symbols)));
                cfo = pmt::to_double(pmt::dict_ref(tag.value, CFO, pmt::from_double(0)));
            }
            check(penstock_ofdm_stream_frame(stream(), tag.offset, static_cast<size_t>(std::max(symbols, 0L)), cfo));
        } catch (const std::exception &error) {
            d_refused++;
            this->d_logger->warn("the frame at item {}: {}", tag.offset, error.what());
        }
    }

    void take(const gr_complex *samples, size_t count)
    {
        std::vector<gr::tag_t> tags;
        if (!d_continuous)
            this->get_tags_in_range(tags, 0, this->nitems_read(0), this->nitems_read(0) + count, d_trigger);
        std::sort(tags.begin(), tags.end(), gr::tag_t::offset_compare);
        for (const auto &tag : tags)
            announce(tag);
        check(penstock_stream_push(stream(), reinterpret_cast<const penstock_cf32 *>(samples), count, nullptr));
    }

    void pull()
    {
        auto result = description<penstock_ofdm_stream_result>();
        int status;
        d_made.erase(d_made.begin(), d_made.begin() + static_cast<ptrdiff_t>(d_given));
        d_given = 0;
        while ((status = penstock_ofdm_stream_pull(stream(), &result)) > 0) {
            const size_t items = result.symbols * (soft() ? d_carriers * d_bits : 1);
            const auto from = soft() ? static_cast<const void *>(result.soft) : result.points;
            if (!d_continuous)
                d_firsts.push_back({this->nitems_written(0) + waiting(), items});
            const auto end = d_made.size();
            d_made.resize(end + items * item_bytes(d_carriers));
            std::memcpy(d_made.data() + end, from, items * item_bytes(d_carriers));
        }
        check(status);
    }

    size_t hand_out(void *out, size_t capacity)
    {
        const size_t count = std::min(capacity, waiting()), bytes = count * item_bytes(d_carriers);
        std::memcpy(out, d_made.data() + d_given, bytes);
        d_given += bytes;
        for (; !d_firsts.empty() && d_firsts.front().item < this->nitems_written(0) + count; d_firsts.pop_front())
            this->add_item_tag(0, d_firsts.front().item, d_length,
                               pmt::from_long(static_cast<long>(d_firsts.front().count)));
        return count;
    }

    void restart() override
    {
        base::restart();
        d_made.clear();
        d_firsts.clear();
        d_given = d_refused = 0;
    }

    outcome work(const call &now) override
    {
        size_t taken = 0;
        if (d_made.size() - d_given < MANY_BYTES) {
            taken = static_cast<size_t>(now.available[0]);
            take(static_cast<const gr_complex *>(now.in[0]), taken);
            pull();
        }
        this->consume(0, static_cast<int>(taken));
        return {static_cast<int>(hand_out(now.out[0], now.capacity))};
    }

  public:
    ofdm_demod_impl(const penstock_ofdm_stream_desc &desc, int frame_len, const std::string &trigger_tag_name,
                    const std::string &len_tag_name, const std::string &device)
        : gr::block(soft() ? "ofdm_demod_cb" : "ofdm_demod_cvc", gr::io_signature::make(1, 1, sizeof(gr_complex)),
                    gr::io_signature::make(1, 1, static_cast<int>(item_bytes(desc.carrier_count)))),
          d_carriers(desc.carrier_count), d_bits(static_cast<size_t>(desc.constellation)), d_frame_len(frame_len),
          d_trigger(pmt::mp(trigger_tag_name)), d_length(pmt::mp(len_tag_name)), d_continuous(desc.continuous)
    {
        this->add_stream(penstock_ofdm_stream_open, desc, device);
        this->set_tag_propagation_policy(gr::block::TPP_DONT); // items are not at the rate of the samples
    }

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

    void forecast(int, gr_vector_int &required) override
    {
        required[0] = waiting() ? 0 : 1;
    }
};

template <typename T>
typename ofdm_demod<T>::sptr
ofdm_demod<T>::make(int fft_len, int cp_len, const numbers &occupied_carriers, const numbers &pilot_carriers,
                    const values &pilot_symbols, const std::vector<gr_complex> &sync_word1,
                    const std::vector<gr_complex> &sync_word2, int frame_len, const std::string &trigger_tag_name,
                    const std::string &len_tag_name, bool track, int bits, const std::string &device)
{
    if (fft_len < 2 || cp_len < 0 || frame_len < 0)
        throw std::runtime_error("ofdm_demod: fft_len " + std::to_string(fft_len) + ", cp_len " +
                                 std::to_string(cp_len) + ", frame_len " + std::to_string(frame_len) +
                                 ", not 2 or more, 0 or more, 0 or more");
    ofdm_grid grid;
    grid.carriers = ofdm_grid::one_list("occupied_carriers", occupied_carriers, fft_len);
    grid.pilots = ofdm_grid::one_list("pilot_carriers", pilot_carriers, fft_len);
    grid.add_pilots(pilot_symbols);
    grid.add_sync_word(sync_word1, static_cast<size_t>(fft_len));
    grid.add_sync_word(sync_word2, static_cast<size_t>(fft_len));
    if (!bits || grid.carriers.empty())
        throw std::runtime_error("ofdm_demod: no bits, or no occupied_carriers");
    auto desc = description<penstock_ofdm_stream_desc>();
    desc.n = static_cast<size_t>(fft_len);
    desc.guard = static_cast<size_t>(cp_len);
    desc.carriers = grid.carriers.data();
    desc.carrier_count = grid.carriers.size();
    desc.pilots = grid.pilots.data();
    desc.pilot_count = grid.pilots.size();
    desc.pilot_values = grid.pilot_values.data();
    desc.pilot_rows = grid.pilot_rows;
    desc.track = track;
    desc.training = grid.training.empty() ? nullptr : grid.training.data();
    desc.training_symbols = grid.training_symbols;
    desc.constellation = static_cast<penstock_constellation>(bits);
    desc.continuous = trigger_tag_name.empty();
    return gnuradio::make_block_sptr<ofdm_demod_impl<T>>(desc, frame_len, trigger_tag_name, len_tag_name, device);
}

template class ofdm_demod<gr_complex>;
template class ofdm_demod<int8_t>;

} // namespace penstock
} // namespace gr
