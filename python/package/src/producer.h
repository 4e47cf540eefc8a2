/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The modules that make arrays on devices: arrays of theirs at once, streams, new arrays. */
#ifndef PENSTOCK_PYTHON_PRODUCER_H
#define PENSTOCK_PYTHON_PRODUCER_H

#include "array.h"

namespace penstock_python
{

/* A capsule of DLPack's for a torch.Tensor: its __dlpack__() is written in Python and takes several times as long. No
 * object for all else, subclasses among it. A tensor that is more than its memory says is refused. */
nb::object torch_capsule(nb::handle given, const char *name);

/* An array of CuPy's by its attributes: its __dlpack__() asks the driver, too, and takes several times as long. False
 * for all else, subclasses and dtypes that no sample has among it. */
bool import_cupy(nb::handle given, nb::ndarray<nb::ro> &array);

/* The queue that an array's producer works in: CuPy's and PyTorch's current stream, else what the array says, else the
 * default stream. `keep`: what the stream lives by. */
uint64_t stream_of(nb::handle array, int device_id, nb::object &keep);

/* A new array on the device of `like`, by the module that made it. */
nb::object new_array_like(nb::handle like, const axes &leading, const item &made);

} // namespace penstock_python

#endif
