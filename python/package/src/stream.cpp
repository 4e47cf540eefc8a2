/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "stream.h"
#include "bind.h"

#include <algorithm>
#include <cmath>

namespace penstock_python
{

/* ---------------------------------------------------------------- arrays ---------------------- */

void stream::check_kind() const
{
    if (frames)
        fail(PENSTOCK_ERR_UNSUPPORTED, "results of this kind of stream are frames, which pull_frame() gives");
}

array_view stream::items_of(nb::handle x) const
{
    array_view from = array_view::in(x, in, "x");
    if (from.leading.count != 1)
        fail(PENSTOCK_ERR_ARGUMENT, "x: an array of " + std::to_string(1 + in.shape.size() + in.planar) +
                                        " axes is wanted, as items follow one another along one");
    return from;
}

array_view stream::input(nb::handle x) const
{
    array_view from = items_of(x);
    if (from.device_type != HOST)
        fail(PENSTOCK_ERR_ARGUMENT, "x: an array in the host's memory is wanted");
    return from;
}

stream::place stream::output(nb::handle given) const
{
    place to;
    to.view = array_view::out(given, out, "out");
    const axes &leading = to.view.leading;
    if (channels && (leading.count != 2 || leading.sizes[0] != channels))
        fail(PENSTOCK_ERR_ARGUMENT,
             "out: an array with " + std::to_string(channels) + " rows is wanted, one a channel");
    if (!channels && leading.count != 1)
        fail(PENSTOCK_ERR_ARGUMENT, "out: an array of " + std::to_string(1 + out.shape.size()) +
                                        " axes is wanted, as results follow one another along one");
    if (to.view.device_type != HOST)
        fail(PENSTOCK_ERR_ARGUMENT, "out: an array in the host's memory is wanted");
    to.room = leading.sizes[leading.count - 1];
    return to;
}

nb::object stream::make_place(size_t room, place &made) const
{
    axes leading;
    leading.count = channels ? 2 : 1;
    leading.sizes[0] = channels ? channels : room;
    leading.sizes[1] = room;
    made = place();
    made.room = room;
    return new_array(leading, out, made.view);
}

std::vector<void *> stream::rows(const place &to) const
{
    std::vector<void *> rows(channels);
    for (size_t i = 0; i < channels; i++)
        rows[i] = static_cast<char *>(to.view.data) + (i * to.room + to.filled) * out.bytes();
    return rows;
}

/* What was filled of an array: all of it, a view, or a copy where most of it would lie idle. */
nb::object stream::cut(const nb::object &array, const place &to) const
{
    if (to.filled == to.room)
        return array;
    nb::object first = nb::slice(nb::int_(0), nb::int_(to.filled), nb::none());
    nb::object index = first;
    if (channels)
        index = nb::make_tuple(nb::slice(nb::none(), nb::none(), nb::none()), first);
    nb::object part = array[index];
    return to.filled < to.room / 4 ? nb::object(part.attr("copy")()) : part;
}

nb::object stream::joined(const nb::list &pieces) const
{
    if (nb::len(pieces) == 1)
        return nb::object(pieces[0]);
    return nb::module_::import_("numpy").attr("concatenate")(pieces, "axis"_a = channels ? 1 : 0);
}

/* ---------------------------------------------------------------- in and out ------------------ */

size_t stream::push(nb::handle x)
{
    const array_view from = input(x);
    size_t taken = 0;
    call([&](penstock_stream *own) { return penstock_stream_push(own, from.data, from.count, &taken); });
    return taken;
}

size_t stream::pull_into(place &to, size_t most, bool wait)
{
    size_t given = 0;
    most = std::min(most, to.room - to.filled);
    call([&](penstock_stream *own) {
        return channels ? penstock_stream_pull_channels(own, rows(to).data(), most, wait, &given)
                        : penstock_stream_pull(own, static_cast<char *>(to.view.data) + to.filled * out.bytes(), most,
                                               wait, &given);
    });
    to.filled += given;
    return given;
}

/* Of planar samples all or none are taken, so that `at` is then the beginning or the end. True where anything moved. */
size_t stream::run_into(const array_view &from, size_t &at, stream &last, place &to)
{
    const char *rest = static_cast<const char *>(from.data) + at * (in.planar ? 0 : in.bytes());
    const size_t count = from.count - at, room = to.room - to.filled;
    size_t taken = 0, given = 0;
    if (&last != this) {
        call([&](penstock_stream *own) { return penstock_stream_push(own, rest, count, &taken); });
        at += taken;
        return taken + last.pull_into(to, room, false);
    }
    call([&](penstock_stream *own) {
        return channels
                   ? penstock_stream_run_channels(own, rest, count, &taken, rows(to).data(), room, &given)
                   : penstock_stream_run(own, rest, count, &taken,
                                         static_cast<char *>(to.view.data) + to.filled * out.bytes(), room, &given);
    });
    at += taken;
    to.filled += given;
    return taken + given;
}

constexpr size_t PIECE_BYTES = size_t(1) << 18;

/* All that is ready: pieces that double in size, and one array of them in the end. */
nb::object stream::rest(bool wait)
{
    nb::list pieces;
    size_t room = std::max<size_t>(1, PIECE_BYTES / (out.bytes() * std::max<size_t>(1, channels)));
    for (bool more = true; more; room *= 2) {
        place to;
        nb::object piece = make_place(room, to);
        while (to.filled < room && (more = pull_into(to, room, wait)))
            ;
        if (to.filled || !nb::len(pieces))
            pieces.append(cut(piece, to));
    }
    return joined(pieces);
}

nb::object stream::pull(const std::optional<size_t> &most, bool wait, nb::handle given)
{
    check_kind();
    if (given.is_none() && !most)
        return rest(wait);
    place to;
    nb::object array = nb::borrow(given);
    if (given.is_none())
        array = make_place(*most, to);
    else
        to = output(given);
    pull_into(to, most.value_or(to.room), wait);
    return cut(array, to);
}

nb::tuple stream::run(nb::handle x, nb::handle given)
{
    check_kind();
    const array_view from = input(x);
    place to = output(given);
    size_t at = 0;
    check_apart(from, to.view, false);
    run_into(from, at, *this, to);
    return nb::make_tuple(at, to.filled);
}

nb::object stream::all(nb::handle x)
{
    return all_of(x, *this);
}

nb::object stream::all_of(nb::handle x, stream &last)
{
    last.check_kind();
    const array_view from = items_of(x);
    if (from.device_type != HOST && &last != this)
        fail(PENSTOCK_ERR_UNSUPPORTED, "x: it is on a device; there, call a chain's streams one after the other");
    if (from.device_type != HOST)
        return all_there(x, from);
    nb::list pieces;
    size_t at = 0, room = static_cast<size_t>(std::ceil(static_cast<double>(from.count) * ratio)) + 1;
    for (bool more = true; more; room = std::max<size_t>(room, 1024)) {
        place to;
        nb::object piece = last.make_place(room, to);
        while (to.filled < room && (more = run_into(from, at, last, to)))
            ;
        if (to.filled || !nb::len(pieces))
            pieces.append(last.cut(piece, to));
    }
    if (at < from.count)
        fail(PENSTOCK_ERR_STATE,
             "the stream took " + std::to_string(at) + " of " + std::to_string(from.count) + " items");
    return last.joined(pieces);
}

void stream::link(stream &to, const std::optional<size_t> &channel)
{
    if (&to == this)
        fail(PENSTOCK_ERR_ARGUMENT, "link: a stream cannot be linked to itself");
    self.use_with(to.self, [&](penstock_stream *own, penstock_stream *other) {
        return check(channel ? penstock_stream_link_channel(own, *channel, other) : penstock_stream_link(own, other));
    });
}

/* ---------------------------------------------------------------- what is known --------------- */

static nb::dict info(stream &self)
{
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    self.call([&](penstock_stream *own) { return penstock_stream_get_info(own, &info); });
    nb::dict made;
    made["kind"] = text_or_empty(info.kind);
    made["device"] = text_or_empty(info.device);
    made["in_bytes"] = info.in_bytes;
    made["out_bytes"] = info.out_bytes;
    made["in_channels"] = info.in_channels;
    made["out_channels"] = info.out_channels;
    made["taken"] = info.taken;
    made["given"] = info.given;
    made["waiting"] = info.waiting;
    made["batch"] = info.batch;
    return made;
}

static nb::dict stats(stream &self)
{
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    self.call([&](penstock_stream *own) { return penstock_stream_get_stats(own, &stats); });
    nb::dict made;
    made["in"] = stats.in;
    made["out"] = stats.out;
    made["queue"] = stats.queue;
    made["in_rate_hz"] = stats.in_rate_hz;
    made["out_rate_hz"] = stats.out_rate_hz;
    made["batch"] = stats.batch;
    made["transfer_s"] = stats.transfer_s;
    made["kernel_s"] = stats.kernel_s;
    made["latency_p50_s"] = stats.latency_p50_s;
    made["latency_p99_s"] = stats.latency_p99_s;
    made["fallbacks"] = stats.fallbacks;
    made["drops"] = stats.drops;
    made["cpu_while_compiling"] = stats.cpu_while_compiling;
    made["handed_over"] = stats.handed_over;
    return made;
}

static nb::object over(nb::handle self, nb::handle source, size_t block)
{
    return nb::module_::import_("penstock.files").attr("over")(self, source, block);
}

static std::string device(stream &self)
{
    return self.self.use([](penstock_stream *own) { return text_or_empty(penstock_stream_device(own)); });
}

static void bind_items(nb::class_<stream> &bound)
{
    bound
        .def("push", &stream::push, "x"_a, nb::sig("def push(self, x: penstock.typing.Array) -> int"),
             "Takes items, as many as it returns. Where these are fewer than x has, results wait: pull, then push the "
             "rest. Nothing of x is kept, nothing is converted.")
        .def("pull", &stream::pull, "n"_a = nb::none(), nb::kw_only(), "wait"_a = false, "out"_a = nb::none(),
             nb::sig("def pull(self, n: int | None = None, *, wait: bool = False, out: penstock.typing.Array | None = "
                     "None) -> typing.Any"),
             "Up to n results that are ready, None: all. wait: first finish what was sent to the device. out: an array "
             "for them, whose filled part is returned.")
        .def("run", &stream::run, "x"_a, "out"_a,
             nb::sig("def run(self, x: penstock.typing.Array, out: penstock.typing.Array) -> tuple[int, int]"),
             "Push and pull in one, the fastest way: how many items of x were taken, and how many results are at the "
             "start of out. Call again with the rest of x; nothing comes while both are 0.")
        .def(
            "__call__", &stream::all, "x"_a, nb::sig("def __call__(self, x: penstock.typing.Array) -> typing.Any"),
            "Takes all of x and gives all results that are ready, in a new array: of x's library, and where x is, also "
            "on a GPU (after finish() those that are left, for an x without items).")
        .def(
            "enqueue", &stream::enqueue, "x"_a, "out"_a, "queue"_a,
            nb::sig("def enqueue(self, x: penstock.typing.Array, out: penstock.typing.Array, queue: Queue) -> int"),
            "Takes all items of x, and gives all results that are complete with them, how many of which it returns, at "
            "the start of out: both on the stream's device, Buffers or arrays, in order with what is in the queue; "
            "returns at once. They are to live until the work is done, and the stream is neither pushed nor pulled.")
        .def("results_of", &stream::results_of, "count"_a,
             "How many results enqueue() will give for so many more items.")
        .def("over", over, "source"_a, "block"_a = size_t(1) << 16,
             nb::sig("def over(self, source: str | os.PathLike[str] | Source | typing.Iterable[typing.Any], block: int "
                     "= 65536) -> typing.Iterator[typing.Any]"),
             "Results of all that a source has, array by array, those at its end included: a path of a SigMF "
             "recording, \"soapy:...\" for a radio, a Source, or arrays. block: items that are read at a time. Streams "
             "whose results are frames give frame by frame. It is finished then: after that, and after a loop that was "
             "left, reset() begins anew.");
}

static void bind_links(nb::class_<stream> &bound)
{
    bound
        .def("link", &stream::link, "to"_a, "channel"_a = nb::none(),
             nb::sig("def link(self, to: Stream, channel: int | None = None) -> None"),
             "From now on results are the items of `to`: push into the first stream of a chain, pull from the last. "
             "channel: that one's alone, of a stream that has several. They stay in a device's memory where both "
             "streams work there. penstock.Chain does it for streams in a row.")
        .def(
            "_all_of", [](stream &self, nb::handle x, stream &last) { return self.all_of(x, last); }, "x"_a, "last"_a,
            nb::sig("def _all_of(self, x: penstock.typing.Array, last: Stream) -> typing.Any"))
        .def_prop_ro("_planar", [](stream &self) { return self.in.planar; })
        .def_prop_ro("_dtype", [](stream &self) { return dtype_name(self.in.type); });
}

void bind_stream(nb::module_ &module)
{
    nb::class_<stream> bound(module, "Stream",
                             "Items in, results out, in order; any split into calls gives the same bits. Calls from "
                             "several threads come one after the other.");
    bind_items(bound);
    bind_links(bound);
    bound
        .def(
            "flush", [](stream &self) { self.call(penstock_stream_flush); },
            "For a source that stalls: makes the results of all items so far ready, as far as there are such.")
        .def(
            "finish", [](stream &self) { self.call(penstock_stream_finish); },
            "No more items come: pull(wait=True) gives all that is left. Pushing again needs reset().")
        .def(
            "reset", [](stream &self) { self.call(penstock_stream_reset); },
            "Back to the first item, with the taps, window and channels that were set last.")
        .def(
            "close", [](stream &self) { self.close(); }, "Frees the stream; calls after that raise StateError.")
        .def(
            "set_max_latency",
            [](stream &self, double seconds) {
                self.call([&](penstock_stream *own) { return penstock_stream_set_max_latency(own, seconds); });
            },
            "seconds"_a, "The oldest result that waits is made and given by the first call after so long, in seconds.")
        .def_prop_ro(
            "due_s",
            [](stream &self) { return self.self.use([](penstock_stream *own) { return penstock_stream_due_s(own); }); },
            "Seconds until then; inf where nothing waits or there is no limit.")
        .def("info", info, nb::sig("def info(self) -> dict[str, typing.Any]"),
             "kind, device, in_bytes and out_bytes of an item, in_channels and out_channels, taken, given, waiting and "
             "batch.")
        .def("stats", stats, nb::sig("def stats(self) -> dict[str, typing.Any]"),
             "Items in and out, queue, rates in Hz, the mean batch, what its copies and kernels take in seconds, "
             "latencies in seconds, fallbacks, drops, cpu_while_compiling, and how many items were handed over by the "
             "stream before it within a device's memory.")
        .def_prop_ro("device", device, "Name of the device that computes now.");
    bind_with(bound);
}

} // namespace penstock_python
