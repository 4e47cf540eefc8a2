/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Memory of devices and queues of work there. */
#ifndef PENSTOCK_PYTHON_DEVICE_H
#define PENSTOCK_PYTHON_DEVICE_H

#include "array.h"

namespace penstock_python
{

/* Calls share it, in any threads; it is freed when the last of them is over. */
struct buffer {
    std::shared_ptr<penstock_buffer> self; /* looked at under the interpreter's lock */
    std::shared_ptr<penstock_buffer> open() const;
    item kind;
    axes leading;
    std::string device;
    size_t bytes = 0;
};

struct queue {
    owned<penstock_queue, penstock_queue_free> self;
};

/* The queues of a plan for streams of others, made when they are first seen. */
class foreign_queues
{
  public:
    penstock_queue *known(uint64_t native) const; /* NULL: it was not seen */
    penstock_queue *add(penstock_context *context, const char *device, uint64_t native, const nb::object &keep);
    void clear();
    ~foreign_queues()
    {
        clear();
    }

  private:
    static constexpr size_t MOST = 8;
    struct entry {
        uint64_t native;
        nb::object keep;
        penstock_queue *queue;
    };
    std::vector<entry> entries;
};

} // namespace penstock_python

#endif
