/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Plans: batches of frames from array to array. */
#ifndef PENSTOCK_PYTHON_PLAN_H
#define PENSTOCK_PYTHON_PLAN_H

#include "device.h"

namespace penstock_python
{

class plan
{
  public:
    /* Results of x, in `out` or in a new array. */
    nb::object run(nb::handle x, nb::handle out);
    /* The same without waiting, in a queue of the plan's device. */
    nb::object enqueue(nb::handle x, nb::handle out, queue &work);
    void close();

    owned<penstock_plan, penstock_plan_free> self;
    item in, out;
    size_t average = 1; /* frames in for one out */
    size_t spacing = 0,
           reach = 0; /* where frames lie in one array of samples: from one to the next, and samples of one */

  private:
    /* Frames of the plan that x holds, and how many results they make along which axes. */
    size_t frames_of(const array_view &x, axes &results) const;
    void check_room(const array_view &to, size_t count) const;
    nb::object run_there(nb::handle x, const array_view &from, nb::handle out);
    std::string cuda_device();
    void send(const array_view &from, const array_view &to, size_t frames, penstock_queue *work);

    foreign_queues queues;
    foreign_buffers buffers;
};

} // namespace penstock_python

#endif
