# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""What receivers give: frames; and what a demodulator is told of one."""

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
class OfdmChannel:
    """What the symbols of a frame share, for an OfdmDemodulator."""

    values: numpy.typing.ArrayLike
    """n values by FFT bin (0 .. n-1): what a carrier was multiplied by, at the guard interval's end."""
    noise: float = 1.0
    """Variance of the noise on a bin of the unnormalised FFT, above 0."""
    constellation: str = "qpsk"
    """"bpsk", "qpsk", "qam16", "qam64", "qam256" or "qam1024"."""
    cfo: float = 0.0
    """Carrier offset in turns per sample, -0.5 .. 0.5, that is taken out."""
    origin: int = 0
    """Sample at which the offset's phase is zero."""
    llr_scale: float = 1.0
    """A soft bit is the log-likelihood ratio times this, rounded, -127 .. 127."""


@dataclasses.dataclass(frozen=True)
class OfdmSymbols:
    """Symbols of an OfdmDemodulator, in the order in which they were asked for; None: not asked for."""

    points: numpy.typing.NDArray[numpy.complex64] | None = None
    """Equalised carriers, shape (symbols, carriers)."""
    soft: numpy.typing.NDArray[numpy.int8] | None = None
    """Soft bits, shape (symbols, carriers, bits of max_constellation); positive where 0 is likelier. A smaller
    constellation has the first ones of a carrier, and 0 after them."""
    pilots: numpy.typing.NDArray[numpy.complex64] | None = None
    """Received, divided by channel and value; shape (symbols, pilots)."""
    phase: numpy.typing.NDArray[numpy.float32] | None = None
    """At carrier 0, that was taken out, in radians; shape (symbols,)."""
    slope: numpy.typing.NDArray[numpy.float32] | None = None
    """Likewise, in radians a carrier."""


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
