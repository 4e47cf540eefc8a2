/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Whole signals, and taps. */
#include "bind.h"

namespace penstock_python
{

using pair_call = int (*)(penstock_context *, penstock_cf32 *, const penstock_cf32 *, size_t, const penstock_cf32 *,
                          size_t, const char *);

static array_view signal_of(nb::handle given, const char *name)
{
    const array_view view = array_view::in(given, item(), name);
    if (view.leading.count != 1 || !view.count || view.device_type != 1)
        fail(PENSTOCK_ERR_ARGUMENT, std::string(name) + ": an array of one axis and at least one value is wanted");
    return view;
}

template <pair_call call>
static nb::object of_two(nb::handle x, nb::handle y, const std::string &device, const context_ptr &given)
{
    const array_view a = signal_of(x, "a"), b = signal_of(y, "b");
    context_ptr context = context_or_default(given);
    array_view to;
    nb::object made = new_array(a.count + b.count - 1, item(), to);
    nb::gil_scoped_release release;
    check(call(context->self, static_cast<penstock_cf32 *>(to.data), static_cast<const penstock_cf32 *>(a.data),
               a.count, static_cast<const penstock_cf32 *>(b.data), b.count, device.c_str()));
    return made;
}

static nb::object zoom(nb::handle x, size_t bins, double start, double step, const std::string &device,
                       const context_ptr &given)
{
    const array_view from = signal_of(x, "x");
    context_ptr context = context_or_default(given);
    array_view to;
    nb::object made = new_array(bins, item(), to);
    nb::gil_scoped_release release;
    check(penstock_zoom(context->self, static_cast<penstock_cf32 *>(to.data), bins,
                        static_cast<const penstock_cf32 *>(from.data), from.count, start, step, device.c_str()));
    return made;
}

/* ---------------------------------------------------------------- taps ------------------------ */

static penstock_band band_of(const std::string &name)
{
    static const char *const names[] = {"low", "high", "band", "reject"};
    for (int i = 0; i < 4; i++)
        if (name == names[i])
            return static_cast<penstock_band>(i);
    fail(PENSTOCK_ERR_ARGUMENT, "band: '" + name + "' is none of \"low\", \"high\", \"band\", \"reject\"");
}

/* An array of `count` taps, which `make(float *)` fills. */
template <typename F> static nb::object new_taps(size_t count, F &&make)
{
    array_view to;
    nb::object made = new_array(count, item{FLOAT32, {}, false}, to);
    nb::gil_scoped_release release;
    check(make(static_cast<float *>(to.data)));
    return made;
}

static nb::object taps_design(size_t count, const std::string &band, double low, double high, double attenuation_db)
{
    const penstock_band kind = band_of(band);
    return new_taps(count, [&](float *to) { return penstock_taps_design(to, count, kind, low, high, attenuation_db); });
}

static nb::object taps_measured(const std::string &band, double low, double high, double transition,
                                double attenuation_db)
{
    const penstock_band kind = band_of(band);
    const double more = attenuation_db + 16 > 200 ? 200 : attenuation_db + 16;
    size_t count = penstock_taps_length(transition, more);
    if (!count)
        fail(PENSTOCK_ERR_ARGUMENT, "transition is not in 0 .. 0.5, or attenuation_db is out of range");
    nb::object made = new_taps(count, [&](float *to) {
        return penstock_taps_measured(to, &count, kind, low, high, transition, attenuation_db);
    });
    nb::object part = made[nb::slice(nb::int_(0), nb::int_(count), nb::none())];
    return part.attr("copy")();
}

static nb::tuple taps_equiripple(size_t count, const std::string &band, const std::vector<double> &edges,
                                 double stop_weight)
{
    const penstock_band kind = band_of(band);
    const size_t wanted = kind == PENSTOCK_LOW_PASS || kind == PENSTOCK_HIGH_PASS ? 2 : 4;
    double ripple = 0;
    if (edges.size() != wanted)
        fail(PENSTOCK_ERR_ARGUMENT, "edges: " + std::to_string(wanted) + " frequencies are wanted");
    nb::object made = new_taps(count, [&](float *to) {
        return penstock_taps_equiripple(to, count, kind, edges.data(), stop_weight, &ripple);
    });
    return nb::make_tuple(made, ripple);
}

static nb::object root_raised_cosine(size_t count, double samples_per_symbol, double rolloff)
{
    return new_taps(
        count, [&](float *to) { return penstock_taps_root_raised_cosine(to, count, samples_per_symbol, rolloff); });
}

#define FLOATS "numpy.typing.NDArray[numpy.float32]"
#define SIGNAL "numpy.typing.NDArray[numpy.complex64]"

static void bind_taps(nb::module_ &module)
{
    module.def("taps_length", penstock_taps_length, "transition"_a, "attenuation_db"_a,
               "Taps that a design with this width in turns per sample and this attenuation takes; 0: impossible.");
    module.def("taps_design", taps_design, "count"_a, "band"_a, "low"_a, "high"_a = 0.0, "attenuation_db"_a = 80.0,
               nb::sig("def taps_design(count: int, band: str, low: float, high: float = 0.0, attenuation_db: float = "
                       "80.0) -> " FLOATS),
               "Real symmetric taps by Kaiser's window. band: \"low\", \"high\", \"band\" or \"reject\". low, high: "
               "where the gain is one half, in turns per sample, 0 .. 0.5.");
    module.def(
        "taps_measured", taps_measured, "band"_a, "low"_a, "high"_a = 0.0, nb::kw_only(), "transition"_a,
        "attenuation_db"_a = 80.0,
        nb::sig("def taps_measured(band: str, low: float, high: float = 0.0, *, transition: float, attenuation_db: "
                "float = 80.0) -> " FLOATS),
        "The same with as many taps as it takes for every gain beyond half a transition off an edge.");
    module.def("taps_equiripple", taps_equiripple, "count"_a, "band"_a, "edges"_a, "stop_weight"_a = 1.0,
               nb::sig("def taps_equiripple(count: int, band: str, edges: typing.Sequence[float], stop_weight: float = "
                       "1.0) -> tuple[" FLOATS ", float]"),
               "Taps with the least largest error (Parks and McClellan), and that of the pass bands. edges: two "
               "frequencies, for \"band\" and \"reject\" four: where one band ends and the next begins.");
    module.def("taps_root_raised_cosine", root_raised_cosine, "count"_a, "samples_per_symbol"_a, "rolloff"_a,
               nb::sig("def taps_root_raised_cosine(count: int, samples_per_symbol: float, rolloff: float) -> " FLOATS),
               "The root raised cosine with a gain of one at zero frequency.");
}

void bind_signals(nb::module_ &module)
{
    module.def(
        "convolve", of_two<penstock_convolve>, "a"_a, "b"_a, "device"_a = "auto", "context"_a = nb::none(),
        nb::sig("def convolve(a: penstock.typing.Array, b: penstock.typing.Array, device: str = 'auto', context: "
                "Context | None = None) -> " SIGNAL),
        "The convolution of two signals, complex64 of one axis: len(a) + len(b) - 1 values.");
    module.def(
        "correlate", of_two<penstock_correlate>, "a"_a, "b"_a, "device"_a = "auto", "context"_a = nb::none(),
        nb::sig("def correlate(a: penstock.typing.Array, b: penstock.typing.Array, device: str = 'auto', context: "
                "Context | None = None) -> " SIGNAL),
        "Their correlation: value m is at lag m - (len(b) - 1).");
    module.def("zoom", zoom, "x"_a, "bins"_a, "start"_a, "step"_a, "device"_a = "auto", "context"_a = nb::none(),
               nb::sig("def zoom(x: penstock.typing.Array, bins: int, start: float, step: float, device: str = 'auto', "
                       "context: Context | None = None) -> " SIGNAL),
               "The chirp-z transform: the spectrum at start + k step for k < bins, in turns per sample, -1 .. 1.");
    bind_taps(module);
}

} // namespace penstock_python
