/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "replay_device.hpp"
#include "replay_presence.hpp"

#include <SoapySDR/Errors.hpp>
#include <SoapySDR/Formats.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace replay
{

namespace
{

const char antenna[] = "RX";
const char gain_element[] = "PLAY";
const SoapySDR::Range gain_range_db(0.0, 100.0);

Stream *ours(SoapySDR::Stream *stream)
{
    return reinterpret_cast<Stream *>(stream);
}

} // namespace

Device::Device(const Arguments &arguments)
{
    penstock_source_info info = {};
    info.size = sizeof info;
    if (!is_present(arguments))
        throw std::runtime_error("replay: the device has disappeared, as disappear_at asked for");
    const Source source = open_recording(arguments);
    penstock_source_get_info(source.get(), &info);
    shared_.arguments = arguments;
    shared_.native = soapy_format(info.format);
    if (shared_.native.empty())
        throw std::runtime_error("replay: a recording of real samples is no radio's");
    shared_.native_bytes = penstock_format_bytes(info.format);
    shared_.rate_hz = info.rate_hz;
    shared_.realtime = arguments.realtime;
    shared_.first_position = take_position(arguments);
    description_ = info.description;
    total_samples_ = info.total_samples;
    frequency_hz_ = info.frequency_hz;
}

/* ---------------------------------------------------------------- identity -------------------- */

std::string Device::getDriverKey() const
{
    return "replay";
}

std::string Device::getHardwareKey() const
{
    return "recording";
}

SoapySDR::Kwargs Device::getHardwareInfo() const
{
    return {{"recording", description_},
            {"samples", std::to_string(total_samples_)},
            {"format", shared_.native},
            {"version", penstock_version()}};
}

size_t Device::getNumChannels(const int direction) const
{
    return direction == SOAPY_SDR_RX ? 1 : 0;
}

bool Device::getFullDuplex(const int, const size_t) const
{
    return false;
}

/* ---------------------------------------------------------------- streams --------------------- */

std::vector<std::string> Device::getStreamFormats(const int, const size_t) const
{
    std::vector<std::string> formats = {shared_.native};
    for (const auto &target : SoapySDR::ConverterRegistry::listTargetFormats(shared_.native))
        for (const char *format : {SOAPY_SDR_CF32, SOAPY_SDR_CS16, SOAPY_SDR_CS8, SOAPY_SDR_CU8})
            if (target == format && target != shared_.native)
                formats.push_back(target);
    return formats;
}

std::string Device::getNativeStreamFormat(const int, const size_t, double &fullScale) const
{
    fullScale = shared_.native == SOAPY_SDR_CF32 ? 1.0 : shared_.native == SOAPY_SDR_CS16 ? 32768.0 : 128.0;
    return shared_.native;
}

SoapySDR::Stream *Device::setupStream(const int direction, const std::string &format,
                                      const std::vector<size_t> &channels, const SoapySDR::Kwargs &)
{
    const auto formats = getStreamFormats(direction, 0);
    if (direction != SOAPY_SDR_RX)
        throw std::runtime_error("replay: a recording only receives");
    if (channels.size() > 1 || (channels.size() == 1 && channels[0] != 0))
        throw std::runtime_error("replay: there is one channel, number 0");
    if (std::find(formats.begin(), formats.end(), format) == formats.end())
        throw std::runtime_error("replay: no conversion from " + shared_.native + " to " + format);
    return reinterpret_cast<SoapySDR::Stream *>(new Stream(shared_, format));
}

void Device::closeStream(SoapySDR::Stream *stream)
{
    delete ours(stream);
}

size_t Device::getStreamMTU(SoapySDR::Stream *) const
{
    return Stream::mtu;
}

int Device::activateStream(SoapySDR::Stream *stream, const int flags, const long long, const size_t)
{
    return ours(stream)->activate(flags);
}

int Device::deactivateStream(SoapySDR::Stream *stream, const int, const long long)
{
    return ours(stream)->deactivate();
}

int Device::readStream(SoapySDR::Stream *stream, void *const *buffs, const size_t numElems, int &flags,
                       long long &timeNs, const long timeoutUs)
{
    return ours(stream)->read(buffs[0], numElems, flags, timeNs, timeoutUs);
}

/* ---------------------------------------------------------------- settings -------------------- */

void Device::remember(double &what, double value)
{
    std::lock_guard<std::mutex> lock(mutex_);
    if (shared_.gone)
        throw std::runtime_error("replay: the device has disappeared");
    what = value;
}

double Device::recall(const double &what) const
{
    std::lock_guard<std::mutex> lock(mutex_);
    return what;
}

std::vector<std::string> Device::listAntennas(const int, const size_t) const
{
    return {antenna};
}

void Device::setAntenna(const int, const size_t, const std::string &name)
{
    if (name != antenna)
        throw std::invalid_argument("replay: the only antenna is RX");
}

std::string Device::getAntenna(const int, const size_t) const
{
    return antenna;
}

std::vector<std::string> Device::listGains(const int, const size_t) const
{
    return {gain_element};
}

void Device::setGain(const int, const size_t, const double value)
{
    remember(gain_db_, std::clamp(value, gain_range_db.minimum(), gain_range_db.maximum()));
}

void Device::setGain(const int direction, const size_t channel, const std::string &, const double value)
{
    setGain(direction, channel, value);
}

double Device::getGain(const int, const size_t) const
{
    return recall(gain_db_);
}

double Device::getGain(const int direction, const size_t channel, const std::string &) const
{
    return getGain(direction, channel);
}

SoapySDR::Range Device::getGainRange(const int, const size_t) const
{
    return gain_range_db;
}

SoapySDR::Range Device::getGainRange(const int, const size_t, const std::string &) const
{
    return gain_range_db;
}

void Device::setFrequency(const int, const size_t, const double frequency, const SoapySDR::Kwargs &)
{
    remember(frequency_hz_, frequency);
}

double Device::getFrequency(const int, const size_t) const
{
    return recall(frequency_hz_);
}

SoapySDR::RangeList Device::getFrequencyRange(const int, const size_t) const
{
    return {SoapySDR::Range(0.0, 1e12)};
}

void Device::setSampleRate(const int, const size_t, const double rate)
{
    if (std::fabs(rate - shared_.rate_hz) > 1e-6 * shared_.rate_hz)
        throw std::invalid_argument("replay: the recording has " + std::to_string(shared_.rate_hz) +
                                    " samples per second");
}

double Device::getSampleRate(const int, const size_t) const
{
    return shared_.rate_hz;
}

std::vector<double> Device::listSampleRates(const int, const size_t) const
{
    return {shared_.rate_hz};
}

SoapySDR::RangeList Device::getSampleRateRange(const int, const size_t) const
{
    return {SoapySDR::Range(shared_.rate_hz, shared_.rate_hz)};
}

void Device::setBandwidth(const int, const size_t, const double bandwidth)
{
    remember(bandwidth_hz_, bandwidth);
}

double Device::getBandwidth(const int, const size_t) const
{
    return recall(bandwidth_hz_);
}

SoapySDR::RangeList Device::getBandwidthRange(const int, const size_t) const
{
    return {SoapySDR::Range(0.0, shared_.rate_hz)};
}

/* ---------------------------------------------------------------- sensors and pace ------------ */

std::vector<std::string> Device::listSensors() const
{
    return {"position", "ended"};
}

SoapySDR::ArgInfo Device::getSensorInfo(const std::string &key) const
{
    SoapySDR::ArgInfo info;
    info.key = key;
    info.type = key == "ended" ? SoapySDR::ArgInfo::BOOL : SoapySDR::ArgInfo::INT;
    info.description =
        key == "ended" ? "has the recording been played to its end?" : "samples played, over repetitions";
    return info;
}

std::string Device::readSensor(const std::string &key) const
{
    if (key == "ended")
        return shared_.ended ? "true" : "false";
    if (key == "position")
        return std::to_string(shared_.position);
    throw std::invalid_argument("replay: no sensor is called " + key);
}

SoapySDR::ArgInfoList Device::getSettingInfo() const
{
    SoapySDR::ArgInfo info;
    info.key = "pace";
    info.value = shared_.realtime ? "realtime" : "fast";
    info.type = SoapySDR::ArgInfo::STRING;
    info.description = "at the recording's rate, or as fast as it is read";
    info.options = {"realtime", "fast"};
    return {info};
}

void Device::writeSetting(const std::string &key, const std::string &value)
{
    if (key != "pace")
        throw std::invalid_argument("replay: no setting is called " + key);
    shared_.realtime = parse_pace(value);
}

std::string Device::readSetting(const std::string &key) const
{
    if (key != "pace")
        throw std::invalid_argument("replay: no setting is called " + key);
    return shared_.realtime ? "realtime" : "fast";
}

} // namespace replay
