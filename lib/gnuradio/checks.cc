/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "checks.h"

#include <cmath>

namespace gr
{
namespace penstock
{

constexpr int MOST_POINTS = 1 << 23; // GNU Radio cannot count the bytes of more

void check_range(const std::string &block, const char *name, int value, int least, int most)
{
    const auto wanted = std::to_string(least) + " .. " + std::to_string(most);
    check_value(block, name, value, value >= least && value <= most, wanted);
}

void check_points(const std::string &block, int fft_size)
{
    check_range(block, "fft_size", fft_size, 1, MOST_POINTS);
}

void check_window(const std::string &block, const std::vector<float> &factors, int fft_size)
{
    if (!factors.empty() && factors.size() != static_cast<size_t>(fft_size))
        throw std::runtime_error(block + ": the window has " + std::to_string(factors.size()) + " factors, not " +
                                 std::to_string(fft_size) + " or none");
}

void check_channels(const std::string &block, const std::vector<int> &map, size_t channels)
{
    std::vector<bool> seen(channels);
    for (const int channel : map) {
        if (channel < 0 || static_cast<size_t>(channel) >= channels || seen[static_cast<size_t>(channel)])
            throw std::runtime_error(block + ": channel_map has " + std::to_string(channel) + ", not each of 0 .. " +
                                     std::to_string(channels - 1) + " once at most");
        seen[static_cast<size_t>(channel)] = true;
    }
}

void check_ports(const std::string &block, const std::vector<int> &map, size_t count, const char *ports)
{
    if (!map.empty() && map.size() < count)
        throw std::runtime_error(block + ": channel_map has " + std::to_string(map.size()) + " channels, there are " +
                                 std::to_string(count) + " " + ports);
}

void check_finite(const std::string &block, const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!std::isfinite(values[i]))
            throw std::runtime_error(block + ": a factor or tap is " + std::to_string(values[i]) + ", not finite");
}

} // namespace penstock
} // namespace gr
