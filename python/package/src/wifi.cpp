/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* IEEE 802.11 frames: receiver and transmitter, and the channel between the two. */
#include "bind.h"
#include "stream.h"

#include <nanobind/stl/complex.h>

namespace penstock_python
{

static penstock_wifi_profile profile_of(const std::string &name)
{
    penstock_wifi_profile profile;
    check(penstock_wifi_profile_parse(&profile, name.c_str()));
    return profile;
}

struct wifi_receiver : stream {
};

static void make_receiver(wifi_receiver *made, const std::string &profile, const std::string &format, bool points,
                          double max_latency_s, const std::string &device, const context_ptr &given)
{
    new (made) wifi_receiver;
    penstock_wifi_receiver_desc desc = PENSTOCK_WIFI_RECEIVER_DESC();
    desc.profile = profile_of(profile);
    desc.format = format_of(format.c_str());
    desc.points = points;
    desc.max_latency_s = max_latency_s;
    made->open(given, [&](penstock_stream **own, penstock_context *context) {
        return penstock_wifi_receiver_open(own, context, &desc, device.c_str());
    });
    made->in = item_of(desc.format);
    made->frames = true;
}

/* A frame with its own copies of what lives until the next pull. */
static nb::object frame_of(const penstock_wifi_frame &frame)
{
    static const char *const formats[] = {"legacy", "ht", "vht", "unknown"};
    nb::dict made;
    made["sample"] = frame.sample;
    made["samples"] = frame.samples;
    made["format"] = formats[frame.format];
    made["bandwidth_hz"] = frame.bandwidth_hz;
    made["rate_mbps"] = frame.rate_mbps;
    made["mcs"] = frame.mcs;
    made["length"] = frame.length;
    made["fcs_ok"] = frame.fcs_ok;
    made["snr_db"] = frame.snr_db;
    made["evm_db"] = frame.evm_db;
    made["cfo_hz"] = frame.cfo_hz;
    made["sfo_ppm"] = frame.sfo_ppm;
    made["raw_ber"] = frame.raw_ber;
    made["psdu"] = frame.psdu ? nb::object(nb::bytes(frame.psdu, frame.length)) : nb::none();
    made["points"] = frame.points ? array_of(frame.points, frame.point_count) : nb::none();
    made["channel"] = frame.channel ? array_of(frame.channel, PENSTOCK_WIFI_BINS) : nb::none();
    made["reason"] = text_or_none(frame.reason);
    return nb::module_::import_("penstock.frames").attr("WifiFrame")(**made);
}

static nb::object pull_frame(wifi_receiver &self)
{
    nb::object made = nb::none();
    self.call([&](penstock_stream *own) {
        penstock_wifi_frame frame = PENSTOCK_WIFI_FRAME;
        const int got = penstock_wifi_receiver_pull(own, &frame);
        if (got == 1) { /* copied before another thread pulls */
            nb::gil_scoped_acquire acquire;
            made = frame_of(frame);
        }
        return got;
    });
    return made;
}

static nb::dict counters(wifi_receiver &self)
{
    penstock_wifi_counters counters = PENSTOCK_WIFI_COUNTERS;
    self.call([&](penstock_stream *own) { return penstock_wifi_receiver_get_counters(own, &counters); });
    nb::dict made;
    made["samples"] = counters.samples;
    made["triggers"] = counters.triggers;
    made["synchronised"] = counters.synchronised;
    made["signals"] = counters.signals;
    made["decoded"] = counters.decoded;
    made["fcs_ok"] = counters.fcs_ok;
    made["unsupported"] = counters.unsupported;
    made["truncated"] = counters.truncated;
    made["clipped"] = counters.clipped;
    made["not_finite"] = counters.not_finite;
    made["fallbacks"] = counters.fallbacks;
    return made;
}

static nb::object modulate(const nb::bytes &psdu, double mbps, const std::string &profile, unsigned scrambler_seed)
{
    penstock_wifi_transmit_desc desc = PENSTOCK_WIFI_TRANSMIT_DESC();
    desc.profile = profile_of(profile);
    desc.mbps = mbps;
    desc.scrambler_seed = scrambler_seed;
    const auto *bytes = reinterpret_cast<const uint8_t *>(psdu.c_str());
    const size_t count = penstock_wifi_frame_samples(&desc, psdu.size());
    if (!count)
        fail(PENSTOCK_ERR_ARGUMENT, "psdu: 1 .. " + std::to_string(PENSTOCK_WIFI_MAX_PSDU) +
                                        " bytes, mbps: a rate of the "
                                        "profile's");
    array_view to;
    nb::object made = new_array(count, item(), to);
    nb::gil_scoped_release release;
    check(penstock_wifi_modulate(&desc, bytes, psdu.size(), static_cast<penstock_cf32 *>(to.data)));
    return made;
}

/* ---------------------------------------------------------------- channel --------------------- */

struct channel {
    owned<penstock_channel, penstock_channel_free> self;
};

static void make_channel(channel *made, double rate_hz, nb::handle paths, double cfo_hz, double sfo_ppm,
                         double noise_power, const std::complex<double> &dc, uint64_t seed)
{
    new (made) channel;
    std::vector<penstock_path> list;
    for (nb::handle path : paths)
        list.push_back({nb::cast<double>(path[0]), nb::cast<double>(path[1]), nb::cast<double>(path[2])});
    penstock_channel_desc desc = PENSTOCK_CHANNEL_DESC();
    desc.rate_hz = rate_hz;
    desc.paths = list.empty() ? nullptr : list.data();
    desc.path_count = list.size();
    desc.cfo_hz = cfo_hz;
    desc.sfo_ppm = sfo_ppm;
    desc.noise_power = noise_power;
    desc.dc_re = dc.real();
    desc.dc_im = dc.imag();
    desc.seed = seed;
    made->self.open(nullptr, "channel",
                    [&](penstock_channel **own, penstock_context *) { return penstock_channel_new(own, &desc); });
}

/* What comes out of these samples; of none, the tail. */
static nb::object run_channel(channel &self, const penstock_cf32 *in, size_t in_count)
{
    std::vector<penstock_cf32> all;
    size_t at = 0;
    self.self.use([&](penstock_channel *own) {
        for (size_t taken, count, room = in_count + 4096;;) {
            const size_t before = all.size();
            all.resize(before + room);
            check(penstock_channel_run(own, in ? in + at : nullptr, in_count - at, &taken, all.data() + before, room,
                                       &count));
            all.resize(before + count);
            at += taken;
            if (at == in_count && count < room)
                return 0;
        }
    });
    return array_of(all.data(), all.size());
}

static void bind_channel(nb::module_ &module)
{
    nb::class_<channel>(module, "Channel",
                        "What happens to a signal between transmitter and receiver: paths, offsets, noise. A stream of "
                        "complex64 samples.")
        .def("__init__", make_channel, "rate_hz"_a, nb::kw_only(), "paths"_a = nb::tuple(), "cfo_hz"_a = 0.0,
             "sfo_ppm"_a = 0.0, "noise_power"_a = 0.0, "dc"_a = std::complex<double>(0), "seed"_a = 0,
             nb::sig("def __init__(self, rate_hz: float, *, paths: typing.Sequence[tuple[float, float, float]] = (), "
                     "cfo_hz: float = 0.0, sfo_ppm: float = 0.0, noise_power: float = 0.0, dc: complex = 0j, seed: int "
                     "= 0) -> None"),
             "paths: (delay in seconds, gain in dB, phase in radians) each. cfo_hz: carrier offset. sfo_ppm: the "
             "receiver's clock is slower by this. noise_power: variance of the complex noise on a sample.")
        .def(
            "__call__",
            [](channel &self, nb::handle x) {
                const array_view from = array_view::in(x, item(), "x");
                return from.count ? run_channel(self, static_cast<const penstock_cf32 *>(from.data), from.count)
                                  : array_of(static_cast<const penstock_cf32 *>(nullptr), 0);
            },
            "x"_a, nb::sig("def __call__(self, x: penstock.typing.Array) -> numpy.typing.NDArray[numpy.complex64]"),
            "What comes out of these samples.")
        .def(
            "finish", [](channel &self) { return run_channel(self, nullptr, 0); },
            nb::sig("def finish(self) -> numpy.typing.NDArray[numpy.complex64]"), "The tail.")
        .def(
            "reset",
            [](channel &self) {
                self.self.use([](penstock_channel *own) { return check(penstock_channel_reset(own)); });
            },
            "Back to the first sample.");
}

void bind_wifi(nb::module_ &module)
{
    nb::class_<wifi_receiver, stream>(module, "WifiReceiver",
                                      "IEEE 802.11a/g/p frames of a stream: items in are samples at 20, 10 or 5 "
                                      "Msamples/s, results are frames, which pull_frame() and over() give.")
        .def("__init__", make_receiver, nb::kw_only(), "profile"_a = "wifi", "format"_a = "cf32", "points"_a = false,
             "max_latency_s"_a = 0.0, "device"_a = "auto", "context"_a = nb::none(),
             "profile: \"wifi\", \"wifi-10mhz\" or \"wifi-5mhz\". format: of the samples, as for Spectrum, but neither "
             "\"planar\" nor \"f32\". points: give the equalised points with each frame.")
        .def("pull_frame", pull_frame, nb::sig("def pull_frame(self) -> penstock.frames.WifiFrame | None"),
             "The next frame in the order of their first samples, None when none is ready.")
        .def("counters", counters, nb::sig("def counters(self) -> dict[str, int]"),
             "Samples, triggers, frames found, decoded and with a good FCS, and what was not.");
    module.def(
        "wifi_modulate", modulate, "psdu"_a, nb::kw_only(), "mbps"_a = 0.0, "profile"_a = "wifi",
        "scrambler_seed"_a = 0,
        nb::sig("def wifi_modulate(psdu: bytes, *, mbps: float = 0.0, profile: str = 'wifi', scrambler_seed: int "
                "= 0) -> numpy.typing.NDArray[numpy.complex64]"),
        "Samples of a frame with this PSDU (the FCS is wifi_fcs() of what is before it, four bytes, least "
        "significant first). mbps: 6 .. 54 at 20 MHz, 0: the lowest. Mean power one.");
    module.def(
        "wifi_fcs",
        [](const nb::bytes &bytes) {
            return penstock_wifi_fcs(reinterpret_cast<const uint8_t *>(bytes.c_str()), bytes.size());
        },
        "bytes"_a, "CRC-32 of IEEE 802.11-2020 clause 9.2.4.8.");
    module.def(
        "wifi_rate_hz", [](const std::string &profile) { return penstock_wifi_rate_hz(profile_of(profile)); },
        "profile"_a = "wifi", "Samples a second.");
    bind_channel(module);
}

} // namespace penstock_python
