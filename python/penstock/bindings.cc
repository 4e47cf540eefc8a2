/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* All blocks for Python. */
#include "bindings.h"

#include <gnuradio/penstock/channelizer_cc.h>
#include <gnuradio/penstock/decoder_makers.h>
#include <gnuradio/penstock/fft_filter.h>
#include <gnuradio/penstock/fft_v.h>
#include <gnuradio/penstock/freq_xlating_fir_filter.h>
#include <gnuradio/penstock/ldpc_decoder.h>
#include <gnuradio/penstock/logpwrfft.h>
#include <gnuradio/penstock/ofdm_demod.h>
#include <gnuradio/penstock/pfb_synthesizer_ccf.h>
#include <gnuradio/penstock/spectrum_cvf.h>
#include <gnuradio/penstock/viterbi_decoder.h>
#include <gnuradio/penstock/wifi_receiver.h>
#include <gnuradio/penstock/wifi_transmitter.h>

static void bind_channelizer(py::module &m)
{
    using gr::penstock::channelizer_cc;
    batching_class<channelizer_cc>(m, "channelizer_cc", block_docs::CHANNELIZER)
        .def(py::init([](int numchans, const std::optional<std::vector<float>> &taps, double oversample_rate,
                         double atten, const std::string &device, double max_latency_ms) {
                 return channelizer_cc::make(numchans, taps.value_or(std::vector<float>()), oversample_rate, atten,
                                             device, max_latency_ms);
             }),
             "numchans"_a, "taps"_a = py::none(), "oversample_rate"_a = 1.0, "atten"_a = 100.0, "device"_a = "auto",
             "max_latency_ms"_a = 10.0)
        .def("set_taps", &channelizer_cc::set_taps, "taps"_a, "sample"_a = -1,
             "Another prototype from an input item on, -1: from the next one; returns that item")
        .def("taps", &channelizer_cc::taps, "The prototype")
        .def("set_channel_map", &channelizer_cc::set_channel_map, "map"_a,
             "The channel of each output, from the next item on; empty: 0, 1, 2, ...")
        .def("channel_map", &channelizer_cc::channel_map, "The channel of each output; empty: 0, 1, 2, ...");
    m.def("_channelizer_hier", &channelizer_cc::make_hier, "numchans"_a, "taps"_a, "device"_a, "max_latency_ms"_a);
}

static void bind_synthesizer(py::module &m)
{
    using gr::penstock::pfb_synthesizer_ccf;
    batching_class<pfb_synthesizer_ccf>(m, "pfb_synthesizer_ccf", block_docs::SYNTHESIZER)
        .def(py::init(&pfb_synthesizer_ccf::make), "numchans"_a, "taps"_a, "twox"_a = false, "device"_a = "auto",
             "max_latency_ms"_a = 10.0)
        .def("set_taps", &pfb_synthesizer_ccf::set_taps, "taps"_a, "Another prototype, from the next input item on")
        .def("taps", &pfb_synthesizer_ccf::taps, "By branches")
        .def("print_taps", &pfb_synthesizer_ccf::print_taps, "To the log")
        .def("set_channel_map", &pfb_synthesizer_ccf::set_channel_map, "map"_a,
             "The channel of each input, from the next item on; empty: 0, 1, 2, ...")
        .def("channel_map", &pfb_synthesizer_ccf::channel_map, "The channel of each input");
}

/* Others are refused by the blocks; no gigabytes of factors are made for them first. */
static bool has_transform(int n)
{
    return n >= 1 && n <= 1 << 23;
}

/* A window as users give it: factors as in the stock blocks, a name, or one of gnuradio.fft.window's types. */
static std::vector<float> to_window(const py::object &given, int n)
{
    if (!has_transform(n))
        return {};
    if (py::isinstance<py::str>(given))
        return gr::penstock::window(given.cast<std::string>(), n);
    if (!py::isinstance<py::iterable>(given))
        try {
            return py::module::import("gnuradio.fft").attr("window").attr("build")(given, n).cast<std::vector<float>>();
        } catch (const py::error_already_set &) {
            throw py::type_error("window: neither a name such as 'hann', nor a list of factors, nor a type such as "
                                 "gnuradio.fft.window.WIN_HANN");
        }
    try {
        return given.cast<std::vector<float>>();
    } catch (const py::cast_error &) {
        throw py::type_error("window: its factors are not all numbers");
    }
}

template <typename T> static void bind_fft(py::module &m, const char *name)
{
    using fft = gr::penstock::fft_v<T>;
    batching_class<fft>(m, name, block_docs::FFT)
        .def(py::init([](int n, bool forward, const py::object &window, bool shift, int nthreads,
                         const std::string &device, double max_latency_ms) {
                 return fft::make(n, forward, to_window(window, n), shift, nthreads, device, max_latency_ms);
             }),
             "fft_size"_a, "forward"_a, "window"_a, "shift"_a = false, "nthreads"_a = 1, "device"_a = "auto",
             "max_latency_ms"_a = 10.0)
        .def("fft_size", &fft::fft_size, "Values in a vector")
        .def("set_nthreads", &fft::set_nthreads, "n"_a, "Kept and given back; all blocks share the library's threads")
        .def("nthreads", &fft::nthreads, "What was set")
        .def(
            "set_window",
            [](fft &block, const py::object &window) { return block.set_window(to_window(window, block.fft_size())); },
            "window"_a, "Another window, from the next vector on; False if it has another length");
}

template <typename T, typename TAP> static void bind_fft_filter(py::module &m, const char *name)
{
    using filter = gr::penstock::fft_filter<T, TAP>;
    batching_class<filter>(m, name, block_docs::FILTER)
        .def(py::init(&filter::make), "decimation"_a, "taps"_a, "nthreads"_a = 1, "center_freq"_a = 0.0,
             "sampling_freq"_a = 1.0, "device"_a = "auto", "max_latency_ms"_a = 10.0)
        .def("set_taps", &filter::set_taps, "taps"_a, "sample"_a = -1,
             "Other taps from an input item on, -1: from the next one; returns that item")
        .def("taps", &filter::taps, "Those that were set last")
        .def("decimation", &filter::decimation, "Items in for an item out")
        .def("set_nthreads", &filter::set_nthreads, "n"_a,
             "Kept and given back; all blocks share the library's threads")
        .def("nthreads", &filter::nthreads, "What was set")
        .def("set_center_freq", &filter::set_center_freq, "center_freq"_a,
             "Another frequency, from the input item that is returned on")
        .def("center_freq", &filter::center_freq, "In the unit of sampling_freq");
}

template <typename IN, typename TAP> static void bind_xlating_filter(py::module &m, const char *name)
{
    using filter = gr::penstock::freq_xlating_fir_filter<IN, TAP>;
    batching_class<filter>(m, name, block_docs::XLATING_FILTER)
        .def(py::init(&filter::make), "decimation"_a, "taps"_a, "center_freq"_a, "sampling_freq"_a, "device"_a = "auto",
             "max_latency_ms"_a = 10.0)
        .def("set_taps", &filter::set_taps, "taps"_a, "Other taps, from the input item that is returned on")
        .def("taps", &filter::taps, "Those that were set last")
        .def("decimation", &filter::decimation, "Items in for an item out")
        .def("set_center_freq", &filter::set_center_freq, "center_freq"_a,
             "Another frequency, from the input item that is returned on")
        .def("center_freq", &filter::center_freq, "In the unit of sampling_freq");
}

template <typename T> static void bind_ofdm_demod(py::module &m, const char *name)
{
    using demod = gr::penstock::ofdm_demod<T>;
    using numbers = typename demod::numbers;
    using values = typename demod::values;
    device_class<demod>(m, name, block_docs::OFDM_DEMOD)
        .def(py::init(&demod::make), "fft_len"_a, "cp_len"_a, "occupied_carriers"_a, "pilot_carriers"_a = numbers(),
             "pilot_symbols"_a = values(), "sync_word1"_a = std::vector<gr_complex>(),
             "sync_word2"_a = std::vector<gr_complex>(), "frame_len"_a = 0, "trigger_tag_name"_a = "frame_start",
             "len_tag_name"_a = "packet_len", "track"_a = true, "bits"_a = 2, "device"_a = "auto")
        .def("set_frame_len", &demod::set_frame_len, "frame_len"_a, "For the triggers from now on")
        .def("frame_len", &demod::frame_len, "Data symbols of a frame whose trigger does not say it");
}

static void bind_spectrum(py::module &m)
{
    using gr::penstock::spectrum_cvf;
    batching_class<spectrum_cvf>(m, "spectrum_cvf", block_docs::SPECTRUM)
        .def(py::init([](int n, int hop, const py::object &window, int average, bool decibel, bool centered,
                         const std::string &device, double max_latency_ms) {
                 return spectrum_cvf::make(n, hop, to_window(window, n), average, decibel, centered, device,
                                           max_latency_ms);
             }),
             "fft_size"_a, "hop"_a = 0, "window"_a = "hann", "average"_a = 1, "decibel"_a = false, "centered"_a = true,
             "device"_a = "auto", "max_latency_ms"_a = 10.0)
        .def("fft_size", &spectrum_cvf::fft_size, "Bins of a vector")
        .def(
            "set_window",
            [](spectrum_cvf &block, const py::object &window) {
                return block.set_window(to_window(window, block.fft_size()));
            },
            "window"_a, "Another window, from the next vector on; False if it has another length");
}

/* As the stock chain takes it: a function that makes the factors, the one for Blackman and Harris' if there is none. */
static std::vector<float> to_window_of_chain(const py::object &given, int n)
{
    if (!has_transform(n))
        return {};
    if (given.is_none())
        return to_window_of_chain(py::module::import("gnuradio.fft").attr("window").attr("blackmanharris"), n);
    return to_window(PyCallable_Check(given.ptr()) ? given(n) : given, n);
}

template <typename T> static void bind_logpwrfft(py::module &m, const char *name)
{
    using logpwrfft = gr::penstock::logpwrfft<T>;
    batching_class<logpwrfft>(m, name, block_docs::LOGPWRFFT)
        .def(py::init([](double sample_rate, int n, double ref_scale, double frame_rate, double avg_alpha, bool average,
                         const py::object &win, bool shift, const std::string &device, double max_latency_ms) {
                 return logpwrfft::make(sample_rate, n, ref_scale, frame_rate, avg_alpha, average,
                                        to_window_of_chain(win, n), shift, device, max_latency_ms);
             }),
             "sample_rate"_a, "fft_size"_a, "ref_scale"_a, "frame_rate"_a, "avg_alpha"_a, "average"_a,
             "win"_a = py::none(), "shift"_a = false, "device"_a = "auto", "max_latency_ms"_a = 10.0)
        .def("set_decimation", &logpwrfft::set_decimation, "decim"_a, "One vector of so many is given")
        .def("set_vec_rate", &logpwrfft::set_vec_rate, "vec_rate"_a, "Another decimation, for so many vectors a second")
        .def("set_sample_rate", &logpwrfft::set_sample_rate, "sample_rate"_a, "Another decimation, for this rate")
        .def("set_average", &logpwrfft::set_average, "average"_a, "The decaying mean, or each vector by itself")
        .def("set_avg_alpha", &logpwrfft::set_avg_alpha, "avg_alpha"_a, "Another weight of a vector in the mean")
        .def("sample_rate", &logpwrfft::sample_rate, "In Hz")
        .def("decimation", &logpwrfft::decimation, "Vectors of which one is given")
        .def("frame_rate", &logpwrfft::frame_rate, "Vectors a second that are given")
        .def("average", &logpwrfft::average, "Whether the decaying mean is given")
        .def("avg_alpha", &logpwrfft::avg_alpha, "Weight of a vector in the mean");
}

static void bind_decoders(py::module &m)
{
    using gr::penstock::ldpc_decoder, gr::penstock::viterbi_decoder;
    batching_class<viterbi_decoder>(m, "viterbi_decoder", block_docs::VITERBI_DECODER)
        .def(py::init(&viterbi_decoder::make), "code"_a = "wifi", "bits"_a = 1024, "soft"_a = "float",
             "packed"_a = false, "length_tag_name"_a = "", "device"_a = "auto", "max_latency_ms"_a = 10.0);
    batching_class<ldpc_decoder>(m, "ldpc_decoder", block_docs::LDPC_DECODER)
        .def(py::init(&ldpc_decoder::make), "code"_a = "wifi:1944:1/2", "soft"_a = "float", "packed"_a = false,
             "iterations"_a = 10, "stop_early"_a = true, "filler"_a = 0, "punctured_end"_a = 0, "scale"_a = 0.0,
             "length_tag_name"_a = "", "device"_a = "auto", "max_latency_ms"_a = 10.0);
}

/* gr-fec's classes are not loaded before somebody asks for one. */
template <typename F> static py::object made_for_fec(F make)
{
    py::module::import("gnuradio.fec");
    return py::cast(make());
}

static void bind_decoder_makers(py::module &m)
{
    m.def(
        "viterbi_decoder_make",
        [](const std::string &code, int bits, const std::string &device) {
            return made_for_fec([&] { return gr::penstock::viterbi_decoder_make(code, bits, device); });
        },
        "code"_a = "wifi", "bits"_a = 1024, "device"_a = "auto", block_docs::VITERBI_DECODER_MAKE);
    m.def(
        "ldpc_decoder_make",
        [](const std::string &code, int iterations, const std::string &device, double scale) {
            return made_for_fec([&] { return gr::penstock::ldpc_decoder_make(code, iterations, device, scale); });
        },
        "code"_a = "wifi:1944:1/2", "iterations"_a = 10, "device"_a = "auto", "scale"_a = 0.0,
        block_docs::LDPC_DECODER_MAKE);
}

static void bind_wifi_receiver(py::module &m)
{
    using gr::penstock::wifi_receiver;
    batching_class<wifi_receiver>(m, "wifi_receiver", block_docs::WIFI_RECEIVER)
        .def(py::init(&wifi_receiver::make), "profile"_a = "wifi", "device"_a = "auto", "max_latency_ms"_a = 0.0)
        .def("rate_hz", &wifi_receiver::rate_hz, "Samples per second that the profile asks for");
}

static void bind_wifi_transmitter(py::module &m)
{
    using gr::penstock::wifi_transmitter;
    block_class<wifi_transmitter>(m, "wifi_transmitter", block_docs::WIFI_TRANSMITTER)
        .def(py::init(&wifi_transmitter::make), "profile"_a = "wifi", "rate_mbps"_a = 0.0, "append_fcs"_a = true,
             "gap_us"_a = 0.0, "scrambler_seed"_a = 0, "length_tag_name"_a = "packet_len")
        .def("rate_hz", &wifi_transmitter::rate_hz, "Samples per second that the profile gives")
        .def("set_rate_mbps", &wifi_transmitter::set_rate_mbps, "rate_mbps"_a, "From the next frame on; 0: the lowest")
        .def("rate_mbps", &wifi_transmitter::rate_mbps, "In Mb/s; 0: the lowest")
        .def("set_gap_us", &wifi_transmitter::set_gap_us, "gap_us"_a, "From the next frame on")
        .def("gap_us", &wifi_transmitter::gap_us, "Zeros after a frame, in microseconds")
        .def("set_scrambler_seed", &wifi_transmitter::set_scrambler_seed, "scrambler_seed"_a, "From the next frame on")
        .def("scrambler_seed", &wifi_transmitter::scrambler_seed, "Of the frames from now on, 0 .. 127")
        .def("stats", &wifi_transmitter::stats, "Counters");
}

PYBIND11_MODULE(penstock_python, m)
{
    py::module::import("gnuradio.gr"); // the base classes
    bind_channelizer(m);
    bind_synthesizer(m);
    bind_fft<gr_complex>(m, "fft_vcc");
    bind_fft<float>(m, "fft_vfc");
    bind_fft_filter<gr_complex, gr_complex>(m, "fft_filter_ccc");
    bind_fft_filter<gr_complex, float>(m, "fft_filter_ccf");
    bind_fft_filter<float, float>(m, "fft_filter_fff");
    bind_xlating_filter<gr_complex, gr_complex>(m, "freq_xlating_fir_filter_ccc");
    bind_xlating_filter<gr_complex, float>(m, "freq_xlating_fir_filter_ccf");
    bind_xlating_filter<float, gr_complex>(m, "freq_xlating_fir_filter_fcc");
    bind_xlating_filter<float, float>(m, "freq_xlating_fir_filter_fcf");
    bind_xlating_filter<short, gr_complex>(m, "freq_xlating_fir_filter_scc");
    bind_xlating_filter<short, float>(m, "freq_xlating_fir_filter_scf");
    bind_ofdm_demod<gr_complex>(m, "ofdm_demod_cvc");
    bind_ofdm_demod<int8_t>(m, "ofdm_demod_cb");
    bind_resamplers(m);
    bind_spectrum(m);
    bind_logpwrfft<gr_complex>(m, "logpwrfft_c");
    bind_logpwrfft<float>(m, "logpwrfft_f");
    bind_decoders(m);
    bind_decoder_makers(m);
    bind_wifi_receiver(m);
    bind_wifi_transmitter(m);
    m.def("window", &gr::penstock::window, "name"_a, "n"_a, "Factors of a window by name");
}
