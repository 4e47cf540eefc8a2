/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Arrays of callers as the library wants them, without a copy, and arrays for results. */
#ifndef PENSTOCK_PYTHON_ARRAY_H
#define PENSTOCK_PYTHON_ARRAY_H

#include "object.h"

#include <nanobind/ndarray.h>

#include <array>
#include <cstdint>
#include <vector>

namespace penstock_python
{

using dtype = nb::dlpack::dtype;

constexpr dtype COMPLEX64 = {5, 64, 1}, FLOAT32 = {2, 32, 1}, FLOAT16 = {2, 16, 1}, INT16 = {0, 16, 1},
                INT8 = {0, 8, 1}, UINT8 = {1, 8, 1};

/* One of the things of which the library counts how many there are: a sample, a frame, a vector, a block. */
struct item {
    dtype type = COMPLEX64;
    std::vector<size_t> shape; /* of one, as the last axes of an array */
    bool planar = false;       /* an axis of two in front: all real parts, then all imaginary ones */
    size_t bytes() const;
};

/* A sample of the format, of which `shape` make an item. */
item item_of(penstock_format format, std::vector<size_t> shape = {});
penstock_format format_of(const char *name);

/* How many items, along each of an array's leading axes. */
struct axes {
    size_t count = 0;
    std::array<size_t, 8> sizes = {};
    size_t total() const;
};

constexpr int HOST = 1, CUDA = 2; /* DLPack's types of devices */

/* An array of a caller's that fits. Its memory stays as long as this object. */
class array_view
{
  public:
    array_view() = default;
    /* Items to read; `name` is the argument's, for errors. */
    static array_view in(nb::handle given, const item &wanted, const char *name);
    /* Room for items to write. */
    static array_view out(nb::handle given, const item &wanted, const char *name);

    void *data = nullptr;
    axes leading;
    size_t count = 0; /* items in all */
    size_t bytes = 0;
    int device_type = HOST, device_id = 0;

  private:
    void fill(nb::ndarray<nb::ro> &&array, const item &wanted, const char *name);
    nb::ndarray<nb::ro> array_;
};

/* Whether a dtype of NumPy's is one of those above, and which. */
bool is_numpy_type(nb::handle given, dtype &type);

/* A new NumPy array for items, and its view. */
nb::object new_array(const axes &leading, const item &made, array_view &view);
inline nb::object new_array(size_t count, const item &made, array_view &view)
{
    axes leading;
    leading.count = 1;
    leading.sizes[0] = count;
    return new_array(leading, made, view);
}

/* ---------------------------------------------------------------- settings -------------------- */

/* Anything that NumPy makes an array of, copied: for taps, windows and other settings. */
std::vector<float> floats_of(nb::handle given, const char *name);
std::vector<penstock_cf32> complexes_of(nb::handle given, const char *name);
std::vector<size_t> sizes_of(nb::handle given, const char *name);
bool is_complex(nb::handle given);

/* Taps as an array of real or of complex numbers; none of None. */
class taps
{
  public:
    explicit taps(nb::handle given);
    const float *real_taps() const
    {
        return real_.empty() ? nullptr : real_.data();
    }
    const penstock_cf32 *complex_taps() const
    {
        return complex_.empty() ? nullptr : complex_.data();
    }
    size_t count() const
    {
        return real_.size() + complex_.size();
    }

  private:
    std::vector<float> real_;
    std::vector<penstock_cf32> complex_;
};

/* A NumPy array with a copy of these values. */
nb::object array_of(const float *values, size_t count);
nb::object array_of(const penstock_cf32 *values, size_t count);

const char *dtype_name(const dtype &type);
void check_apart(const array_view &in, const array_view &out, bool may_be_same);

} // namespace penstock_python

#endif
