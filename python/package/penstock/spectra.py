# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""The power spectrum of a recording, a radio or an array, and its picture."""

from __future__ import annotations

import collections.abc
import dataclasses
import os
import typing

import numpy
import numpy.typing

from ._lib.core import Context, Source, Spectrum
from .errors import ArgumentError, UnsupportedError
from .files import blocks, over

Floats = numpy.typing.NDArray[numpy.float32]
_FORMATS = {"complex64": "cf32", "float32": "f32", "int16": "cs16", "int8": "cs8", "uint8": "cu8", "float16": "cf16"}


@dataclasses.dataclass(frozen=True)
class PowerSpectrum:
    """Mean power over frequency, row after row in time."""

    power: Floats
    """|X|**2 over the sum of the window's squares and n, shape (rows, n): its sum over a row is the mean power."""
    frequencies_hz: numpy.typing.NDArray[numpy.float64]
    """Shape (n,), rising."""
    times_s: numpy.typing.NDArray[numpy.float64]
    """Of each row's first sample, shape (rows,)."""

    def decibel(self) -> Floats:
        """The power in dB, -300 at the least; shape (rows, n)."""
        return typing.cast(Floats, 10 * numpy.log10(numpy.maximum(self.power, numpy.float32(1e-30))))

    def plot(self, axes: typing.Any = None) -> typing.Any:
        """Draws it with matplotlib: one row as a curve, several as a waterfall. Returns the axes."""
        try:
            import matplotlib.pyplot as pyplot
            import matplotlib.ticker as ticker
        except ImportError as error:
            raise UnsupportedError("plot() needs matplotlib: pip install matplotlib") from error
        axes = axes if axes is not None else pyplot.subplots()[1]
        decibel = self.decibel()
        if len(self.power) == 1:
            axes.plot(self.frequencies_hz, decibel[0])
            axes.set_ylabel("power, dB")
        else:
            step = self.times_s[1] - self.times_s[0]
            extent = (self.frequencies_hz[0], self.frequencies_hz[-1], self.times_s[-1] + step, self.times_s[0])
            least = numpy.percentile(decibel, 2)  # a gap of zeros is not to take all colours
            image = axes.imshow(decibel, extent=extent, aspect="auto", interpolation="nearest", vmin=least)
            axes.figure.colorbar(image, ax=axes, label="power, dB")
            axes.set_ylabel("time, s")
        axes.xaxis.set_major_formatter(ticker.EngFormatter("Hz"))
        axes.set_xlabel("frequency")
        return axes


class _Sums:
    """Sums of vectors in double precision, by runs of as many vectors each. There are `most` runs, an even number:
    where they are full two become one. So memory does not grow with the number of vectors."""

    def __init__(self, most: int, length: int) -> None:
        self.runs = numpy.zeros((most, length))
        self.run = 1  # vectors of each but the last
        self.vectors = 0

    def add(self, vectors: Floats) -> None:
        while len(vectors):
            if self.vectors == len(self.runs) * self.run:
                self._halve()
            at, there = divmod(self.vectors, self.run)
            now = vectors[: self.run - there]
            self.runs[at] += now.sum(0, dtype=float)
            self.vectors += len(now)
            vectors = vectors[len(now) :]

    def _halve(self) -> None:
        half = len(self.runs) // 2
        self.runs[:half] = self.runs[0::2] + self.runs[1::2]
        self.runs[half:] = 0
        self.run *= 2

    def means(self, rows: int) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64]]:
        """Of up to so many rows, and the number of the vector with which each begins."""
        cuts = numpy.linspace(0, self.vectors, min(rows, self.vectors) + 1).astype(int) // self.run
        starts = cuts[:-1] * self.run
        counts = numpy.diff(starts, append=self.vectors)
        return numpy.add.reduceat(self.runs, cuts[:-1]) / counts[:, None], starts


def _opened(source: typing.Any, rate_hz: float, frequency_hz: float) -> tuple[typing.Any, str, float, float]:
    """What to read, its format, its rate and its frequency."""
    if not isinstance(source, Source):
        samples = numpy.asarray(source)
        if samples.dtype.name not in _FORMATS:
            raise ArgumentError(f"source: an array of {samples.dtype}, which is no sample format")
        return samples, _FORMATS[samples.dtype.name], rate_hz, frequency_hz
    info = source.info()
    return source, info["format"], info["rate_hz"] or rate_hz, info["frequency_hz"] or frequency_hz


def _cut(samples: typing.Any, block: int) -> collections.abc.Iterator[typing.Any]:
    for i in range(0, len(samples), block):
        yield samples[i : i + block]


def _sum(stream: Spectrum, samples: typing.Any, sums: _Sums, n: int, hop: int) -> int:
    """Adds up the vectors of complete transforms, or that of the only one; how many samples there were."""
    count = 0

    def counted() -> collections.abc.Iterator[typing.Any]:
        nonlocal count
        block = max(1, min(1 << 16, (1 << 22) // n * hop))
        for piece in blocks(samples, block) if isinstance(samples, Source) else _cut(samples, block):
            count += len(piece)
            yield piece

    last = None
    for vectors in over(stream, counted()):
        if last is not None:
            sums.add(last)
        last = vectors
    if last is None:
        raise ArgumentError("source: it has no samples")
    complete = max(1, (count - n) // hop + 1)
    sums.add(last[: complete - sums.vectors])
    return count


def spectrum(
    source: typing.Any,
    n: int = 2048,
    *,
    rows: int = 1,
    hop: int = 0,
    window: str = "hann",
    rate_hz: float = 1.0,
    frequency_hz: float = 0.0,
    device: str = "auto",
    context: Context | None = None,
) -> PowerSpectrum:
    """The mean power spectrum of all that a source has, in `rows` rows.

    source: a path of a SigMF recording, a Source with an end, or an array of samples (complex64, float32 for real
    ones, int16, int8, uint8 or float16 of shape (samples, 2)). n: bins. hop: samples from one transform to the next,
    0: n. rate_hz, frequency_hz: of an array, or of a recording that does not say.

    Samples at the end that do not fill a transform are left out. A source of less than n samples is filled up with
    zeros, and its power is that of the samples. Sums are in double precision; rows of a long source are of equal length
    within an eighth, and times_s says where they begin. Memory does not grow with the source.
    """
    if isinstance(source, (str, os.PathLike)):
        with Source(os.fspath(source)) as opened:
            return spectrum(opened, n, rows=rows, hop=hop, window=window, rate_hz=rate_hz, frequency_hz=frequency_hz,
                            device=device, context=context)
    samples, format, rate_hz, frequency_hz = _opened(source, rate_hz, frequency_hz)
    stream = Spectrum(n, hop=hop, format=format, window=window, centered=format != "f32", flush_partial=True,
                      device=device, context=context)
    sums = _Sums(16 * max(rows, min(256, (1 << 18) // n)) if rows > 1 else 2, n // 2 + 1 if format == "f32" else n)
    with stream:
        count = _sum(stream, samples, sums, n, hop or n)
    means, starts = sums.means(rows)
    return PowerSpectrum(
        (means / _gain(window, n, count)).astype(numpy.float32),
        frequency_hz + rate_hz * _bins(n, format == "f32"),
        starts * (hop or n) / rate_hz,
    )


def _gain(window: str, n: int, count: int) -> float:
    """Of the factors that met samples."""
    from ._lib.core import window as factors

    return (float((factors(window, n)[:count].astype(float) ** 2).sum()) or 1.0) * n


def _bins(n: int, real: bool) -> numpy.typing.NDArray[numpy.float64]:
    """Frequencies of the bins in turns per sample."""
    return numpy.arange(n // 2 + 1) / n if real else (numpy.arange(n) - n // 2) / n
