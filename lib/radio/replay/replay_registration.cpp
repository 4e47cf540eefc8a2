/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* How SoapySDR finds the driver. It shows itself only to those who ask for driver=replay with a path, so that it is in
 * nobody else's list of radios. */
#include "replay_device.hpp"

#include <SoapySDR/Modules.hpp>
#include <SoapySDR/Registry.hpp>

namespace
{

SoapySDR::KwargsList find(const SoapySDR::Kwargs &args)
{
    const auto driver = args.find("driver");
    if (driver == args.end() || driver->second != "replay" || !args.count("path"))
        return {};
    SoapySDR::Kwargs found = args;
    found["label"] = "replay of " + args.at("path");
    return {found};
}

SoapySDR::Device *make(const SoapySDR::Kwargs &args)
{
    return new replay::Device(replay::parse(args));
}

const SoapySDR::Registry registration("replay", &find, &make, SOAPY_SDR_ABI_VERSION);
const SoapySDR::ModuleVersion version(penstock_version());

} // namespace
