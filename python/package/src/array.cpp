/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "array.h"
#include "producer.h"
#include "results.h"

#include <cstring>

namespace penstock_python
{

size_t item::bytes() const
{
    size_t bytes = type.bits / 8u * (planar ? 2 : 1);
    for (size_t size : shape)
        bytes *= size;
    return bytes;
}

item item_of(penstock_format format, std::vector<size_t> shape)
{
    item made;
    static const struct {
        dtype type;
        bool pairs, planar;
    } formats[] = {{COMPLEX64, false, false}, {INT16, true, false},    {INT8, true, false},   {UINT8, true, false},
                   {FLOAT32, false, true},    {FLOAT32, false, false}, {FLOAT16, true, false}};
    made.type = formats[format].type;
    made.planar = formats[format].planar;
    made.shape = std::move(shape);
    if (formats[format].pairs)
        made.shape.push_back(2);
    return made;
}

penstock_format format_of(const char *name)
{
    penstock_format format;
    check(penstock_format_parse(&format, name));
    return format;
}

size_t axes::total() const
{
    size_t total = 1;
    for (size_t i = 0; i < count; i++)
        total *= sizes[i];
    return total;
}

/* ---------------------------------------------------------------- words ----------------------- */

static std::string any_dtype_name(const dtype &type)
{
    static const char *const kinds[] = {"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
    return type.code < 6 ? kinds[type.code] + std::to_string(type.bits) : type.code == 6 ? "bool" : "of another kind";
}

const char *dtype_name(const dtype &type)
{
    static const struct {
        dtype type;
        const char *name;
    } names[] = {{COMPLEX64, "complex64"}, {FLOAT32, "float32"}, {FLOAT16, "float16"},
                 {INT16, "int16"},         {INT8, "int8"},       {UINT8, "uint8"}};
    for (const auto &known : names)
        if (known.type == type)
            return known.name;
    return "?";
}

static std::string shape_text(const nb::ndarray<nb::ro> &array)
{
    std::string text = "(";
    for (size_t i = 0; i < array.ndim(); i++)
        text += std::to_string(array.shape(i)) + (i + 1 < array.ndim() ? ", " : array.ndim() == 1 ? "," : "");
    return text + ")";
}

static std::string wanted_text(const item &wanted)
{
    std::string text = wanted.planar ? "(2, ..." : "(...";
    for (size_t size : wanted.shape)
        text += ", " + std::to_string(size);
    return text + ")";
}

[[noreturn]] static void refuse(const char *name, const std::string &why)
{
    fail(PENSTOCK_ERR_ARGUMENT, std::string(name) + ": " + why);
}

/* A conversion that keeps the values. Of pairs of I and Q there is none to complex numbers that NumPy has a word for,
 * but a format that takes them. */
static std::string cure_of_type(const nb::ndarray<nb::ro> &array, const dtype &wanted, const std::string &name)
{
    const bool is_complex = array.dtype().code == COMPLEX64.code,
               pairs = array.ndim() && array.shape(array.ndim() - 1) == 2;
    static const struct {
        dtype type;
        const char *format;
    } formats[] = {{INT16, "cs16"}, {INT8, "cs8"}, {UINT8, "cu8"}, {FLOAT16, "cf16"}};
    if (is_complex && wanted != COMPLEX64)
        return "format=\"cf32\" takes complex64";
    for (const auto &known : formats)
        if (wanted == COMPLEX64 && pairs && known.type == array.dtype())
            return std::string("format=\"") + known.format + "\" takes such pairs";
    return name + ".astype(numpy." + dtype_name(wanted) + ") makes such an array";
}

/* ---------------------------------------------------------------- views ----------------------- */

static void check_contiguous(const nb::ndarray<nb::ro> &array, const char *name)
{
    int64_t step = 1;
    for (size_t i = array.ndim(); i-- > 0; step *= static_cast<int64_t>(array.shape(i)))
        if (array.shape(i) != 1 && array.stride(i) != step && array.size())
            refuse(name, std::string("its values do not lie one behind the other; numpy.ascontiguousarray(") + name +
                             ") makes such an array");
}

void array_view::fill(nb::ndarray<nb::ro> &&array, const item &wanted, const char *name)
{
    const size_t front = wanted.planar, back = wanted.shape.size();
    array_ = std::move(array);
    if (array_.dtype() != wanted.type)
        refuse(name, "an array of " + any_dtype_name(array_.dtype()) + ", not of " + dtype_name(wanted.type) + "; " +
                         cure_of_type(array_, wanted.type, name));
    bool fits = array_.ndim() >= front + back && array_.ndim() <= front + back + leading.sizes.size() &&
                (!front || array_.shape(0) == 2);
    for (size_t i = 0; fits && i < back; i++)
        fits = array_.shape(array_.ndim() - back + i) == wanted.shape[i];
    if (!fits)
        refuse(name, "an array of shape " + shape_text(array_) + ", not " + wanted_text(wanted));
    check_contiguous(array_, name);
    leading.count = array_.ndim() - front - back;
    for (size_t i = 0; i < leading.count; i++)
        leading.sizes[i] = array_.shape(front + i);
    count = leading.total();
    bytes = array_.nbytes();
    data = const_cast<void *>(static_cast<const void *>(array_.data()));
    device_type = array_.device_type();
    device_id = array_.device_id();
}

/* Of what has no __dlpack__(): Numba's arrays and others of CUDA. */
static bool import_cuda(nb::handle given, bool written, nb::ndarray<nb::ro> &array)
{
    nb::object interface = nb::getattr(given, "__cuda_array_interface__", nb::none());
    if (!nb::isinstance<nb::dict>(interface))
        return false;
    static const char *const strings[] = {"<c8", "<f4", "<f2", "<i2", "|i1", "|u1"};
    static const dtype types[] = {COMPLEX64, FLOAT32, FLOAT16, INT16, INT8, UINT8};
    const auto typestr = nb::cast<std::string>(interface["typestr"]);
    dtype type = {3, 8, 1};
    for (int i = 0; i < 6; i++)
        if (typestr == strings[i])
            type = types[i];
    const auto shape = nb::cast<std::vector<size_t>>(interface["shape"]);
    nb::object data = interface["data"], steps = interface.attr("get")("strides");
    if (written && nb::cast<bool>(data[1]))
        return false;
    std::vector<int64_t> strides;
    if (!steps.is_none())
        for (nb::handle step : steps)
            strides.push_back(nb::cast<int64_t>(step) / (type.bits / 8));
    array =
        nb::ndarray<nb::ro>(reinterpret_cast<const void *>(static_cast<uintptr_t>(nb::cast<uint64_t>(data[0]))),
                            shape.size(), shape.data(), given, strides.empty() ? nullptr : strides.data(), type, CUDA);
    return true;
}

/* What is shorter than DLPack comes first. */
static bool import_any(nb::handle given, bool written, const char *name, nb::ndarray<nb::ro> &array)
{
    if (import_cupy(given, array))
        return true;
    const nb::object owner = torch_capsule(given, name);
    const nb::handle source = owner.is_valid() ? nb::handle(owner) : given;
    nb::ndarray<> writable;
    if (written ? nb::try_cast(source, writable, false) : nb::try_cast(source, array, false)) {
        if (written)
            array = nb::ndarray<nb::ro>(writable);
        return true;
    }
    return import_cuda(given, written, array);
}

array_view array_view::in(nb::handle given, const item &wanted, const char *name)
{
    array_view view;
    nb::ndarray<nb::ro> array;
    if (!import_any(given, false, name, array))
        refuse(name,
               "no array, but " + std::string(nb::type_name(given.type()).c_str()) + "; numpy.asarray() makes one");
    view.fill(std::move(array), wanted, name);
    return view;
}

array_view array_view::out(nb::handle given, const item &wanted, const char *name)
{
    array_view view;
    nb::ndarray<nb::ro> array;
    if (!import_any(given, true, name, array))
        refuse(name, "no array that can be written, but " + std::string(nb::type_name(given.type()).c_str()));
    view.fill(std::move(array), wanted, name);
    return view;
}

void check_apart(const array_view &in, const array_view &out, bool may_be_same)
{
    const auto *a = static_cast<const char *>(in.data), *b = static_cast<const char *>(out.data);
    if (!in.bytes || !out.bytes || a + in.bytes <= b || b + out.bytes <= a || (may_be_same && a == b))
        return;
    refuse("out", may_be_same ? "it overlaps x, and is not x itself" : "it overlaps x");
}

/* ---------------------------------------------------------------- arrays of our own ----------- */

/* numpy and what is used of it, looked up once and kept until the process ends. */
struct numpy_module {
    PyObject *empty, *asarray;
    PyObject *types[6];
};

static const dtype numpy_types[] = {COMPLEX64, FLOAT32, FLOAT16, INT16, INT8, UINT8};

static const numpy_module &numpy()
{
    static const numpy_module *const found = [] {
        nb::module_ module = nb::module_::import_("numpy");
        auto *made = new numpy_module;
        made->empty = nb::object(module.attr("empty")).release().ptr();
        made->asarray = nb::object(module.attr("asarray")).release().ptr();
        for (size_t i = 0; i < 6; i++)
            made->types[i] = nb::object(module.attr("dtype")(dtype_name(numpy_types[i]))).release().ptr();
        return made;
    }();
    return *found;
}

static PyObject *numpy_type(const dtype &type)
{
    for (size_t i = 0; i < 6; i++)
        if (numpy_types[i] == type)
            return numpy().types[i];
    fail(PENSTOCK_ERR_ARGUMENT, "no such dtype");
}

bool is_numpy_type(nb::handle given, dtype &type)
{
    for (size_t i = 0; i < 6; i++)
        if (given.ptr() == numpy().types[i]) { /* NumPy has one object for each */
            type = numpy_types[i];
            return true;
        }
    return false;
}

/* Of numpy.empty(), which is sooner made. */
static nb::object small_array(const std::vector<size_t> &sizes, const dtype &type)
{
    nb::object shape = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(sizes.size())));
    for (size_t i = 0; i < sizes.size(); i++)
        PyTuple_SetItem(shape.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromSize_t(sizes[i]));
    PyObject *arguments[] = {shape.ptr(), numpy_type(type)};
    nb::object array = nb::steal(PyObject_Vectorcall(numpy().empty, arguments, 2, nullptr));
    if (!array.is_valid())
        nb::raise_python_error();
    return array;
}

static nb::object large_array(const std::vector<size_t> &sizes, const dtype &type, size_t bytes)
{
    void *data;
    nb::capsule owner = result_memory(bytes, data);
    return nb::cast(nb::ndarray<nb::numpy>(data, sizes.size(), sizes.data(), owner, nullptr, type));
}

nb::object new_array(const axes &leading, const item &made, array_view &view)
{
    std::vector<size_t> sizes;
    if (made.planar)
        sizes.push_back(2);
    sizes.insert(sizes.end(), leading.sizes.begin(), leading.sizes.begin() + leading.count);
    sizes.insert(sizes.end(), made.shape.begin(), made.shape.end());
    const size_t bytes = leading.total() * made.bytes();
    nb::object array = bytes < LARGE_RESULT ? small_array(sizes, made.type) : large_array(sizes, made.type, bytes);
    view = array_view::out(array, made, "out");
    return array;
}

static nb::object converted(nb::handle given, const dtype &type, const char *name)
{
    PyObject *arguments[] = {given.ptr(), numpy_type(type)};
    nb::object array = nb::steal(PyObject_Vectorcall(numpy().asarray, arguments, 2, nullptr));
    if (!array.is_valid()) {
        nb::python_error error;
        refuse(name, error.what());
    }
    return array;
}

template <typename T> static std::vector<T> values_of(nb::handle given, const dtype &type, const char *name)
{
    nb::object array = converted(given, type, name);
    nb::object flat = array.attr("reshape")(-1).attr("copy")();
    array_view view = array_view::in(flat, item{type, {}, false}, name);
    const T *values = static_cast<const T *>(view.data);
    return std::vector<T>(values, values + view.count);
}

std::vector<float> floats_of(nb::handle given, const char *name)
{
    return given.is_none() ? std::vector<float>() : values_of<float>(given, FLOAT32, name);
}

std::vector<penstock_cf32> complexes_of(nb::handle given, const char *name)
{
    return given.is_none() ? std::vector<penstock_cf32>() : values_of<penstock_cf32>(given, COMPLEX64, name);
}

std::vector<size_t> sizes_of(nb::handle given, const char *name)
{
    std::vector<size_t> sizes;
    if (given.is_none())
        return sizes;
    for (nb::handle one : given) {
        size_t size = PyLong_AsSize_t(nb::steal(PyNumber_Index(one.ptr())).ptr());
        if (PyErr_Occurred()) {
            nb::python_error error;
            refuse(name, error.what());
        }
        sizes.push_back(size);
    }
    return sizes;
}

bool is_complex(nb::handle given)
{
    nb::object array = nb::steal(PyObject_CallOneArg(numpy().asarray, given.ptr()));
    if (!array.is_valid())
        nb::raise_python_error();
    return nb::cast<std::string>(array.attr("dtype").attr("kind")) == "c";
}

taps::taps(nb::handle given)
{
    if (given.is_none())
        return;
    if (is_complex(given))
        complex_ = complexes_of(given, "taps");
    else
        real_ = floats_of(given, "taps");
}

template <typename T> static nb::object copied(const T *values, size_t count, const dtype &type)
{
    array_view view;
    nb::object array = new_array(count, item{type, {}, false}, view);
    if (count)
        std::memcpy(view.data, values, count * sizeof *values);
    return array;
}

nb::object array_of(const float *values, size_t count)
{
    return copied(values, count, FLOAT32);
}

nb::object array_of(const penstock_cf32 *values, size_t count)
{
    return copied(values, count, COMPLEX64);
}

} // namespace penstock_python
