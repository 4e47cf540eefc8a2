/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "replay_presence.hpp"

#include <chrono>
#include <map>
#include <mutex>
#include <tuple>

namespace replay
{

namespace
{

using Clock = std::chrono::steady_clock;
using Key = std::tuple<std::string, std::string, std::uint64_t>;

struct Absence {
    bool comes_back;
    Clock::time_point back;
    std::uint64_t position;
};

std::mutex mutex;
std::map<Key, Absence> absences;

Key key_of(const Arguments &arguments)
{
    return {arguments.path, arguments.serial, arguments.disappear_at};
}

} // namespace

void disappear(const Arguments &arguments, std::uint64_t position)
{
    const auto wait = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(arguments.reappear_s));
    std::lock_guard<std::mutex> lock(mutex);
    absences[key_of(arguments)] = {arguments.reappear_s >= 0.0, Clock::now() + wait, position};
}

bool is_present(const Arguments &arguments)
{
    std::lock_guard<std::mutex> lock(mutex);
    const auto absence = absences.find(key_of(arguments));
    return absence == absences.end() || (absence->second.comes_back && Clock::now() >= absence->second.back);
}

std::uint64_t take_position(const Arguments &arguments)
{
    std::lock_guard<std::mutex> lock(mutex);
    const auto absence = absences.find(key_of(arguments));
    if (absence == absences.end())
        return 0;
    const std::uint64_t position = absence->second.position;
    absences.erase(absence);
    return position;
}

} // namespace replay
