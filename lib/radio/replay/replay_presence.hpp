/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which devices are gone at present: this outlives the device objects, as a radio does the programs that open it. */
#pragma once

#include "replay_arguments.hpp"

namespace replay
{

/* The device is gone from now on; when it is back it goes on with sample `position`. */
void disappear(const Arguments &arguments, std::uint64_t position);

/* Can it be opened now? */
bool is_present(const Arguments &arguments);

/* For a device that is opened: the sample with which it goes on, once after a disappearance, else 0. */
std::uint64_t take_position(const Arguments &arguments);

} // namespace replay
