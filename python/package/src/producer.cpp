/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "producer.h"

#include <cstring>

namespace penstock_python
{

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
    if (std::strchr(Py_TYPE(given.ptr())->tp_name, '.')) /* not written in Python: numpy.ndarray */
        return {};
    const torch_module *torch = torch_of(given);
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

static uint64_t cupy_stream(nb::object &keep)
{
    static PyObject *const current = kept(nb::module_::import_("cupy.cuda").attr("get_current_stream"));
    keep = nb::steal(PyObject_CallNoArgs(current));
    if (!keep.is_valid())
        nb::raise_python_error();
    return nb::cast<uint64_t>(keep.attr("ptr"));
}

/* ---------------------------------------------------------------- any ------------------------- */

uint64_t stream_of(nb::handle array, int device_id, nb::object &keep)
{
    if (const torch_module *torch = torch_of(array))
        return torch_stream(*torch, device_id);
    if (made_by(array, "cupy"))
        return cupy_stream(keep);
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
    if (made_by(like, "cupy"))
        return nb::module_::import_("cupy").attr("empty")(nb::tuple(shape), dtype_name(made.type));
    fail(PENSTOCK_ERR_ARGUMENT, "out: an array on the device is wanted, as x is neither CuPy's nor PyTorch's");
}

} // namespace penstock_python
