/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* What parameters of blocks have to be: std::runtime_error, in the block's name, where one is not. */
#ifndef INCLUDED_PENSTOCK_CHECKS_H
#define INCLUDED_PENSTOCK_CHECKS_H

#include <gnuradio/gr_complex.h>
#include <string>
#include <vector>

namespace gr
{
namespace penstock
{

//! Throws std::runtime_error in the block's name where there are no transforms of so many points.
void check_points(const char *block, int fft_size);

//! Likewise where a window has neither `fft_size` factors nor none.
void check_window(const char *block, const std::vector<float> &factors, int fft_size);

//! Likewise where a factor or tap is no finite number.
void check_finite(const char *block, const float *values, size_t count);
inline void check_finite(const char *block, const std::vector<float> &values)
{
    check_finite(block, values.data(), values.size());
}
inline void check_finite(const char *block, const std::vector<gr_complex> &values)
{
    check_finite(block, reinterpret_cast<const float *>(values.data()), 2 * values.size());
}

} // namespace penstock
} // namespace gr

#endif
