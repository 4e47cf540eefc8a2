/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Streams of transforms: vectors one after the other, and spectra of samples. */
#include "bind.h"
#include "stream.h"

namespace penstock_python
{

struct fft_stream : stream {
    size_t n = 0;
};

static void make_fft_stream(fft_stream *made, size_t n, bool reverse, bool real, nb::handle window, bool centered,
                            double max_latency_s, const std::string &device, const context_ptr &given)
{
    new (made) fft_stream;
    penstock_fft_stream_desc desc = PENSTOCK_FFT_STREAM_DESC();
    const std::vector<float> factors = window_of(window, n);
    desc.n = made->n = n;
    desc.direction = reverse ? PENSTOCK_REVERSE : PENSTOCK_FORWARD;
    desc.real = real;
    desc.window = factors_or_null(factors, n);
    desc.centered = centered;
    desc.max_latency_s = max_latency_s;
    made->open(given, [&](penstock_stream **own, penstock_context *context) {
        return penstock_fft_stream_open(own, context, &desc, device.c_str());
    });
    made->in = item{real ? FLOAT32 : COMPLEX64, {n}, false};
    made->out = item{COMPLEX64, {n}, false};
}

static void bind_fft_stream(nb::module_ &module)
{
    nb::class_<fft_stream, stream>(module, "FftStream",
                                   "Transforms of a stream of vectors: items in and out are complex64 of shape (n,), "
                                   "with real those in are float32. Whole batches go to the device.")
        .def(
            "__init__", make_fft_stream, "n"_a, nb::kw_only(), "reverse"_a = false, "real"_a = false,
            "window"_a = nb::none(), "centered"_a = false, "max_latency_s"_a = 0.0, "device"_a = "auto",
            "context"_a = nb::none(),
            "n: transform length. window: n factors or a name as for window(). centered: zero frequency in the "
            "middle. max_latency_s: the oldest waiting vector is sent after so long, 0: only full batches and the end.")
        .def(
            "set_window",
            [](fft_stream &self, nb::handle window) {
                const std::vector<float> factors = window_of(window, self.n);
                const float *values = factors_or_null(factors, self.n);
                self.call([&](penstock_stream *own) { return penstock_fft_stream_set_window(own, values); });
            },
            "window"_a.none(), "Other factors, from the next vector pushed on; None: all one.");
}

/* ---------------------------------------------------------------- spectra --------------------- */

struct spectrum : stream {
    size_t n = 0;
};

static void make_spectrum(spectrum *made, size_t n, size_t hop, const std::string &format, nb::handle window,
                          const std::string &output, bool centered, float scale, unsigned average, bool flush_partial,
                          double max_latency_s, const std::string &device, const context_ptr &given)
{
    new (made) spectrum;
    penstock_spectrum_desc desc = PENSTOCK_SPECTRUM_DESC();
    const std::vector<float> factors = window_of(window, n);
    desc.n = made->n = n;
    desc.hop = hop;
    desc.format = format_of(format.c_str());
    desc.taps = factors_or_null(factors, n);
    desc.output = output_of(output);
    desc.centered = centered;
    desc.scale = scale;
    desc.average = average;
    desc.flush_partial = flush_partial;
    desc.max_latency_s = max_latency_s;
    made->open(given, [&](penstock_stream **own, penstock_context *context) {
        return penstock_spectrum_open(own, context, &desc, device.c_str());
    });
    made->in = item_of(desc.format);
    made->out = item{desc.output == PENSTOCK_OUTPUT_COMPLEX ? COMPLEX64 : FLOAT32,
                     {desc.format == PENSTOCK_F32 ? n / 2 + 1 : n},
                     false};
    made->ratio = 1.0 / static_cast<double>((hop ? hop : n) * (average ? average : 1));
}

static void bind_spectrum(nb::module_ &module)
{
    nb::class_<spectrum, stream>(
        module, "Spectrum",
        "Streaming windowed transforms: items in are samples, items out vectors of n bins, "
        "float32 or, with output \"complex\", complex64. Transform j covers samples j * hop to "
        "j * hop + n - 1; a vector is the mean power of `average` of them.")
        .def("__init__", make_spectrum, "n"_a, nb::kw_only(), "hop"_a = 0, "format"_a = "cf32", "window"_a = nb::none(),
             "output"_a = "power", "centered"_a = false, "scale"_a = 1.0f, "average"_a = 1, "flush_partial"_a = false,
             "max_latency_s"_a = 0.0, "device"_a = "auto", "context"_a = nb::none(),
             "n: transform length, 1 .. 2**23. hop: samples from one transform to the next, 0: n. format: of the "
             "samples, \"cf32\" complex64, \"cs16\", \"cs8\", \"cu8\" integers and \"cf16\" float16 of shape (..., 2), "
             "\"planar\" float32 of shape (2, ...), \"f32\" float32, which gives n // 2 + 1 bins. window: n factors or "
             "a name as for window(). output: \"power\", \"decibel\" or \"complex\". centered: zero frequency in the "
             "middle. scale: factor on the transform. flush_partial: at the end fill up with zeros.")
        .def(
            "set_window",
            [](spectrum &self, nb::handle window) {
                const std::vector<float> factors = window_of(window, self.n);
                const float *values = factors_or_null(factors, self.n);
                self.call([&](penstock_stream *own) { return penstock_spectrum_set_window(own, nullptr, values); });
            },
            "window"_a.none(), "Another window, from the first vector on whose samples are not all there yet.");
}

void bind_transforms(nb::module_ &module)
{
    bind_fft_stream(module);
    bind_spectrum(module);
}

} // namespace penstock_python
