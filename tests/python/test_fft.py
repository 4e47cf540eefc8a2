# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""Transforms beside NumPy's in double precision, in every layout of arrays."""

import numpy
import pytest

import penstock as ps

RNG = numpy.random.default_rng(1)


def noise(*shape):
    return (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype(numpy.complex64)


def error(found, expected):
    return numpy.linalg.norm(found - expected) / numpy.linalg.norm(expected)


def bound(n):
    return 1e-7 * numpy.sqrt(max(numpy.log2(n), 1)) * 6  # 6: of the slowest device


@pytest.mark.parametrize("n", [1, 2, 60, 64, 1000, 4096])
@pytest.mark.parametrize("leading", [(), (1,), (5,), (2, 3)])
def test_complex(n, leading):
    x = noise(*leading, n)
    forward = ps.FftPlan(n, device="cpu")(x)
    assert forward.shape == x.shape and forward.dtype == numpy.complex64
    assert error(forward, numpy.fft.fft(x.astype(complex))) < bound(n)
    back = ps.FftPlan(n, reverse=True, scale=1 / n, device="cpu")(forward)
    assert error(back, x) < 2 * bound(n)


def test_real():
    x = RNG.standard_normal((3, 600)).astype(numpy.float32)
    values = ps.FftPlan(600, real=True, device="cpu")(x)
    assert values.shape == (3, 301)
    assert error(values, numpy.fft.rfft(x.astype(float))) < bound(600)
    back = ps.FftPlan(600, real=True, reverse=True, device="cpu")(values)
    assert back.dtype == numpy.float32 and error(back / 600, x) < 2 * bound(600)


@pytest.mark.parametrize(
    "format, dtype, scale, offset",
    [("cs16", numpy.int16, 32768, 0), ("cs8", numpy.int8, 128, 0), ("cu8", numpy.uint8, 128, 127.5)],
)
def test_integers(format, dtype, scale, offset):
    limits = numpy.iinfo(dtype)
    x = RNG.integers(limits.min, limits.max, (4, 128, 2), dtype, endpoint=True)
    values = (x.astype(float) - offset) / scale
    found = ps.FftPlan(128, format=format, device="cpu")(x)
    assert error(found, numpy.fft.fft(values[..., 0] + 1j * values[..., 1])) < bound(128)


def test_planar_and_halfs():
    x = noise(2, 3, 64)
    planes = numpy.stack([x.real, x.imag])
    assert error(ps.FftPlan(64, format="planar", device="cpu")(planes), numpy.fft.fft(x)) < bound(64)
    halfs = numpy.stack([x.real, x.imag], -1).astype(numpy.float16)
    found = ps.FftPlan(64, format="cf16", half=True, device="cpu")(halfs)
    assert found.shape == (2, 3, 64, 2) and found.dtype == numpy.float16
    expected = numpy.fft.fft(halfs[..., 0].astype(float) + 1j * halfs[..., 1])
    assert error(found[..., 0] + 1j * found[..., 1].astype(float), expected) < 2**-11


def test_power_windows_and_averages():
    x = noise(2, 12, 256)
    window = ps.window("hann", 256)
    assert window.dtype == numpy.float32
    assert numpy.allclose(window, 0.5 - 0.5 * numpy.cos(2 * numpy.pi * numpy.arange(256) / 256), atol=1e-7)
    expected = numpy.abs(numpy.fft.fft(x * window.astype(float))) ** 2
    expected = numpy.fft.fftshift(expected, -1).reshape(2, 3, 4, 256).mean(2)
    for given in ("hann", window, list(window)):
        plan = ps.FftPlan(256, window=given, output="power", centered=True, average=4, device="cpu")
        found = plan(x)
        assert found.shape == (2, 3, 256) and found.dtype == numpy.float32
        assert error(found, expected) < 2 * bound(256)
    decibels = ps.FftPlan(256, window="hann", output="decibel", centered=True, average=4, device="cpu")(x)
    assert numpy.allclose(decibels, 10 * numpy.log10(expected), atol=1e-3)
    with pytest.raises(ps.ArgumentError, match="multiple of 4"):
        plan(x[:, :3].copy())
    with pytest.raises(ps.ArgumentError, match="window: 255 factors, not 256"):
        ps.FftPlan(256, window=window[1:])


def test_spacing_skip_and_shift():
    x = noise(1000)
    plan = ps.FftPlan(64, spacing=48, skip=8, shift=0.125, device="cpu")
    found = plan(x)
    starts = numpy.arange(0, 1000 - 72 + 1, 48) + 8
    assert found.shape == (len(starts), 64)
    frames = x[starts[:, None] + numpy.arange(64)] * numpy.exp(2j * numpy.pi * 0.125 * numpy.arange(64))
    assert error(found, numpy.fft.fft(frames)) < bound(64)
    assert plan(x[:71]).shape == (0, 64)


def test_two_dimensions():
    x = noise(3, 16, 24)
    assert error(ps.FftPlan(16 * 24, rows=16, device="cpu")(x), numpy.fft.fft2(x)) < bound(384)
    assert error(ps.FftPlan(16 * 24, columns=24, device="cpu")(x), numpy.fft.fft(x, axis=1)) < bound(384)


def test_info():
    info = ps.FftPlan(64, device="cpu").info()
    assert info["device"] == "cpu" and info["in_bytes"] == info["out_bytes"] == 512 and info["awaited"] is None
