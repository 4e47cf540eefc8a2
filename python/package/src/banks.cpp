/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Polyphase filter banks: samples to channels and back, and their prototypes. */
#include "bind.h"
#include "stream.h"

namespace penstock_python
{

struct channelizer : stream {
};
struct synthesizer : stream {
};

static void make_channelizer(channelizer *made, size_t channels, size_t hop, nb::handle given_taps, nb::handle select,
                             const std::string &format, size_t advance, bool tail, double max_latency_s, size_t origin,
                             const std::string &device, const context_ptr &given)
{
    new (made) channelizer;
    const std::vector<float> taps = floats_of(given_taps, "taps");
    const std::vector<size_t> kept = sizes_of(select, "select");
    penstock_channelizer_desc desc = PENSTOCK_CHANNELIZER_DESC();
    desc.channels = channels;
    desc.hop = hop;
    desc.taps = taps.empty() ? nullptr : taps.data();
    desc.tap_count = taps.size();
    desc.select = kept.empty() ? nullptr : kept.data();
    desc.select_count = kept.size();
    desc.format = format_of(format.c_str());
    desc.advance = advance;
    desc.tail = tail;
    desc.max_latency_s = max_latency_s;
    desc.origin = origin;
    made->open(given, [&](penstock_stream **own, penstock_context *context) {
        return penstock_channelizer_open(own, context, &desc, device.c_str());
    });
    made->in = item_of(desc.format);
    made->out = item{COMPLEX64, {kept.empty() ? channels : kept.size()}, false};
    made->ratio = 1.0 / static_cast<double>(hop ? hop : channels);
}

static nb::dict channelizer_info(channelizer &self)
{
    penstock_channelizer_info info = PENSTOCK_CHANNELIZER_INFO;
    self.call([&](penstock_stream *own) { return penstock_channelizer_get_info(own, &info); });
    nb::dict made;
    made["device"] = text_or_empty(info.device);
    made["kept"] = info.kept;
    made["hop"] = info.hop;
    made["tap_count"] = info.tap_count;
    made["batch"] = info.batch;
    made["latency"] = info.latency;
    made["delay"] = info.delay;
    made["samples"] = info.samples;
    made["frames"] = info.frames;
    made["fallbacks"] = info.fallbacks;
    return made;
}

static uint64_t set_channelizer_taps(channelizer &self, nb::handle given, uint64_t at)
{
    const std::vector<float> taps = floats_of(given, "taps");
    uint64_t from = 0;
    self.call([&](penstock_stream *own) {
        return penstock_channelizer_set_taps(own, taps.empty() ? nullptr : taps.data(), taps.size(), at, &from);
    });
    return from;
}

static void set_select(channelizer &self, nb::handle given)
{
    const std::vector<size_t> kept = sizes_of(given, "select");
    self.call([&](penstock_stream *own) {
        return penstock_channelizer_set_select(own, kept.empty() ? nullptr : kept.data(), kept.size());
    });
    penstock_channelizer_info info = PENSTOCK_CHANNELIZER_INFO;
    self.call([&](penstock_stream *own) { return penstock_channelizer_get_info(own, &info); });
    self.out.shape[0] = info.kept;
}

static void bind_channelizer(nb::module_ &module)
{
    nb::class_<channelizer, stream>(
        module, "Channelizer",
        "Polyphase filter bank: items in are samples, items out frames of complex64, a value "
        "a channel; pull() gives shape (frames, channels). Frame m, channel k: sum over l of "
        "h[l] x[p - l] exp(-2 pi i k (p - l + origin) / channels), p = m hop + advance.")
        .def("__init__", make_channelizer, "channels"_a, nb::kw_only(), "hop"_a = 0, "taps"_a = nb::none(),
             "select"_a = nb::none(), "format"_a = "cf32", "advance"_a = 0, "tail"_a = false, "max_latency_s"_a = 0.0,
             "origin"_a = 0, "device"_a = "auto", "context"_a = nb::none(),
             "channels: 2 .. 65536. hop: samples from frame to frame, 0: channels. taps: the prototype, None: that of "
             "channelizer_taps(). select: the channels that a frame holds, in this order; None: all.")
        .def("channelizer_info", channelizer_info, nb::sig("def channelizer_info(self) -> dict[str, typing.Any]"),
             "kept, hop, tap_count, batch, latency and delay in samples, samples, frames, fallbacks, device.")
        .def("set_taps", set_channelizer_taps, "taps"_a.none(), "at"_a = 0,
             "Another prototype from sample `at` on; returns the sample from which on it is used.")
        .def("set_select", set_select, "select"_a.none(), "Other channels, from the next frame that is pulled on.");
}

/* ---------------------------------------------------------------- synthesis ------------------- */

static void make_synthesizer(synthesizer *made, size_t channels, size_t hop, nb::handle given_taps, size_t delay,
                             size_t advance, nb::handle select, bool tail, double max_latency_s,
                             const std::string &device, const context_ptr &given)
{
    new (made) synthesizer;
    const std::vector<float> taps = floats_of(given_taps, "taps");
    const std::vector<size_t> kept = sizes_of(select, "select");
    penstock_synthesizer_desc desc = PENSTOCK_SYNTHESIZER_DESC();
    desc.channels = channels;
    desc.hop = hop;
    desc.taps = taps.empty() ? nullptr : taps.data();
    desc.tap_count = taps.size();
    desc.delay = delay;
    desc.advance = advance;
    desc.select = kept.empty() ? nullptr : kept.data();
    desc.select_count = kept.size();
    desc.tail = tail;
    desc.max_latency_s = max_latency_s;
    made->open(given, [&](penstock_stream **own, penstock_context *context) {
        return penstock_synthesizer_open(own, context, &desc, device.c_str());
    });
    made->in = item{COMPLEX64, {kept.empty() ? channels : kept.size()}, false};
    made->out = item{COMPLEX64, {}, false};
    made->ratio = static_cast<double>(hop ? hop : channels);
}

static void bind_synthesizer(nb::module_ &module)
{
    nb::class_<synthesizer, stream>(module, "Synthesizer",
                                    "The way back from a Channelizer: items in are frames of complex64, shape (frames, "
                                    "channels), items out samples.")
        .def(
            "__init__", make_synthesizer, "channels"_a, nb::kw_only(), "hop"_a = 0, "taps"_a = nb::none(),
            "delay"_a = 0, "advance"_a = 0, "select"_a = nb::none(), "tail"_a = false, "max_latency_s"_a = 0.0,
            "device"_a = "auto", "context"_a = nb::none(),
            "taps: the prototype, None: the dual of channelizer_taps(), not for hop = channels. delay: of analysis and "
            "synthesis together, in samples. advance: of the analysis.");
}

/* ---------------------------------------------------------------- prototypes ------------------ */

static nb::object channelizer_taps(size_t channels, size_t hop, size_t count)
{
    array_view view;
    if (!count && !(count = penstock_channelizer_taps_length(channels, hop)))
        fail(PENSTOCK_ERR_ARGUMENT, "channels or hop is not in its range");
    nb::object made = new_array(count, item{FLOAT32, {}, false}, view);
    {
        nb::gil_scoped_release release;
        check(penstock_channelizer_taps(static_cast<float *>(view.data), count, channels, hop));
    }
    return made;
}

static nb::tuple channelizer_dual(nb::handle given, size_t channels, size_t hop, size_t count,
                                  const std::optional<size_t> &delay)
{
    const std::vector<float> taps = floats_of(given, "taps");
    array_view view;
    double error_db = 0;
    count = count ? count : taps.size();
    nb::object made = new_array(count, item{FLOAT32, {}, false}, view);
    {
        nb::gil_scoped_release release;
        check(penstock_channelizer_dual(static_cast<float *>(view.data), count, taps.data(), taps.size(), channels, hop,
                                        delay.value_or(taps.size() - 1), &error_db));
    }
    return nb::make_tuple(made, error_db);
}

void bind_banks(nb::module_ &module)
{
    bind_channelizer(module);
    bind_synthesizer(module);
    module.def("channelizer_taps", channelizer_taps, "channels"_a, "hop"_a = 0, "count"_a = 0,
               nb::sig("def channelizer_taps(channels: int, hop: int = 0, count: int = 0) -> "
                       "numpy.typing.NDArray[numpy.float32]"),
               "The prototype of a Channelizer that was given none. count: taps, 0: as many as it has.");
    module.def(
        "channelizer_dual", channelizer_dual, "taps"_a, "channels"_a, "hop"_a = 0, "count"_a = 0,
        "delay"_a = nb::none(),
        nb::sig("def channelizer_dual(taps: numpy.typing.ArrayLike, channels: int, hop: int = 0, count: int = "
                "0, delay: int | None = None) -> tuple[numpy.typing.NDArray[numpy.float32], float]"),
        "The prototype of a Synthesizer that undoes an analysis by `taps`, and the error of what comes back from "
        "white noise in dB. delay: of both together, in samples; None: len(taps) - 1.");
}

} // namespace penstock_python
