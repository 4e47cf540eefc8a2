/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

#ifndef INCLUDED_PENSTOCK_DEVICE_BLOCK_H
#define INCLUDED_PENSTOCK_DEVICE_BLOCK_H

#include <gnuradio/block.h>
#include <gnuradio/penstock/api.h>
#include <map>
#include <string>

namespace gr
{
namespace penstock
{

//! What every block has that computes on a device.
class GR_PENSTOCK_API device_block : virtual public gr::block
{
  public:
    //! Name of the device that computes.
    virtual std::string device() const = 0;

    /*!
     * Counters, rates and times, as in the `stats` message: items_in, items_out, queue (items that wait), in_rate_hz,
     * out_rate_hz (items a second), batch (items out of a mean batch), transfer_ms, kernel_ms (of it), latency_p50_ms,
     * latency_p99_ms, fallbacks (batches that the CPU did because the device failed), cpu_while_compiling (because it
     * was not ready), drops. With several streams counts and rates are of all together, times of the slowest.
     */
    virtual std::map<std::string, double> stats() = 0;
};

//! And every block that gathers items into batches.
class GR_PENSTOCK_API batching_block : public device_block
{
  public:
    //! The longest that an item waits for others, in milliseconds; holds for items that wait too.
    virtual void set_max_latency_ms(double max_latency_ms) = 0;
    virtual double max_latency_ms() const = 0;
};

} // namespace penstock
} // namespace gr

#endif
