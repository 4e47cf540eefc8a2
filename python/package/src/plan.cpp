/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "plan.h"
#include "bind.h"

namespace penstock_python
{

void plan::close()
{
    self.close();
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

nb::object plan::run(nb::handle x, nb::handle given)
{
    const array_view from = array_view::in(x, in, "x");
    axes results;
    const size_t frames = frames_of(from, results), count = results.total();
    array_view to;
    nb::object made;
    if (given.is_none()) {
        made = new_array(results, out, to);
    } else {
        to = array_view::out(given, out, "out");
        made = nb::borrow(given);
        if (to.count != count)
            fail(PENSTOCK_ERR_ARGUMENT,
                 "out: room for " + std::to_string(to.count) + " results, not for " + std::to_string(count));
        check_apart(from, to, from.bytes == to.bytes);
    }
    if (from.device_type != 1 || to.device_type != 1)
        fail(PENSTOCK_ERR_ARGUMENT, "x: an array in the host's memory is wanted");
    if (frames)
        self.use([&](penstock_plan *own) { return check(penstock_plan_run(own, from.data, to.data, frames)); });
    return made;
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
    made["meanwhile"] = info.meanwhile;
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
        .def("info", info, nb::sig("def info(self) -> dict[str, typing.Any]"),
             "device, variant (which kernel or library), kernels, passes, in_bytes and out_bytes of a frame, "
             "best_batch, awaited and meanwhile (what the CPU stands in for, and batches that it did so), timed and "
             "tuning_s.")
        .def_prop_ro(
            "device", [](plan &self) { return text_or_empty(info_of(self).device); },
            "Name of the device that works now.")
        .def("close", &plan::close, "Frees the plan; calls after that raise StateError.");
    bind_with(bound);
}

} // namespace penstock_python
