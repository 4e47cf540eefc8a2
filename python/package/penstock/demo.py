# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""Spectrum and frames of a recording: python -m penstock.demo [RECORDING.sigmf-meta]

Without a recording the library's own transmitter makes a Wi-Fi signal, and its channel simulator what the air makes of
it."""

from __future__ import annotations

import argparse
import sys
import typing

import numpy

from . import errors
from ._lib.core import Channel, Source, WifiReceiver, wifi_fcs, wifi_modulate, wifi_rate_hz
from .frames import WifiFrame
from .spectra import PowerSpectrum, spectrum


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
    """The spectrum in text, 5 dB a line."""
    cells = numpy.array([part.mean() for part in numpy.array_split(found.power.mean(0), columns)])
    decibels = 10 * numpy.log10(numpy.maximum(cells, 1e-30))
    top = decibels.max()
    for line in range(10):
        print(f"{top - 5 * line:7.1f} dB |" + "".join("#" if value > top - 5 * line - 5 else " " for value in decibels))
    low, high = found.frequencies_hz[0] / 1e6, found.frequencies_hz[-1] / 1e6
    print(f"{'':10} +{'-' * columns}\n{low:20.3f} MHz{high:{columns - 12}.3f} MHz\n")


def show_frame(frame: WifiFrame) -> None:
    """One line a frame."""
    state = "FCS good" if frame.fcs_ok else frame.reason
    print(f"sample {frame.sample:9}  {frame.rate_mbps:4.1f} Mb/s  {frame.length:4} bytes  {frame.snr_db:5.1f} dB  {state}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m penstock.demo", description="Spectrum and Wi-Fi frames of a recording.")
    parser.add_argument("recording", nargs="?", help="a SigMF recording at 20 Msamples/s; none: a signal of our own")
    parser.add_argument("--device", default="auto", help="that computes: auto, cpu, cuda:0, ... (auto)")
    parser.add_argument("--plot", metavar="FILE", help="draw the spectrum into a file, by matplotlib")
    given = parser.parse_args(arguments)
    try:
        samples = own_signal() if given.recording is None else None
        found = spectrum(given.recording if samples is None else samples, 1024, rows=64, rate_hz=wifi_rate_hz(),
                         device=given.device)
        show_spectrum(found)
        if given.plot:
            found.plot().figure.savefig(given.plot)
        source = [samples] if given.recording is None else Source(given.recording, resample_hz=wifi_rate_hz())
        with WifiReceiver(device=given.device) as receiver:
            for frame in receiver.over(source):
                show_frame(frame)
            print(f"{receiver.counters()['fcs_ok']} frames with a good FCS, on {receiver.device}")
    except errors.Error as error:
        print(f"penstock.demo: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
