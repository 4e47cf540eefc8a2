/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "core.h"

#include <algorithm>
#include <boost/date_time/posix_time/posix_time_types.hpp>
#include <boost/thread/thread.hpp>
#include <gnuradio/block_detail.h>
#include <gnuradio/buffer_reader.h>
#include <gnuradio/logger.h>
#include <limits>
#include <mutex>
#include <sched.h>
#include <stdexcept>
#include <thread>

namespace gr
{
namespace penstock
{

static void write_log(void *user, penstock_log_level level, const char *line)
{
    static_cast<block_log *>(user)->write(level, line);
}

void block_log::write(penstock_log_level level, const char *line) const
{
    gr::logger logger(d_block ? d_block->alias() : "penstock");
    if (d_block)
        logger.set_level(d_block->log_level());
    if (level == PENSTOCK_LOG_WARNING)
        logger.warn("{}", line);
    else if (level == PENSTOCK_LOG_INFO)
        logger.info("{}", line);
    else
        logger.trace("{}", line); // GNU Radio shows debug lines if nobody says otherwise
}

constexpr size_t ENOUGH_BYTES = 256 << 10; // of input that make a call worth it

std::shared_ptr<penstock_context> shared_context()
{
    static std::mutex mutex;
    static std::weak_ptr<penstock_context> shared;
    std::lock_guard<std::mutex> guard(mutex);
    auto context = shared.lock();
    if (!context) {
        static block_log nobody(nullptr);
        auto desc = description<penstock_context_desc>();
        desc.log = write_log;
        desc.log_user = &nobody;
        desc.cpu_while_compiling = true; // a flowgraph need not wait for compilers
        penstock_context *made;
        check(penstock_context_new(&made, &desc));
        context.reset(made, penstock_context_free);
        shared = context;
    }
    return context;
}

void check(int status)
{
    if (status < 0)
        throw std::runtime_error(penstock_error_text());
}

bool is_whole(const pmt::pmt_t &value)
{
    return pmt::is_integer(value) || pmt::is_uint64(value);
}

long to_whole(const pmt::pmt_t &value)
{
    constexpr uint64_t most = std::numeric_limits<long>::max();
    return pmt::is_uint64(value) ? static_cast<long>(std::min(pmt::to_uint64(value), most)) : pmt::to_long(value);
}

pmt::pmt_t to_pmt(const std::map<std::string, double> &values)
{
    auto dict = pmt::make_dict();
    for (const auto &[key, value] : values)
        dict = pmt::dict_add(dict, pmt::mp(key), pmt::from_double(value));
    return dict;
}

stats_port::stats_port(gr::block &block) : d_block(block)
{
    block.message_port_register_out(pmt::mp("stats"));
}

/* GNU Radio throws for a port of which it has not heard. */
static long wanted_items(gr::block &block, int port)
{
    try {
        return block.min_output_buffer(static_cast<size_t>(port));
    } catch (const std::invalid_argument &) {
        return 0;
    }
}

/* Whether the user has set a limit below that. */
static bool is_limited(gr::block &block, int port, size_t items)
{
    try {
        const long limit = block.max_output_buffer(static_cast<size_t>(port));
        return limit > 0 && static_cast<size_t>(limit) < items;
    } catch (const std::invalid_argument &) {
        return false;
    }
}

void ask_for_buffers(gr::block &block, int outputs, size_t item_bytes, size_t items)
{
    constexpr size_t bytes = 256 << 10, most_bytes = 8 << 20;
    items = std::min(std::max(bytes / item_bytes, items), most_bytes / item_bytes);
    if (items <= 2) // what the scheduler gives anyway
        return;
    for (int port = 0; port < outputs; port++)
        if (!is_limited(block, port, items) && wanted_items(block, port) < static_cast<long>(items))
            block.set_min_output_buffer(port, static_cast<long>(items));
    block.set_relative_rate(1, items / 2); // the scheduler makes twice as many items
}

std::map<std::string, double> stats_of(const std::vector<penstock_stream_stats> &streams)
{
    std::map<std::string, double> values;
    for (const auto &s : streams) {
        auto count = [](uint64_t number) { return static_cast<double>(number); };
        const std::pair<const char *, double> sums[] = {
            {"items_in", count(s.in)},
            {"items_out", count(s.out)},
            {"queue", count(s.queue)},
            {"in_rate_hz", s.in_rate_hz},
            {"out_rate_hz", s.out_rate_hz},
            {"fallbacks", count(s.fallbacks)},
            {"drops", count(s.drops)},
            {"batch", s.batch / count(streams.size())},
            {"cpu_while_compiling", count(s.cpu_while_compiling)},
        };
        const std::pair<const char *, double> times[] = {
            {"transfer_ms", 1e3 * s.transfer_s},
            {"kernel_ms", 1e3 * s.kernel_s},
            {"latency_p50_ms", 1e3 * s.latency_p50_s},
            {"latency_p99_ms", 1e3 * s.latency_p99_s},
        };
        for (const auto &[name, value] : sums)
            values[name] += value;
        for (const auto &[name, value] : times)
            values[name] = values.count(name) ? std::max(values[name], value) : value;
    }
    return values;
}

penstock_stream_stats stats_of_one(const penstock_stream *stream)
{
    auto stats = description<penstock_stream_stats>();
    check(penstock_stream_get_stats(stream, &stats));
    return stats;
}

bool has_room_for(gr::block &block, size_t items, unsigned port)
{
    const auto most = static_cast<size_t>(block.detail()->input(port)->max_possible_items_available());
    return items <= most - most / 4;
}

bool input_ended(gr::block &block, size_t available, unsigned port)
{
    auto reader = block.detail()->input(port);
    return reader->done() && static_cast<size_t>(reader->items_available()) == available;
}

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

void wait_for_input(gr::block &block, double seconds)
{
    auto &scheduler = block.detail()->d_tpb;
    const auto longest = boost::posix_time::microseconds(static_cast<long>(1e6 * seconds));
    // A thread that is interrupted within work leaves its buffers marked as in use, and a flowgraph that goes on with
    // them after lock() and unlock() waits for their release without end. The scheduler asks again after work.
    const boost::this_thread::disable_interruption uninterrupted;
    gr::thread::scoped_lock guard(scheduler.mutex);
    scheduler.input_cond.timed_wait(guard, longest, [&scheduler] { return scheduler.input_changed; });
}

} // namespace penstock
} // namespace gr
