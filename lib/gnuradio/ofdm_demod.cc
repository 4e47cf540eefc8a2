/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "item_queue.h"
#include "ofdm_frames.h"
#include "ofdm_grid.h"

#include <gnuradio/penstock/ofdm_demod.h>
#include <type_traits>

namespace gr
{
namespace penstock
{

constexpr size_t MANY_BYTES = 1 << 22; // no more samples are taken while so many bytes wait

template <typename T> class ofdm_demod_impl final : public ofdm_frames<ofdm_demod<T>>
{
    using base = ofdm_frames<ofdm_demod<T>>;
    using base::stream;
    using typename base::call, typename base::outcome;

    static constexpr bool SOFT = !std::is_same<T, gr_complex>::value;

    const size_t d_symbol_items;
    item_queue d_made;

    static size_t item_bytes(const penstock_ofdm_stream_desc &desc)
    {
        return SOFT ? 1 : desc.carrier_count * sizeof(gr_complex);
    }

    std::map<std::string, double> numbers() const override
    {
        auto all = base::numbers();
        all["ready"] = to_number(d_made.size());
        return all;
    }

    void pull()
    {
        auto result = description<penstock_ofdm_stream_result>();
        int status;
        while ((status = penstock_ofdm_stream_pull(stream(), &result)) > 0) {
            const size_t items = result.symbols * d_symbol_items;
            this->begin_frame(this->nitems_written(0) + d_made.size(), items);
            d_made.add(SOFT ? static_cast<const void *>(result.soft) : result.points, items);
        }
        check(status);
    }

    void restart() override
    {
        base::restart();
        d_made.clear();
    }

    outcome work(const call &now) override
    {
        size_t taken = 0;
        if (d_made.bytes() < MANY_BYTES) {
            taken = static_cast<size_t>(now.available[0]);
            this->announce_frames(taken);
            check(penstock_stream_push(stream(), now.in[0], taken, nullptr));
            pull();
        }
        this->consume(0, static_cast<int>(taken));
        const size_t given = d_made.give(now.out[0], now.capacity);
        this->give_tags(given);
        return {static_cast<int>(given)};
    }

  public:
    ofdm_demod_impl(const penstock_ofdm_stream_desc &desc, int frame_len, const std::string &trigger_tag_name,
                    const std::string &len_tag_name, const std::string &device)
        : gr::block(SOFT ? "ofdm_demod_cb" : "ofdm_demod_cvc", gr::io_signature::make(1, 1, sizeof(gr_complex)),
                    gr::io_signature::make(1, 1, static_cast<int>(item_bytes(desc)))),
          base(frame_len, trigger_tag_name, len_tag_name),
          d_symbol_items(SOFT ? desc.carrier_count * static_cast<size_t>(desc.constellation) : 1),
          d_made(item_bytes(desc))
    {
        this->add_stream(penstock_ofdm_stream_open, desc, device);
        this->set_tag_propagation_policy(gr::block::TPP_DONT); // items are not at the rate of the samples
    }

    void forecast(int, gr_vector_int &required) override
    {
        required[0] = d_made.size() ? 0 : 1;
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
    const ofdm_grid grid(fft_len, occupied_carriers, pilot_carriers, pilot_symbols, sync_word1, sync_word2);
    auto desc = grid.describe();
    if (!bits || !desc.carrier_count)
        throw std::runtime_error("ofdm_demod: no bits, or no occupied_carriers");
    desc.guard = static_cast<size_t>(cp_len);
    desc.track = track;
    desc.constellation = static_cast<penstock_constellation>(bits);
    desc.continuous = trigger_tag_name.empty();
    return gnuradio::make_block_sptr<ofdm_demod_impl<T>>(desc, frame_len, trigger_tag_name, len_tag_name, device);
}

template class ofdm_demod<gr_complex>;
template class ofdm_demod<int8_t>;

} // namespace penstock
} // namespace gr
