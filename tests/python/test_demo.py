# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""Spectra beside Parseval's theorem and a tone, and the demo."""

import subprocess
import sys

import numpy
import pytest
from test_files import sigmf

import penstock as ps
from penstock.demo import own_signal


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


def test_incomplete_transforms():
    rng = numpy.random.default_rng(5)
    x = (rng.standard_normal((50000, 2)) @ [1, 1j]).astype(numpy.complex64)

    def total(count, n, window, **options):
        return ps.spectrum(x[:count], n, window=window, device="cpu", **options).power.sum(1)

    for window in "hann", "rectangular", "hamming":
        whole = total(64 * 512, 512, window)
        for more in 1, 64, 511:  # are left out
            assert numpy.array_equal(total(64 * 512 + more, 512, window), whole)
            assert numpy.array_equal(total(512 + more, 512, window), total(512, 512, window))
        assert numpy.array_equal(total(512 + 9 * 100 + 99, 512, window, hop=100),
                                 total(512 + 9 * 100, 512, window, hop=100))
        assert numpy.array_equal(total(512 + 700 + 600, 512, window, hop=700), total(512 + 700, 512, window, hop=700))
    assert total(100, 512, "rectangular")[0] == pytest.approx((abs(x[:100]) ** 2).mean(), rel=1e-5)
    short = [total(400, 512, window)[0] for window in ("hann", "hamming")]
    assert short == pytest.approx([(abs(x[:400]) ** 2).mean()] * 2, rel=0.2)
    assert total(1, 64, "hann")[0] == 0  # its only factor is 0
    with pytest.raises(ps.ArgumentError, match="no samples"):
        total(0, 64, "hann")


def test_long_sources(tmp_path):
    x = numpy.random.default_rng(6).uniform(0.5, 1.5, 200000).astype(numpy.float32)  # sums of float32 drift
    found = ps.spectrum(x.repeat(2), 2, window="rectangular", device="cpu")
    assert found.power[0, 0] == pytest.approx((x.astype(float) ** 2).mean(), rel=1e-6)
    power = numpy.linspace(0, 1, len(x)) ** 2
    found = ps.spectrum(numpy.sqrt(power).astype(numpy.float32), 1, rows=300, window="rectangular", device="cpu")
    starts = found.times_s.round().astype(int)
    counts = numpy.diff(starts, append=len(x))
    assert len(starts) == 300 and starts[0] == 0 and abs(counts / (len(x) / 300) - 1).max() <= 1 / 8
    for i in range(300):
        assert found.power[i, 0] == pytest.approx(power[starts[i] : starts[i] + counts[i]].mean(), rel=1e-5)
    complexes = (x[:9000] + 1j * x[1:9001]).astype(numpy.complex64)
    complexes.tofile(tmp_path / "x.cf32")
    with ps.Source(str(tmp_path / "x.cf32"), format="cf32", rate_hz=1.0) as source:
        read = ps.spectrum(source, 100, rows=7, hop=33, device="cpu")
    given = ps.spectrum(complexes, 100, rows=7, hop=33, device="cpu")
    assert numpy.array_equal(read.power, given.power) and numpy.array_equal(read.times_s, given.times_s)


def test_plot(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    samples = numpy.concatenate([numpy.ones(9000), numpy.zeros(1000)]).astype(numpy.complex64)
    found = ps.spectrum(samples, 64, rows=8, rate_hz=1e6, frequency_hz=100e6, device="cpu")
    axes = found.plot()
    axes.figure.savefig(tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 1000
    assert axes.get_xlim() == pytest.approx((99.5e6, 100.5e6), abs=16e3)
    assert any(label.get_text().endswith("MHz") for label in axes.get_xticklabels())
    one = ps.spectrum(samples, 64, device="cpu").plot()
    assert numpy.array_equal(one.lines[0].get_ydata(), ps.spectrum(samples, 64, device="cpu").decibel()[0])


def demo(*arguments):
    done = subprocess.run([sys.executable, "-m", "penstock.demo", "--device", "cpu", *map(str, arguments)],
                          capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_demo():
    status, shown, errors = demo()
    assert status == 0 and "8 frames with a good FCS of 8, on cpu" in shown, shown + errors
    assert shown.count("FCS good") == 8 and shown.count("dB |") == 10
    status, shown, errors = demo("/nowhere.sigmf-meta")
    assert status == 1 and not shown and errors.startswith("penstock.demo: ") and errors.count("\n") == 1


def recording(folder, rate_hz):
    """The demo's own signal in 16-bit integers."""
    signal = own_signal()
    if rate_hz != 20e6:
        signal = ps.Resampler(rate_hz / 20e6)(signal)
    path = folder / "recording.cs16"
    numpy.rint(numpy.stack([signal.real, signal.imag], -1) * 4000).astype("<i2").tofile(path)
    return path


@pytest.mark.parametrize("rate_hz", [20e6, 25e6])
def test_demo_of_a_raw_file(tmp_path, rate_hz):
    status, shown, errors = demo("--format", "cs16", "--rate-hz", rate_hz, recording(tmp_path, rate_hz))
    assert status == 0 and "8 frames with a good FCS of 8, on cpu" in shown, shown + errors
    assert f"{-rate_hz / 2e6:.3f} MHz" in shown and f"{rate_hz / 2e6:.3f} MHz" in shown
    rows = [line.partition("|")[2] for line in shown.split("\n") if "dB |" in line]
    bars = [sum(row[column] == "#" for row in rows) for column in range(64)]
    edge = round(64 * (0.5 + 6e6 / rate_hz))  # well within the 52 carriers, and without them
    assert min(bars[65 - edge : edge - 1]) >= 7 and max(bars) == 10 and bars[0] <= 6 and bars[63] <= 6
    assert demo("--format", "cs99", tmp_path / "recording.cs16")[0] == 1


@pytest.mark.skipif(not sigmf(), reason="the library was built without jansson: no SigMF")
def test_demo_of_a_sigmf_recording(tmp_path):
    with ps.Sink(str(tmp_path / "x.sigmf-meta"), rate_hz=20e6, frequency_hz=5180e6) as sink:
        sink.write(own_signal())
    status, shown, errors = demo(tmp_path / "x.sigmf-meta")
    assert status == 0 and "8 frames with a good FCS of 8, on cpu" in shown, shown + errors
    assert "5170.000 MHz" in shown and "5190.000 MHz" in shown
