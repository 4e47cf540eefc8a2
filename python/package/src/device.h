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

/* A Buffer, or an array on a device, which is no buffer of the library's yet. */
struct operand {
    std::shared_ptr<penstock_buffer> own; /* of a Buffer; else null */
    array_view view;
    static operand in(nb::handle given, const item &kind);
    static operand out(nb::handle given, const item &kind);
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

/*
 * Memory of callers as buffers of a plan, made when it is first seen: the driver is asked for its place once. Used
 * under the plan's lock. Freeing one while work in it is under way leaves the memory, which a queue of CUDA's knows by
 * its address.
 */
class foreign_buffers
{
  public:
    /* Another one is forgotten for it where there are many, but for `kept`. */
    penstock_buffer *of(penstock_context *context, const char *device, const array_view &array,
                        const penstock_buffer *kept);
    penstock_buffer *of(penstock_context *context, const char *device, const operand &given,
                        const penstock_buffer *kept)
    {
        return given.own ? given.own.get() : of(context, device, given.view, kept);
    }
    void clear();
    ~foreign_buffers()
    {
        clear();
    }

  private:
    static constexpr size_t MOST = 16;
    struct entry {
        const void *data;
        size_t bytes;
        int device_id;
        penstock_buffer *buffer;
    };
    std::vector<entry> entries;
    size_t next = 0; /* the one to be forgotten for another */
};

} // namespace penstock_python

#endif
