# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""A radio's samples on whatever processor the machine has: the library Penstock for NumPy, CuPy and PyTorch."""

from __future__ import annotations

import atexit as _atexit
import logging as _logging

from . import _nvrtc, errors, files, frames
from ._lib import core as _core
from ._lib.core import (
    Buffer,
    Channel,
    Channelizer,
    Context,
    Device,
    FftPlan,
    FftStream,
    Filter,
    LdpcPlan,
    OfdmDemodulator,
    OfdmStream,
    Plan,
    Queue,
    Resampler,
    Sink,
    Source,
    Spectrum,
    Stream,
    Synthesizer,
    ViterbiPlan,
    ViterbiStream,
    WifiReceiver,
    channelizer_dual,
    channelizer_taps,
    convolve,
    correlate,
    devices,
    find_device,
    taps_design,
    taps_equiripple,
    taps_length,
    taps_measured,
    taps_root_raised_cosine,
    version,
    wifi_fcs,
    wifi_modulate,
    wifi_rate_hz,
    window,
    zoom,
)
from .chain import Chain
from .errors import (
    ArgumentError,
    CheckError,
    DeviceError,
    Error,
    FileError,
    FormatError,
    NoDeviceError,
    OutOfMemoryError,
    RadioError,
    StateError,
    TimeoutError,
    UnsupportedError,
)
from .frames import OfdmChannel
from .spectra import PowerSpectrum, spectrum

__all__ = [
    "ArgumentError",
    "Buffer",
    "Chain",
    "Channel",
    "Channelizer",
    "CheckError",
    "Context",
    "Device",
    "DeviceError",
    "Error",
    "FftPlan",
    "FftStream",
    "FileError",
    "Filter",
    "FormatError",
    "LdpcPlan",
    "NoDeviceError",
    "OfdmChannel",
    "OfdmDemodulator",
    "OfdmStream",
    "OutOfMemoryError",
    "Plan",
    "PowerSpectrum",
    "Queue",
    "RadioError",
    "Resampler",
    "Sink",
    "Source",
    "Spectrum",
    "StateError",
    "Stream",
    "Synthesizer",
    "TimeoutError",
    "UnsupportedError",
    "ViterbiPlan",
    "ViterbiStream",
    "WifiReceiver",
    "channelizer_dual",
    "channelizer_taps",
    "convolve",
    "correlate",
    "devices",
    "errors",
    "files",
    "find_device",
    "frames",
    "spectrum",
    "taps_design",
    "taps_equiripple",
    "taps_length",
    "taps_measured",
    "taps_root_raised_cosine",
    "version",
    "wifi_fcs",
    "wifi_modulate",
    "wifi_rate_hz",
    "window",
    "zoom",
]

__version__ = version()

_logger = _logging.getLogger("penstock")
_logger.addHandler(_logging.NullHandler())
_nvrtc.tell_library()
_core._start(_logger.log)
_atexit.register(_core._end)
