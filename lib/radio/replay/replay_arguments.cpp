/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Device arguments are text: this is where they become numbers, and where nonsense is refused. */
#include "replay_arguments.hpp"

#include <SoapySDR/Logger.hpp>

#include <algorithm>
#include <cmath>
#include <locale>
#include <set>
#include <sstream>
#include <stdexcept>

namespace replay
{

namespace
{

[[noreturn]] void refuse(const std::string &key, const std::string &value, const std::string &right)
{
    throw std::invalid_argument("replay: " + key + "=" + value + ": " + right);
}

/* A number from `least` to `most`, or `preset` if it is not given. */
double number(const SoapySDR::Kwargs &args, const std::string &key, double preset, double least, double most)
{
    const auto found = args.find(key);
    if (found == args.end())
        return preset;
    std::istringstream text(found->second);
    double value = 0.0;
    text.imbue(std::locale::classic()); /* the application's locale may want a decimal comma */
    if (!(text >> value) || !text.eof() || !(value >= least && value <= most))
        refuse(key, found->second, "a number of at least " + std::to_string(least) + " is wanted");
    return value;
}

/* A whole number of samples; 5e6 is one too. */
std::uint64_t samples(const SoapySDR::Kwargs &args, const std::string &key, std::uint64_t preset)
{
    if (!args.count(key))
        return preset;
    const double value = number(args, key, 0.0, 0.0, 9e15);
    if (value != std::floor(value))
        refuse(key, args.at(key), "a whole number of samples is wanted");
    return static_cast<std::uint64_t>(value);
}

/* Whole numbers of samples with colons between. */
std::vector<std::uint64_t> list_of_samples(const SoapySDR::Kwargs &args, const std::string &key,
                                           std::vector<std::uint64_t> preset)
{
    if (!args.count(key))
        return preset;
    std::vector<std::uint64_t> list;
    std::istringstream text(args.at(key) + ":");
    for (std::string one; std::getline(text, one, ':');)
        list.push_back(samples({{key, one}}, key, 0));
    return list;
}

void parse_overflows(Arguments &parsed, const SoapySDR::Kwargs &args)
{
    parsed.overflow_at = list_of_samples(args, "overflow_at", {});
    parsed.overflow = list_of_samples(args, "overflow", parsed.overflow);
    for (std::size_t i = 1; i < parsed.overflow_at.size(); i++)
        if (parsed.overflow_at[i] <= parsed.overflow_at[i - 1])
            refuse("overflow_at", args.at("overflow_at"), "numbers in ascending order are wanted");
    if (parsed.overflow.size() > std::max<std::size_t>(parsed.overflow_at.size(), 1))
        refuse("overflow", args.at("overflow"), "overflow_at has fewer numbers");
}

/* Applications add arguments of their own, so these are no errors; but one misspelt should not go unseen. SoapySDR's
 * remote server passes on its client's arguments, with a mark of its own. */
void warn_of_unknown(const SoapySDR::Kwargs &args)
{
    static const std::set<std::string> known = {
        "driver", "label", "type",        "path",     "serial",     "format",  "rate",         "frequency", "loop",
        "pace",   "time",  "overflow_at", "overflow", "timeout_at", "silence", "disappear_at", "reappear",  "stamps"};
    if (args.count("soapy_remote_no_deeper"))
        return;
    for (const auto &arg : args)
        if (!known.count(arg.first))
            SoapySDR::logf(SOAPY_SDR_WARNING, "replay: no argument is called '%s'", arg.first.c_str());
}

} // namespace

bool parse_pace(const std::string &text)
{
    if (text != "realtime" && text != "fast")
        refuse("pace", text, "realtime or fast is wanted");
    return text == "realtime";
}

Arguments parse(const SoapySDR::Kwargs &args)
{
    Arguments parsed;
    if (!args.count("path") || args.at("path").empty())
        throw std::invalid_argument("replay: path=FILE is wanted, a SigMF or raw recording");
    parsed.path = args.at("path");
    if (args.count("serial"))
        parsed.serial = args.at("serial");
    if (args.count("format")) {
        parsed.raw = true;
        if (penstock_format_parse(&parsed.format, args.at("format").c_str()))
            refuse("format", args.at("format"), "cf32, cs16, cs8 or cu8 is wanted");
    }
    parsed.rate_hz = number(args, "rate", 0.0, 0.0, 1e12);
    parsed.frequency_hz = number(args, "frequency", 0.0, 0.0, 1e12);
    const std::uint64_t loop = samples(args, "loop", 0);
    parsed.plays = loop == 0 ? 1 : loop == 1 ? never : loop;
    if (args.count("pace"))
        parsed.realtime = parse_pace(args.at("pace"));
    parsed.time_ns = static_cast<long long>(number(args, "time", 0.0, 0.0, 9e18));
    parse_overflows(parsed, args);
    parsed.stamps = number(args, "stamps", 1.0, 0.0, 1.0) > 0.0;
    parsed.timeout_at = samples(args, "timeout_at", never);
    parsed.silence_s = number(args, "silence", parsed.silence_s, 0.0, 1e6);
    parsed.disappear_at = samples(args, "disappear_at", never);
    parsed.reappear_s = number(args, "reappear", parsed.reappear_s, 0.0, 1e6);
    warn_of_unknown(args);
    return parsed;
}

} // namespace replay
