/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "plan.h"
#include "bind.h"
#include "producer.h"

namespace penstock_python
{

void plan::close()
{
    const context_ptr context = self.context(); /* which the buffers need */
    queues.clear();
    self.close();
    buffers.clear();
}

size_t plan::frames_of(const array_view &x, axes &results) const
{
    results = x.leading;
    if (spacing) {
        if (x.leading.count != 1)
            fail(PENSTOCK_ERR_ARGUMENT, "x: an array of one axis is wanted, as frames begin at each spacing");
        size_t frames = x.count < reach ? 0 : (x.count - reach) / spacing + 1;
        frames -= frames % average;
        results.sizes[0] = frames / average;
        return frames;
    }
    if (average == 1)
        return x.count;
    if (!results.count || results.sizes[results.count - 1] % average)
        fail(PENSTOCK_ERR_ARGUMENT,
             "x: frames along its last axis but one are to be a multiple of " + std::to_string(average));
    results.sizes[results.count - 1] /= average;
    return x.count;
}

void plan::check_room(const array_view &to, size_t count) const
{
    if (to.count != count)
        fail(PENSTOCK_ERR_ARGUMENT,
             "out: room for " + std::to_string(to.count) + " results, not for " + std::to_string(count));
}

nb::object plan::run(nb::handle x, nb::handle given)
{
    const array_view from = array_view::in(x, in, "x");
    if (from.device_type != HOST)
        return run_there(x, from, given);
    axes results;
    const size_t frames = frames_of(from, results);
    array_view to;
    nb::object made = nb::borrow(given);
    if (given.is_none()) {
        made = new_array(results, out, to);
    } else {
        to = array_view::out(given, out, "out");
        check_room(to, results.total());
        check_apart(from, to, from.bytes == to.bytes);
    }
    if (to.device_type != HOST)
        fail(PENSTOCK_ERR_ARGUMENT, "out: it is on a device, and x is not");
    if (frames)
        self.use([&](penstock_plan *own) { return check(penstock_plan_run(own, from.data, to.data, frames)); });
    return made;
}

/* ---------------------------------------------------------------- on the device --------------- */

static const char *device_of(penstock_plan *own)
{
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    check(penstock_plan_get_info(own, &info));
    return info.device;
}

void plan::send(const array_view &from, const array_view &to, size_t frames, penstock_queue *work)
{
    self.use([&](penstock_plan *own) {
        const char *device = device_of(own);
        penstock_buffer *before = buffers.of(self.context()->self, device, from, nullptr);
        penstock_buffer *after = buffers.of(self.context()->self, device, to, before);
        return check(penstock_plan_enqueue(own, before, after, frames, work));
    });
}

/* Name of the plan's device, a GPU of CUDA's. */
std::string plan::cuda_device()
{
    std::string device = self.use([](penstock_plan *own) { return std::string(device_of(own)); });
    if (device.compare(0, 5, "cuda:"))
        fail(PENSTOCK_ERR_ARGUMENT, "x: it is on a GPU of CUDA, and the plan on " + device);
    return device;
}

/* In the stream that the producer of x works in. */
nb::object plan::run_there(nb::handle x, const array_view &from, nb::handle given)
{
    axes results;
    const size_t frames = frames_of(from, results);
    const nb::object made = given.is_none() ? new_array_like(x, results, out) : nb::borrow(given);
    const array_view to = array_view::out(made, out, "out");
    check_room(to, results.total());
    if (to.device_type != from.device_type)
        fail(PENSTOCK_ERR_ARGUMENT, "out: it is not on the device that x is on");
    nb::object keep;
    const uint64_t native = stream_of(x, from.device_id, keep);
    penstock_queue *work = queues.known(native);
    if (!work)
        work = queues.add(self.context()->self, cuda_device().c_str(), native, keep);
    if (frames)
        send(from, to, frames, work);
    return made;
}

nb::object plan::enqueue(nb::handle x, nb::handle given, queue &work)
{
    const operand from = operand::in(x, in), to = operand::out(given, out);
    axes results;
    const size_t frames = frames_of(from.view, results);
    if (to.view.count < results.total())
        check_room(to.view, results.total());
    self.use([&](penstock_plan *own) {
        const char *device = device_of(own);
        penstock_context *context = self.context()->self;
        penstock_buffer *before = buffers.of(context, device, from, nullptr);
        penstock_buffer *after = buffers.of(context, device, to, before);
        return work.self.use_within(
            [&](penstock_queue *queue_) { return check(penstock_plan_enqueue(own, before, after, frames, queue_)); });
    });
    return nb::borrow(given);
}

/* ---------------------------------------------------------------- what is known --------------- */

static penstock_plan_info info_of(plan &self)
{
    return self.self.use([](penstock_plan *plan) {
        penstock_plan_info info = PENSTOCK_PLAN_INFO;
        check(penstock_plan_get_info(plan, &info));
        return info;
    });
}

static nb::dict info(plan &self)
{
    const penstock_plan_info info = info_of(self);
    nb::dict made;
    made["device"] = text_or_empty(info.device);
    made["variant"] = text_or_empty(info.variant);
    made["kernels"] = info.kernels;
    made["passes"] = info.passes;
    made["in_bytes"] = info.in_bytes;
    made["out_bytes"] = info.out_bytes;
    made["best_batch"] = info.best_batch;
    made["awaited"] = text_or_none(info.awaited);
    made["cpu_while_compiling"] = info.cpu_while_compiling;
    made["timed"] = info.timed;
    made["tuning_s"] = info.tuning_s;
    return made;
}

void bind_plan(nb::module_ &module)
{
    nb::class_<plan> bound(module, "Plan",
                           "A problem bound to a device: works on batches of frames and has no history. Made by "
                           "FftPlan, ViterbiPlan or LdpcPlan. A plan tests itself when it is made.");
    bound
        .def("__call__", &plan::run, "x"_a, "out"_a = nb::none(),
             nb::sig("def __call__(self, x: penstock.typing.Array, out: penstock.typing.Array | None = None) -> "
                     "typing.Any"),
             "The results of all frames of x, whose last axes are those of one frame; the axes before are those of the "
             "result. Nothing is copied: x is C-contiguous and of the plan's dtype, or else ArgumentError says what to "
             "do. out: an array for the results (may be x itself where both have as many bytes); None: a new one.")
        .def("enqueue", &plan::enqueue, "x"_a, "out"_a, "queue"_a,
             nb::sig("def enqueue(self, x: penstock.typing.Array, out: penstock.typing.Array, queue: Queue) -> "
                     "typing.Any"),
             "The same with x and out on the plan's device, Buffers or arrays, in order with what is in the queue; "
             "returns at once. x and out are to live until the work is done.")
        .def("info", info, nb::sig("def info(self) -> dict[str, typing.Any]"),
             "device, variant (which kernel or library), kernels, passes, in_bytes and out_bytes of a frame, "
             "best_batch, awaited and cpu_while_compiling (what the CPU stands in for, and batches that it did so), "
             "timed and tuning_s.")
        .def_prop_ro(
            "device", [](plan &self) { return text_or_empty(info_of(self).device); },
            "Name of the device that works now.")
        .def("close", &plan::close, "Frees the plan; calls after that raise StateError.");
    bind_with(bound);
}

} // namespace penstock_python
