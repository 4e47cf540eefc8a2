/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_VITERBI_DECODER_H
#define INCLUDED_PENSTOCK_VITERBI_DECODER_H

#include <gnuradio/penstock/device_block.h>

namespace gr
{
namespace penstock
{

/*!
 * \brief Decodes convolutional codes: soft bits to bits.
 *
 * Soft bits are positive where 0 is likelier, as those of ofdm_demod_cb. Blocks of equal length follow each other, or
 * lie whole in packets with a length tag, or in PDUs (message port `pdus`, in and out: vectors of float, or of bytes
 * that are signed). Without blocks it is a stream, decoded in windows; PDUs are then none. The bits are those of
 * penstock_viterbi_plan() and penstock_viterbi_stream_open(), for any chunks.
 */
class GR_PENSTOCK_API viterbi_decoder : public batching_block
{
  public:
    using sptr = std::shared_ptr<viterbi_decoder>;

    /*!
     * \param code "wifi:3/4", "dvb:7/8", "dab", "lte", "ccsds", ...: penstock_viterbi_code()
     * \param bits data bits of a block, 1 .. 2^20; 0: a stream without blocks, of codes that end open (dvb, ccsds)
     * \param soft "float", or "byte" for signed bytes
     * \param packed eight bits an item, the first one highest, in place of one
     * \param length_tag_name the tag of a packet's first soft bit, whose value is how many they are: whole blocks, and
     *        what is over is left out; items out have it too. Empty: there are no packets
     * \param device "auto", a name, or "prefer:NAME"
     * \param max_latency_ms no block waits longer than this for others; 0: until a batch is full
     */
    static sptr make(const std::string &code = "wifi", int bits = 1024, const std::string &soft = "float",
                     bool packed = false, const std::string &length_tag_name = "", const std::string &device = "auto",
                     double max_latency_ms = 10);
};

} // namespace penstock
} // namespace gr

#endif
