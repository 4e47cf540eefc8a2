/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "core.h"

#include <algorithm>
#include <boost/date_time/posix_time/posix_time_types.hpp>
#include <gnuradio/block_detail.h>
#include <gnuradio/buffer_reader.h>
#include <gnuradio/logger.h>
#include <mutex>
#include <stdexcept>

namespace gr
{
namespace penstock
{

static void write_log(void *user, penstock_log_level level, const char *line)
{
    auto &logger = *static_cast<gr::logger *>(user);
    if (level == PENSTOCK_LOG_WARNING)
        logger.warn("{}", line);
    else if (level == PENSTOCK_LOG_INFO)
        logger.info("{}", line);
    else
        logger.debug("{}", line);
}

std::shared_ptr<penstock_context> shared_context()
{
    static std::mutex mutex;
    static std::weak_ptr<penstock_context> shared;
    std::lock_guard<std::mutex> guard(mutex);
    auto context = shared.lock();
    if (!context) {
        auto logger = std::make_shared<gr::logger>("penstock");
        auto desc = description<penstock_context_desc>();
        desc.log = write_log;
        desc.log_user = logger.get();
        penstock_context *made;
        check(penstock_context_new(&made, &desc));
        context.reset(made, [logger](penstock_context *old) { penstock_context_free(old); });
        shared = context;
    }
    return context;
}

void check(int status)
{
    if (status < 0)
        throw std::runtime_error(penstock_error_text());
}

pmt::pmt_t to_pmt(const std::map<std::string, double> &values)
{
    auto dict = pmt::make_dict();
    for (const auto &[key, value] : values)
        dict = pmt::dict_add(dict, pmt::mp(key), pmt::from_double(value));
    return dict;
}

void ask_for_buffers(gr::block &block, int outputs, size_t item_bytes)
{
    constexpr size_t bytes = 256 << 10, many = 16, most_bytes = 8 << 20;
    const size_t items = std::min(std::max(bytes / item_bytes, many), most_bytes / item_bytes);
    if (items <= 2) // what the scheduler gives anyway
        return;
    for (int port = 0; port < outputs; port++)
        if (block.min_output_buffer(port) < static_cast<long>(items))
            block.set_min_output_buffer(port, static_cast<long>(items));
    block.set_relative_rate(1, items / 2); // the scheduler makes twice as many items
}

bool input_ended(gr::block &block, size_t available)
{
    auto reader = block.detail()->input(0);
    return reader->done() && static_cast<size_t>(reader->items_available()) == available;
}

void wait_for_input(gr::block &block, double seconds)
{
    auto &scheduler = block.detail()->d_tpb;
    const auto longest = boost::posix_time::microseconds(static_cast<long>(1e6 * seconds));
    gr::thread::scoped_lock guard(scheduler.mutex);
    scheduler.input_cond.timed_wait(guard, longest, [&scheduler] { return scheduler.input_changed; });
}

} // namespace penstock
} // namespace gr
