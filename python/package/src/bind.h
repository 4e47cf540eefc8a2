/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The parts of the module, one a file. */
#ifndef PENSTOCK_PYTHON_BIND_H
#define PENSTOCK_PYTHON_BIND_H

#include "array.h"
#include "object.h"

namespace penstock_python
{

void bind_banks(nb::module_ &module);
void bind_codes(nb::module_ &module);
void bind_context(nb::module_ &module);
void bind_device(nb::module_ &module);
void bind_errors(nb::module_ &module);
void bind_files(nb::module_ &module);
void bind_fft(nb::module_ &module);
void bind_filters(nb::module_ &module);
void bind_ofdm(nb::module_ &module);
void bind_plan(nb::module_ &module);
void bind_signals(nb::module_ &module);
void bind_stream(nb::module_ &module);
void bind_transforms(nb::module_ &module);
void bind_wifi(nb::module_ &module);

penstock_output output_of(const std::string &name);

/* Factors of a window: those given, those of a name, or none. */
std::vector<float> window_of(nb::handle given, size_t n);
const float *factors_or_null(const std::vector<float> &factors, size_t n);

} // namespace penstock_python

#endif
