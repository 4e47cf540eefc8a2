# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""Spectrum and frames of a recording: python -m penstock.demo [RECORDING]

A recording is a SigMF one, or with --format and --rate-hz a raw file. Without a recording the library's own transmitter
makes a Wi-Fi signal, and its channel simulator what the air makes of it."""

from __future__ import annotations

import argparse
import sys
import typing

import numpy

from . import errors
from ._lib.core import Channel, Source, WifiReceiver, wifi_fcs, wifi_modulate, wifi_rate_hz
from .frames import WifiFrame
from .spectra import PowerSpectrum, spectrum

LINES = 10


def own_signal() -> typing.Any:
    """Eight frames, one at each rate, with noise and a carrier offset: complex64 at 20 Msamples/s."""
    gap = numpy.zeros(3000, numpy.complex64)
    parts = [gap]
    for number, mbps in enumerate((6, 9, 12, 18, 24, 36, 48, 54)):
        body = f"frame {number} at {mbps} Mb/s. ".encode() * 16
        parts += [wifi_modulate(body + wifi_fcs(body).to_bytes(4, "little"), mbps=mbps), gap]
    channel = Channel(wifi_rate_hz(), cfo_hz=40e3, noise_power=1e-3, seed=1)
    return numpy.concatenate([channel(numpy.concatenate(parts)), channel.finish()])


def show_spectrum(found: PowerSpectrum, columns: int = 64) -> None:
    """The mean spectrum in text, from its least to its most, in steps of whole decibels a line."""
    cells = numpy.array([part.mean() for part in numpy.array_split(found.power.mean(0), columns)])
    decibels = 10 * numpy.log10(numpy.maximum(cells, 1e-30))
    step = max(1, int(numpy.ceil((decibels.max() - decibels.min()) / (LINES - 1))))
    top = decibels.max()
    for line in range(LINES):
        bottom = top - step * (line + 1)
        print(f"{top - step * line:7.1f} dB |" + "".join("#" if value > bottom else " " for value in decibels))
    width_hz = found.frequencies_hz[1] - found.frequencies_hz[0]
    low, high = found.frequencies_hz[0] / 1e6, (found.frequencies_hz[-1] + width_hz) / 1e6
    print(f"{'':10} +{'-' * columns}\n{low:20.3f} MHz{high:{columns - 12}.3f} MHz")
    print(f"mean power in a bin of {width_hz / 1e3:.1f} kHz\n")


def show_frame(frame: WifiFrame) -> None:
    """One line a frame."""
    rate = f"{frame.rate_mbps:4.1f} Mb/s" if frame.format == "legacy" else f"{frame.format:>9}"
    state = "FCS good" if frame.fcs_ok else frame.reason
    print(f"sample {frame.sample:9}  {rate}  {frame.length:4} bytes  {frame.snr_db:5.1f} dB  {state}")


def opened(given: argparse.Namespace, resample_hz: float = 0.0) -> Source:
    """The recording, from its start."""
    if given.format is None:
        return Source(given.recording, resample_hz=resample_hz)
    return Source(given.recording, format=given.format, rate_hz=given.rate_hz, resample_hz=resample_hz)


def show(given: argparse.Namespace) -> None:
    """All that the program prints."""
    samples = own_signal() if given.recording is None else None
    if samples is not None:
        found = spectrum(samples, 1024, rows=64, rate_hz=wifi_rate_hz(), device=given.device)
    else:
        with opened(given) as source:
            found = spectrum(source, 1024, rows=64, rate_hz=wifi_rate_hz(), device=given.device)
    show_spectrum(found)
    if given.plot:
        found.plot().figure.savefig(given.plot)
    with WifiReceiver(device=given.device) as receiver:
        for frame in receiver.over(opened(given, wifi_rate_hz()) if samples is None else [samples]):
            show_frame(frame)
        counters = receiver.counters()
        print(f"{counters['fcs_ok']} frames with a good FCS of {counters['signals']}, on {receiver.device}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m penstock.demo",
                                     description="Spectrum and Wi-Fi frames of a recording.")
    parser.add_argument("recording", nargs="?", help="SigMF, or a raw file; none: a signal of the library's own")
    parser.add_argument("--format", help="of a raw file: cf32, cs16, cs8, cu8")
    parser.add_argument("--rate-hz", type=float, default=20e6, help="of a raw file (20e6)")
    parser.add_argument("--device", default="auto", help="that computes: auto, cpu, cuda:0, ... (auto)")
    parser.add_argument("--plot", metavar="FILE", help="draw the spectrum into a file, by matplotlib")
    given = parser.parse_args(arguments)
    try:
        show(given)
    except errors.Error as error:
        print(f"penstock.demo: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
