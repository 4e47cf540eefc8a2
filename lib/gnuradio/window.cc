/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "checks.h"
#include "core.h"

#include <gnuradio/penstock/fft_v.h>

namespace gr
{
namespace penstock
{

std::vector<float> window(const std::string &name, int n)
{
    check_value("window", "n", n, n >= 1, "1 or more");
    std::vector<float> factors(static_cast<size_t>(n));
    check(penstock_window_fill(factors.data(), factors.size(), name.c_str()));
    return factors;
}

} // namespace penstock
} // namespace gr
