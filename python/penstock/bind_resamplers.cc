/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* The resamplers for Python. */
#include "bindings.h"

#include <algorithm>
#include <gnuradio/penstock/pfb_arb_resampler.h>
#include <gnuradio/penstock/rational_resampler.h>
#include <numeric>

template <typename T, typename TAP> static void bind_arbitrary(py::module &m, const char *name)
{
    using resampler = gr::penstock::pfb_arb_resampler<T, TAP>;
    device_class<resampler>(m, name, block_docs::ARB_RESAMPLER)
        .def(py::init(&resampler::make), "rate"_a, "taps"_a, "filter_size"_a = 32, "device"_a = "auto")
        .def("set_taps", &resampler::set_taps, "taps"_a, "Other taps, from the next output on")
        .def("taps", &resampler::taps, "By arms")
        .def("set_rate", &resampler::set_rate, "rate"_a, "Another rate, from the next output on")
        .def("set_phase", &resampler::set_phase, "ph"_a,
             "The arm of the first output, 0 .. 2 pi; before the first item")
        .def("phase", &resampler::phase, "Of the first output, in radians of the filter bank")
        .def("interpolation_rate", &resampler::interpolation_rate, "Arms")
        .def("decimation_rate", &resampler::decimation_rate, "Whole arms from one output to the next")
        .def("fractional_rate", &resampler::fractional_rate, "And the part of one")
        .def("taps_per_filter", &resampler::taps_per_filter, "Of an arm")
        .def("group_delay", &resampler::group_delay, "In output items")
        .def("phase_offset", &resampler::phase_offset, "freq"_a, "fs"_a, "Of a tone, in radians");
}

/* Where there are none, those that the stock block makes, by its own designer, and in its floats. */
template <typename TAP> static std::vector<TAP> design(unsigned interpolation, unsigned decimation, float fractional_bw)
{
    const float half = 0.5F, bw = fractional_bw <= 0 ? 0.4F : fractional_bw;
    const float rate = static_cast<float>(interpolation) / static_cast<float>(decimation), part = rate < 1 ? rate : 1;
    if (!(bw < half))
        throw std::runtime_error("rational_resampler: fractional_bw is " + std::to_string(fractional_bw) +
                                 ", not below 0.5; 0: 0.4");
    const double longest = 3.3 * std::max(interpolation, decimation) / (half - bw); // by firdes' formula
    if (longest > 1 << 20)
        throw std::runtime_error("rational_resampler: interpolation, decimation and fractional_bw ask for " +
                                 std::to_string(longest) + " taps, more than 2^20");
    const float transition = part * (half - bw), middle = part * half - transition / 2;
    const auto kaiser = py::module::import("gnuradio.fft").attr("window").attr("WIN_KAISER");
    const auto taps = py::module::import("gnuradio.filter")
                          .attr("firdes")
                          .attr("low_pass")(interpolation, interpolation, middle, transition, kaiser, 7.0)
                          .cast<std::vector<float>>();
    return {taps.begin(), taps.end()};
}

template <typename IN, typename OUT, typename TAP> static void bind_rational(py::module &m, const char *name)
{
    using resampler = gr::penstock::rational_resampler<IN, OUT, TAP>;
    device_class<resampler>(m, name, block_docs::RATIONAL_RESAMPLER)
        .def(py::init([](unsigned interpolation, unsigned decimation, const std::vector<TAP> &taps, float fractional_bw,
                         const std::string &device) {
                 if (!taps.empty())
                     return resampler::make(interpolation, decimation, taps, device);
                 resampler::make(interpolation, decimation, {1.0F}, "cpu"); // refuses what no taps can be made for
                 const unsigned common = std::gcd(interpolation, decimation);
                 return resampler::make(interpolation / common, decimation / common,
                                        design<TAP>(interpolation / common, decimation / common, fractional_bw),
                                        device);
             }),
             "interpolation"_a, "decimation"_a, "taps"_a = std::vector<TAP>(), "fractional_bw"_a = 0.0F,
             "device"_a = "auto")
        .def("interpolation", &resampler::interpolation, "Without common factors where the taps were made")
        .def("decimation", &resampler::decimation, "Without common factors where the taps were made")
        .def("set_taps", &resampler::set_taps, "taps"_a, "Other taps, from the next output on")
        .def("taps", &resampler::taps, "Filled up with zeros to a multiple of the interpolation");
}

void bind_resamplers(py::module &m)
{
    bind_arbitrary<gr_complex, float>(m, "pfb_arb_resampler_ccf");
    bind_arbitrary<gr_complex, gr_complex>(m, "pfb_arb_resampler_ccc");
    bind_arbitrary<float, float>(m, "pfb_arb_resampler_fff");
    bind_rational<gr_complex, gr_complex, float>(m, "rational_resampler_ccf");
    bind_rational<gr_complex, gr_complex, gr_complex>(m, "rational_resampler_ccc");
    bind_rational<float, gr_complex, gr_complex>(m, "rational_resampler_fcc");
    bind_rational<float, float, float>(m, "rational_resampler_fff");
}
