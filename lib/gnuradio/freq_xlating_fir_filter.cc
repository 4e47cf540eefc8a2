/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "filter_block.h"

#include <gnuradio/penstock/freq_xlating_fir_filter.h>

namespace gr
{
namespace penstock
{

static const auto FREQ = pmt::mp("freq");

template <typename IN, typename TAP>
class freq_xlating_fir_filter_impl final : public filter_block<freq_xlating_fir_filter<IN, TAP>, IN, gr_complex, TAP>
{
    using base = filter_block<freq_xlating_fir_filter<IN, TAP>, IN, gr_complex, TAP>;

    void take_message(const pmt::pmt_t &message)
    {
        auto value = pmt::PMT_NIL;
        if (pmt::is_dict(message) && pmt::dict_has_key(message, FREQ))
            value = pmt::dict_ref(message, FREQ, value);
        else if (pmt::is_pair(message))
            value = pmt::cdr(message);
        if (!pmt::is_real(value) && !pmt::is_integer(value))
            return;
        try {
            set_center_freq(pmt::to_double(value));
        } catch (const std::runtime_error &error) {
            this->d_logger->error("{}", error.what());
        }
    }

  public:
    freq_xlating_fir_filter_impl(int decimation, const std::vector<TAP> &taps, double center_freq, double sampling_freq,
                                 const std::string &device, double max_latency_ms)
        : gr::block(typed_name<IN, gr_complex, TAP>("freq_xlating_fir_filter"),
                    gr::io_signature::make(1, 1, sizeof(IN)), gr::io_signature::make(1, 1, sizeof(gr_complex))),
          base("freq_xlating_fir_filter", decimation, taps, center_freq, sampling_freq, true, device, max_latency_ms)
    {
        this->message_port_register_in(FREQ);
        this->set_msg_handler(FREQ, [this](const pmt::pmt_t &message) { take_message(message); });
    }

    uint64_t set_taps(const std::vector<TAP> &taps) override
    {
        return this->change_taps(taps, -1);
    }

    uint64_t set_center_freq(double center_freq) override
    {
        const uint64_t from = this->change_center_freq(center_freq);
        if (this->detail())
            this->add_item_tag(0, from / static_cast<uint64_t>(this->decimation()), FREQ, pmt::from_double(center_freq),
                               this->alias_pmt());
        return from;
    }
};

template <typename IN, typename TAP>
typename freq_xlating_fir_filter<IN, TAP>::sptr
freq_xlating_fir_filter<IN, TAP>::make(int decimation, const std::vector<TAP> &taps, double center_freq,
                                       double sampling_freq, const std::string &device, double max_latency_ms)
{
    using impl = freq_xlating_fir_filter_impl<IN, TAP>;
    check_value("freq_xlating_fir_filter", "decimation", decimation, decimation >= 1, "1 or more");
    check_taps("freq_xlating_fir_filter", taps);
    impl::check_freq("freq_xlating_fir_filter", center_freq, sampling_freq);
    impl::check_latency("freq_xlating_fir_filter", max_latency_ms);
    return gnuradio::make_block_sptr<impl>(decimation, taps, center_freq, sampling_freq, device, max_latency_ms);
}

template class freq_xlating_fir_filter<gr_complex, gr_complex>;
template class freq_xlating_fir_filter<gr_complex, float>;
template class freq_xlating_fir_filter<float, gr_complex>;
template class freq_xlating_fir_filter<float, float>;
template class freq_xlating_fir_filter<short, gr_complex>;
template class freq_xlating_fir_filter<short, float>;

} // namespace penstock
} // namespace gr
