/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The arguments of driver=replay, all but `path` optional:
 *
 *     path=FILE          a SigMF recording by its name, or a raw one
 *     format=cs16        of a raw recording: cf32, cs16, cs8, cu8
 *     rate=20e6          of a raw recording, in samples per second
 *     frequency=5.2e9    that the device says it is tuned to; a SigMF recording says it itself
 *     loop=0             0: once; 1: for ever; N > 1: N times
 *     pace=realtime      at the recording's rate; pace=fast: as fast as it is read
 *     time=0             time stamp of the first sample, in nanoseconds
 *     serial=TEXT        tells devices with the same recording apart
 *
 * Faults, each at a sample of the stream counted from 0 (repetitions go on counting), each once:
 *
 *     overflow_at=N      overflow=1000 samples are lost, readStream says OVERFLOW, the next time stamp jumps; several
 *                        of both with colons between, overflow_at=5000:9000 overflow=20:1 (the last one again)
 *     stamps=1           stamps=0: samples come without time stamps
 *     timeout_at=N       nothing comes for silence=1.5 seconds; no sample is lost
 *     disappear_at=N     the device is gone: readStream says STREAM_ERROR, it cannot be opened; it is back after
 *                        reappear=SECONDS (never, if not given) and goes on with sample N
 */
#pragma once

#include <penstock/penstock.h>

#include <SoapySDR/Types.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace replay
{

constexpr std::uint64_t never = UINT64_MAX;

struct Arguments {
    std::string path, serial;
    bool raw = false;
    penstock_format format = PENSTOCK_CF32;
    double rate_hz = 0.0, frequency_hz = 0.0;
    std::uint64_t plays = 1; /* never: without end */
    bool realtime = true;
    long long time_ns = 0;
    std::vector<std::uint64_t> overflow_at, overflow = {1000}; /* in ascending order; not longer than the first */
    bool stamps = true;
    std::uint64_t timeout_at = never;
    double silence_s = 1.5;
    std::uint64_t disappear_at = never;
    double reappear_s = -1.0;
};

/* Throws std::invalid_argument with a text that says what is wrong. */
Arguments parse(const SoapySDR::Kwargs &args);

/* "realtime" is true, "fast" false; throws otherwise. */
bool parse_pace(const std::string &text);

} // namespace replay
