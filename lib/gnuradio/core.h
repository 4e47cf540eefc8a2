/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* What all blocks share: the C library's context, log, descriptions and errors, and GNU Radio's names and numbers. */
#ifndef INCLUDED_PENSTOCK_CORE_H
#define INCLUDED_PENSTOCK_CORE_H

#include <gnuradio/block.h>
#include <memory>
#include <penstock/penstock.h>
#include <string>
#include <type_traits>

namespace gr
{
namespace penstock
{

//! An object of the C library and the function that frees it.
template <typename T> using handle = std::unique_ptr<T, void (*)(T *)>;

//! The description struct T with its size and all defaults.
template <typename T> T description()
{
    T desc{};
    desc.size = sizeof desc;
    return desc;
}

//! The context of all blocks of the process; what it reports goes to GNU Radio's log.
std::shared_ptr<penstock_context> shared_context();

//! Where what the library tells goes to while it works for a block: a log under the block's alias, with its level.
class block_log
{
    gr::block *const d_block; // nullptr: nobody in particular

  public:
    explicit block_log(gr::block *block) : d_block(block)
    {
    }

    void write(penstock_log_level level, const char *line) const;
};

//! As long as it lives this thread works for a block.
class works_for
{
    void *d_before;

  public:
    explicit works_for(block_log &log) : d_before(penstock_log_as(&log))
    {
    }

    ~works_for()
    {
        penstock_log_as(d_before);
    }

    works_for(const works_for &) = delete;
    works_for &operator=(const works_for &) = delete;
};

//! Throws std::runtime_error with the library's text if `status` is an error.
void check(int status);

//! A block's name with GNU Radio's letters of its types at the end: c(omplex), f(loat), s(hort).
template <typename... T> std::string typed_name(const char *name)
{
    return std::string(name) + std::string{'_', (std::is_same<T, float>::value   ? 'f'
                                                 : std::is_same<T, short>::value ? 's'
                                                                                 : 'c')...};
}

//! GNU Radio has whole numbers of two kinds: whether it is one, and its value; the latter throws if not.
bool is_whole(const pmt::pmt_t &value);
long to_whole(const pmt::pmt_t &value);

} // namespace penstock
} // namespace gr

#endif
