/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A SoapySDR device, driver=odd, that does what some radios do. Samples are I = number mod 2048, Q = number / 2048 mod
 * 2048, stamped, 500 at a time. Arguments:
 *
 *     lost_at=5000:9000  samples before which `lost` are lost and nothing is said but by the time stamps
 *     jitter=1           stamps are those of a clock that is a few microseconds off, now this way, now that
 *     break_at=N         there readStream throws
 *     serials=1          whoever comes back has another serial number
 *     full_scale=2048    of its numbers
 */
#include <SoapySDR/Device.hpp>
#include <SoapySDR/Errors.hpp>
#include <SoapySDR/Formats.hpp>
#include <SoapySDR/Registry.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

constexpr std::size_t at_once = 500;
constexpr std::uint64_t most = 100000; /* samples, then the end of a burst */

int made = 0;

class OddRadio : public SoapySDR::Device
{
  public:
    explicit OddRadio(const SoapySDR::Kwargs &args) : args_(args), number_(made++)
    {
        std::stringstream list(value("lost_at", ""));
        for (std::string at; std::getline(list, at, ':');)
            lost_at_.push_back(std::strtoull(at.c_str(), nullptr, 10));
    }

    std::string getDriverKey() const override
    {
        return "odd";
    }
    std::string getHardwareKey() const override
    {
        return "radio";
    }
    SoapySDR::Kwargs getHardwareInfo() const override
    {
        return {{"serial", value("serials", "0") == "1" ? std::to_string(number_) : "7"}};
    }
    std::size_t getNumChannels(const int) const override
    {
        return 1;
    }
    std::vector<std::string> getStreamFormats(const int, const std::size_t) const override
    {
        return {SOAPY_SDR_CS16};
    }
    std::string getNativeStreamFormat(const int, const std::size_t, double &full_scale) const override
    {
        full_scale = std::stod(value("full_scale", "32768"));
        return SOAPY_SDR_CS16;
    }
    SoapySDR::Stream *setupStream(const int, const std::string &, const std::vector<std::size_t> &,
                                  const SoapySDR::Kwargs &) override
    {
        return reinterpret_cast<SoapySDR::Stream *>(this);
    }
    void closeStream(SoapySDR::Stream *) override
    {
    }
    std::size_t getStreamMTU(SoapySDR::Stream *) const override
    {
        return at_once;
    }
    int activateStream(SoapySDR::Stream *, const int, const long long, const std::size_t) override
    {
        return 0;
    }
    int deactivateStream(SoapySDR::Stream *, const int, const long long) override
    {
        return 0;
    }
    int readStream(SoapySDR::Stream *, void *const *buffers, const std::size_t count, int &flags, long long &time_ns,
                   const long) override
    {
        flags = 0;
        if (const std::string at = value("break_at", ""); !at.empty() && next_ >= std::stoull(at))
            throw std::runtime_error("the cable is out");
        if (next_ >= most) {
            flags = SOAPY_SDR_END_BURST;
            return ended_++ ? SOAPY_SDR_STREAM_ERROR : 0;
        }
        if (losses_ < lost_at_.size() && lost_at_[losses_] <= next_) {
            next_ += std::stoull(value("lost", "777"));
            losses_++;
        }
        const double off_ns = value("jitter", "0") == "1" ? 1000.0 * (static_cast<int>(next_ / at_once % 7) - 3) : 0;
        flags = SOAPY_SDR_HAS_TIME;
        time_ns = std::llround(static_cast<double>(next_) * 1e9 / rate_hz_ + off_ns);
        const std::size_t got = std::min({count, at_once, static_cast<std::size_t>(most - next_)});
        auto *out = static_cast<std::int16_t *>(buffers[0]);
        for (std::size_t i = 0; i < got; i++, next_++) {
            out[2 * i] = static_cast<std::int16_t>(next_ % 2048);
            out[2 * i + 1] = static_cast<std::int16_t>(next_ / 2048 % 2048);
        }
        return static_cast<int>(got);
    }

    /* Points that are listed, between which it can do more: but for 3 MHz. */
    SoapySDR::RangeList getSampleRateRange(const int, const std::size_t) const override
    {
        return {SoapySDR::Range(2e6, 2e6), SoapySDR::Range(8e6, 8e6)};
    }
    void setSampleRate(const int, const std::size_t, const double rate_hz) override
    {
        if (rate_hz < 1e6)
            throw std::runtime_error("too slow");
        rate_hz_ = rate_hz == 3e6 ? 4e6 : rate_hz;
    }
    double getSampleRate(const int, const std::size_t) const override
    {
        return rate_hz_;
    }
    double getFrequency(const int, const std::size_t) const override
    {
        return 100e6;
    }

  private:
    std::string value(const char *key, const char *usual) const
    {
        const auto found = args_.find(key);
        return found == args_.end() ? usual : found->second;
    }

    SoapySDR::Kwargs args_;
    int number_;
    double rate_hz_ = 2e6;
    std::uint64_t next_ = 0;
    std::vector<std::uint64_t> lost_at_;
    std::size_t losses_ = 0;
    int ended_ = 0;
};

SoapySDR::KwargsList find_odd(const SoapySDR::Kwargs &args)
{
    const auto driver = args.find("driver");
    return driver != args.end() && driver->second == "odd" ? SoapySDR::KwargsList{args} : SoapySDR::KwargsList{};
}

SoapySDR::Device *make_odd(const SoapySDR::Kwargs &args)
{
    return new OddRadio(args);
}

const SoapySDR::Registry registration("odd", &find_odd, &make_odd, SOAPY_SDR_ABI_VERSION);

} // namespace
