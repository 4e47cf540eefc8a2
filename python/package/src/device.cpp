/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "device.h"
#include "bind.h"

namespace penstock_python
{

/* ---------------------------------------------------------------- queues of others ---------- */

penstock_queue *foreign_queues::known(uint64_t native) const
{
    for (const entry &one : entries)
        if (one.native == native)
            return one.queue;
    return nullptr;
}

penstock_queue *foreign_queues::add(penstock_context *context, const char *device, uint64_t native,
                                    const nb::object &keep)
{
    if (entries.size() == MOST)
        clear();
    penstock_queue *made;
    check(penstock_queue_wrap(&made, context, device, native));
    entries.push_back({native, keep, made});
    return made;
}

void foreign_queues::clear()
{
    std::vector<entry> old;
    old.swap(entries);
    nb::gil_scoped_release release;
    for (const entry &known : old)
        penstock_queue_free(known.queue); /* waits for what is in it */
}

/* ---------------------------------------------------------------- memory of others ------------ */

penstock_buffer *foreign_buffers::of(penstock_context *context, const char *device, const array_view &array,
                                     const penstock_buffer *kept)
{
    for (const entry &one : entries)
        if (one.data == array.data && one.bytes == array.bytes && one.device_id == array.device_id)
            return one.buffer;
    entry made = {array.data, array.bytes, array.device_id, nullptr};
    check(penstock_buffer_wrap(&made.buffer, context, device, reinterpret_cast<uintptr_t>(array.data), array.bytes));
    if (entries.size() < MOST) {
        entries.push_back(made);
        return made.buffer;
    }
    next += entries[next].buffer == kept;
    next %= MOST;
    penstock_buffer_free(entries[next].buffer);
    entries[next] = made;
    next = (next + 1) % MOST;
    return made.buffer;
}

void foreign_buffers::clear()
{
    for (const entry &one : entries)
        penstock_buffer_free(one.buffer);
    entries.clear();
}

/* ---------------------------------------------------------------- operands -------------------- */

static bool is_buffer(operand &made, nb::handle given, const item &kind)
{
    if (!nb::isinstance<buffer>(given))
        return false;
    const buffer &memory = nb::cast<buffer &>(given);
    made.own = memory.open();
    made.view.bytes = memory.bytes;
    made.view.count = memory.bytes / kind.bytes();
    made.view.leading.count = 1;
    made.view.leading.sizes[0] = made.view.count;
    return true;
}

operand operand::in(nb::handle given, const item &kind)
{
    operand made;
    if (!is_buffer(made, given, kind))
        made.view = array_view::in(given, kind, "x");
    return made;
}

operand operand::out(nb::handle given, const item &kind)
{
    operand made;
    if (!is_buffer(made, given, kind))
        made.view = array_view::out(given, kind, "out");
    return made;
}

/* ---------------------------------------------------------------- buffers --------------------- */

static dtype dtype_of(const std::string &name)
{
    for (const dtype &type : {COMPLEX64, FLOAT32, FLOAT16, INT16, INT8, UINT8})
        if (name == dtype_name(type))
            return type;
    fail(PENSTOCK_ERR_ARGUMENT, "dtype: '" + name + "' is none of complex64, float32, float16, int16, int8, uint8");
}

std::shared_ptr<penstock_buffer> buffer::open() const
{
    if (!self)
        fail(PENSTOCK_ERR_STATE, "the buffer was closed");
    return self;
}

static void make_buffer(buffer *made, const std::vector<size_t> &shape, const std::string &type,
                        const std::string &device, const context_ptr &given)
{
    new (made) buffer;
    made->kind.type = dtype_of(type);
    if (shape.size() > made->leading.sizes.size())
        fail(PENSTOCK_ERR_ARGUMENT, "shape: at most " + std::to_string(made->leading.sizes.size()) + " axes");
    made->leading.count = shape.size();
    for (size_t i = 0; i < shape.size(); i++)
        made->leading.sizes[i] = shape[i];
    made->bytes = made->leading.total() * made->kind.bytes();
    const context_ptr context = context_or_default(given);
    penstock_buffer *own = nullptr;
    {
        nb::gil_scoped_release release;
        check(penstock_buffer_new(&own, context->self, device.c_str(), made->bytes));
    }
    made->self =
        std::shared_ptr<penstock_buffer>(own, [context](penstock_buffer *freed) { penstock_buffer_free(freed); });
    penstock_buffer_info info = PENSTOCK_BUFFER_INFO;
    check(penstock_buffer_get_info(own, &info));
    made->device = info.device;
}

static uint64_t native_of(buffer &self)
{
    penstock_buffer_info info = PENSTOCK_BUFFER_INFO;
    check(penstock_buffer_get_info(self.open().get(), &info));
    return info.native;
}

static nb::tuple shape_of(const buffer &self)
{
    nb::list shape;
    for (size_t i = 0; i < self.leading.count; i++)
        shape.append(self.leading.sizes[i]);
    return nb::tuple(shape);
}

/* DLPack's type and number of the device. */
static std::pair<int, int> dlpack_device(const buffer &self)
{
    if (self.device.compare(0, 5, "cuda:") == 0)
        return {2, std::stoi(self.device.substr(5))};
    if (self.device == "cpu" || self.device == "reference")
        return {1, 0};
    throw nb::buffer_error(("memory of " + self.device + " has no DLPack").c_str());
}

static nb::object dlpack(nb::handle object, const nb::kwargs &)
{
    buffer &self = nb::cast<buffer &>(object);
    const auto [type, number] = dlpack_device(self);
    void *memory = reinterpret_cast<void *>(static_cast<uintptr_t>(native_of(self)));
    nb::ndarray<> array(memory, self.leading.count, self.leading.sizes.data(), object, nullptr, self.kind.type, type,
                        number);
    return nb::cast(array);
}

static nb::dict cuda_array_interface(buffer &self)
{
    static const char *const strings[] = {"<c8", "<f4", "<f2", "<i2", "|i1", "|u1"};
    const dtype types[] = {COMPLEX64, FLOAT32, FLOAT16, INT16, INT8, UINT8};
    if (self.device.compare(0, 5, "cuda:"))
        throw nb::attribute_error(("memory of " + self.device + " is not CUDA's").c_str());
    nb::dict made;
    for (int i = 0; i < 6; i++)
        if (types[i] == self.kind.type)
            made["typestr"] = strings[i];
    made["shape"] = shape_of(self);
    made["data"] = nb::make_tuple(native_of(self), false);
    made["strides"] = nb::none();
    made["version"] = 3;
    return made;
}

static void upload(buffer &self, nb::handle x, queue &to)
{
    const array_view from = array_view::in(x, self.kind, "x");
    if (from.bytes != self.bytes || from.device_type != 1)
        fail(PENSTOCK_ERR_ARGUMENT,
             "x: an array in the host's memory of " + std::to_string(self.bytes) + " bytes is wanted");
    const std::shared_ptr<penstock_buffer> own = self.open();
    to.self.use([&](penstock_queue *queue_) {
        return check(penstock_buffer_upload(own.get(), from.data, self.bytes, queue_));
    });
}

static nb::object download(buffer &self, queue &from, nb::handle out)
{
    array_view to;
    nb::object made = nb::borrow(out);
    if (out.is_none())
        made = new_array(self.leading, self.kind, to);
    else
        to = array_view::out(out, self.kind, "out");
    if (to.bytes > self.bytes || to.device_type != 1)
        fail(PENSTOCK_ERR_ARGUMENT,
             "out: an array in the host's memory of at most " + std::to_string(self.bytes) + " bytes is wanted");
    const std::shared_ptr<penstock_buffer> own = self.open();
    from.self.use(
        [&](penstock_queue *queue_) { return check(penstock_buffer_download(own.get(), to.data, to.bytes, queue_)); });
    return made;
}

static void bind_buffer(nb::module_ &module)
{
    nb::class_<buffer>(module, "Buffer",
                       "Memory of a device, the library's own, as an array. On cuda it is one to CuPy, PyTorch and "
                       "Numba, too (__dlpack__, __cuda_array_interface__), without a copy; on cpu to NumPy.")
        .def("__init__", make_buffer, "shape"_a, "dtype"_a = "complex64", "device"_a = "cpu", "context"_a = nb::none(),
             nb::sig("def __init__(self, shape: typing.Sequence[int], dtype: str = 'complex64', device: str = 'cpu', "
                     "context: Context | None = None) -> None"),
             "dtype: \"complex64\", \"float32\", \"float16\", \"int16\", \"int8\" or \"uint8\". What it holds is "
             "undefined.")
        .def("upload", upload, "x"_a, "queue"_a,
             nb::sig("def upload(self, x: penstock.typing.Array, queue: Queue) -> None"),
             "A copy of x into it, behind what is in the queue; returns when it is there.")
        .def("download", download, "queue"_a, "out"_a = nb::none(),
             nb::sig("def download(self, queue: Queue, out: penstock.typing.Array | None = None) -> typing.Any"),
             "A copy of its beginning in the host's memory, behind what is in the queue.")
        .def_prop_ro("shape", shape_of, nb::sig("def shape(self) -> tuple[int, ...]"), "Values along each axis.")
        .def_prop_ro(
            "dtype", [](const buffer &self) { return dtype_name(self.kind.type); }, "Name of the dtype.")
        .def_ro("device", &buffer::device, "Name of the device.")
        .def_ro("nbytes", &buffer::bytes, "Bytes.")
        .def_prop_ro("native", native_of, "What the device's driver calls it: a CUdeviceptr, a cl_mem, an address.")
        .def("__dlpack__", dlpack, nb::sig("def __dlpack__(self, **kwargs: typing.Any) -> typing.Any"))
        .def(
            "__dlpack_device__",
            [](const buffer &self) { return nb::make_tuple(dlpack_device(self).first, dlpack_device(self).second); },
            nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
        .def_prop_ro("__cuda_array_interface__", cuda_array_interface,
                     nb::sig("def __cuda_array_interface__(self) -> dict[str, typing.Any]"))
        .def(
            "close", [](buffer &self) { self.self.reset(); }, "Frees the memory when no call uses it any more.");
}

/* ---------------------------------------------------------------- queues ---------------------- */

static void make_queue(queue *made, const std::string &device, const std::optional<uint64_t> &native,
                       const context_ptr &given)
{
    new (made) queue;
    made->self.open(context_or_default(given), "queue", [&](penstock_queue **own, penstock_context *context) {
        return native ? penstock_queue_wrap(own, context, device.c_str(), *native)
                      : penstock_queue_new(own, context, device.c_str());
    });
}

static void follow(queue &self, queue &before)
{
    static std::mutex pairs; /* two queues that follow one another, by two threads */
    if (&self == &before)
        return;
    nb::gil_scoped_release release;
    std::lock_guard<std::mutex> lock(pairs);
    self.self.use_within([&](penstock_queue *own) {
        return before.self.use_within([&](penstock_queue *other) { return check(penstock_queue_follow(own, other)); });
    });
}

static void bind_queue(nb::module_ &module)
{
    nb::class_<queue> bound(
        module, "Queue",
        "Work of a device in order: the library's own queue, or with native the caller's, a CUstream "
        "(cupy.cuda.Stream.ptr, torch.cuda.Stream.cuda_stream) or cl_command_queue, which it is to "
        "outlive.");
    bound
        .def("__init__", make_queue, "device"_a, "native"_a = nb::none(), "context"_a = nb::none(),
             "native: None: a queue of its own.")
        .def(
            "wait",
            [](queue &self) { self.self.use([](penstock_queue *own) { return check(penstock_queue_wait(own)); }); },
            "Waits until all in it is done, and raises what failed.")
        .def("follow", follow, "before"_a, "What is enqueued from now on begins when all in `before` is done.")
        .def_prop_ro(
            "native",
            [](queue &self) { return self.self.use([](penstock_queue *own) { return penstock_queue_native(own); }); },
            "The CUstream or cl_command_queue; 0 where there is none.")
        .def(
            "close", [](queue &self) { self.self.close(); }, "Waits for what is in it, and frees it.");
    bind_with(bound);
}

void bind_device(nb::module_ &module)
{
    bind_queue(module);
    bind_buffer(module);
}

} // namespace penstock_python
