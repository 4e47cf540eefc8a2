/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "checks.h"
#include "decoder_block.h"

#include <gnuradio/penstock/viterbi_decoder.h>

namespace gr
{
namespace penstock
{

class viterbi_decoder_impl final : public decoder_block<viterbi_decoder>
{
  public:
    viterbi_decoder_impl(const penstock_viterbi_desc &desc, const decoder_items &items, const std::string &device,
                         double max_latency_ms)
        : gr::block("viterbi_decoder", gr::io_signature::make(0, 1, static_cast<int>(items.soft_bytes)),
                    gr::io_signature::make(0, 1, 1)),
          decoder_block(items, max_latency_ms)
    {
        add_stream(desc.bits ? penstock_viterbi_blocks_open : penstock_viterbi_stream_open, desc, device);
        const auto make_plan = [context = d_context, desc, device] {
            penstock_plan *plan;
            check(penstock_viterbi_plan(&plan, context.get(), &desc, device.c_str()));
            return plan;
        };
        begin(desc.bits ? plan_maker(make_plan) : nullptr);
    }
};

/* Of the code without blocks: bits for so many soft bits, over whole puncturing patterns. */
static void set_rate(decoder_items &items, penstock_viterbi_desc desc, size_t bits_an_item)
{
    constexpr size_t BITS = 8 * 3 * 5 * 7 * 16; // a multiple of every pattern's that has a name
    size_t sent;
    desc.bits = BITS;
    desc.end = PENSTOCK_TRELLIS_OPEN;
    check(penstock_viterbi_sent(&sent, &desc));
    items.rate_up = BITS / bits_an_item;
    items.rate_down = sent;
}

viterbi_decoder::sptr viterbi_decoder::make(const std::string &code, int bits, const std::string &soft, bool packed,
                                            const std::string &length_tag_name, const std::string &device,
                                            double max_latency_ms)
{
    auto desc = description<penstock_viterbi_desc>();
    check(penstock_viterbi_code(&desc, code.c_str()));
    desc.soft = soft_type("viterbi_decoder", soft);
    desc.result = packed ? PENSTOCK_BITS_MSB_FIRST : PENSTOCK_BITS_UNPACKED;
    decoder_items items{1, 1, 1, 1, desc.soft == PENSTOCK_SOFT_F32 ? sizeof(float) : 1, length_tag_name};
    check_value("viterbi_decoder", "bits", bits, bits > 0 || (!bits && length_tag_name.empty()),
                "1 or more, or 0 for a stream without blocks and packets");
    if (bits) {
        desc.bits = static_cast<size_t>(bits);
        check(penstock_viterbi_sent(&items.sent, &desc));
        items.rate_up = items.given = packed ? (desc.bits + 7) / 8 : desc.bits;
        items.rate_down = items.sent;
    } else
        set_rate(items, desc, packed ? 8 : 1);
    return gnuradio::make_block_sptr<viterbi_decoder_impl>(desc, items, device, max_latency_ms);
}

} // namespace penstock
} // namespace gr
