/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* What all blocks share: the C library's context and errors, and the scheduler's ways. */
#ifndef INCLUDED_PENSTOCK_CORE_H
#define INCLUDED_PENSTOCK_CORE_H

#include <chrono>
#include <gnuradio/block.h>
#include <map>
#include <memory>
#include <penstock/penstock.h>
#include <string>
#include <vector>

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

//! GNU Radio has whole numbers of two kinds: whether it is one, and its value; the latter throws if not.
bool is_whole(const pmt::pmt_t &value);
long to_whole(const pmt::pmt_t &value);

//! Throws std::runtime_error in the block's name where there are no transforms of so many points.
void check_points(const char *block, int fft_size);

//! Likewise where a window has neither `fft_size` factors nor none.
void check_window(const char *block, const std::vector<float> &factors, int fft_size);

//! Likewise where a factor or tap is no finite number.
void check_finite(const char *block, const float *values, size_t count);
inline void check_finite(const char *block, const std::vector<float> &values)
{
    check_finite(block, values.data(), values.size());
}
inline void check_finite(const char *block, const std::vector<gr_complex> &values)
{
    check_finite(block, reinterpret_cast<const float *>(values.data()), 2 * values.size());
}

pmt::pmt_t to_pmt(const std::map<std::string, double> &values);

//! What the streams of a block tell: counts and rates of all of them together, times of the slowest.
std::map<std::string, double> stats_of(const std::vector<penstock_stream_stats> &streams);
penstock_stream_stats stats_of_one(const penstock_stream *stream);

//! A message port `stats` of a block: its numbers as a dictionary, about once a second.
class stats_port
{
    gr::block &d_block;
    std::chrono::steady_clock::time_point d_sent;

  public:
    explicit stats_port(gr::block &block);

    //! The next publish() sends.
    void start()
    {
        d_sent = {};
    }

    //! What `numbers()` gives, if a second has passed since the last time or `now`.
    template <typename F> void publish(F numbers, bool now = false)
    {
        const auto time = std::chrono::steady_clock::now();
        if (!now && time - d_sent < std::chrono::seconds(1))
            return;
        d_sent = time;
        d_block.message_port_pub(pmt::mp("stats"), to_pmt(numbers()));
    }
};

/*!
 * Room for more items before and behind a block that gives one item for each that it takes: GNU Radio's own buffers of
 * 64 KiB let a thread sleep and wake for every few vectors, or for each one. A limit that the user sets holds. To be
 * called in check_topology(), which comes before the buffers are made, with set_relative_rate(1, 1) in start(), which
 * comes after: the scheduler makes the buffer before a block large only for the sake of a rate.
 */
void ask_for_buffers(gr::block &block, int outputs, size_t item_bytes, size_t items = 16);

//! Whether `items` can lie in the buffer before a port, with so much room behind them that the block before works on.
bool has_room_for(gr::block &block, size_t items, unsigned port = 0);

//! No more input will come to a port than the `available` items.
bool input_ended(gr::block &block, size_t available, unsigned port = 0);

/*!
 * Patience with one port of a block whose input is always on its way. The scheduler wakes a block for the first few
 * samples, and where that is faster than its source, each of the two wakes the other for little; this costs more than
 * the samples do. So a call of a thread with a real-time priority may wait, without sleeping, as long as input comes
 * every few microseconds.
 */
class gatherer
{
    unsigned d_in_vain = 0, d_skipped = 0; // waits in a row, and calls since the last one

  public:
    //! In general_work(), without locks: `available` items, or those that there are after a wait for `enough`, at most
    //! half of what the buffer has room for, and for what makes a call worth it. Where nothing comes of waiting, hardly
    //! any call waits. `old`: the first items, which a call before had already.
    size_t more(gr::block &block, size_t available, size_t enough, size_t old = 0, unsigned port = 0);
};

/*!
 * Sleeps until input or a message comes, but no longer than `seconds`. To be called in general_work() without locks:
 * the scheduler itself calls no block that has no new input.
 */
void wait_for_input(gr::block &block, double seconds);

} // namespace penstock
} // namespace gr

#endif
