/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* A block over a filter of the C library, by FFT, with frequency translation and decimation. */
#ifndef INCLUDED_PENSTOCK_FILTER_BLOCK_H
#define INCLUDED_PENSTOCK_FILTER_BLOCK_H

#include "checks.h"
#include "filter_chain.h"
#include "stream_block.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <type_traits>

namespace gr
{
namespace penstock
{

/* Samples of floats give complex values where the taps are complex. */
template <typename OUT> filter_taps to_taps(const std::vector<float> &taps, bool real_samples)
{
    filter_taps all;
    if (std::is_same<OUT, float>::value || !real_samples)
        all.real = taps;
    else
        for (const float tap : taps)
            all.complex.push_back({tap, 0});
    return all;
}

template <typename OUT> filter_taps to_taps(const std::vector<gr_complex> &taps, bool)
{
    filter_taps all;
    for (const auto &tap : taps)
        all.complex.push_back({tap.real(), tap.imag()});
    return all;
}

/* A value comes with the last one of the `decimation` items that it stands for, so that it never overtakes a tag on one
 * of them. What is left at the end, less than `decimation` items, makes none, as in the stock blocks. */
template <typename Interface, typename IN, typename OUT, typename TAP>
class filter_block : public batch_block<Interface>
{
    using base = batch_block<Interface>;
    using steady = std::chrono::steady_clock;
    using base::LONGEST_SLEEP_S, base::d_ended, base::d_max_latency_ms, base::d_reach, base::d_wanted_mutex;
    using typename base::call, typename base::outcome;

    // At a time, where they are converted.
    static constexpr size_t MOST_SAMPLES =
        std::is_same<IN, short>::value ? 1 << 16 : std::numeric_limits<size_t>::max();

    const std::string d_kind;
    const size_t d_decimation;
    const double d_sampling_freq;
    filter_chain d_filter;
    std::vector<TAP> d_taps;
    double d_center_freq;
    size_t d_most_taps;          // that the filter has room for
    uint64_t d_changed = 0;      // sample from which the last change holds
    std::vector<float> d_floats; // of short samples
    bool d_more = false;         // there was no room for all values
    steady::time_point d_waits_since;
    uint64_t d_taken_on = 0; // values, until then, by the next one in a chain
    bool d_flushed = true;   // and nothing came since
    bool d_hurries = false;  // the next values are due

    static double to_shift(double center_freq, double sampling_freq)
    {
        return std::remainder(-center_freq / sampling_freq, 1);
    }

    std::map<std::string, double> numbers() const override
    {
        const auto info = d_filter.info();
        auto all = stats_of({d_filter.stats()});
        all["block"] = static_cast<double>(info.block);
        all["transform"] = static_cast<double>(info.n);
        return all;
    }

    // As the filter takes them: short samples as floats of the same value.
    const void *samples(const IN *in, size_t count)
    {
        if constexpr (std::is_same<IN, short>::value) {
            d_floats.assign(in, in + count);
            return d_floats.data();
        } else {
            return in;
        }
    }

    // Values to come of the items so far.
    uint64_t waiting() const
    {
        return d_filter.samples() / d_decimation - d_filter.values();
    }

    // Is there a value that is due at a time?
    bool timed() const
    {
        return d_max_latency_ms > 0 && waiting();
    }

    // Until it is.
    double due_s() const
    {
        if (!timed())
            return LONGEST_SLEEP_S;
        const std::chrono::duration<double> age = steady::now() - d_waits_since;
        return std::max(0.0, std::min(d_max_latency_ms / 1e3 - age.count(), LONGEST_SLEEP_S));
    }

    size_t pull(void *out, size_t capacity)
    {
        capacity = waiting() < capacity ? static_cast<size_t>(waiting()) : capacity;
        size_t count = d_filter.pull(out, capacity, false);
        if (!count && capacity && (due_s() <= 0 || d_hurries)) {
            d_filter.flush();
            count = d_filter.pull(out, capacity, true);
        }
        if (count)
            d_waits_since = steady::now();
        d_hurries = false;
        return count;
    }

    penstock_stream *own_stream() override
    {
        return d_filter.stream();
    }

    bool can_link() const override
    {
        return std::is_same<OUT, gr_complex>::value;
    }

    bool begins_chain() const override
    {
        return true;
    }

    bool can_join() override
    {
        return d_filter.is_one() && !(this->is_linked() && waiting());
    }

    void hurry() override
    {
        d_hurries = true;
    }

    void set_linked(bool linked) override
    {
        d_filter.set_linked(linked);
        d_flushed = !waiting();
        d_waits_since = steady::now();
    }

    void finish_items() override
    {
        d_filter.finish();
    }

    void flush_items() override
    {
        d_filter.flush();
        d_flushed = true;
    }

    double items_due_s() override
    {
        if (d_flushed || d_max_latency_ms <= 0)
            return LONGEST_SLEEP_S;
        const auto now = steady::now();
        const uint64_t taken_on = d_filter.taken_on();
        d_waits_since = taken_on == d_taken_on ? d_waits_since : now;
        d_taken_on = taken_on;
        const std::chrono::duration<double> age = now - d_waits_since;
        return std::max(0.0, d_max_latency_ms / 1e3 - age.count());
    }

    // In a chain each value counts as given with its item; those that had not been when it was linked do, too.
    outcome hand_on(const call &now, size_t available, const void *in)
    {
        const uint64_t most = (d_filter.values() + now.capacity + 1) * d_decimation - 1, so_far = d_filter.samples();
        const size_t offered = most > so_far ? at_most(most - so_far, available) : 0,
                     taken = d_ended ? 0 : d_filter.push(in, offered);
        if (taken && d_flushed)
            d_waits_since = steady::now();
        d_flushed = d_flushed && !taken;
        this->reach(0);
        const size_t given = at_most(waiting(), now.capacity);
        d_filter.hand_on(given);
        d_more = waiting() > 0;
        if (taken < offered)
            this->wait_for_room();
        return this->pass(taken, given, LONGEST_SLEEP_S);
    }

    // Of a change: what is not given stays.
    struct wanted {
        std::optional<std::vector<TAP>> taps;
        std::optional<double> center_freq;
    };

    filter_taps all_taps() const
    {
        return to_taps<OUT>(d_taps, !std::is_same<IN, gr_complex>::value);
    }

    // Under the lock of what is wanted.
    void note(const wanted &next, uint64_t at)
    {
        d_taps = next.taps.value_or(d_taps);
        d_center_freq = next.center_freq.value_or(d_center_freq);
        d_changed = at;
    }

    // With another filter, whose place in the stream is known when it is made.
    uint64_t change_at_once(const wanted &next, uint64_t at)
    {
        const typename base::setting lock(*this);
        const std::lock_guard<std::mutex> guard(d_wanted_mutex);
        this->make_changes();
        const auto taps = to_taps<OUT>(*next.taps, !std::is_same<IN, gr_complex>::value);
        at = d_filter.change(taps, to_shift(next.center_freq.value_or(d_center_freq), d_sampling_freq), at);
        d_most_taps = std::max(d_most_taps, taps.size());
        note(next, at);
        return at;
    }

    void restart() override
    {
        this->set_relative_rate(1, d_decimation); // what ask_for_buffers() said was for the buffers alone
        if (d_filter.samples()) {                 // else changes that were asked for before the first start hold
            const std::lock_guard<std::mutex> guard(d_wanted_mutex);
            d_filter.reset();
            d_changed = d_reach = 0;
        }
        d_ended = d_more = d_hurries = false;
    }

    uint64_t items_taken() const override
    {
        return d_filter.samples();
    }

    outcome work(const call &now) override
    {
        const auto available = std::min(static_cast<size_t>(now.available[0]), MOST_SAMPLES);
        const void *in = samples(static_cast<const IN *>(now.in[0]), available);
        size_t taken = 0, given = 0;
        if (this->is_linked())
            return hand_on(now, available, in);
        if (!waiting())
            d_waits_since = steady::now();
        if (!d_ended)
            given = d_filter.run(in, available, taken, now.out[0], now.capacity);
        if (given)
            d_waits_since = steady::now();
        if (!d_ended && !taken)
            taken = d_filter.push(in, available);
        if (!d_ended && taken == static_cast<size_t>(now.available[0]) && input_ended(*this, taken)) {
            d_filter.finish();
            d_ended = true;
        }
        this->reach(0);
        given += pull(static_cast<OUT *>(now.out[0]) + given, now.capacity - given);
        d_more = given == now.capacity;
        return this->pass(taken, given, due_s());
    }

    uint64_t change(const wanted &next, int64_t sample)
    {
        auto at = sample < 0 ? 0 : static_cast<uint64_t>(sample);
        std::unique_lock<std::mutex> guard(d_wanted_mutex);
        if (next.taps && next.taps->size() > d_most_taps) {
            guard.unlock();
            return change_at_once(next, at);
        }
        at = std::max({at, d_reach, d_changed});
        if (next.center_freq.value_or(d_center_freq) != d_center_freq)
            at = (at + d_decimation - 1) / d_decimation * d_decimation;
        note(next, at);
        this->ask([this, at, taps = all_taps(), shift = to_shift(d_center_freq, d_sampling_freq)] {
            d_filter.change(taps, shift, at);
        });
        guard.unlock();
        this->settle();
        return at;
    }

  protected:
    //! From an input item on, `sample` or the first possible one after it; which is returned.
    uint64_t change_taps(const std::vector<TAP> &taps, int64_t sample)
    {
        check_other_taps(d_kind, taps);
        return change({taps, {}}, sample);
    }

    uint64_t change_center_freq(double center_freq)
    {
        check_freq(d_kind, center_freq, d_sampling_freq);
        return change({{}, center_freq}, -1);
    }

  public:
    //! `centred`: the oscillator of a frequency has phase zero at the middle of the taps, not at their beginning.
    filter_block(const char *kind, int decimation, const std::vector<TAP> &taps, double center_freq,
                 double sampling_freq, bool centred, const std::string &device, double max_latency_ms)
        : base(max_latency_ms), d_kind(kind), d_decimation(static_cast<size_t>(decimation)),
          d_sampling_freq(sampling_freq),
          d_filter(this->d_log, std::is_same<IN, gr_complex>::value ? PENSTOCK_CF32 : PENSTOCK_F32,
                   to_taps<OUT>(taps, !std::is_same<IN, gr_complex>::value), d_decimation,
                   to_shift(center_freq, sampling_freq), centred, device),
          d_taps(taps), d_center_freq(center_freq), d_most_taps(taps.size())
    {
        this->set_relative_rate(1, d_decimation);
    }

    std::string device() const override
    {
        return d_filter.info().device;
    }

    std::vector<TAP> taps() const override
    {
        const std::lock_guard<std::mutex> guard(d_wanted_mutex);
        return d_taps;
    }

    int decimation() const override
    {
        return static_cast<int>(d_decimation);
    }

    double center_freq() const override
    {
        const std::lock_guard<std::mutex> guard(d_wanted_mutex);
        return d_center_freq;
    }

    double sampling_freq() const
    {
        return d_sampling_freq;
    }

    void set_max_latency_ms(double max_latency_ms) override
    {
        const typename base::setting lock(*this);
        check_latency(d_kind, max_latency_ms);
        d_max_latency_ms = max_latency_ms;
    }

    bool check_topology(int, int outputs) override
    {
        ask_for_buffers(*this, outputs, sizeof(OUT), 4 * d_filter.info().block);
        return true;
    }

    void forecast(int, gr_vector_int &required) override
    {
        const bool more = waiting() && (timed() || d_more || this->detail()->input(0)->done());
        required[0] = more ? 0 : 1;
    }

    static void check_freq(const std::string &kind, double center_freq, double sampling_freq)
    {
        if (!(sampling_freq > 0) || !std::isfinite(center_freq))
            throw std::runtime_error(kind + ": center_freq is " + std::to_string(center_freq) + " and sampling_freq " +
                                     std::to_string(sampling_freq) + ", not a finite one and one above 0");
        check_value(kind, "center_freq", center_freq, !std::is_same<OUT, float>::value || center_freq == 0,
                    "0: float samples cannot be moved in frequency");
    }

    static void check_latency(const std::string &kind, double max_latency_ms)
    {
        check_value(kind, "max_latency_ms", max_latency_ms, max_latency_ms >= 0, "0 or more");
    }
};

} // namespace penstock
} // namespace gr

#endif
