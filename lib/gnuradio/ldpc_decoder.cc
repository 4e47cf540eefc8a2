/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "checks.h"
#include "decoder_block.h"

#include <gnuradio/penstock/ldpc_decoder.h>

namespace gr
{
namespace penstock
{

class ldpc_decoder_impl final : public decoder_block<ldpc_decoder>
{
  public:
    ldpc_decoder_impl(const penstock_ldpc_desc &desc, const decoder_items &items, const std::string &device,
                      double max_latency_ms)
        : gr::block("ldpc_decoder", gr::io_signature::make(0, 1, static_cast<int>(items.soft_bytes)),
                    gr::io_signature::make(0, 1, 1)),
          decoder_block(items, max_latency_ms)
    {
        add_stream(penstock_ldpc_blocks_open, desc, device);
        begin([context = d_context, desc, device] {
            penstock_plan *plan;
            check(penstock_ldpc_plan(&plan, context.get(), &desc, device.c_str()));
            return plan;
        });
    }
};

static size_t not_negative(const char *name, int value)
{
    check_value("ldpc_decoder", name, value, value >= 0, "0 or more");
    return static_cast<size_t>(value);
}

ldpc_decoder::sptr ldpc_decoder::make(const std::string &code, const std::string &soft, bool packed, int iterations,
                                      bool stop_early, int filler, int punctured_end, double scale,
                                      const std::string &length_tag_name, const std::string &device,
                                      double max_latency_ms)
{
    auto desc = description<penstock_ldpc_desc>();
    size_t bits;
    check(penstock_ldpc_code(&desc, code.c_str()));
    desc.soft = soft_type("ldpc_decoder", soft);
    desc.result = packed ? PENSTOCK_BITS_MSB_FIRST : PENSTOCK_BITS_UNPACKED;
    desc.iterations = static_cast<unsigned>(not_negative("iterations", iterations));
    desc.stop_early = stop_early;
    desc.filler += not_negative("filler", filler);
    desc.punctured_end += not_negative("punctured_end", punctured_end);
    desc.scale = static_cast<float>(scale);
    decoder_items items{1, 1, 1, 1, desc.soft == PENSTOCK_SOFT_F32 ? sizeof(float) : 1, length_tag_name};
    check(penstock_ldpc_sizes(&bits, &items.sent, &desc));
    items.rate_up = items.given = packed ? (bits + 7) / 8 : bits;
    items.rate_down = items.sent;
    return gnuradio::make_block_sptr<ldpc_decoder_impl>(desc, items, device, max_latency_ms);
}

} // namespace penstock
} // namespace gr
