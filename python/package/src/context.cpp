/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Contexts, the devices that they know, and the context of those who name none. */
#include "bind.h"

#include <penstock/cache.h>

#include <atomic>

namespace penstock_python
{

static std::atomic<bool> ending{false}; /* the interpreter ends: no thread of the library's may call into it any more */
static context_ptr shared;
static std::mutex shared_lock;
static nb::object *shared_log;

context::~context()
{
    if (PyGILState_Check()) {
        nb::gil_scoped_release release;
        penstock_context_free(self);
    } else {
        penstock_context_free(self);
    }
}

static void write_log(void *user, penstock_log_level level, const char *line)
{
    static const int levels[] = {10, 20, 30}; /* of the module logging */
    if (ending)
        return;
    nb::gil_scoped_acquire acquire;
    try {
        static_cast<context *>(user)->log(levels[level], line);
    } catch (nb::python_error &error) {
        error.restore();
        PyErr_WriteUnraisable(static_cast<context *>(user)->log.ptr());
    }
}

static void make_context(context *made, unsigned threads, const std::optional<std::string> &cache_dir,
                         const std::optional<std::string> &kernel_path, bool cpu_while_compiling,
                         bool auto_cpu_while_compiling, double driver_patience_s, const nb::object &log)
{
    new (made) context;
    penstock_context_desc desc = PENSTOCK_CONTEXT_DESC();
    desc.threads = threads;
    desc.cache_dir = cache_dir ? cache_dir->c_str() : nullptr;
    desc.kernel_path = kernel_path ? kernel_path->c_str() : nullptr;
    desc.cpu_while_compiling = cpu_while_compiling;
    desc.auto_cpu_while_compiling = auto_cpu_while_compiling;
    desc.driver_patience_s = driver_patience_s;
    made->log = log;
    if (!log.is_none()) {
        desc.log = write_log;
        desc.log_user = made;
    }
    nb::gil_scoped_release release;
    check(penstock_context_new(&made->self, &desc));
}

context_ptr context_or_default(const context_ptr &given)
{
    if (given)
        return given;
    std::lock_guard<std::mutex> lock(shared_lock); /* nothing under it waits for the interpreter's lock */
    if (!shared) {
        auto made = std::make_shared<context>();
        penstock_context_desc desc = PENSTOCK_CONTEXT_DESC();
        if (shared_log) {
            made->log = *shared_log;
            desc.log = write_log;
            desc.log_user = made.get();
        }
        check(penstock_context_new(&made->self, &desc));
        shared = made;
    }
    return shared;
}

/* ---------------------------------------------------------------- devices --------------------- */

struct device {
    std::string name, product, driver, licence, profile;
    std::optional<std::string> reason;
    bool automatic, awaited;
    unsigned compute_units;
    uint64_t memory_bytes;
};

static device device_of(const penstock_device_info &info)
{
    device made{info.name,
                text_or_empty(info.product),
                text_or_empty(info.driver),
                text_or_empty(info.licence),
                text_or_empty(info.profile),
                {},
                info.automatic,
                info.awaited,
                info.compute_units,
                info.memory_bytes};
    if (info.reason)
        made.reason = info.reason;
    return made;
}

static std::vector<device> devices(const context_ptr &given)
{
    context_ptr context = context_or_default(given);
    std::vector<device> list;
    nb::gil_scoped_release release;
    size_t count;
    check(penstock_device_count(context->self, &count));
    for (size_t i = 0; i < count; i++) {
        penstock_device_info info = PENSTOCK_DEVICE_INFO;
        check(penstock_device_get(context->self, i, &info));
        list.push_back(device_of(info));
    }
    return list;
}

static device find_device(const std::string &name, const context_ptr &given)
{
    context_ptr context = context_or_default(given);
    nb::gil_scoped_release release;
    size_t index;
    penstock_device_info info = PENSTOCK_DEVICE_INFO;
    check(penstock_device_find(context->self, name.c_str(), &index));
    check(penstock_device_get(context->self, index, &info));
    return device_of(info);
}

static std::string device_text(const device &self)
{
    if (self.reason)
        return "<penstock.Device " + self.name + ", absent: " + *self.reason + ">";
    return "<penstock.Device " + self.name + ": " + self.product + ">";
}

static void bind_devices(nb::module_ &module)
{
    nb::class_<device>(module, "Device", "A row of the table of devices.")
        .def_ro("name", &device::name, "\"cpu\", \"opencl:0\", \"cuda:0\", ...; the bare kind where it is absent.")
        .def_ro("product", &device::product, "What the maker calls it, empty where absent.")
        .def_ro("driver", &device::driver, "Library or driver and its version.")
        .def_ro("reason", &device::reason, "Why it is absent, one line; None where it is present.")
        .def_ro("licence", &device::licence, "What its libraries ask of a binary linked with them.")
        .def_ro("profile", &device::profile, "What a GPU's kernels are shaped by, in words; empty of others.")
        .def_ro("automatic", &device::automatic, "Whether \"auto\" may pick it.")
        .def_ro("awaited", &device::awaited, "Absent, as its driver has not answered yet.")
        .def_ro("compute_units", &device::compute_units, "Cores or multiprocessors.")
        .def_ro("memory_bytes", &device::memory_bytes, "0: unknown, or the machine's own.")
        .def_prop_ro(
            "present", [](const device &self) { return !self.reason; }, "Whether plans can be made on it.")
        .def("__repr__", device_text);
    module.def("devices", devices, "context"_a = nb::none(),
               "All devices, absent kinds included, with the reason. Probes drivers on the first call.");
    module.def("find_device", find_device, "name"_a, "context"_a = nb::none(),
               "The device that a name, or a piece of a product's name, means. NoDeviceError says why there is none.");
}

static nb::dict cache_info(const context &self)
{
    penstock_cache_info info = {};
    info.size = sizeof info;
    {
        nb::gil_scoped_release release;
        check(penstock_cache_get_info(self.self, &info));
    }
    nb::dict made;
    made["folder"] = text_or_none(info.folder);
    made["files"] = info.files;
    made["bytes"] = info.bytes;
    made["limit_bytes"] = info.limit_bytes;
    return made;
}

static void end_shared()
{
    ending = true;
    context_ptr last;
    {
        std::lock_guard<std::mutex> lock(shared_lock);
        last.swap(shared);
    }
    delete shared_log;
    shared_log = nullptr;
}

void bind_context(nb::module_ &module)
{
    nb::class_<context>(module, "Context",
                        "Opened devices, one pool of threads and the caches. May be shared by threads. Objects that "
                        "are made without one share one of the module's own.")
        .def("__init__", make_context, nb::kw_only(), "threads"_a = 0, "cache_dir"_a = nb::none(),
             "kernel_path"_a = nb::none(), "cpu_while_compiling"_a = false, "auto_cpu_while_compiling"_a = false,
             "driver_patience_s"_a = 0.0, "log"_a = nb::none(),
             nb::sig("def __init__(self, *, threads: int = 0, cache_dir: str | None = None, kernel_path: str | None = "
                     "None, cpu_while_compiling: bool = False, auto_cpu_while_compiling: bool = False, "
                     "driver_patience_s: float = 0.0, log: typing.Callable[[int, str], object] | None = None) -> None"),
             "threads: CPU threads that a plan may use, 0: as many as the process may run on. cache_dir: where "
             "measurements and compiled kernels are kept, \"\": nowhere. cpu_while_compiling: what is asked for with "
             "\"auto\" or \"prefer:\" begins on the CPU while kernels are compiled. log: called with a level of the "
             "module logging and a line, from any thread.")
        .def("cache_info", cache_info, nb::sig("def cache_info(self) -> dict[str, typing.Any]"),
             "The cache folder, its files and bytes.")
        .def(
            "clear_cache",
            [](const context &self) {
                nb::gil_scoped_release release;
                check(penstock_cache_clear(self.self));
            },
            "Removes the library's files from the cache folder.");
    bind_devices(module);
    module.def(
        "_start", [](nb::object log) { shared_log = new nb::object(std::move(log)); }, "log"_a,
        nb::sig("def _start(log: typing.Callable[[int, str], object]) -> None"));
    module.def("_end", end_shared);
}

} // namespace penstock_python
