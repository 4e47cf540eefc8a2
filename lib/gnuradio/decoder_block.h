/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* What decoders share: soft bits through a stream of the library, packets with a length tag, PDUs through a plan. */
#ifndef INCLUDED_PENSTOCK_DECODER_BLOCK_H
#define INCLUDED_PENSTOCK_DECODER_BLOCK_H

#include "stream_block.h"

#include <cmath>
#include <functional>

namespace gr
{
namespace penstock
{

//! What goes in and comes out of a decoder.
struct decoder_items {
    size_t sent, given;          // soft bits of a block, and items out of it; 1 and 1 where there are no blocks
    uint64_t rate_up, rate_down; // items out for so many soft bits
    size_t soft_bytes;           // of a soft bit
    std::string length_tag;      // of packets of whole blocks; empty: blocks follow each other
};

//! The library's words for "float" and "byte"; throws if it is neither.
penstock_soft soft_type(const char *block, const std::string &name);

//! The items that a PDU of soft bits of this type has, or NULL.
const void *soft_elements(const pmt::pmt_t &pdu, size_t soft_bytes, size_t &count);

using plan_maker = std::function<penstock_plan *()>;

template <typename Interface> class decoder_block : public batch_block<Interface>
{
    using base = batch_block<Interface>;
    using base::d_ended;
    using typename base::call, typename base::outcome;

    const decoder_items d_items;
    const pmt::pmt_t d_length = pmt::mp(d_items.length_tag), d_pdus = pmt::mp("pdus");
    uint64_t d_taken = 0;      // blocks that the stream has
    uint64_t d_packet_end = 0; // input item behind the packet
    uint64_t d_packets = 0, d_refused = 0;
    plan_maker d_make_plan;
    handle<penstock_plan> d_plan{nullptr, penstock_plan_free}; // of PDUs, made for the first

    bool has_blocks() const
    {
        return d_items.sent > 1;
    }

    void refuse(const std::string &why)
    {
        d_refused++;
        this->d_logger->warn("{}: {}", this->name(), why);
    }

    // Soft bits before the next that is to be decoded: between packets, and those that fill no block at a packet's end.
    size_t skipped(size_t available)
    {
        const uint64_t here = this->nitems_read(0);
        if (here < d_packet_end)
            return d_packet_end - here < d_items.sent ? std::min<size_t>(available, d_packet_end - here) : 0;
        std::vector<gr::tag_t> tags;
        this->get_tags_in_window(tags, 0, 0, available, d_length);
        const auto first = std::min_element(tags.begin(), tags.end(), gr::tag_t::offset_compare);
        if (first == tags.end() || first->offset > here)
            return first == tags.end() ? available : first->offset - here;
        const auto blocks = is_whole(first->value) ? to_whole(first->value) / static_cast<long>(d_items.sent) : 0;
        if (blocks < 1) {
            refuse("a packet has not as many soft bits as a block");
            return 1;
        }
        d_packet_end = here + static_cast<uint64_t>(to_whole(first->value));
        this->keep_tag(d_taken * d_items.given, first->key, pmt::from_long(blocks * static_cast<long>(d_items.given)),
                       first->srcid);
        d_packets++;
        return 0;
    }

    outcome decode(const call &now, size_t available)
    {
        size_t taken, given, blocks = available / d_items.sent;
        check(penstock_stream_run(this->stream(), now.in[0], d_ended ? 0 : blocks, &taken, now.out[0],
                                  now.capacity / d_items.given, &given));
        d_taken += taken;
        if (!d_ended && taken == blocks && input_ended(*this, static_cast<size_t>(now.available[0])) &&
            static_cast<size_t>(now.available[0]) - taken * d_items.sent < d_items.sent) {
            check(penstock_stream_finish(this->stream()));
            d_ended = true;
        }
        this->give_tags(given * d_items.given);
        return this->pass(taken * d_items.sent, given * d_items.given, penstock_stream_due_s(this->stream()));
    }

    outcome work(const call &now) override
    {
        auto available = static_cast<size_t>(now.available[0]);
        if (!d_items.length_tag.empty()) {
            if (const size_t skip = skipped(available)) {
                this->consume(0, static_cast<int>(skip));
                return {0};
            }
            available = std::min<size_t>(available, d_packet_end - std::min(d_packet_end, this->nitems_read(0)));
        }
        return decode(now, available);
    }

    void restart() override
    {
        base::restart();
        d_taken = d_packet_end = d_packets = d_refused = 0;
    }

    std::map<std::string, double> numbers() const override
    {
        auto all = base::numbers();
        all.insert({{"packets", to_number(d_packets)}, {"refused", to_number(d_refused)}});
        return all;
    }

    void decode_pdu(const pmt::pmt_t &pdu)
    {
        gr::thread::scoped_lock lock(this->d_setlock);
        const works_for me(this->d_log);
        size_t count = 0;
        const void *soft = soft_elements(pdu, d_items.soft_bytes, count);
        if (!soft || !count || count % d_items.sent)
            return refuse("a message is no PDU of whole blocks of soft bits");
        std::vector<uint8_t> bits(count / d_items.sent * d_items.given);
        try {
            if (!d_plan)
                d_plan.reset(d_make_plan());
            check(penstock_plan_run(d_plan.get(), soft, bits.data(), count / d_items.sent));
        } catch (const std::runtime_error &error) {
            return refuse(error.what());
        }
        d_packets++;
        this->message_port_pub(d_pdus, pmt::cons(pmt::car(pdu), pmt::init_u8vector(bits.size(), bits)));
    }

  protected:
    // To be called when the stream is made, with what makes a plan for PDUs, or nothing where there are no blocks.
    void begin(plan_maker make_plan)
    {
        d_make_plan = std::move(make_plan);
        this->set_output_multiple(static_cast<int>(d_items.given));
        this->set_relative_rate(d_items.rate_up, d_items.rate_down);
        this->set_tag_propagation_policy(d_items.length_tag.empty() ? gr::block::TPP_ALL_TO_ALL : gr::block::TPP_DONT);
        check(penstock_stream_set_max_latency(this->stream(), this->d_max_latency_ms / 1e3));
        if (!d_make_plan)
            return;
        this->message_port_register_out(d_pdus);
        this->message_port_register_in(d_pdus);
        this->set_msg_handler(d_pdus, [this](const pmt::pmt_t &pdu) { decode_pdu(pdu); });
    }

  public:
    decoder_block(const decoder_items &items, double max_latency_ms) : base(max_latency_ms), d_items(items)
    {
    }

    bool check_topology(int inputs, int outputs) override
    {
        return inputs == outputs;
    }

    void forecast(int, gr_vector_int &required) override
    {
        const bool due = std::isfinite(penstock_stream_due_s(this->stream()));
        const bool left = !d_ended || (has_blocks() && d_taken * d_items.given > this->nitems_written(0));
        const size_t enough = d_items.length_tag.empty() ? d_items.sent : 1;
        for (auto &items : required)
            items = due || (left && this->detail()->input(0)->done()) ? 0 : static_cast<int>(enough);
    }
};

} // namespace penstock
} // namespace gr

#endif
