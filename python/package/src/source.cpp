/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Where samples come from and go to: recordings, radios. */
#include "array.h"
#include "bind.h"

namespace penstock_python
{

struct source {
    owned<penstock_source, penstock_source_free> self;
    penstock_source *stopped = nullptr; /* for stop(), which another thread may call while one reads */
    item samples;
};

static penstock_source_info info_of(source &self)
{
    return self.self.use([](penstock_source *own) {
        penstock_source_info info = PENSTOCK_SOURCE_INFO;
        check(penstock_source_get_info(own, &info));
        return info;
    });
}

static void look(source &self)
{
    self.samples = item_of(info_of(self).format);
    if (self.samples.planar)
        fail(PENSTOCK_ERR_UNSUPPORTED, "format: planar samples are not read");
}

static void make_source(source *made, const std::string &text, const std::optional<std::string> &format, double rate_hz,
                        double frequency_hz, const std::optional<double> &gain_db,
                        const std::optional<std::string> &antenna, double bandwidth_hz, unsigned channel,
                        uint64_t count, double seconds, double resample_hz, double timeout_s, double reconnect_s,
                        const context_ptr &given)
{
    new (made) source;
    penstock_source_desc desc = PENSTOCK_SOURCE_DESC();
    desc.raw = format.has_value();
    desc.format = format ? format_of(format->c_str()) : PENSTOCK_CF32;
    desc.rate_hz = rate_hz;
    desc.frequency_hz = frequency_hz;
    desc.gain_set = gain_db.has_value();
    desc.gain_db = gain_db.value_or(0);
    desc.antenna = antenna ? antenna->c_str() : nullptr;
    desc.bandwidth_hz = bandwidth_hz;
    desc.channel = channel;
    desc.count = count;
    desc.seconds = seconds;
    desc.resample_hz = resample_hz;
    desc.timeout_s = timeout_s;
    desc.reconnect_s = reconnect_s;
    made->self.open(context_or_default(given), "source", [&](penstock_source **own, penstock_context *context) {
        const int status = penstock_source_open(own, context, text.c_str(), &desc);
        made->stopped = *own;
        return status;
    });
    look(*made);
}

static nb::object read(source &self, size_t count, nb::handle given)
{
    array_view to;
    nb::object made = nb::borrow(given);
    if (given.is_none())
        made = new_array(count, self.samples, to);
    else
        to = array_view::out(given, self.samples, "out");
    if (to.leading.count != 1 || to.device_type != 1)
        fail(PENSTOCK_ERR_ARGUMENT,
             "out: an array in the host's memory, whose samples follow one another along one axis");
    size_t read = 0;
    self.self.use([&](penstock_source *own) { return check(penstock_source_read(own, to.data, to.count, &read)); });
    if (read == to.count)
        return made;
    return made[nb::slice(nb::int_(0), nb::int_(read), nb::none())];
}

static nb::dict info(source &self)
{
    const penstock_source_info info = info_of(self);
    nb::dict made;
    made["format"] = penstock_format_name(info.format);
    made["rate_hz"] = info.rate_hz;
    made["frequency_hz"] = info.frequency_hz;
    made["total_samples"] = info.total_samples;
    made["description"] = text_or_empty(info.description);
    made["hardware"] = text_or_none(info.hardware);
    made["first_index"] = info.first_index;
    made["start_ns"] = info.timed ? nb::object(nb::int_(info.start_ns)) : nb::none();
    return made;
}

static nb::dict counters(source &self)
{
    penstock_source_counters counters = PENSTOCK_SOURCE_COUNTERS;
    self.self.use([&](penstock_source *own) { return check(penstock_source_get_counters(own, &counters)); });
    nb::dict made;
    made["samples"] = counters.samples;
    made["overflows"] = counters.overflows;
    made["lost_samples"] = counters.lost_samples;
    made["timeouts"] = counters.timeouts;
    made["reconnects"] = counters.reconnects;
    made["trailing_bytes"] = counters.trailing_bytes;
    made["taken"] = counters.taken;
    made["clipped"] = counters.clipped;
    made["not_finite"] = counters.not_finite;
    made["unknown_losses"] = counters.unknown_losses;
    made["missing_samples"] = counters.missing_samples;
    return made;
}

static nb::list captures(source &self)
{
    nb::list made;
    for (uint64_t i = 0;; i++) {
        penstock_source_capture capture = PENSTOCK_SOURCE_CAPTURE;
        if (!self.self.use([&](penstock_source *own) { return check(penstock_source_get_capture(own, i, &capture)); }))
            return made;
        nb::dict one;
        one["sample"] = capture.sample;
        one["position"] = capture.position;
        one["lost"] = capture.lost;
        one["lost_unknown"] = capture.lost_unknown;
        one["frequency_hz"] = capture.frequency_hz;
        one["time_ns"] = capture.timed ? nb::object(nb::int_(capture.time_ns)) : nb::none();
        made.append(one);
    }
}

static void bind_source(nb::module_ &module)
{
    nb::class_<source> bound(module, "Source",
                             "Samples of a recording, a radio or standard input. `text`: a path (SigMF by its name "
                             ".sigmf-meta or .sigmf-data, else raw, which needs format and rate_hz), \"-\", or "
                             "\"soapy:ARGS\" with SoapySDR's device arguments.");
    bound
        .def("__init__", make_source, "text"_a, nb::kw_only(), "format"_a = nb::none(), "rate_hz"_a = 0.0,
             "frequency_hz"_a = 0.0, "gain_db"_a = nb::none(), "antenna"_a = nb::none(), "bandwidth_hz"_a = 0.0,
             "channel"_a = 0, "count"_a = 0, "seconds"_a = 0.0, "resample_hz"_a = 0.0, "timeout_s"_a = 0.0,
             "reconnect_s"_a = 0.0, "context"_a = nb::none(),
             "format: of raw files, standard input and a radio's stream, as for Spectrum. rate_hz, frequency_hz, "
             "gain_db, antenna, bandwidth_hz, channel: asked of a radio. count, seconds: to read, 0: all. resample_hz: "
             "give complex64 at this rate. timeout_s: a radio silent for so long is reported, 0: 1 s. reconnect_s: one "
             "that disappears is looked for so long, 0: 5 s, < 0: not at all.")
        .def("read", read, "count"_a = size_t(1) << 16, "out"_a = nb::none(),
             nb::sig("def read(self, count: int = 65536, out: penstock.typing.Array | None = None) -> typing.Any"),
             "Up to `count` samples, or as many as `out` holds, in the source's format; none means the end.")
        .def("info", info, nb::sig("def info(self) -> dict[str, typing.Any]"),
             "format, rate_hz, frequency_hz (0: unknown), total_samples (0: unknown), description, hardware, "
             "first_index, and start_ns, nanoseconds since 1970-01-01T00:00:00Z, or None.")
        .def("counters", counters, nb::sig("def counters(self) -> dict[str, int]"),
             "Samples given, and what was lost, late, clipped or not finite.")
        .def(
            "captures", captures, nb::sig("def captures(self) -> list[dict[str, typing.Any]]"),
            "Pieces without a gap between their samples, on one frequency: first sample, its position in the stream as "
            "it was, samples lost before it, frequency_hz and time_ns.")
        .def_prop_ro("_dtype", [](source &self) { return dtype_name(self.samples.type); })
        .def(
            "stop",
            [](source &self) {
                if (!self.self.closed())
                    penstock_source_stop(self.stopped);
            },
            "Makes the present or next read return soon, and then the end; from any thread.")
        .def(
            "close", [](source &self) { self.self.close(); }, "Frees the source.");
    bind_with(bound);
}

/* ---------------------------------------------------------------- sinks ----------------------- */

struct sink {
    owned<penstock_sink, penstock_sink_free> self;
};

static void make_sink(sink *made, const std::string &path, double rate_hz, const std::string &format,
                      double frequency_hz, const std::optional<std::string> &description, const context_ptr &given)
{
    new (made) sink;
    penstock_sink_desc desc = PENSTOCK_SINK_DESC();
    desc.format = format_of(format.c_str());
    desc.rate_hz = rate_hz;
    desc.frequency_hz = frequency_hz;
    desc.description = description ? description->c_str() : nullptr;
    made->self.open(context_or_default(given), "sink", [&](penstock_sink **own, penstock_context *context) {
        desc.context = context;
        return penstock_sink_open(own, path.c_str(), &desc);
    });
}

static void write(sink &self, nb::handle x)
{
    const array_view from = array_view::in(x, item(), "x");
    if (from.device_type != 1)
        fail(PENSTOCK_ERR_ARGUMENT, "x: an array in the host's memory is wanted");
    self.self.use([&](penstock_sink *own) {
        return check(penstock_sink_write(own, static_cast<const penstock_cf32 *>(from.data), from.count));
    });
}

static nb::dict sink_counters(sink &self)
{
    penstock_sink_counters counters = PENSTOCK_SINK_COUNTERS;
    self.self.use([&](penstock_sink *own) { return check(penstock_sink_get_counters(own, &counters)); });
    nb::dict made;
    made["samples"] = counters.samples;
    made["clipped"] = counters.clipped;
    made["not_finite"] = counters.not_finite;
    return made;
}

/* A block that ended in an exception leaves what was there before. */
static void leave_sink(sink &self, nb::handle exception, nb::handle, nb::handle)
{
    if (exception.is_none() && !self.self.closed())
        self.self.use([](penstock_sink *own) { return check(penstock_sink_close(own)); });
    self.self.close();
}

static void bind_sink(nb::module_ &module)
{
    nb::class_<sink>(
        module, "Sink",
        "A file of samples: SigMF, two files, if `path` ends in .sigmf-meta, else raw. Until complete(), or "
        "the end of a with block without an exception, an old file stays as it was.")
        .def("__init__", make_sink, "path"_a, nb::kw_only(), "rate_hz"_a, "format"_a = "cf32", "frequency_hz"_a = 0.0,
             "description"_a = nb::none(), "context"_a = nb::none(),
             "format: of the file; samples are limited to its range. frequency_hz: 0: unknown.")
        .def("write", write, "x"_a, nb::sig("def write(self, x: penstock.typing.Array) -> None"), "Samples, complex64.")
        .def("counters", sink_counters, nb::sig("def counters(self) -> dict[str, int]"),
             "Samples taken, clipped and not finite.")
        .def(
            "complete",
            [](sink &self) { self.self.use([](penstock_sink *own) { return check(penstock_sink_close(own)); }); },
            "Writes what is buffered, and the metadata; an error means that the file is not complete.")
        .def(
            "close", [](sink &self) { self.self.close(); }, "Without complete() before, nothing was written.")
        .def(
            "__enter__", [](nb::handle self) { return nb::borrow(self); },
            nb::sig("def __enter__(self) -> typing_extensions.Self"))
        .def("__exit__", leave_sink, nb::arg().none(), nb::arg().none(), nb::arg().none(),
             nb::sig("def __exit__(self, kind: object, value: object, trace: object, /) -> None"));
}

void bind_files(nb::module_ &module)
{
    bind_source(module);
    bind_sink(module);
}

} // namespace penstock_python
