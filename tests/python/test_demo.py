# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""Spectra beside Parseval's theorem and a tone, and the demo."""

import subprocess
import sys

import numpy
import pytest

import penstock as ps


def test_spectrum():
    n = numpy.arange(100000)
    tone = (0.5 * numpy.exp(2j * numpy.pi * 0.125 * n)).astype(numpy.complex64)
    found = ps.spectrum(tone, 512, rows=4, rate_hz=8e6, frequency_hz=100e6, device="cpu")
    assert found.power.shape == (4, 512) and found.times_s[0] == 0
    assert numpy.allclose(found.power[:3].sum(1), 0.25, rtol=1e-3)
    assert abs(found.frequencies_hz[found.power[0].argmax()] - 101e6) < 1
    assert abs(found.decibel()[0].max() - 10 * numpy.log10(found.power[0].max())) < 1e-3
    with pytest.raises(ps.ArgumentError, match="float64, which is no sample format"):
        ps.spectrum(tone.real.astype(float))


def test_plot(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    found = ps.spectrum(numpy.ones(10000, numpy.complex64), 64, rows=8, device="cpu")
    found.plot().figure.savefig(tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 1000


def test_demo():
    done = subprocess.run([sys.executable, "-m", "penstock.demo", "--device", "cpu"], capture_output=True, text=True)
    assert done.returncode == 0 and "8 frames with a good FCS, on cpu" in done.stdout, done.stdout + done.stderr
    assert done.stdout.count("FCS good") == 8 and done.stdout.count("dB |") == 10
    done = subprocess.run([sys.executable, "-m", "penstock.demo", "/nowhere.sigmf-meta"], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("penstock.demo: ")
