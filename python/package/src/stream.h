/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Streams: items go in, in any pieces, and results come out in order. All kinds have these calls. */
#ifndef PENSTOCK_PYTHON_STREAM_H
#define PENSTOCK_PYTHON_STREAM_H

#include "device.h"

namespace penstock_python
{

class stream
{
  public:
    /* `make(penstock_stream **, penstock_context *)` opens it. What its items are is the caller's to say. */
    template <typename F> void open(const context_ptr &given, F &&make)
    {
        self.open(context_or_default(given), "stream", make);
    }

    size_t push(nb::handle x);
    nb::object pull(const std::optional<size_t> &most, bool wait, nb::handle given);
    nb::tuple run(nb::handle x, nb::handle given);
    /* Takes all of x and gives all results that are ready, or those of the last stream of its chain. */
    nb::object all(nb::handle x);
    nb::object all_of(nb::handle x, stream &last);
    /* All of x, on a GPU, and all results that are complete with it, there. */
    nb::object all_there(nb::handle x, const array_view &from);
    /* Items of x to `out`, both on the stream's device, in order with what is in the queue: how many results. */
    size_t enqueue(nb::handle x, nb::handle given, queue &work);
    /* Results that so many more items will give so. */
    size_t results_of(size_t count);
    void close();
    /* Results, or those of a channel, become the items of another stream. */
    void link(stream &to, const std::optional<size_t> &channel);
    /* `call(penstock_stream *)`, whose status is checked. */
    template <typename F> void call(F &&call)
    {
        self.use([&](penstock_stream *own) { return check(call(own)); });
    }

    owned<penstock_stream, penstock_stream_free> self;
    item in, out;
    double ratio = 1;    /* results that an item in makes, about */
    size_t channels = 0; /* results are pulled by channel, a row of an array for each; 0: as one row of items */
    bool frames = false; /* results are frames, which have a pull of their own */

  private:
    struct place { /* where results go */
        array_view view;
        size_t room = 0, filled = 0;
    };
    array_view items_of(nb::handle x) const;
    array_view input(nb::handle x) const;
    place output(nb::handle given) const;
    nb::object make_place(size_t room, place &made) const;
    std::vector<void *> rows(const place &to) const;
    size_t pull_into(place &to, size_t most, bool wait);
    size_t run_into(const array_view &from, size_t &at, stream &last, place &to);
    nb::object cut(const nb::object &array, const place &to) const;
    nb::object joined(const nb::list &pieces) const;
    nb::object rest(bool wait);
    void check_kind() const;

    foreign_queues queues;
    foreign_buffers buffers;
};

} // namespace penstock_python

#endif
