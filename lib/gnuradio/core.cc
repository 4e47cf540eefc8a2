/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#include "core.h"

#include <algorithm>
#include <gnuradio/logger.h>
#include <limits>
#include <mutex>
#include <stdexcept>

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

} // namespace penstock
} // namespace gr
