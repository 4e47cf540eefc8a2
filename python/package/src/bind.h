/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The parts of the module, one a file. */
#ifndef PENSTOCK_PYTHON_BIND_H
#define PENSTOCK_PYTHON_BIND_H

#include "array.h"
#include "object.h"

namespace penstock_python
{

void bind_context(nb::module_ &module);
void bind_errors(nb::module_ &module);
void bind_fft(nb::module_ &module);
void bind_plan(nb::module_ &module);

} // namespace penstock_python

#endif
