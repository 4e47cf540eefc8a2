# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""What receivers give: frames."""

from __future__ import annotations

import dataclasses

import numpy
import numpy.typing


@dataclasses.dataclass(frozen=True)
class WifiFrame:
    """An IEEE 802.11 frame that a WifiReceiver found."""

    sample: int
    """First sample of the short training field, counted from the stream's start."""
    samples: int
    """From there to the frame's end."""
    format: str
    """"legacy" (decoded), "ht" or "vht" (recognised, skipped), "unknown"."""
    bandwidth_hz: float
    rate_mbps: float
    """0 if unknown."""
    mcs: int
    """HT and later; -1 otherwise."""
    length: int
    """Of the PSDU in bytes, FCS included."""
    fcs_ok: bool
    snr_db: float
    evm_db: float
    """NaN if not decoded."""
    cfo_hz: float
    sfo_ppm: float
    raw_ber: float
    """Bit errors before decoding; NaN if not decoded."""
    psdu: bytes | None
    points: numpy.typing.NDArray[numpy.complex64] | None
    """Equalised data points, 48 a symbol, where the receiver was asked for them."""
    channel: numpy.typing.NDArray[numpy.complex64] | None
    """64 values by FFT bin."""
    reason: str | None
    """Why it was not decoded, or why the FCS may be wrong."""


@dataclasses.dataclass(frozen=True)
class OfdmFrame:
    """A frame, or some symbols, of an OfdmStream."""

    sample: int
    """Where the frame, or the first of these symbols, starts."""
    points: numpy.typing.NDArray[numpy.complex64]
    """Equalised carriers, shape (symbols, carriers)."""
    soft: numpy.typing.NDArray[numpy.int8]
    """Soft bits, shape (symbols, carriers, bits of a point); positive where 0 is likelier."""
    channel: numpy.typing.NDArray[numpy.complex64]
    """n values by FFT bin."""
