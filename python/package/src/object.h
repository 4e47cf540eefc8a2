/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What all bound objects have: errors as exceptions, a context that lives as long as they do, one thread at a time. */
#ifndef PENSTOCK_PYTHON_OBJECT_H
#define PENSTOCK_PYTHON_OBJECT_H

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <penstock/penstock.h>

#include <memory>
#include <mutex>
#include <string>

namespace penstock_python
{

namespace nb = nanobind;
using namespace nb::literals;

/* Becomes the exception of penstock.errors that stands for the status. */
struct failure {
    int status;
    std::string text;
};

[[noreturn]] inline void fail(int status, const std::string &text)
{
    throw failure{status, text};
}

/* Of a call's status, with the library's text, which is the calling thread's. */
inline int check(int status)
{
    if (status < 0)
        throw failure{status, penstock_error_text()};
    return status;
}

struct context {
    penstock_context *self = nullptr;
    nb::object log; /* called with a level of the module logging and a line; may be None */
    ~context();
};

using context_ptr = std::shared_ptr<context>;

/* The one given, or the one that all objects share to which none was given. */
context_ptr context_or_default(const context_ptr &given);

/* Calls come one at a time: a second thread waits for the first. Objects can be joined, to wait for each other too. */
class turns
{
    struct line {
        std::mutex mutex;
        std::shared_ptr<line> joined; /* under the mutex: the line that counts instead, or null */
    };
    std::shared_ptr<line> line_ = std::make_shared<line>();

    std::shared_ptr<line> last() const
    {
        std::shared_ptr<line> at = line_, next = line_;
        while (next) {
            at = next;
            std::lock_guard<std::mutex> lock(at->mutex);
            next = at->joined;
        }
        return at;
    }

  public:
    /* Until the lock is gone, before this object is. */
    std::unique_lock<std::mutex> take() const
    {
        std::unique_lock<std::mutex> lock(line_->mutex);
        for (bool joined = line_->joined != nullptr; joined;) {
            lock.unlock();
            const std::shared_ptr<line> at = last(); /* which this object keeps */
            lock = std::unique_lock<std::mutex>(at->mutex);
            joined = at->joined != nullptr;
        }
        return lock;
    }

    void join(const turns &other)
    {
        for (;;) {
            const std::shared_ptr<line> mine = last(), theirs = other.last();
            if (mine == theirs)
                return;
            std::scoped_lock lock(mine->mutex, theirs->mutex);
            if (mine->joined || theirs->joined)
                continue;
            theirs->joined = mine;
            return;
        }
    }
};

/*
 * An object of the library's and the context that it was made from. Its calls run without the interpreter's lock, and
 * in turns.
 */
template <typename T, void (*free_object)(T *)> class owned
{
  public:
    owned() = default;
    owned(const owned &) = delete;
    owned &operator=(const owned &) = delete;
    ~owned()
    {
        close();
    }

    /* What `make(T **, penstock_context *)` makes. */
    template <typename F> void open(const context_ptr &given, const char *what, F &&make)
    {
        context_ = given;
        what_ = what;
        nb::gil_scoped_release release;
        check(make(&self_, given ? given->self : nullptr));
    }

    /* `work(T *)`, which touches no Python object. */
    template <typename F> auto use(F &&work)
    {
        nb::gil_scoped_release release;
        return use_within(work);
    }

    /* The same for a caller that has released the interpreter's lock. */
    template <typename F> auto use_within(F &&work)
    {
        const auto turn = turns_.take();
        return work(open_one());
    }

    /* `work(T *, T *)` with another one. Calls of the two come in turns from now on. */
    template <typename F> auto use_with(owned &other, F &&work)
    {
        nb::gil_scoped_release release;
        turns_.join(other.turns_);
        const auto turn = turns_.take();
        return work(open_one(), other.open_one());
    }

    void close()
    {
        {
            nb::gil_scoped_release release;
            const auto turn = turns_.take();
            free_object(self_);
            self_ = nullptr;
        }
        context_.reset();
    }

    bool closed() const
    {
        return !self_;
    }

    const context_ptr &context() const
    {
        return context_;
    }

  private:
    T *open_one() const
    {
        if (!self_)
            fail(PENSTOCK_ERR_STATE, std::string("the ") + what_ + " was closed");
        return self_;
    }

    T *self_ = nullptr;
    context_ptr context_;
    const char *what_ = "object";
    turns turns_;
};

inline std::string text_or_empty(const char *text)
{
    return text ? text : "";
}

inline nb::object text_or_none(const char *text)
{
    return text ? nb::object(nb::str(text)) : nb::none();
}

template <typename T> void close_object(T &object)
{
    object.self.close();
}

/* What `with` needs of a class with such a `self`. */
template <typename T> void bind_with(nb::class_<T> &bound)
{
    bound
        .def(
            "__enter__", [](nb::handle self) { return nb::borrow(self); },
            nb::sig("def __enter__(self) -> typing_extensions.Self"))
        .def(
            "__exit__", [](T &self, const nb::args &) { close_object(self); },
            nb::sig("def __exit__(self, *args: object) -> None"));
}

} // namespace penstock_python

#endif
