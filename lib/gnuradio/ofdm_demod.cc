/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "core.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <gnuradio/block_detail.h>
#include <gnuradio/buffer_reader.h>
#include <gnuradio/io_signature.h>
#include <gnuradio/penstock/ofdm_demod.h>
#include <type_traits>

namespace gr
{
namespace penstock
{

static const auto SYMBOLS = pmt::mp("symbols"), CFO = pmt::mp("cfo");
constexpr size_t MANY_BYTES = 1 << 22; // no more samples are taken while so many bytes wait

/* The grid of the C library from that of the stock blocks. */
struct ofdm_grid {
    std::vector<int32_t> carriers, pilots;
    std::vector<penstock_cf32> pilot_values, training;
    size_t pilot_rows = 0, training_symbols = 0;

    static std::vector<int32_t> one_list(const char *name, const std::vector<std::vector<int>> &lists, int fft_len)
    {
        if (lists.size() > 1)
            throw std::runtime_error(std::string("ofdm_demod: ") + name + " has " + std::to_string(lists.size()) +
                                     " lists, not one");
        std::vector<int32_t> all;
        for (const auto &list : lists)
            for (int carrier : list)
                all.push_back(carrier > (fft_len - 1) / 2 && carrier < fft_len ? carrier - fft_len : carrier);
        return all;
    }

    void add_pilots(const std::vector<std::vector<gr_complex>> &symbols)
    {
        for (const auto &row : symbols) {
            if (row.size() != pilots.size())
                throw std::runtime_error("ofdm_demod: pilot_symbols has a list of " + std::to_string(row.size()) +
                                         ", there are " + std::to_string(pilots.size()) + " pilot_carriers");
            for (const auto &value : row)
                pilot_values.push_back({value.real(), value.imag()});
        }
        pilot_rows = pilots.empty() ? 0 : symbols.size();
    }

    void add_sync_word(const std::vector<gr_complex> &word, size_t fft_len)
    {
        if (word.empty())
            return;
        if (word.size() != fft_len)
            throw std::runtime_error("ofdm_demod: a sync word has " + std::to_string(word.size()) + " values, not " +
                                     std::to_string(fft_len));
        training.resize(fft_len);
        for (size_t i = 0; i < fft_len; i++)
            training[(i + fft_len - fft_len / 2) % fft_len] = {word[i].real(), word[i].imag()};
        training_symbols++;
    }
};

template <typename T> class ofdm_demod_impl final : public ofdm_demod<T>
{
    std::shared_ptr<penstock_context> d_context = shared_context();
    handle<penstock_stream> d_stream{nullptr, penstock_stream_free};
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
    stats_port d_stats{*this};

    static constexpr bool soft()
    {
        return !std::is_same<T, gr_complex>::value;
    }

    static size_t item_bytes(size_t carriers)
    {
        return soft() ? 1 : carriers * sizeof(gr_complex);
    }

    std::map<std::string, double> counters() const
    {
        auto c = description<penstock_ofdm_stream_counters>();
        check(penstock_ofdm_stream_get_counters(d_stream.get(), &c));
        auto stats = description<penstock_stream_stats>();
        check(penstock_stream_get_stats(d_stream.get(), &stats));
        auto value = [](uint64_t count) { return static_cast<double>(count); };
        auto all = stats_of({stats});
        all.insert({{"frames", value(c.frames)},
                    {"waiting", value(c.waiting)},
                    {"refused", value(d_refused)},
                    {"ready", value(waiting())}});
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
            check(penstock_ofdm_stream_frame(d_stream.get(), tag.offset, static_cast<size_t>(std::max(symbols, 0L)),
                                             cfo));
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
        check(penstock_stream_push(d_stream.get(), reinterpret_cast<const penstock_cf32 *>(samples), count, nullptr));
    }

    void pull()
    {
        auto result = description<penstock_ofdm_stream_result>();
        int status;
        d_made.erase(d_made.begin(), d_made.begin() + static_cast<ptrdiff_t>(d_given));
        d_given = 0;
        while ((status = penstock_ofdm_stream_pull(d_stream.get(), &result)) > 0) {
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

  public:
    ofdm_demod_impl(const penstock_ofdm_stream_desc &desc, int frame_len, const std::string &trigger_tag_name,
                    const std::string &len_tag_name, const std::string &device)
        : gr::block(soft() ? "ofdm_demod_cb" : "ofdm_demod_cvc", gr::io_signature::make(1, 1, sizeof(gr_complex)),
                    gr::io_signature::make(1, 1, static_cast<int>(item_bytes(desc.carrier_count)))),
          d_carriers(desc.carrier_count), d_bits(static_cast<size_t>(desc.constellation)), d_frame_len(frame_len),
          d_trigger(pmt::mp(trigger_tag_name)), d_length(pmt::mp(len_tag_name)), d_continuous(desc.continuous)
    {
        penstock_stream *made;
        check(penstock_ofdm_stream_open(&made, d_context.get(), &desc, device.c_str()));
        d_stream.reset(made);
        this->set_tag_propagation_policy(gr::block::TPP_DONT); // items are not at the rate of the samples
    }

    std::string device() const override
    {
        return penstock_stream_device(d_stream.get());
    }

    void set_frame_len(int frame_len) override
    {
        if (frame_len < 0)
            throw std::runtime_error("ofdm_demod: frame_len is " + std::to_string(frame_len) + ", not 0 or more");
        gr::thread::scoped_lock lock(this->d_setlock);
        d_frame_len = frame_len;
    }

    int frame_len() const override
    {
        return d_frame_len;
    }

    std::map<std::string, double> stats() override
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        return counters();
    }

    bool start() override
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        check(penstock_stream_reset(d_stream.get()));
        d_made.clear();
        d_firsts.clear();
        d_given = d_refused = 0;
        d_stats.start();
        return true;
    }

    void forecast(int, gr_vector_int &required) override
    {
        required[0] = waiting() ? 0 : 1;
    }

    int general_work(int noutput_items, gr_vector_int &ninput_items, gr_vector_const_void_star &input_items,
                     gr_vector_void_star &output_items) override
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        size_t taken = 0;
        try {
            if (d_made.size() - d_given < MANY_BYTES) {
                taken = static_cast<size_t>(ninput_items[0]);
                take(static_cast<const gr_complex *>(input_items[0]), taken);
                pull();
            }
            d_stats.publish([this] { return counters(); });
        } catch (const std::runtime_error &error) {
            this->d_logger->error("{}", error.what());
            return gr::block::WORK_DONE;
        }
        this->consume(0, static_cast<int>(taken));
        return static_cast<int>(hand_out(output_items[0], static_cast<size_t>(noutput_items)));
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
