# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""A radio's samples on whatever processor the machine has: the library Penstock for NumPy, CuPy and PyTorch."""

from __future__ import annotations

import atexit as _atexit
import logging as _logging

from . import errors, files
from ._lib import core as _core
from ._lib.core import (
    Channelizer,
    Context,
    Device,
    FftPlan,
    FftStream,
    Filter,
    Plan,
    Resampler,
    Sink,
    Source,
    Spectrum,
    Stream,
    Synthesizer,
    channelizer_dual,
    channelizer_taps,
    devices,
    find_device,
    version,
    window,
)
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

__all__ = [
    "errors",
    "files",
    "ArgumentError",
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
    "NoDeviceError",
    "OutOfMemoryError",
    "Plan",
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
    "channelizer_dual",
    "channelizer_taps",
    "devices",
    "find_device",
    "version",
    "window",
]

__version__ = version()

_logger = _logging.getLogger("penstock")
_logger.addHandler(_logging.NullHandler())
_core._start(_logger.log)
_atexit.register(_core._end)
