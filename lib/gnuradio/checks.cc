/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "checks.h"

#include <cmath>
#include <stdexcept>

namespace gr
{
namespace penstock
{

constexpr int MOST_POINTS = 1 << 23; // GNU Radio cannot count the bytes of more

void check_points(const char *block, int fft_size)
{
    if (fft_size < 1 || fft_size > MOST_POINTS)
        throw std::runtime_error(std::string(block) + ": fft_size is " + std::to_string(fft_size) + ", not 1 .. " +
                                 std::to_string(MOST_POINTS));
}

void check_window(const char *block, const std::vector<float> &factors, int fft_size)
{
    if (!factors.empty() && factors.size() != static_cast<size_t>(fft_size))
        throw std::runtime_error(std::string(block) + ": the window has " + std::to_string(factors.size()) +
                                 " factors, not " + std::to_string(fft_size) + " or none");
}

void check_finite(const char *block, const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!std::isfinite(values[i]))
            throw std::runtime_error(std::string(block) + ": a factor or tap is " + std::to_string(values[i]) +
                                     ", not finite");
}

} // namespace penstock
} // namespace gr
