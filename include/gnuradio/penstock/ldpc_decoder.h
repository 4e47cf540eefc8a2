/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_LDPC_DECODER_H
#define INCLUDED_PENSTOCK_LDPC_DECODER_H

#include <gnuradio/penstock/device_block.h>

namespace gr
{
namespace penstock
{

/*!
 * \brief Decodes low-density parity-check codes: soft bits to bits.
 *
 * Soft bits, packets and PDUs are as in viterbi_decoder; the bits are those of penstock_ldpc_plan().
 */
class GR_PENSTOCK_API ldpc_decoder : public batching_block
{
  public:
    using sptr = std::shared_ptr<ldpc_decoder>;

    /*!
     * \param code "wifi:1944:1/2", "nr:bg1:384", "ccsds:1024:1/2", ...: penstock_ldpc_code()
     * \param soft "float", or "byte" for signed bytes
     * \param packed eight bits an item, the first one highest, in place of one
     * \param iterations the most of a block; 0: 10
     * \param stop_early when all checks hold
     * \param filler data bits that are 0, not sent and not in the result (NR)
     * \param punctured_end bits at the end that are not sent (NR), besides those that the code itself leaves out
     * \param scale of floats, before they are rounded; 0: of each block its own, which GPUs do not have
     * \param length_tag_name as in viterbi_decoder
     * \param device "auto", a name, or "prefer:NAME"
     * \param max_latency_ms no block waits longer than this for others; 0: until a batch is full
     */
    static sptr make(const std::string &code = "wifi:1944:1/2", const std::string &soft = "float", bool packed = false,
                     int iterations = 10, bool stop_early = true, int filler = 0, int punctured_end = 0,
                     double scale = 0, const std::string &length_tag_name = "", const std::string &device = "auto",
                     double max_latency_ms = 10);
};

} // namespace penstock
} // namespace gr

#endif
