/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* What the files of bindings share. */
#ifndef INCLUDED_PENSTOCK_BINDINGS_H
#define INCLUDED_PENSTOCK_BINDINGS_H

#include "block_docs.h"

#include <gnuradio/block.h>
#include <pybind11/complex.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace py::literals;

template <typename T> using block_class = py::class_<T, gr::block, gr::basic_block, std::shared_ptr<T>>;

/* A block's class with what device_block has, and batching_block. */
template <typename T> block_class<T> device_class(py::module &m, const char *name, const char *doc)
{
    block_class<T> made(m, name, doc);
    made.def("device", &T::device, "Name of the device that computes").def("stats", &T::stats, block_docs::STATS);
    return made;
}

template <typename T> block_class<T> batching_class(py::module &m, const char *name, const char *doc)
{
    auto made = device_class<T>(m, name, doc);
    made.def("set_max_latency_ms", &T::set_max_latency_ms, "max_latency_ms"_a,
             "The longest that an item waits for others; holds for items that wait too")
        .def("max_latency_ms", &T::max_latency_ms, "In milliseconds");
    return made;
}

void bind_resamplers(py::module &m);

#endif
