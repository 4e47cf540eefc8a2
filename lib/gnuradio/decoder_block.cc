/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "decoder_block.h"

namespace gr
{
namespace penstock
{

penstock_soft soft_type(const char *block, const std::string &name)
{
    if (name == "float")
        return PENSTOCK_SOFT_F32;
    if (name == "byte")
        return PENSTOCK_SOFT_S8;
    throw std::runtime_error(std::string(block) + ": soft is '" + name + "', neither 'float' nor 'byte'");
}

const void *soft_elements(const pmt::pmt_t &pdu, size_t soft_bytes, size_t &count)
{
    if (!pmt::is_pair(pdu))
        return nullptr;
    const auto vector = pmt::cdr(pdu);
    if (soft_bytes == sizeof(float) && pmt::is_f32vector(vector))
        return pmt::f32vector_elements(vector, count);
    if (soft_bytes == 1 && (pmt::is_s8vector(vector) || pmt::is_u8vector(vector)))
        return pmt::uniform_vector_elements(vector, count);
    return nullptr;
}

} // namespace penstock
} // namespace gr
