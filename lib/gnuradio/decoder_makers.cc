/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* Decoders for the blocks of gr-fec, one frame a call. */
#include "checks.h"
#include "core.h"

#include <algorithm>
#include <cmath>
#include <gnuradio/penstock/decoder_makers.h>

namespace gr
{
namespace penstock
{

/* void * in GNU Radio 3.10.5, const void * in 3.10.12. */
template <typename INPUT> INPUT input_of(void (gr::fec::generic_decoder::*work)(INPUT, void *));
using work_input = decltype(input_of(&gr::fec::generic_decoder::generic_work));

/* gr-fec's soft bits are positive where 1 is likelier. */
class frame_decoder final : public gr::fec::generic_decoder
{
    const std::shared_ptr<penstock_context> d_context; // which the plan needs
    const handle<penstock_plan> d_plan;
    const size_t d_bits, d_sent;
    const double d_rate;
    std::vector<float> d_soft;

  public:
    frame_decoder(const char *name, std::shared_ptr<penstock_context> context, penstock_plan *plan, size_t bits,
                  size_t sent, double rate)
        : generic_decoder(name), d_context(std::move(context)), d_plan(plan, penstock_plan_free), d_bits(bits),
          d_sent(sent), d_rate(rate), d_soft(sent)
    {
    }

    void generic_work(work_input inbuffer, void *outbuffer) override
    {
        const auto soft = static_cast<const float *>(inbuffer);
        std::transform(soft, soft + d_sent, d_soft.begin(), [](float value) { return -value; });
        check(penstock_plan_run(d_plan.get(), d_soft.data(), outbuffer, 1));
    }

    double rate() override
    {
        return d_rate;
    }

    int get_input_size() override
    {
        return static_cast<int>(d_sent);
    }

    int get_output_size() override
    {
        return static_cast<int>(d_bits);
    }

    bool set_frame_size(unsigned int frame_size) override
    {
        return frame_size == d_bits;
    }
};

gr::fec::generic_decoder::sptr viterbi_decoder_make(const std::string &code, int bits, const std::string &device)
{
    auto desc = description<penstock_viterbi_desc>();
    const auto context = shared_context();
    penstock_plan *plan;
    size_t sent;
    check(penstock_viterbi_code(&desc, code.c_str()));
    check_value("viterbi_decoder_make", "bits", bits, bits >= 1, "1 or more");
    desc.bits = static_cast<size_t>(bits);
    desc.soft = PENSTOCK_SOFT_F32;
    desc.result = PENSTOCK_BITS_UNPACKED;
    check(penstock_viterbi_sent(&sent, &desc));
    check(penstock_viterbi_plan(&plan, context.get(), &desc, device.c_str()));
    const auto tail = desc.end == PENSTOCK_TRELLIS_ZERO ? desc.constraint - 1 : 0;
    const double rate = static_cast<double>(desc.bits + tail) / static_cast<double>(sent);
    return std::make_shared<frame_decoder>("viterbi_decoder", context, plan, desc.bits, sent, rate);
}

gr::fec::generic_decoder::sptr ldpc_decoder_make(const std::string &code, int iterations, const std::string &device,
                                                 double scale)
{
    auto desc = description<penstock_ldpc_desc>();
    const auto context = shared_context();
    penstock_plan *plan;
    size_t bits, sent;
    check(penstock_ldpc_code(&desc, code.c_str()));
    check_value("ldpc_decoder_make", "iterations", iterations, iterations >= 1, "1 or more");
    check_value("ldpc_decoder_make", "scale", scale, scale >= 0 && std::isfinite(scale), "0 or more");
    desc.iterations = static_cast<unsigned>(iterations);
    desc.scale = static_cast<float>(scale);
    desc.stop_early = true;
    desc.soft = PENSTOCK_SOFT_F32;
    desc.result = PENSTOCK_BITS_UNPACKED;
    check(penstock_ldpc_sizes(&bits, &sent, &desc));
    check(penstock_ldpc_plan(&plan, context.get(), &desc, device.c_str()));
    const double rate = static_cast<double>(bits) / static_cast<double>(sent);
    return std::make_shared<frame_decoder>("ldpc_decoder", context, plan, bits, sent, rate);
}

} // namespace penstock
} // namespace gr
