/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* OFDM symbols: demodulators of batches, and of streams. */
#include "bind.h"
#include "device.h"
#include "stream.h"

#include <cstring>

namespace penstock_python
{

static penstock_constellation constellation_of(const std::string &name)
{
    static const struct {
        const char *name;
        penstock_constellation value;
    } known[] = {{"bpsk", PENSTOCK_BPSK},   {"qpsk", PENSTOCK_QPSK},     {"qam16", PENSTOCK_QAM16},
                 {"qam64", PENSTOCK_QAM64}, {"qam256", PENSTOCK_QAM256}, {"qam1024", PENSTOCK_QAM1024}};
    for (const auto &one : known)
        if (name == one.name)
            return one.value;
    fail(PENSTOCK_ERR_ARGUMENT, "constellation: '" + name +
                                    "' is none of \"bpsk\", \"qpsk\", \"qam16\", \"qam64\", "
                                    "\"qam256\", \"qam1024\"");
}

/* Whole numbers, each in the range of its type. */
static std::vector<int32_t> carriers_of(nb::handle given, const char *name)
{
    std::vector<int32_t> made;
    if (given.is_none())
        return made;
    for (nb::handle one : given) {
        int32_t carrier;
        if (!nb::try_cast(nb::steal(PyNumber_Index(one.ptr())), carrier)) {
            PyErr_Clear();
            fail(PENSTOCK_ERR_ARGUMENT, std::string(name) + ": carriers are whole numbers, -n/2 .. n/2 - 1");
        }
        made.push_back(carrier);
    }
    return made;
}

/* Carriers and pilots of a grid, as both descriptions want them. */
struct grid {
    std::vector<int32_t> carriers, pilots;
    std::vector<penstock_cf32> pilot_values;

    grid(nb::handle carriers_, nb::handle pilots_, nb::handle pilot_values_)
        : carriers(carriers_of(carriers_, "carriers")), pilots(carriers_of(pilots_, "pilots")),
          pilot_values(complexes_of(pilot_values_, "pilot_values"))
    {
        if (pilots.empty() ? !pilot_values.empty() : pilot_values.empty() || pilot_values.size() % pilots.size())
            fail(PENSTOCK_ERR_ARGUMENT, "pilot_values: " + std::to_string(pilot_values.size()) + " values for " +
                                            std::to_string(pilots.size()) + " pilots, which are to be whole rows");
    }
    template <typename D> void describe(D &desc) const
    {
        desc.carriers = carriers.data();
        desc.carrier_count = carriers.size();
        desc.pilots = pilots.empty() ? nullptr : pilots.data();
        desc.pilot_count = pilots.size();
        desc.pilot_values = pilots.empty() ? nullptr : pilot_values.data();
        desc.pilot_rows = pilots.empty() ? 0 : pilot_values.size() / pilots.size();
    }
};

/* ---------------------------------------------------------------- batches --------------------- */

struct ofdm {
    owned<penstock_ofdm, penstock_ofdm_free> self;
    item in;
    size_t n = 0, carriers = 0, pilots = 0, bits = 0;
};

static void make_ofdm(ofdm *made, size_t n, size_t guard, nb::handle carriers, nb::handle pilots,
                      nb::handle pilot_values, const std::string &tracking, size_t window_offset,
                      const std::string &format, const std::string &max_constellation, size_t batch,
                      const std::string &device, const context_ptr &given)
{
    new (made) ofdm;
    const grid shape(carriers, pilots, pilot_values);
    penstock_ofdm_desc desc = PENSTOCK_OFDM_DESC();
    shape.describe(desc);
    if (tracking != "pilots" && tracking != "given")
        fail(PENSTOCK_ERR_ARGUMENT, "tracking: '" + tracking + "' is none of \"pilots\", \"given\"");
    desc.n = n;
    desc.guard = guard;
    desc.window_offset = window_offset;
    desc.format = format_of(format.c_str());
    desc.tracking = tracking == "given" ? PENSTOCK_TRACK_GIVEN : PENSTOCK_TRACK_PILOTS;
    desc.max_constellation = constellation_of(max_constellation);
    desc.batch = batch;
    made->self.open(context_or_default(given), "demodulator", [&](penstock_ofdm **own, penstock_context *context) {
        return penstock_ofdm_new(own, context, &desc, device.c_str());
    });
    made->in = item_of(desc.format);
    made->n = n;
    made->carriers = shape.carriers.size();
    made->pilots = shape.pilots.size();
    made->bits = desc.max_constellation;
}

/* An OfdmChannel as the library wants it; `values` keeps what it points to. */
static penstock_ofdm_frame frame_of(const ofdm &self, nb::handle given, std::vector<penstock_cf32> &values)
{
    penstock_ofdm_frame made = {};
    values = complexes_of(given.attr("values"), "values");
    if (values.size() != self.n)
        fail(PENSTOCK_ERR_ARGUMENT,
             "channel: " + std::to_string(values.size()) + " values, not " + std::to_string(self.n));
    made.channel = values.data();
    made.noise = nb::cast<float>(given.attr("noise"));
    made.llr_scale = nb::cast<float>(given.attr("llr_scale"));
    made.cfo = nb::cast<double>(given.attr("cfo"));
    made.origin = nb::cast<uint64_t>(given.attr("origin"));
    made.constellation = constellation_of(nb::cast<std::string>(given.attr("constellation")));
    return made;
}

/* One number for all symbols, or one for each. */
template <typename T>
static std::vector<T> column(nb::handle given, const char *type, const dtype &made_type, size_t count)
{
    nb::module_ numpy = nb::module_::import_("numpy");
    nb::object all = numpy.attr("broadcast_to")(numpy.attr("asarray")(given, type), nb::make_tuple(count));
    const array_view view = array_view::in(numpy.attr("ascontiguousarray")(all), item{made_type, {}, false}, type);
    const T *values = static_cast<const T *>(view.data);
    return std::vector<T>(values, values + count);
}

static std::vector<penstock_ofdm_symbol> symbols_of(nb::handle starts, nb::handle frame, nb::handle pilot_row,
                                                    nb::handle phase, nb::handle slope)
{
    nb::object list = nb::module_::import_("numpy").attr("atleast_1d")(starts);
    const size_t count = nb::len(list);
    constexpr dtype UINT64 = {1, 64, 1}, UINT32 = {1, 32, 1};
    const auto start = column<uint64_t>(list, "uint64", UINT64, count);
    const auto index = column<uint32_t>(frame, "uint32", UINT32, count);
    const auto row = column<uint32_t>(pilot_row, "uint32", UINT32, count);
    const auto turn = column<float>(phase, "float32", FLOAT32, count);
    const auto tilt = column<float>(slope, "float32", FLOAT32, count);
    std::vector<penstock_ofdm_symbol> made(count);
    for (size_t i = 0; i < count; i++)
        made[i] = {start[i], index[i], row[i], turn[i], tilt[i]};
    return made;
}

/* The arrays of a result that are asked for. */
class wanted_results
{
  public:
    wanted_results(const ofdm &self, size_t symbols, const std::vector<std::string> &names)
    {
        for (const std::string &name : names) {
            if (name == "points")
                result.points = make<penstock_cf32>(name, symbols, item{COMPLEX64, {self.carriers}, false});
            else if (name == "soft")
                result.soft = make<int8_t>(name, symbols, item{INT8, {self.carriers, self.bits}, false});
            else if (name == "pilots")
                result.pilots = make<penstock_cf32>(name, symbols, item{COMPLEX64, {self.pilots}, false});
            else if (name == "phase")
                result.phase = make<float>(name, symbols, item{FLOAT32, {}, false});
            else if (name == "slope")
                result.slope = make<float>(name, symbols, item{FLOAT32, {}, false});
            else
                fail(PENSTOCK_ERR_ARGUMENT, "want: '" + name +
                                                "' is none of \"points\", \"soft\", \"pilots\", "
                                                "\"phase\", \"slope\"");
        }
        if (result.soft) /* those of a smaller constellation leave some out */
            std::memset(result.soft, 0, symbols * self.carriers * self.bits);
    }
    penstock_ofdm_result result = PENSTOCK_OFDM_RESULT();
    nb::dict arrays;

  private:
    template <typename T> T *make(const std::string &name, size_t symbols, const item &kind)
    {
        array_view view;
        arrays[name.c_str()] = new_array(symbols, kind, view);
        return static_cast<T *>(view.data);
    }
};

static nb::object run_ofdm(ofdm &self, nb::handle x, nb::handle channels, nb::handle starts, nb::handle frame,
                           nb::handle pilot_row, nb::handle phase, nb::handle slope,
                           const std::vector<std::string> &want)
{
    const array_view from = array_view::in(x, self.in, "x");
    if (from.leading.count != 1 || from.device_type != HOST)
        fail(PENSTOCK_ERR_ARGUMENT, "x: samples in the host's memory are wanted, one behind the other");
    const nb::object list = nb::hasattr(channels, "values") && !nb::isinstance<nb::dict>(channels)
                                ? nb::object(nb::make_tuple(channels))
                                : nb::borrow(channels);
    std::vector<std::vector<penstock_cf32>> kept;
    std::vector<penstock_ofdm_frame> frames;
    for (nb::handle one : list) {
        kept.emplace_back();
        frames.push_back(frame_of(self, one, kept.back()));
    }
    const std::vector<penstock_ofdm_symbol> symbols = symbols_of(starts, frame, pilot_row, phase, slope);
    wanted_results made(self, symbols.size(), want);
    penstock_ofdm_batch batch = PENSTOCK_OFDM_BATCH();
    batch.samples = from.data;
    batch.sample_count = from.count;
    batch.frames = frames.data();
    batch.frame_count = frames.size();
    batch.symbols = symbols.data();
    batch.symbol_count = symbols.size();
    if (!symbols.empty())
        self.self.use([&](penstock_ofdm *own) { return check(penstock_ofdm_run(own, &batch, &made.result)); });
    return nb::module_::import_("penstock.frames").attr("OfdmSymbols")(**made.arrays);
}

/* Two Buffers and a queue of the demodulator's device. */
static void enqueue_ofdm(ofdm &self, const buffer &x, const buffer &out, size_t symbols, queue &work,
                         nb::handle channel)
{
    std::vector<penstock_cf32> values;
    penstock_ofdm_frame frame = {};
    if (!channel.is_none())
        frame = frame_of(self, channel, values);
    const auto from = x.open(), to = out.open();
    self.self.use([&](penstock_ofdm *own) {
        return work.self.use_within([&](penstock_queue *queue_) {
            return check(
                penstock_ofdm_enqueue(own, values.empty() ? nullptr : &frame, from.get(), to.get(), symbols, queue_));
        });
    });
}

static void bind_demodulator(nb::module_ &module)
{
    nb::class_<ofdm> bound(
        module, "OfdmDemodulator",
        "OFDM symbols of batches of samples, for any grid: guard interval, carrier offset, FFT, division by the "
        "channel, phase and slope by the pilots, soft bits.");
    bound
        .def("__init__", make_ofdm, "n"_a, "guard"_a, "carriers"_a, nb::kw_only(), "pilots"_a = nb::none(),
             "pilot_values"_a = nb::none(), "tracking"_a = "pilots", "window_offset"_a = 0, "format"_a = "cf32",
             "max_constellation"_a = "qam64", "batch"_a = 0, "device"_a = "auto", "context"_a = nb::none(),
             nb::sig("def __init__(self, n: int, guard: int, carriers: typing.Iterable[int], *, pilots: "
                     "typing.Iterable[int] | None = None, pilot_values: numpy.typing.ArrayLike | None = None, "
                     "tracking: str = 'pilots', window_offset: int = 0, format: str = 'cf32', max_constellation: str "
                     "= 'qam64', batch: int = 0, device: str = 'auto', context: Context | None = None) -> None"),
             "n: FFT length, 2 .. 8192. guard: samples before it. carriers, pilots: -n/2 .. n/2 - 1, in the order of "
             "the results. pilot_values: shape (rows, pilots). tracking: each symbol's phase and slope from its "
             "\"pilots\", or \"given\" with it. window_offset: the FFT begins so many samples before the guard "
             "interval's end. max_constellation: \"bpsk\", \"qpsk\", \"qam16\", \"qam64\", \"qam256\", \"qam1024\". "
             "batch: symbols that a call usually brings.")
        .def("__call__", run_ofdm, "x"_a, "channels"_a, "starts"_a, nb::kw_only(), "frame"_a = 0, "pilot_row"_a = 0,
             "phase"_a = 0.0, "slope"_a = 0.0, "want"_a = std::vector<std::string>{"points", "soft"},
             nb::sig("def __call__(self, x: penstock.typing.Array, channels: penstock.frames.OfdmChannel | "
                     "typing.Iterable[penstock.frames.OfdmChannel], starts: numpy.typing.ArrayLike, *, frame: "
                     "numpy.typing.ArrayLike = 0, pilot_row: numpy.typing.ArrayLike = 0, phase: "
                     "numpy.typing.ArrayLike = 0.0, slope: numpy.typing.ArrayLike = 0.0, want: "
                     "typing.Sequence[str] = ('points', 'soft')) -> penstock.frames.OfdmSymbols"),
             "The symbols whose guard intervals begin at these samples of x, in any order; they may overlap. channels: "
             "what symbols of a frame share, and `frame` which one is a symbol's. frame, pilot_row, phase (radians) "
             "and slope (radians a carrier): one for all or one a symbol. want: of \"points\", \"soft\", \"pilots\", "
             "\"phase\", \"slope\"; soft bits alone are one kernel on GPUs.")
        .def("enqueue", enqueue_ofdm, "x"_a, "out"_a, "symbols"_a, "queue"_a, "channel"_a = nb::none(),
             nb::sig("def enqueue(self, x: Buffer, out: Buffer, symbols: int, queue: Queue, channel: "
                     "penstock.frames.OfdmChannel | None = None) -> None"),
             "Soft bits of symbols that follow one another in x, with both on the device (a GPU), in order with what "
             "is in the queue; returns at once. channel: None: that of the call before.")
        .def_prop_ro(
            "device",
            [](ofdm &self) {
                return self.self.use([](penstock_ofdm *own) { return text_or_empty(penstock_ofdm_device(own)); });
            },
            "Name of the device that works now.")
        .def(
            "close", [](ofdm &self) { self.self.close(); },
            "Frees the demodulator; calls after that raise StateError.");
    bind_with(bound);
}

/* ---------------------------------------------------------------- streams --------------------- */

struct ofdm_stream : stream {
    size_t n = 0, carriers = 0, bits = 0;
};

static void make_ofdm_stream(ofdm_stream *made, size_t n, size_t guard, nb::handle carriers, nb::handle pilots,
                             nb::handle pilot_values, bool track, nb::handle training, size_t training_symbols,
                             const std::string &constellation, bool continuous, const std::string &device,
                             const context_ptr &given)
{
    new (made) ofdm_stream;
    const grid shape(carriers, pilots, pilot_values);
    const std::vector<penstock_cf32> sent = complexes_of(training, "training");
    penstock_ofdm_stream_desc desc = PENSTOCK_OFDM_STREAM_DESC();
    shape.describe(desc);
    if (!sent.empty() && sent.size() != n)
        fail(PENSTOCK_ERR_ARGUMENT, "training: " + std::to_string(sent.size()) + " values, not " + std::to_string(n));
    desc.n = n;
    desc.guard = guard;
    desc.track = track;
    desc.training = sent.empty() ? nullptr : sent.data();
    desc.training_symbols = sent.empty() ? 0 : training_symbols;
    desc.constellation = constellation_of(constellation);
    desc.continuous = continuous;
    made->open(given, [&](penstock_stream **own, penstock_context *context) {
        return penstock_ofdm_stream_open(own, context, &desc, device.c_str());
    });
    made->in = item();
    made->n = n;
    made->carriers = shape.carriers.size();
    made->bits = desc.constellation;
    made->frames = true;
}

/* A result with its own copies of what lives until the next pull. */
static nb::object pull_symbols(ofdm_stream &self)
{
    nb::object made = nb::none();
    self.call([&](penstock_stream *own) {
        penstock_ofdm_stream_result result = PENSTOCK_OFDM_STREAM_RESULT;
        const int got = penstock_ofdm_stream_pull(own, &result);
        if (got != 1)
            return got;
        nb::gil_scoped_acquire acquire;
        array_view soft;
        nb::dict members;
        members["sample"] = result.sample;
        members["points"] = array_of(result.points, result.symbols * self.carriers)
                                .attr("reshape")(nb::make_tuple(result.symbols, self.carriers));
        members["soft"] = new_array(result.symbols, item{INT8, {self.carriers, self.bits}, false}, soft);
        std::memcpy(soft.data, result.soft, soft.bytes);
        members["channel"] = array_of(result.channel, self.n);
        made = nb::module_::import_("penstock.frames").attr("OfdmFrame")(**members);
        return got;
    });
    return made;
}

static nb::dict ofdm_counters(ofdm_stream &self)
{
    penstock_ofdm_stream_counters counters = PENSTOCK_OFDM_STREAM_COUNTERS;
    self.call([&](penstock_stream *own) { return penstock_ofdm_stream_get_counters(own, &counters); });
    nb::dict made;
    made["samples"] = counters.samples;
    made["frames"] = counters.frames;
    made["symbols"] = counters.symbols;
    made["waiting"] = counters.waiting;
    made["fallbacks"] = counters.fallbacks;
    return made;
}

static void bind_ofdm_stream(nb::module_ &module)
{
    nb::class_<ofdm_stream, stream>(
        module, "OfdmStream",
        "OFDM symbols of a stream: items in are samples (complex64), results are frames, which pull_frame() and over() "
        "give. A frame is training_symbols symbols, of which the last one is the training, and its data.")
        .def("__init__", make_ofdm_stream, "n"_a, "guard"_a, "carriers"_a, nb::kw_only(), "pilots"_a = nb::none(),
             "pilot_values"_a = nb::none(), "track"_a = false, "training"_a = nb::none(), "training_symbols"_a = 1,
             "constellation"_a = "qpsk", "continuous"_a = false, "device"_a = "auto", "context"_a = nb::none(),
             nb::sig("def __init__(self, n: int, guard: int, carriers: typing.Iterable[int], *, pilots: "
                     "typing.Iterable[int] | None = None, pilot_values: numpy.typing.ArrayLike | None = None, track: "
                     "bool = False, training: numpy.typing.ArrayLike | None = None, training_symbols: int = 1, "
                     "constellation: str = 'qpsk', continuous: bool = False, device: str = 'auto', context: Context | "
                     "None = None) -> None"),
             "Grid as for OfdmDemodulator. pilot_values: symbol i of a frame has row i % rows. track: take each "
             "symbol's phase and slope, from its pilots, out. training: n values by bin (0 .. n-1) that were sent, "
             "None: the channel is one. continuous: no frames; symbols follow each other from the first sample on.")
        .def(
            "frame",
            [](ofdm_stream &self, uint64_t sample, size_t symbols, double cfo) {
                self.call([&](penstock_stream *own) { return penstock_ofdm_stream_frame(own, sample, symbols, cfo); });
            },
            "sample"_a, "symbols"_a, "cfo"_a = 0.0,
            "A frame of so many data symbols starts at this sample, which was not pushed yet; frames in the order of "
            "their starts. cfo: carrier offset in turns per sample that is taken out, with phase zero at `sample`.")
        .def("pull_frame", pull_symbols, nb::sig("def pull_frame(self) -> penstock.frames.OfdmFrame | None"),
             "The next frame whose samples are all there, None when none is ready; continuous: all symbols that are.")
        .def("counters", ofdm_counters, nb::sig("def counters(self) -> dict[str, int]"),
             "samples, frames and symbols that were pulled, frames waiting, fallbacks.");
}

void bind_ofdm(nb::module_ &module)
{
    bind_demodulator(module);
    bind_ofdm_stream(module);
}

} // namespace penstock_python
