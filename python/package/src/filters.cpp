/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Streams of samples to samples: filters and resamplers. */
#include "bind.h"
#include "stream.h"

namespace penstock_python
{

struct filter : stream {
};

/* The taps of each channel; where `taps` is a list of arrays, several. */
static std::vector<taps> channel_taps(nb::handle given)
{
    std::vector<taps> all;
    const bool several = nb::isinstance<nb::list>(given) && nb::len(given) && !nb::isinstance<nb::float_>(given[0]) &&
                         !nb::isinstance<nb::int_>(given[0]) && nb::hasattr(given[0], "__len__");
    if (!several) {
        all.emplace_back(given);
        return all;
    }
    for (nb::handle one : given)
        all.emplace_back(one);
    return all;
}

/* A value for each channel, from one for all or a list. */
static std::vector<double> per_channel(nb::handle given, size_t channels, const char *name)
{
    std::vector<double> values;
    if (nb::isinstance<nb::float_>(given) || nb::isinstance<nb::int_>(given))
        return std::vector<double>(channels, nb::cast<double>(given));
    for (nb::handle one : given)
        values.push_back(nb::cast<double>(one));
    if (values.size() != channels)
        fail(PENSTOCK_ERR_ARGUMENT, std::string(name) + ": " + std::to_string(values.size()) + " values for " +
                                        std::to_string(channels) + " channels");
    return values;
}

static void describe_values(filter &self, const penstock_filter_desc &desc, size_t channels)
{
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    self.call([&](penstock_stream *own) { return penstock_filter_get_info(own, &info); });
    self.in = item_of(desc.format);
    self.out = item{info.real ? FLOAT32 : COMPLEX64, {}, false};
    self.channels = channels > 1 ? channels : 0;
    self.ratio = static_cast<double>(desc.interpolation ? desc.interpolation : 1) /
                 static_cast<double>(desc.decimation ? desc.decimation : 1);
}

static void make_filter(filter *made, nb::handle given_taps, size_t decimation, size_t interpolation, nb::handle shift,
                        nb::handle phase, size_t advance, bool tail, const std::string &format, size_t max_taps,
                        size_t n, size_t max_latency, double max_latency_s, bool tunable, const std::string &device,
                        const context_ptr &given)
{
    new (made) filter;
    const std::vector<taps> all = channel_taps(given_taps);
    const std::vector<double> shifts = per_channel(shift, all.size(), "shift");
    const std::vector<double> phases = per_channel(phase, all.size(), "phase");
    std::vector<penstock_filter_channel> channels(all.size());
    for (size_t i = 0; i < all.size(); i++)
        channels[i] = {all[i].complex_taps(), all[i].real_taps(), all[i].count(), shifts[i], phases[i]};
    penstock_filter_desc desc = PENSTOCK_FILTER_DESC();
    desc.format = format_of(format.c_str());
    if (all.size() == 1) {
        desc.taps = channels[0].taps;
        desc.real_taps = channels[0].real_taps;
        desc.tap_count = channels[0].tap_count;
        desc.shift = shifts[0];
        desc.phase = phases[0];
    } else {
        desc.channels = channels.data();
        desc.channel_count = channels.size();
    }
    desc.max_taps = max_taps;
    desc.decimation = decimation;
    desc.interpolation = interpolation;
    desc.advance = advance;
    desc.tail = tail;
    desc.n = n;
    desc.max_latency = max_latency;
    desc.max_latency_s = max_latency_s;
    desc.tunable = tunable;
    made->open(given, [&](penstock_stream **own, penstock_context *context) {
        return penstock_filter_open(own, context, &desc, device.c_str());
    });
    describe_values(*made, desc, all.size());
}

static nb::dict filter_info(filter &self)
{
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    self.call([&](penstock_stream *own) { return penstock_filter_get_info(own, &info); });
    nb::dict made;
    made["device"] = text_or_empty(info.device);
    made["real"] = info.real;
    made["n"] = info.n;
    made["block"] = info.block;
    made["latency"] = info.latency;
    made["delay"] = info.delay;
    made["samples"] = info.samples;
    made["values"] = info.values;
    made["phase"] = info.phase;
    made["channels"] = info.channels;
    return made;
}

static void set_filter_taps(filter &self, nb::handle given, uint64_t at, size_t channel)
{
    const taps other(given);
    self.call([&](penstock_stream *own) {
        return penstock_filter_set_channel_taps(own, channel, other.complex_taps(), other.real_taps(), other.count(),
                                                at);
    });
}

static void bind_filter(nb::module_ &module)
{
    nb::class_<filter, stream>(
        module, "Filter",
        "Streaming FIR filter by fast convolution: y[m] = sum over k of h[k] u[m * decimation + "
        "advance - k], u[j] = x[j] exp(2 pi i (phase + shift j)). Items in are samples, items out "
        "values: complex64, or float32 of format \"f32\" with real taps, no shift and not tunable. After T "
        "samples and finish() ceil(T / decimation) values have come, with tail all on which the "
        "samples have an influence.")
        .def("__init__", make_filter, "taps"_a, nb::kw_only(), "decimation"_a = 1, "interpolation"_a = 1,
             "shift"_a = 0.0, "phase"_a = 0.0, "advance"_a = 0, "tail"_a = false, "format"_a = "cf32", "max_taps"_a = 0,
             "n"_a = 0, "max_latency"_a = 0, "max_latency_s"_a = 0.0, "tunable"_a = false, "device"_a = "auto",
             "context"_a = nb::none(),
             "taps: real or complex, 1 .. 2**20 of them; a list of arrays makes several channels, whose values are the "
             "rows of what pull() gives. shift: turns per sample, -f moves what is at frequency f to zero; for several "
             "channels one for all, or one each. phase: in turns. n: transform length, 0: the library's choice. "
             "max_latency: in samples. max_taps: the most that set_taps() may bring. tunable: set_shift() may "
             "come, though there is no shift yet.")
        .def("filter_info", filter_info, nb::sig("def filter_info(self) -> dict[str, typing.Any]"),
             "n, the transform's length; block, samples that it moves on by; latency and delay in samples; samples and "
             "values so far; phase of the shift at the next sample in turns; channels; real; device.")
        .def("set_taps", set_filter_taps, "taps"_a, "at"_a, "channel"_a = 0,
             "Other taps from sample `at` on, not before what was pushed.")
        .def(
            "set_shift",
            [](filter &self, double shift, uint64_t at, double jump, size_t channel) {
                self.call(
                    [&](penstock_stream *own) { return penstock_filter_set_shift(own, channel, shift, jump, at); });
            },
            "shift"_a, "at"_a, "jump"_a = 0.0, "channel"_a = 0,
            "Another shift from sample `at` on, not before what was pushed; its phase goes on there, `jump` turns "
            "ahead. "
            "Only of filters that are tunable or have a shift or a phase.");
}

/* ---------------------------------------------------------------- resampler ------------------- */

struct resampler : stream {
};

static void make_resampler(resampler *made, double ratio, uint64_t interpolation, uint64_t decimation,
                           const std::string &format, double attenuation_db, double passband, double transition,
                           double phase, double min_ratio, nb::handle given_taps, size_t arms, size_t max_taps,
                           const std::string &device, const context_ptr &given)
{
    new (made) resampler;
    const taps own_taps(given_taps);
    penstock_resampler_desc desc = PENSTOCK_RESAMPLER_DESC();
    desc.format = format_of(format.c_str());
    desc.ratio = ratio;
    desc.interpolation = interpolation;
    desc.decimation = decimation;
    desc.attenuation_db = attenuation_db;
    desc.passband = passband;
    desc.transition = transition;
    desc.phase = phase;
    desc.min_ratio = min_ratio;
    desc.taps = own_taps.complex_taps();
    desc.real_taps = own_taps.real_taps();
    desc.tap_count = own_taps.count();
    desc.arms = arms;
    desc.max_taps = max_taps;
    made->open(given, [&](penstock_stream **own, penstock_context *context) {
        return penstock_resampler_open(own, context, &desc, device.c_str());
    });
    made->in = item_of(desc.format);
    made->out = item{desc.format == PENSTOCK_F32 && !desc.taps ? FLOAT32 : COMPLEX64, {}, false};
    made->ratio = ratio != 0 ? ratio
                             : static_cast<double>(interpolation ? interpolation : 1) /
                                   static_cast<double>(decimation ? decimation : 1);
}

static nb::dict resampler_info(resampler &self)
{
    penstock_resampler_info info = PENSTOCK_RESAMPLER_INFO;
    self.call([&](penstock_stream *own) { return penstock_resampler_get_info(own, &info); });
    nb::dict made;
    made["interpolation"] = info.interpolation;
    made["decimation"] = info.decimation;
    made["taps"] = info.taps;
    made["arms"] = info.arms;
    made["exact"] = info.exact;
    made["latency"] = info.latency;
    made["next"] = info.next;
    return made;
}

static void set_resampler_taps(resampler &self, nb::handle given, uint64_t at)
{
    const taps other(given);
    self.call([&](penstock_stream *own) {
        return penstock_resampler_set_taps(own, other.complex_taps(), other.real_taps(), other.count(), at);
    });
}

static void bind_resampler(nb::module_ &module)
{
    nb::class_<resampler, stream>(
        module, "Resampler",
        "Streaming resampler for any ratio of rates: items in are samples, items out those of "
        "the other rate, complex64, or float32 of format \"f32\". It adds no delay; after T "
        "samples and finish() ceil(T ratio) have come.")
        .def("__init__", make_resampler, "ratio"_a = 0.0, nb::kw_only(), "interpolation"_a = 0, "decimation"_a = 0,
             "format"_a = "cf32", "attenuation_db"_a = 0.0, "passband"_a = 0.0, "transition"_a = 0.0, "phase"_a = 0.0,
             "min_ratio"_a = 0.0, "taps"_a = nb::none(), "arms"_a = 0, "max_taps"_a = 0, "device"_a = "auto",
             "context"_a = nb::none(),
             "ratio: outputs per sample, 1/1024 .. 1024, or interpolation and decimation exactly. attenuation_db: of "
             "what would alias, 20 .. 120, 0: 80. passband: in parts of the lower rate, 0: 0.4. phase: the first "
             "output's time in samples, 0 .. 1. min_ratio: the lowest that set_ratio() may bring. taps: a prototype of "
             "the caller's with `arms` arms.")
        .def(
            "resampler_info", resampler_info, nb::sig("def resampler_info(self) -> dict[str, typing.Any]"),
            "interpolation and decimation without common factors, taps, arms, exact, latency in samples, and next, the "
            "time of the next output in samples.")
        .def(
            "set_ratio",
            [](resampler &self, double ratio, uint64_t at) {
                self.call([&](penstock_stream *own) { return penstock_resampler_set_ratio(own, ratio, at); });
            },
            "ratio"_a, "at"_a, "Another ratio from sample `at` on, not before what was pushed.")
        .def("set_taps", set_resampler_taps, "taps"_a, "at"_a, "Other taps of the caller's from sample `at` on.");
}

void bind_filters(nb::module_ &module)
{
    bind_filter(module);
    bind_resampler(module);
}

} // namespace penstock_python
