/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Memory of large results. The system clears what it gives, page by page, which takes longer than most work that fills
 * it; so what a result leaves is kept for the next one. It begins at a multiple of 64 bytes, as processors write whole
 * lines without reading them.
 */
#ifndef PENSTOCK_PYTHON_RESULTS_H
#define PENSTOCK_PYTHON_RESULTS_H

#include <nanobind/nanobind.h>

#include <cstddef>

namespace penstock_python
{

constexpr size_t LARGE_RESULT = size_t{1} << 16; /* from so many bytes on */

/* Memory for `bytes` of one; what it belongs to gives it back when it goes. */
nanobind::capsule result_memory(size_t bytes, void *&data);

} // namespace penstock_python

#endif
