/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "input_wait.h"

#include <algorithm>
#include <boost/date_time/posix_time/posix_time_types.hpp>
#include <boost/thread/thread.hpp>
#include <chrono>
#include <gnuradio/block_detail.h>
#include <gnuradio/buffer.h>
#include <gnuradio/buffer_reader.h>
#include <sched.h>
#include <thread>

namespace gr
{
namespace penstock
{

constexpr size_t ENOUGH_BYTES = 256 << 10; // of input that make a call worth it

/* A thread that yields then runs again as soon as its equals have; otherwise it may be put off for milliseconds. */
static bool in_real_time()
{
    const int policy = sched_getscheduler(0);
    return policy >= 0 && ((policy & 0xff) == SCHED_FIFO || (policy & 0xff) == SCHED_RR);
}

size_t gatherer::more(gr::block &block, size_t available, size_t enough, size_t old, unsigned port)
{
    using clock = std::chrono::steady_clock;
    constexpr auto pause = std::chrono::microseconds(30), longest = std::chrono::microseconds(1000);
    constexpr unsigned most_in_vain = 10, yields = 4; // the other side needs the lock, too
    auto reader = block.detail()->input(port);
    const size_t before = available, most = static_cast<size_t>(reader->max_possible_items_available());
    enough = std::max(std::min(enough, most / 2), old + std::min(ENOUGH_BYTES / reader->get_sizeof_item(), most / 4));
    if (available >= enough || ++d_skipped < 1U << d_in_vain || !in_real_time())
        return available;
    const auto began = clock::now();
    bool ended = false;
    for (auto now = began, came = began; !ended && available < enough && now - came < pause && now - began < longest;
         now = clock::now()) {
        for (unsigned i = 0; i < yields; i++)
            std::this_thread::yield();
        gr::thread::scoped_lock guard(*reader->mutex());
        const auto items = static_cast<size_t>(reader->items_available());
        came = items > available ? now : came;
        available = items;
        ended = reader->done();
    }
    const size_t doubled = before > old ? 2 * before - old : old + 1;
    d_in_vain = available >= std::min(doubled, enough) ? 0 : std::min(d_in_vain + 1, most_in_vain);
    d_skipped = 0;
    return available;
}

/* The buffers of a block within work count as in use, and the scheduler lets no other thread that has made nothing go
 * on before they are free: the block before one that sleeps here could not give it what it sleeps for. They are not in
 * use while this lives. */
class buffers_left
{
    const gr::block_detail_sptr d_detail;

    template <typename F> void each(F change)
    {
        for (int port = 0; port < d_detail->ninputs(); port++)
            change(*d_detail->input(static_cast<unsigned>(port))->buffer());
        for (int port = 0; port < d_detail->noutputs(); port++)
            change(*d_detail->output(static_cast<unsigned>(port)));
    }

  public:
    explicit buffers_left(gr::block &block) : d_detail(block.detail())
    {
        each([](gr::buffer &buffer) { buffer.decrement_active(); });
    }
    ~buffers_left()
    {
        each([](gr::buffer &buffer) { buffer.increment_active(); });
    }
    buffers_left(const buffers_left &) = delete;
    buffers_left &operator=(const buffers_left &) = delete;
};

void wait_for_input(gr::block &block, double seconds)
{
    auto &scheduler = block.detail()->d_tpb;
    const auto longest = boost::posix_time::microseconds(static_cast<long>(1e6 * seconds));
    // A thread that is interrupted within work leaves its buffers marked as in use, and a flowgraph that goes on with
    // them after lock() and unlock() waits for their release without end. The scheduler asks again after work.
    const boost::this_thread::disable_interruption uninterrupted;
    const buffers_left free_for_others(block);
    gr::thread::scoped_lock guard(scheduler.mutex);
    scheduler.input_cond.timed_wait(guard, longest, [&scheduler] { return scheduler.input_changed; });
}

} // namespace penstock
} // namespace gr
