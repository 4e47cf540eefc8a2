/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* One stream of a replay device: the recording, its pace, and the faults asked for. */
#pragma once

#include "replay_arguments.hpp"

#include <SoapySDR/ConverterRegistry.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

namespace replay
{

/* What the streams of a device share. */
struct Shared {
    Arguments arguments;
    std::string native; /* SoapySDR's name of the recording's format */
    std::size_t native_bytes = 0;
    double rate_hz = 0.0;
    std::uint64_t first_position = 0; /* > 0 after a disappearance */
    std::atomic<bool> realtime{true}, gone{false}, ended{false};
    std::atomic<std::uint64_t> position{0}; /* of the stream that was read last */
};

struct FreeSource {
    void operator()(penstock_source *source) const
    {
        penstock_source_free(source);
    }
};
using Source = std::unique_ptr<penstock_source, FreeSource>;

/* Throws std::runtime_error with the library's error text. */
Source open_recording(const Arguments &arguments);

/* SoapySDR's name for a format, "" if it has none. */
std::string soapy_format(penstock_format format);

class Stream
{
  public:
    static constexpr std::size_t mtu = 8192;

    Stream(Shared &shared, const std::string &format);

    int activate(int flags);
    int deactivate();

    /*
     * What SoapySDR::Device::readStream() does. Events (an overflow, the end, ...) are told to calls that may wait:
     * a call with no time at all gets samples or TIMEOUT. SoapySDR's remote server polls like that after each read and
     * would throw the samples of that read away for the event.
     *
     * The end is one read of no samples with END_BURST, then STREAM_ERROR: programs that read until an error end.
     */
    int read(void *out, std::size_t capacity, int &flags, long long &time_ns, long timeout_us);

  private:
    using Clock = std::chrono::steady_clock;

    std::uint64_t overflow_at() const;
    std::uint64_t until_event() const;
    int tell_event(int &flags, long timeout_us);
    int tell_overflow();
    int tell_silence(long timeout_us);
    int tell_end(int &flags, long timeout_us);
    std::uint64_t wait_for_samples(std::size_t wanted, long timeout_us);
    std::size_t play(void *out, std::size_t capacity);
    void skip(std::uint64_t count);
    void restart_clock();

    Shared &shared_;
    SoapySDR::ConverterRegistry::ConverterFunction convert_ = nullptr; /* null: as recorded */
    Source source_;
    std::vector<char> native_samples_;
    std::uint64_t plays_left_, position_ = 0;
    std::uint64_t timeout_at_, disappear_at_; /* never: over */
    std::size_t overflows_ = 0;               /* told so far */
    bool active_ = false, exhausted_ = false, end_told_ = false, error_told_ = false, silent_ = false;
    bool failed_ = false;                         /* the recording could not be read on */
    Clock::time_point silence_end_, clock_start_; /* clock_start_: when sample 0 was, or would have been, on air */
};

} // namespace replay
