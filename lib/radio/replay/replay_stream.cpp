/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "replay_stream.hpp"
#include "replay_presence.hpp"

#include <SoapySDR/Constants.h>
#include <SoapySDR/Errors.hpp>
#include <SoapySDR/Formats.hpp>
#include <SoapySDR/Logger.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <thread>

namespace replay
{

Source open_recording(const Arguments &arguments)
{
    penstock_source_desc desc = {};
    penstock_source *source = nullptr;
    desc.size = sizeof desc;
    desc.raw = arguments.raw;
    desc.format = arguments.format;
    desc.rate_hz = arguments.rate_hz;
    desc.frequency_hz = arguments.frequency_hz;
    if (arguments.path == "-" || arguments.path.rfind("soapy:", 0) == 0)
        throw std::invalid_argument("replay: path=" + arguments.path + ": a file is wanted");
    if (penstock_source_open(&source, nullptr, arguments.path.c_str(), &desc))
        throw std::runtime_error(penstock_error_text());
    return Source(source);
}

std::string soapy_format(penstock_format format)
{
    switch (format) {
    case PENSTOCK_CF32:
        return SOAPY_SDR_CF32;
    case PENSTOCK_CS16:
        return SOAPY_SDR_CS16;
    case PENSTOCK_CS8:
        return SOAPY_SDR_CS8;
    case PENSTOCK_CU8:
        return SOAPY_SDR_CU8;
    default:
        return "";
    }
}

Stream::Stream(Shared &shared, const std::string &format)
    : shared_(shared), source_(open_recording(shared.arguments)), plays_left_(shared.arguments.plays),
      timeout_at_(shared.arguments.timeout_at), disappear_at_(shared.arguments.disappear_at)
{
    if (format != shared.native)
        convert_ = SoapySDR::ConverterRegistry::getFunction(shared.native, format);
    if (shared.first_position) {
        skip(shared.first_position);
        for (std::uint64_t *at : {&timeout_at_, &disappear_at_})
            if (*at <= position_)
                *at = never;
        while (overflow_at() <= position_)
            overflows_++;
    }
}

/* ---------------------------------------------------------------- the recording --------------- */

/* Up to `capacity` samples as recorded, from as many repetitions as are left; fewer only at the end. */
std::size_t Stream::play(void *out, std::size_t capacity)
{
    std::size_t done = 0;
    while (done < capacity && !exhausted_) {
        std::size_t count = 0;
        char *to = static_cast<char *>(out) + done * shared_.native_bytes;
        if (penstock_source_read(source_.get(), to, capacity - done, &count)) {
            SoapySDR::logf(SOAPY_SDR_ERROR, "replay: %s", penstock_error_text());
            exhausted_ = failed_ = true;
        } else if (!count) {
            exhausted_ = plays_left_ != never && --plays_left_ == 0;
            if (!exhausted_)
                source_ = open_recording(shared_.arguments);
        }
        done += count;
    }
    position_ += done;
    shared_.position = position_;
    return done;
}

void Stream::skip(std::uint64_t count)
{
    native_samples_.resize(mtu * shared_.native_bytes);
    while (count && !exhausted_)
        count -= play(native_samples_.data(), static_cast<std::size_t>(std::min<std::uint64_t>(count, mtu)));
}

/* ---------------------------------------------------------------- starting and stopping ------- */

/* From now on the next sample is on air. */
void Stream::restart_clock()
{
    clock_start_ = Clock::now() - std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(static_cast<double>(position_) / shared_.rate_hz));
}

int Stream::activate(int flags)
{
    if (flags)
        return SOAPY_SDR_NOT_SUPPORTED;
    if (exhausted_) {
        source_ = open_recording(shared_.arguments);
        plays_left_ = shared_.arguments.plays;
        exhausted_ = end_told_ = error_told_ = failed_ = false;
    }
    shared_.ended = false;
    active_ = true;
    restart_clock();
    return 0;
}

int Stream::deactivate()
{
    active_ = false;
    return 0;
}

/* ---------------------------------------------------------------- events ---------------------- */

namespace
{

void sleep_us(long timeout_us)
{
    std::this_thread::sleep_for(std::chrono::microseconds(std::min(timeout_us, 1000000L)));
}

} // namespace

/* Where the next overflow is. */
std::uint64_t Stream::overflow_at() const
{
    const auto &list = shared_.arguments.overflow_at;
    return overflows_ < list.size() ? list[overflows_] : never;
}

/* Samples that may be played before something else happens. */
std::uint64_t Stream::until_event() const
{
    std::uint64_t left = exhausted_ ? 0 : never;
    for (std::uint64_t at : {overflow_at(), timeout_at_, disappear_at_})
        if (at != never)
            left = std::min(left, at > position_ ? at - position_ : 0);
    return left;
}

int Stream::tell_overflow()
{
    const auto &lost = shared_.arguments.overflow;
    skip(lost[std::min(overflows_, lost.size() - 1)]);
    overflows_++;
    return SOAPY_SDR_OVERFLOW;
}

int Stream::tell_silence(long timeout_us)
{
    const auto now = Clock::now();
    if (!silent_) {
        const std::chrono::duration<double> silence(shared_.arguments.silence_s);
        silence_end_ = now + std::chrono::duration_cast<Clock::duration>(silence);
        silent_ = true;
    }
    if (now < silence_end_) {
        std::this_thread::sleep_for(
            std::min<Clock::duration>(silence_end_ - now, std::chrono::microseconds(timeout_us)));
        return SOAPY_SDR_TIMEOUT;
    }
    silent_ = false;
    timeout_at_ = never;
    restart_clock();
    return 0;
}

int Stream::tell_end(int &flags, long timeout_us)
{
    shared_.ended = true;
    if (!end_told_ && !failed_) {
        end_told_ = true;
        flags |= SOAPY_SDR_END_BURST;
        return 0;
    }
    if (error_told_)
        sleep_us(timeout_us); /* a caller who goes on all the same must not spin */
    error_told_ = true;
    return SOAPY_SDR_STREAM_ERROR;
}

/* The event that is due; 0 with no flag if samples come next. */
int Stream::tell_event(int &flags, long timeout_us)
{
    if (disappear_at_ <= position_) {
        disappear_at_ = never;
        shared_.gone = true;
        disappear(shared_.arguments, position_);
        return SOAPY_SDR_STREAM_ERROR;
    }
    if (overflow_at() <= position_)
        return tell_overflow();
    if (timeout_at_ <= position_)
        return tell_silence(timeout_us);
    return tell_end(flags, timeout_us);
}

/* ---------------------------------------------------------------- reading --------------------- */

/* How many samples are on air by now; waits for `wanted` as long as it may. */
std::uint64_t Stream::wait_for_samples(std::size_t wanted, long timeout_us)
{
    if (!shared_.realtime) {
        restart_clock(); /* for a change of pace */
        return never;
    }
    const auto due = clock_start_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                                        static_cast<double>(position_ + wanted) / shared_.rate_hz));
    std::this_thread::sleep_until(std::min(due, Clock::now() + std::chrono::microseconds(timeout_us)));
    const double on_air = std::chrono::duration<double>(Clock::now() - clock_start_).count() * shared_.rate_hz;
    return on_air > static_cast<double>(position_) ? static_cast<std::uint64_t>(on_air) - position_ : 0;
}

int Stream::read(void *out, std::size_t capacity, int &flags, long long &time_ns, long timeout_us)
{
    flags = 0;
    if (shared_.gone) {
        sleep_us(timeout_us);
        return SOAPY_SDR_STREAM_ERROR;
    }
    if (!active_) {
        sleep_us(timeout_us);
        return SOAPY_SDR_TIMEOUT;
    }
    std::uint64_t count = std::min<std::uint64_t>(capacity, until_event());
    if (!count)
        return timeout_us > 0 ? tell_event(flags, timeout_us) : SOAPY_SDR_TIMEOUT;
    count =
        std::min(count, wait_for_samples(static_cast<std::size_t>(std::min<std::uint64_t>(count, mtu)), timeout_us));
    if (!count)
        return SOAPY_SDR_TIMEOUT;

    const std::uint64_t first = position_;
    std::size_t got;
    if (convert_) {
        native_samples_.resize(std::max<std::size_t>(count, mtu) * shared_.native_bytes);
        got = play(native_samples_.data(), static_cast<std::size_t>(count));
        convert_(native_samples_.data(), out, got, 1.0);
    } else {
        got = play(out, static_cast<std::size_t>(count));
    }
    if (!got)
        return timeout_us > 0 ? tell_event(flags, timeout_us) : SOAPY_SDR_TIMEOUT;
    if (shared_.arguments.stamps)
        flags |= SOAPY_SDR_HAS_TIME;
    time_ns = shared_.arguments.time_ns +
              std::llround(static_cast<long double>(first) * 1e9L / static_cast<long double>(shared_.rate_hz));
    return static_cast<int>(got);
}

} // namespace replay
