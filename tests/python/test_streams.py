# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""Every kind of stream beside its formula in double precision, in any split of the input."""

import threading

import numpy
import pytest

import penstock as ps

RNG = numpy.random.default_rng(2)


def noise(*shape):
    return (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype(numpy.complex64)


def error(found, expected):
    assert found.shape == expected.shape
    return numpy.linalg.norm(found - expected) / numpy.linalg.norm(expected)


def whole(stream, x):
    """All results of x, then all that finish() brings."""
    pieces = [stream(x)]
    stream.finish()
    pieces.append(stream.pull(wait=True))
    return numpy.concatenate(pieces, -1 if stream.info()["kind"] == "filter" and pieces[0].ndim == 2 else 0)


X = noise(20000)
TAPS = RNG.standard_normal(65).astype(numpy.float32)
KINDS = {
    "fft": (lambda: ps.FftStream(200, device="cpu"), X.reshape(100, 200)),
    "spectrum": (lambda: ps.Spectrum(256, hop=100, average=3, window="hann", device="cpu"), X),
    "filter": (lambda: ps.Filter(TAPS, decimation=4, shift=0.1, tail=True, device="cpu"), X),
    "real filter": (lambda: ps.Filter(TAPS, format="f32", device="cpu"), X.real.copy()),
    "integers": (lambda: ps.Filter(TAPS, format="cs16", device="cpu"),
                 numpy.stack([X.real, X.imag], -1).astype("int16")),
    "resampler": (lambda: ps.Resampler(0.96), X),
    "channelizer": (lambda: ps.Channelizer(16, hop=8, device="cpu"), X),
    "synthesizer": (lambda: ps.Synthesizer(16, hop=8, device="cpu"), X.reshape(1250, 16)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_any_split_gives_the_same_bits(kind):
    make, x = KINDS[kind]
    expected = whole(make(), x)
    for cuts in ([1, 2, 500], [7], [len(x) - 1]):
        stream = make()
        pieces = [stream(part) for part in numpy.split(x, cuts)]
        stream.finish()
        pieces.append(stream.pull(wait=True))
        assert numpy.array_equal(numpy.concatenate(pieces), expected)
        info = stream.info()
        assert info["taken"] == len(x) and info["given"] == len(expected) and info["device"] == "cpu"
    stream.reset()
    assert numpy.array_equal(whole(stream, x), expected)
    assert stream.stats()["in"] == len(x)


@pytest.mark.parametrize("kind", KINDS)
def test_push_pull_and_run(kind):
    make, x = KINDS[kind]
    expected = whole(make(), x)
    pushed = make()
    at, pieces = 0, []
    while at < len(x):
        at += pushed.push(x[at:])
        pieces.append(pushed.pull(5))
        assert len(pieces[-1]) <= 5
    pushed.finish()
    pieces.append(pushed.pull(wait=True))
    assert numpy.array_equal(numpy.concatenate(pieces), expected)
    run, at, filled = make(), 0, 0
    out = numpy.zeros_like(expected)
    while True:
        taken, given = run.run(x[at:], out[filled:])
        at, filled = at + taken, filled + given
        if not taken and not given:
            break
    run.finish()
    filled += len(run.pull(out=out[filled:], wait=True))
    assert filled == len(expected) and numpy.array_equal(out, expected)


def test_fft_stream():
    assert error(whole(ps.FftStream(200, centered=True, device="cpu"), X.reshape(100, 200)),
                 numpy.fft.fftshift(numpy.fft.fft(X.reshape(100, 200)), -1)) < 1e-6


def test_spectrum():
    stream = ps.Spectrum(256, hop=100, average=3, window="hann", centered=True, device="cpu")
    frames = X[numpy.arange(0, 20000 - 255, 100)[:, None] + numpy.arange(256)] * ps.window("hann", 256).astype(float)
    power = numpy.abs(numpy.fft.fftshift(numpy.fft.fft(frames), -1)) ** 2
    power = power[: len(power) // 3 * 3].reshape(-1, 3, 256).mean(1)
    assert error(whole(stream, X), power) < 2e-6
    stream.set_window(None)
    stream.reset()
    assert error(whole(stream, X), power) > 0.1
    planar = ps.Spectrum(256, format="planar", device="cpu")
    assert numpy.array_equal(planar(numpy.stack([X.real, X.imag])), ps.Spectrum(256, device="cpu")(X))


def test_filter():
    mixed = X * numpy.exp(2j * numpy.pi * 0.1 * numpy.arange(len(X)))
    expected = numpy.convolve(mixed, TAPS.astype(float))
    assert error(whole(ps.Filter(TAPS, decimation=4, shift=0.1, tail=True, device="cpu"), X), expected[::4]) < 1e-6
    assert error(whole(ps.Filter(TAPS, advance=32, shift=0.1, device="cpu"), X), expected[32 : 32 + len(X)]) < 1e-6
    complex_taps = TAPS + 1j * TAPS[::-1]
    expected = numpy.convolve(X, complex_taps)[: len(X)]
    assert error(whole(ps.Filter(complex_taps, device="cpu"), X), expected) < 1e-6
    real = whole(ps.Filter(list(TAPS), format="f32", device="cpu"), X.real.copy())
    assert real.dtype == numpy.float32 and error(real, numpy.convolve(X.real, TAPS)[: len(X)]) < 1e-6


def test_filter_of_several_channels():
    stream = ps.Filter([TAPS, TAPS[:9]], decimation=2, shift=[0.0, -0.25], device="cpu")
    found = whole(stream, X)
    mixed = X * numpy.exp(-2j * numpy.pi * 0.25 * numpy.arange(len(X)))
    expected = numpy.stack([numpy.convolve(X, TAPS)[: len(X) : 2], numpy.convolve(mixed, TAPS[:9])[: len(X) : 2]])
    assert found.shape == (2, 10000) and error(found, expected) < 1e-6
    stream.reset()
    stream.push(X)
    out = numpy.zeros((2, 500), numpy.complex64)
    assert stream.pull(out=out, wait=True) is out and error(out, expected[:, :500]) < 1e-6
    with pytest.raises(ps.ArgumentError, match="2 rows is wanted"):
        stream.pull(out=numpy.zeros((3, 500), numpy.complex64))
    assert stream.filter_info()["channels"] == 2
    with pytest.raises(ps.ArgumentError, match="shift: 3 values for 2 channels"):
        ps.Filter([TAPS, TAPS], shift=[0.0, 0.1, 0.2])


def test_other_taps_in_mid_stream():
    stream = ps.Filter(TAPS, device="cpu")
    stream.set_taps(-TAPS, 10000)
    expected = numpy.convolve(X, TAPS)[: len(X)]
    expected[10000:] *= -1
    assert error(whole(stream, X), expected) < 1e-6


def test_resampler():
    n = numpy.arange(5000)
    tone = numpy.exp(2j * numpy.pi * 0.05 * n).astype(numpy.complex64)
    stream = ps.Resampler(interpolation=160, decimation=147, attenuation_db=100)
    found = whole(stream, tone)
    assert len(found) == -(-5000 * 160 // 147)
    middle = slice(500, -500)
    expected = numpy.exp(2j * numpy.pi * 0.05 * numpy.arange(len(found)) * 147 / 160)
    assert numpy.abs(found[middle] - expected[middle]).max() < 1e-4
    info = stream.resampler_info()
    assert (info["interpolation"], info["decimation"]) == (160, 147)


def test_filter_banks():
    """A channel is its formula, and the way back gives the samples."""
    taps = ps.channelizer_taps(16, 8)
    stream = ps.Channelizer(16, hop=8, select=[3, 15], device="cpu")
    frames = whole(stream, X)
    mixed = numpy.stack([X * numpy.exp(-2j * numpy.pi * k * numpy.arange(len(X)) / 16) for k in (3, 15)], -1)
    expected = numpy.stack([numpy.convolve(mixed[:, i], taps.astype(float))[: len(X) : 8] for i in range(2)], -1)
    assert error(frames, expected) < 1e-6
    stream.set_select([7])
    stream.reset()
    assert whole(stream, X).shape == (2500, 1)
    dual, error_db = ps.channelizer_dual(taps, 16, 8)
    assert error_db < -90
    frames = whole(ps.Channelizer(16, hop=8, tail=True, device="cpu"), X)
    back = whole(ps.Synthesizer(16, hop=8, taps=dual, delay=len(taps) - 1, device="cpu"), frames)
    assert error(back[: len(X)], X) < 1e-4


def test_latency():
    stream = ps.Spectrum(64, device="cpu")
    assert stream.due_s == float("inf")
    stream.set_max_latency(0.0)
    stream.push(X[:64])
    stream.flush()
    assert stream.pull(wait=True).shape == (1, 64)


def test_errors():
    stream = ps.Filter(TAPS, device="cpu")
    with pytest.raises(ps.ArgumentError, match="2 axes|1 axes"):
        stream.push(X.reshape(2, -1))
    with pytest.raises(ps.ArgumentError, match="out: it overlaps x"):
        stream.run(X, X)
    stream.finish()
    with pytest.raises(ps.StateError):
        stream.push(X)
    with stream:
        pass
    with pytest.raises(ps.StateError, match="the stream was closed"):
        stream.info()


def chains():
    """Streams in a row for X, and the same once more."""
    low = lambda: ps.Filter(TAPS, decimation=4, device="cpu")
    return {
        "filter, spectrum": lambda: [low(), ps.Spectrum(64, average=2, device="cpu")],
        "filter, fft": lambda: [low(), ps.FftStream(50, device="cpu")],
        "three": lambda: [low(), ps.Resampler(0.5), ps.Spectrum(32, hop=16, device="cpu")],
        "banks": lambda: [ps.Channelizer(16, hop=8, device="cpu"), ps.Synthesizer(16, hop=8, device="cpu")],
    }


def flat(stream, x):
    """What `stream` takes of what the one before gave: a vector is its values one behind the other."""
    return x if stream.info()["in_bytes"] == x.itemsize * x[0].size else x.reshape(-1)


@pytest.mark.parametrize("name", chains())
def test_chain(name):
    make = chains()[name]
    expected = X
    for stream in make():
        x = flat(stream, expected)
        if stream.info()["kind"] == "fft":
            x = x[: len(x) // 50 * 50].reshape(-1, 50)
        expected = whole(stream, x)
    for cuts in ([], [1, 2, 500], [7, 15000]):
        with ps.Chain(*make()) as chain:
            for _ in range(2):  # and again from the first item on
                pieces = list(chain.over(numpy.split(X, cuts)))
                assert numpy.array_equal(numpy.concatenate(pieces), expected)
                assert [one["in"] for one in chain.stats()][0] == len(X)
                chain.reset()
    chain = ps.Chain(*make())
    at, pieces = 0, []
    while at < len(X):
        at += chain.push(X[at:])
        pieces.append(chain.pull(7))
    chain.finish()
    pieces.append(chain.pull(wait=True))
    assert numpy.array_equal(numpy.concatenate(pieces), expected)
    assert chain.first is chain.streams[0] and chain.last is chain.streams[-1]


def test_chain_into_frames():
    frame = bytes(range(100))
    frame += ps.wifi_fcs(frame).to_bytes(4, "little")
    burst = numpy.concatenate([numpy.zeros(3000, "complex64"), ps.wifi_modulate(frame, mbps=24),
                               numpy.zeros(3000, "complex64")])
    twice = numpy.repeat(burst, 2)  # the samples before an image filter
    low = ps.taps_measured("low", 0.22, transition=0.05, attenuation_db=60)
    chain = ps.Chain(ps.Filter(low, decimation=2, device="cpu"), ps.WifiReceiver(device="cpu"))
    assert [found.psdu for found in chain.over(numpy.split(twice, [1000, 9000]))] == [frame]
    with pytest.raises(ps.UnsupportedError):
        chain.pull()
    with pytest.raises(ps.UnsupportedError):
        ps.Chain(ps.Resampler(0.5), ps.Resampler(0.5)).pull_frame()


def test_channels_are_linked_one_by_one():
    bank = ps.Channelizer(8, device="cpu")
    found = {channel: ps.Spectrum(32, device="cpu") for channel in (1, 6)}
    for channel, stream in found.items():
        bank.link(stream, channel)
    assert bank.push(X) == len(X)
    bank.finish()
    frames = whole(ps.Channelizer(8, device="cpu"), X)
    for channel, stream in found.items():
        expected = whole(ps.Spectrum(32, device="cpu"), numpy.ascontiguousarray(frames[:, channel]))
        assert numpy.array_equal(stream.pull(wait=True), expected)


def test_what_cannot_be_linked():
    low, spectrum = ps.Filter(TAPS, device="cpu"), ps.Spectrum(64, device="cpu")
    with pytest.raises(ps.ArgumentError):
        ps.Chain(low)
    with pytest.raises(ps.ArgumentError):
        low.link(low)
    with pytest.raises(ps.ArgumentError):
        spectrum.link(low)  # powers are no samples
    with pytest.raises(ps.ArgumentError):
        ps.Channelizer(8, device="cpu").link(ps.Spectrum(64, device="cpu"), channel=8)
    low.link(spectrum)
    with pytest.raises(ps.StateError):
        low.link(ps.Spectrum(64, device="cpu"))
    with pytest.raises(ps.StateError):
        low.pull()
    with pytest.raises(ps.StateError):
        spectrum.push(X)
    closed = ps.Spectrum(64, device="cpu")
    closed.close()
    with pytest.raises(ps.StateError):
        ps.Filter(TAPS, device="cpu").link(closed)
    low.close()  # the other one goes on by itself
    assert len(spectrum(X[:128])) == 2


def test_calls_of_a_chain_come_in_turns():
    """Two threads at one chain: what one pushes and the other one pulls is all, in order."""
    chain = ps.Chain(ps.Filter(TAPS, device="cpu"), ps.FftStream(64, device="cpu"))
    expected = whole(ps.FftStream(64, device="cpu"),
                     whole(ps.Filter(TAPS, device="cpu"), X)[: len(X) // 64 * 64].reshape(-1, 64))
    pieces, done = [], threading.Event()

    def pull():
        while not done.is_set():
            pieces.append(chain.pull(3))

    puller = threading.Thread(target=pull)
    puller.start()
    at = 0
    while at < len(X):
        at += chain.push(X[at : at + 100])
    done.set()
    puller.join()
    chain.finish()
    pieces.append(chain.pull(wait=True))
    assert numpy.array_equal(numpy.concatenate(pieces), expected)
