/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Streams of items that are on their device already. */
#include "bind.h"
#include "producer.h"
#include "stream.h"

namespace penstock_python
{

void stream::close()
{
    const context_ptr context = self.context(); /* which the buffers need */
    queues.clear();
    self.close();
    buffers.clear();
}

size_t stream::results_of(size_t count)
{
    size_t results = 0;
    call(
        [&](penstock_stream *own) { return penstock_stream_enqueue(own, nullptr, count, nullptr, &results, nullptr); });
    return results;
}

static std::string device_of(penstock_stream *own)
{
    return text_or_empty(penstock_stream_device(own));
}

/* In the stream of CUDA's that the producer of x works in. */
nb::object stream::all_there(nb::handle x, const array_view &from)
{
    const std::string device = self.use(device_of);
    axes leading;
    nb::object keep;
    size_t given = 0;
    if (device.compare(0, 5, "cuda:"))
        fail(PENSTOCK_ERR_ARGUMENT, "x: it is on a GPU of CUDA, and the stream on " + device);
    leading.count = 1;
    leading.sizes[0] = results_of(from.count);
    const nb::object made = new_array_like(x, leading, out);
    const array_view to = array_view::out(made, out, "out");
    const uint64_t native = stream_of(x, from.device_id, keep);
    penstock_queue *work = queues.known(native);
    if (!work)
        work = queues.add(self.context()->self, device.c_str(), native, keep);
    call([&](penstock_stream *own) {
        penstock_context *context = self.context()->self;
        penstock_buffer *before = from.count ? buffers.of(context, device.c_str(), from, nullptr) : nullptr;
        penstock_buffer *after = to.count ? buffers.of(context, device.c_str(), to, before) : nullptr;
        return penstock_stream_enqueue(own, before, from.count, after, &given, work);
    });
    return made;
}

size_t stream::enqueue(nb::handle x, nb::handle given, queue &work)
{
    const operand from = operand::in(x, in), to = operand::out(given, out);
    size_t results = 0;
    call([&](penstock_stream *own) {
        const std::string device = device_of(own);
        penstock_context *context = self.context()->self;
        penstock_buffer *before = from.view.count ? buffers.of(context, device.c_str(), from, nullptr) : nullptr;
        penstock_buffer *after = buffers.of(context, device.c_str(), to, before);
        return work.self.use_within([&](penstock_queue *queue_) {
            return penstock_stream_enqueue(own, before, from.view.count, after, &results, queue_);
        });
    });
    return results;
}

} // namespace penstock_python
