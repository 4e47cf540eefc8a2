# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""Recordings written and read, and streams over them."""

import json

import numpy
import pytest

import penstock as ps

RNG = numpy.random.default_rng(3)
X = (RNG.standard_normal(10000) / 8 + 1j * RNG.standard_normal(10000) / 8).astype(numpy.complex64)


def sigmf():
    try:
        ps.Source("/nowhere.sigmf-meta")
    except ps.UnsupportedError:
        return False
    except ps.Error:
        return True


needs_sigmf = pytest.mark.skipif(not sigmf(), reason="the library was built without jansson: no SigMF")


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "x.sigmf-meta"
    with ps.Sink(str(path), rate_hz=1e6, format="cs16", frequency_hz=100e6, description="noise") as sink:
        sink.write(X[:3000])
        sink.write(X[3000:])
        assert sink.counters() == {"samples": 10000, "clipped": 0, "not_finite": 0}
    return path


def test_sink_of_a_context(tmp_path):
    path = tmp_path / "x.cs16"
    x = numpy.tile(X, 10)
    with ps.Sink(str(path), rate_hz=1.0, format="cs16", context=ps.Context(threads=3)) as sink:
        sink.write(x)
        assert sink.counters()["samples"] == len(x)
    assert (numpy.fromfile(path, numpy.int16) == numpy.rint(x.view(numpy.float32) * 32768)).all()


@needs_sigmf
def test_sigmf(recording):
    meta = json.loads(recording.read_text())
    assert meta["global"]["core:datatype"] == "ci16_le" and meta["global"]["core:sample_rate"] == 1e6
    with ps.Source(str(recording)) as source:
        info = source.info()
        assert info["format"] == "cs16" and info["rate_hz"] == 1e6 and info["frequency_hz"] == 100e6
        assert info["total_samples"] == 10000 and source.captures()[0]["sample"] == 0
        first = source.read(1000)
        out = numpy.zeros((9500, 2), numpy.int16)
        rest = source.read(out=out)
        assert first.shape == (1000, 2) and rest.shape == (9000, 2)
        assert len(source.read()) == 0 and source.counters()["samples"] == 10000
    values = numpy.concatenate([first, rest]).astype(float) / 32768
    assert numpy.abs(values[:, 0] + 1j * values[:, 1] - X).max() < 0.75 / 32768


@needs_sigmf
def test_streams_over_files(recording):
    expected = ps.Spectrum(128, format="cs16", device="cpu")
    whole = numpy.concatenate(list(expected.over(str(recording))))
    pieces = list(ps.Spectrum(128, format="cs16", device="cpu").over(recording, block=777))
    assert len(pieces) > 5 and numpy.array_equal(numpy.concatenate(pieces), whole)
    with ps.Source(str(recording), seconds=0.005) as source:
        assert sum(map(len, ps.Spectrum(128, format="cs16", device="cpu").over(source))) == 5000 // 128
    arrays = ps.Spectrum(128, device="cpu").over(numpy.split(X, [1, 2000]))
    assert sum(map(len, arrays)) == 10000 // 128


@needs_sigmf
def test_streams_of_another_format(recording):
    stream = ps.Spectrum(128, device="cpu")
    for source in str(recording), ps.Source(str(recording)):
        with pytest.raises(ps.ArgumentError, match='its samples are cs16.*format="cs16".*resample_hz') as caught:
            list(stream.over(source))
        assert "astype" not in str(caught.value)
    with pytest.raises(ps.ArgumentError, match='format="cs16"'):
        list(ps.Chain(ps.Filter(numpy.ones(5), device="cpu"), stream).over(recording))
    with ps.Source(str(recording), resample_hz=1e6) as source:
        found = numpy.concatenate(list(ps.Spectrum(128, device="cpu").over(source)))
    expected = numpy.concatenate(list(ps.Spectrum(128, format="cs16", device="cpu").over(recording)))
    assert numpy.allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_raw(tmp_path):
    path = tmp_path / "x.raw"
    X.tofile(path)
    with pytest.raises(ps.Error):
        ps.Source(str(path))
    source = ps.Source(str(path), format="cf32", rate_hz=1.0)
    assert numpy.array_equal(source.read(20000), X)
    resampled = ps.Source(str(path), format="cf32", rate_hz=2.0, resample_hz=1.0)
    assert sum(map(len, ps.files.blocks(resampled, 777))) == 5000
    source.close()
    with pytest.raises(ps.StateError, match="the source was closed"):
        source.read()


def test_an_exception_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.raw"
    path.write_bytes(b"old")
    with pytest.raises(KeyError):
        with ps.Sink(str(path), rate_hz=1.0) as sink:
            sink.write(X)
            raise KeyError
    assert path.read_bytes() == b"old" and [p.name for p in tmp_path.iterdir()] == ["x.raw"]
    with pytest.raises(ps.FileError) as caught:
        ps.Source("/nowhere/x.raw", format="cf32", rate_hz=1.0)
    assert isinstance(caught.value, OSError)
