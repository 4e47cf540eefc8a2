/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "producer.h"

#include <cstring>

namespace penstock_python
{

/* numpy.ndarray is not: nothing below is to cost its callers anything. */
static bool is_written_in_python(nb::handle array)
{
    return !std::strchr(Py_TYPE(array.ptr())->tp_name, '.');
}

static bool made_by(nb::handle array, std::string_view module)
{
    nb::object name = nb::getattr(array.type(), "__module__", nb::none());
    return nb::isinstance<nb::str>(name) && nb::cast<std::string_view>(name).substr(0, module.size()) == module;
}

/* ---------------------------------------------------------------- PyTorch --------------------- */

/* torch and what is used of it, looked up once and kept until the process ends. */
struct torch_module {
    PyObject *tensor, *to_dlpack, *empty, *current_stream;
    PyObject *raw_stream; /* its number at once, where this version tells it; or NULL */
    PyObject *requires_grad, *is_conj, *is_neg;
};

static PyObject *kept(nb::object &&object)
{
    return object.release().ptr();
}

static const torch_module *find_torch()
{
    nb::module_ torch = nb::module_::import_("torch");
    nb::object inner = nb::getattr(torch, "_C", nb::none());
    nb::object raw = nb::getattr(inner, "_cuda_getCurrentRawStream", nb::none());
    auto *made = new torch_module;
    made->tensor = kept(torch.attr("Tensor"));
    made->to_dlpack = kept(nb::module_::import_("torch.utils.dlpack").attr("to_dlpack"));
    made->empty = kept(torch.attr("empty"));
    made->current_stream = kept(nb::module_::import_("torch.cuda").attr("current_stream"));
    made->raw_stream = raw.is_none() ? nullptr : kept(std::move(raw));
    made->requires_grad = PyUnicode_InternFromString("requires_grad");
    made->is_conj = PyUnicode_InternFromString("is_conj");
    made->is_neg = PyUnicode_InternFromString("is_neg");
    return made;
}

/* NULL where the array is none of PyTorch's. */
static const torch_module *torch_of(nb::handle array)
{
    static const torch_module *known; /* under the interpreter's lock */
    if (known && array.type().ptr() == known->tensor)
        return known;
    if (!made_by(array, "torch"))
        return nullptr;
    if (!known)
        known = find_torch();
    return known;
}

/* Whether it is True; what a version lacks is not. */
static bool says(nb::object &&answer)
{
    if (!answer.is_valid())
        PyErr_Clear();
    return answer.ptr() == Py_True;
}

/* Values that are not those in memory, or that autograd is to follow. */
static void check_plain(const torch_module &torch, nb::handle given, const std::string &name)
{
    if (says(nb::steal(PyObject_GetAttr(given.ptr(), torch.requires_grad))))
        fail(PENSTOCK_ERR_ARGUMENT, name + ": a tensor that requires a gradient, which is not known of; " + name +
                                        ".detach() makes one that does not");
    if (says(nb::steal(PyObject_CallMethodNoArgs(given.ptr(), torch.is_conj))))
        fail(PENSTOCK_ERR_ARGUMENT,
             name + ": a tensor whose values in memory are not conjugated yet; " + name + ".resolve_conj() does it");
    if (says(nb::steal(PyObject_CallMethodNoArgs(given.ptr(), torch.is_neg))))
        fail(PENSTOCK_ERR_ARGUMENT,
             name + ": a tensor whose values in memory are not negated yet; " + name + ".resolve_neg() does it");
}

nb::object torch_capsule(nb::handle given, const char *name)
{
    const torch_module *torch = is_written_in_python(given) ? torch_of(given) : nullptr;
    if (!torch)
        return {};
    check_plain(*torch, given, name);
    if (given.type().ptr() != torch->tensor)
        return {};
    nb::object capsule = nb::steal(PyObject_CallOneArg(torch->to_dlpack, given.ptr()));
    if (!capsule.is_valid())
        PyErr_Clear();
    return capsule;
}

static uint64_t torch_stream(const torch_module &torch, int device_id)
{
    PyObject *ask = torch.raw_stream ? torch.raw_stream : torch.current_stream;
    nb::object stream = nb::steal(PyObject_CallOneArg(ask, nb::int_(device_id).ptr()));
    if (!stream.is_valid())
        nb::raise_python_error();
    return nb::cast<uint64_t>(torch.raw_stream ? stream : nb::object(stream.attr("cuda_stream")));
}

/* ---------------------------------------------------------------- CuPy ------------------------ */

constexpr size_t MOST_AXES = 16; /* of those that are read here; DLPack has the others */

/* cupy and what is used of it, as above. */
struct cupy_module {
    PyObject *ndarray, *get_current_stream, *empty;
    PyObject *data, *ptr, *device_id, *dtype, *shape, *strides, *c_contiguous;
    bool cuda; /* not AMD's HIP, whose pointers the library does not take */
};

static const cupy_module *find_cupy()
{
    nb::module_ cupy = nb::module_::import_("cupy"), device = nb::module_::import_("cupy.cuda");
    auto *made = new cupy_module;
    made->ndarray = kept(cupy.attr("ndarray"));
    made->get_current_stream = kept(device.attr("get_current_stream"));
    made->empty = kept(cupy.attr("empty"));
    made->cuda = !nb::cast<bool>(device.attr("runtime").attr("is_hip"));
    made->data = PyUnicode_InternFromString("data");
    made->ptr = PyUnicode_InternFromString("ptr");
    made->device_id = PyUnicode_InternFromString("device_id");
    made->dtype = PyUnicode_InternFromString("dtype");
    made->shape = PyUnicode_InternFromString("shape");
    made->strides = PyUnicode_InternFromString("strides");
    made->c_contiguous = PyUnicode_InternFromString("_c_contiguous");
    return made;
}

/* NULL where the array is none of CuPy's. */
static const cupy_module *cupy_of(nb::handle array)
{
    static const cupy_module *known; /* under the interpreter's lock */
    if (known && array.type().ptr() == known->ndarray)
        return known;
    if (!made_by(array, "cupy"))
        return nullptr;
    if (!known)
        known = find_cupy();
    return known;
}

static nb::object attribute(nb::handle object, PyObject *name)
{
    nb::object value = nb::steal(PyObject_GetAttr(object.ptr(), name));
    if (!value.is_valid())
        nb::raise_python_error();
    return value;
}

/* Numbers of a tuple, each divided by `unit`: how many; more than there is room for where it is no such tuple. */
static size_t read_numbers(nb::handle tuple, int64_t unit, std::array<int64_t, MOST_AXES> &numbers)
{
    const size_t count = PyTuple_Check(tuple.ptr()) ? static_cast<size_t>(PyTuple_GET_SIZE(tuple.ptr())) : SIZE_MAX;
    for (size_t i = 0; i < count && count <= numbers.size(); i++)
        numbers[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i))) / unit;
    return count;
}

bool import_cupy(nb::handle given, nb::ndarray<nb::ro> &array)
{
    const cupy_module *cupy = is_written_in_python(given) ? cupy_of(given) : nullptr;
    dtype type;
    if (!cupy || !cupy->cuda || given.type().ptr() != cupy->ndarray ||
        !is_numpy_type(attribute(given, cupy->dtype), type))
        return false;
    std::array<int64_t, MOST_AXES> sizes, steps;
    const size_t axes = read_numbers(attribute(given, cupy->shape), 1, sizes);
    if (axes > sizes.size())
        return false;
    const bool whole = attribute(given, cupy->c_contiguous).ptr() == Py_True;
    if (!whole && read_numbers(attribute(given, cupy->strides), type.bits / 8, steps) != axes)
        return false;
    const nb::object data = attribute(given, cupy->data);
    const auto address = nb::cast<uintptr_t>(attribute(data, cupy->ptr));
    std::array<size_t, MOST_AXES> shape;
    for (size_t i = 0; i < axes; i++)
        shape[i] = static_cast<size_t>(sizes[i]);
    array = nb::ndarray<nb::ro>(reinterpret_cast<const void *>(address), axes, shape.data(), given,
                                whole ? nullptr : steps.data(), type, CUDA,
                                nb::cast<int>(attribute(data, cupy->device_id)));
    return true;
}

static uint64_t cupy_stream(const cupy_module &cupy, nb::object &keep)
{
    keep = nb::steal(PyObject_CallNoArgs(cupy.get_current_stream));
    if (!keep.is_valid())
        nb::raise_python_error();
    return nb::cast<uint64_t>(attribute(keep, cupy.ptr));
}

/* ---------------------------------------------------------------- any ------------------------- */

uint64_t stream_of(nb::handle array, int device_id, nb::object &keep)
{
    if (const torch_module *torch = torch_of(array))
        return torch_stream(*torch, device_id);
    if (const cupy_module *cupy = cupy_of(array))
        return cupy_stream(*cupy, keep);
    nb::object interface = nb::getattr(array, "__cuda_array_interface__", nb::none());
    nb::object stream = interface.is_none() ? nb::none() : nb::object(interface.attr("get")("stream"));
    const uint64_t native = stream.is_none() ? 0 : nb::cast<uint64_t>(stream);
    return native == 1 ? 0 : native; /* both are the default stream */
}

nb::object new_array_like(nb::handle like, const axes &leading, const item &made)
{
    nb::list shape;
    for (size_t i = 0; i < leading.count; i++)
        shape.append(leading.sizes[i]);
    for (size_t size : made.shape)
        shape.append(size);
    if (torch_of(like))
        return nb::handle(torch_of(like)->empty)(nb::tuple(shape),
                                                 "dtype"_a = nb::module_::import_("torch").attr(dtype_name(made.type)),
                                                 "device"_a = like.attr("device"));
    if (const cupy_module *cupy = cupy_of(like))
        return nb::handle(cupy->empty)(nb::tuple(shape), dtype_name(made.type));
    fail(PENSTOCK_ERR_ARGUMENT, "out: an array on the device is wanted, as x is neither CuPy's nor PyTorch's");
}

} // namespace penstock_python
