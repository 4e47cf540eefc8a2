/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_DECODER_MAKERS_H
#define INCLUDED_PENSTOCK_DECODER_MAKERS_H

#include <gnuradio/fec/generic_decoder.h>
#include <gnuradio/penstock/api.h>
#include <string>

namespace gr
{
namespace penstock
{

/*!
 * \brief Decoders for gr-fec: fec.decoder, fec.extended_decoder, fec.tagged_decoder, fec.async_decoder.
 *
 * Soft bits are positive where 1 is likelier there. Puncturing is part of the code: the extended decoder's pattern
 * stays "11". Each call of gr-fec decodes one frame, of `bits` data bits and no fewer.
 *
 * \param code as viterbi_decoder has it
 * \param bits of a frame, 1 .. 2^20
 * \param device "auto", a name, or "prefer:NAME"
 */
GR_PENSTOCK_API gr::fec::generic_decoder::sptr viterbi_decoder_make(const std::string &code = "wifi", int bits = 1024,
                                                                    const std::string &device = "auto");

/*!
 * Likewise, of a code as ldpc_decoder has it, until all checks hold or so many iterations are done. Soft bits are
 * multiplied by \p scale and rounded to -127 .. 127; 0: by one of each frame's own, as GPUs have none.
 */
GR_PENSTOCK_API gr::fec::generic_decoder::sptr ldpc_decoder_make(const std::string &code = "wifi:1944:1/2",
                                                                 int iterations = 10,
                                                                 const std::string &device = "auto", double scale = 0);

} // namespace penstock
} // namespace gr

#endif
