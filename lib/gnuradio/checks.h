/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* What parameters of blocks have to be. Each function throws std::runtime_error in the block's name. */
#ifndef INCLUDED_PENSTOCK_CHECKS_H
#define INCLUDED_PENSTOCK_CHECKS_H

#include <gnuradio/gr_complex.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace gr
{
namespace penstock
{

//! Throws where the value of a parameter is not good: not `wanted`.
template <typename T>
void check_value(const std::string &block, const char *name, T value, bool good, const std::string &wanted)
{
    if (!good)
        throw std::runtime_error(block + ": " + name + " is " + std::to_string(value) + ", not " + wanted);
}

//! Where a whole number is not `least` .. `most`.
void check_range(const std::string &block, const char *name, int value, int least, int most);

//! Where there are no transforms of so many points.
void check_points(const std::string &block, int fft_size);

//! Where a window has neither `fft_size` factors nor none.
void check_window(const std::string &block, const std::vector<float> &factors, int fft_size);

//! Where a filter bank's map has a channel twice, or one that there is not.
void check_channels(const std::string &block, const std::vector<int> &map, size_t channels);

//! Where a map that is not empty has fewer channels than there are `ports`, outputs or inputs.
void check_ports(const std::string &block, const std::vector<int> &map, size_t count, const char *ports);

//! Where a factor or tap is no finite number.
void check_finite(const std::string &block, const float *values, size_t count);
inline void check_finite(const std::string &block, const std::vector<float> &values)
{
    check_finite(block, values.data(), values.size());
}
inline void check_finite(const std::string &block, const std::vector<gr_complex> &values)
{
    check_finite(block, reinterpret_cast<const float *>(values.data()), 2 * values.size());
}

//! Where a block is to be made without taps.
template <typename TAP> void check_taps(const std::string &block, const std::vector<TAP> &taps)
{
    if (taps.empty())
        throw std::runtime_error(block + ": there are no taps");
}

//! Where a setter has none, or one that is not finite.
template <typename TAP> void check_other_taps(const std::string &block, const std::vector<TAP> &taps)
{
    if (taps.empty())
        throw std::runtime_error(block + ": set_taps() without taps");
    check_finite(block, taps);
}

} // namespace penstock
} // namespace gr

#endif
