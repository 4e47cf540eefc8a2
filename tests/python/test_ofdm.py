# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""OFDM demodulators beside NumPy in double precision: the definition of the symbols, and soft bits by trying every
point of the constellation."""

import numpy
import pytest

import penstock as ps

RNG = numpy.random.default_rng(9)
N, GUARD = 128, 20
STEP = N + GUARD
CARRIERS = [k for k in range(-50, 51) if k and k % 13]
PILOTS = [k for k in range(-50, 51) if k and k % 13 == 0]
BITS = {"bpsk": 1, "qpsk": 2, "qam16": 4, "qam64": 6}


def constellation(name):
    """All points, by the number that their bits make, first bit first: Gray-coded levels of I, then of Q."""
    bits = BITS[name]
    if bits == 1:
        return numpy.array([-1, 1], complex)
    half = bits // 2
    levels = numpy.empty(1 << half)
    for i in range(1 << half):
        levels[i ^ i >> 1] = 2 * i - (1 << half) + 1
    points = numpy.array([complex(levels[i >> half], levels[i & (1 << half) - 1]) for i in range(1 << bits)])
    return points / numpy.sqrt((abs(points) ** 2).mean())


def signal(points, channel, cfo=0.0, origin=0, extra=None):
    """Symbols one behind the other from sample 0 on, of carriers' points and of values of other carriers."""
    bins = numpy.zeros((len(points), N), complex)
    bins[:, CARRIERS] = points
    for carriers, values in extra or []:
        bins[:, carriers] = values
    body = numpy.fft.ifft(bins * channel)
    samples = numpy.concatenate([body[:, -GUARD:], body], 1).reshape(-1)
    return samples * numpy.exp(2j * numpy.pi * cfo * (numpy.arange(len(samples)) - origin))


def a_channel():
    path = RNG.standard_normal(5) + 1j * RNG.standard_normal(5)
    return numpy.fft.fft(path * 0.7 ** numpy.arange(5), N)


def soft_bits(y, channel, noise, name, scale):
    """By the definition: the least distance among points with a 1, less that among points with a 0."""
    points, bits = constellation(name), BITS[name]
    distance = abs(y[..., None] - channel[CARRIERS][:, None] * points) ** 2 / noise
    number = numpy.arange(len(points))
    found = [
        distance[..., number >> bits - 1 - bit & 1 == 1].min(-1)
        - distance[..., number >> bits - 1 - bit & 1 == 0].min(-1)
        for bit in range(bits)
    ]
    return numpy.clip(scale * numpy.stack(found, -1), -127, 127)


@pytest.mark.parametrize("name", BITS)
def test_demodulator(name):
    noise, cfo, scale, symbols = 0.02, 0.0013, 0.5, 7
    channel = a_channel()
    sent = constellation(name)[RNG.integers(0, 1 << BITS[name], (symbols, len(CARRIERS)))]
    x = signal(sent, channel, cfo, origin=11)
    x += numpy.sqrt(noise / 2 / N) * (RNG.standard_normal(x.shape) + 1j * RNG.standard_normal(x.shape))
    x = x.astype(numpy.complex64)
    plan = ps.OfdmDemodulator(N, GUARD, CARRIERS, max_constellation=name, device="cpu")
    about = ps.OfdmChannel(channel, noise, name, cfo=cfo, origin=11, llr_scale=scale)
    starts = numpy.arange(symbols)[::-1] * STEP  # in any order
    found = plan(x, about, starts)
    straight = x * numpy.exp(-2j * numpy.pi * cfo * (numpy.arange(len(x)) - 11))
    y = numpy.fft.fft(straight.reshape(-1, STEP)[::-1, GUARD:])[:, CARRIERS]
    points = y / channel[CARRIERS]
    assert found.points.shape == points.shape
    assert numpy.linalg.norm(found.points - points) < 1e-5 * numpy.linalg.norm(points)
    soft = soft_bits(y, channel, noise, name, scale)
    assert found.soft.shape == (symbols, len(CARRIERS), BITS[name])
    assert abs(found.soft - soft).max() <= 0.51 and abs(soft).max() > 20
    alone = plan(x, [about], starts[2], want=["soft"])
    assert alone.points is None and abs(alone.soft[0].astype(int) - found.soft[2]).max() <= 1


def test_pilots_and_frames():
    values = RNG.choice([-1, 1], (3, len(PILOTS)))
    frames = [("qpsk", a_channel(), 0.0), ("qam16", a_channel(), -0.002)]
    pieces, expected = [], []
    for name, channel, cfo in frames:
        points = constellation(name)[RNG.integers(0, 1 << BITS[name], (3, len(CARRIERS)))]
        turn = numpy.exp(1j * numpy.array([0.3, -0.5, 0.9])[:, None])  # a phase for each symbol
        bins = [(PILOTS, values * turn)]
        pieces.append(signal(points * turn, channel, cfo, 0, bins))
        expected.append(points)
    x = numpy.concatenate(pieces).astype(numpy.complex64)
    plan = ps.OfdmDemodulator(N, GUARD, CARRIERS, pilots=PILOTS, pilot_values=values, device="cpu")
    channels = [ps.OfdmChannel(channel, 1e-3, name, cfo=cfo, origin=i * 3 * STEP)
                for i, (name, channel, cfo) in enumerate(frames)]
    found = plan(x, channels, numpy.arange(6) * STEP, frame=[0, 0, 0, 1, 1, 1], pilot_row=[0, 1, 2] * 2,
                 want=("points", "soft", "pilots", "phase", "slope"))
    assert numpy.allclose(found.points, numpy.concatenate(expected), atol=2e-5)
    assert numpy.allclose(found.phase, [0.3, -0.5, 0.9] * 2, atol=1e-5) and numpy.allclose(found.slope, 0, atol=1e-6)
    assert found.pilots.shape == (6, len(PILOTS)) and found.soft.shape == (6, len(CARRIERS), 6)
    assert not found.soft[:3, :, 2:].any() and found.soft[3:, :, :4].all() and not found.soft[3:, :, 4:].any()


def received(stream, x, piece):
    frames = []
    for start in range(0, len(x), piece):
        stream.push(x[start : start + piece])
        while (frame := stream.pull_frame()) is not None:
            frames.append(frame)
    return frames


def test_stream():
    """Frames with training, through channels of their own; any split of the samples gives the same bits."""
    training = numpy.zeros(N, complex)
    training[[*CARRIERS, *PILOTS]] = RNG.choice([-1, 1], len(CARRIERS) + len(PILOTS))
    points = constellation("qam16")
    parts, sent, at = [RNG.standard_normal(300) * 1e-3], [], []
    for symbols, cfo in (4, 0.001), (1, 0.0), (9, -0.003):
        channel = a_channel()
        sent.append((points[RNG.integers(0, 16, (symbols, len(CARRIERS)))], channel, cfo))
        at.append(sum(map(len, parts)))
        all_points = numpy.concatenate([training[CARRIERS][None], sent[-1][0]])
        rest = numpy.zeros((symbols + 1, len(PILOTS)))
        rest[0] = training[PILOTS].real
        parts += [signal(all_points, channel, cfo, 0, [(PILOTS, rest)]), RNG.standard_normal(77) * 1e-3]
    x = numpy.concatenate(parts).astype(numpy.complex64)
    found = []
    for piece in len(x), 61:
        with ps.OfdmStream(N, GUARD, CARRIERS, training=training, constellation="qam16", device="cpu") as stream:
            for start, (data, _, cfo) in zip(at, sent):
                stream.frame(start, len(data), cfo)
            found.append(received(stream, x, piece))
            assert stream.counters()["frames"] == 3 and stream.counters()["symbols"] == 14
            assert stream.info()["kind"] == "ofdm"
    for whole, (data, channel, _), start, split in zip(found[0], sent, at, found[1]):
        assert whole.sample == start and numpy.allclose(whole.points, data, atol=2e-4)
        assert numpy.allclose(whole.channel[CARRIERS], channel[CARRIERS], atol=1e-4 * abs(channel).max())
        number = abs(data[..., None] - points).argmin(-1)[..., None]
        soft = whole.soft * (1 - 2 * (number >> [3, 2, 1, 0] & 1))  # what a faded carrier has may be 0
        assert soft.min() >= 0 and (soft > 0).mean() > 0.9
        for member in "points", "soft", "channel":
            assert numpy.array_equal(getattr(whole, member), getattr(split, member))
    assert len(found[0]) == len(found[1]) == 3


def test_continuous():
    points = constellation("qpsk")[RNG.integers(0, 4, (50, len(CARRIERS)))]
    x = signal(points, numpy.ones(N)).astype(numpy.complex64)
    stream = ps.OfdmStream(N, GUARD, CARRIERS, continuous=True, device="cpu")
    frames = list(stream.over([x[:1000], x[1000:]]))
    assert [frame.sample for frame in frames][0] == 0
    assert numpy.allclose(numpy.concatenate([frame.points for frame in frames]), points, atol=1e-5)
    with pytest.raises(ps.UnsupportedError, match="frames, which pull_frame"):
        stream.pull()


def test_refused():
    with pytest.raises(ps.ArgumentError, match="carrier"):
        ps.OfdmDemodulator(64, 16, [40])
    with pytest.raises(ps.ArgumentError, match="pilot_values: 3 values for 2 pilots"):
        ps.OfdmDemodulator(64, 16, [1], pilots=[2, 3], pilot_values=[1, 1, 1])
    with pytest.raises(ps.ArgumentError, match="'psk' is none of"):
        ps.OfdmStream(64, 16, [1], constellation="psk")
    with pytest.raises(ps.ArgumentError, match="training: 3 values, not 64"):
        ps.OfdmStream(64, 16, [1], training=[1, 1, 1])
    plan = ps.OfdmDemodulator(64, 16, [1, 2], device="cpu")
    x = numpy.zeros(160, numpy.complex64)
    with pytest.raises(ps.ArgumentError, match="values, not 64"):
        plan(x, ps.OfdmChannel([1.0]), 0)
    with pytest.raises(ps.ArgumentError, match="none of"):
        plan(x, ps.OfdmChannel(numpy.ones(64)), 0, want=["bits"])
    with pytest.raises(ps.ArgumentError):
        plan(x, ps.OfdmChannel(numpy.ones(64)), 100)  # its end is not there
    assert plan(x, ps.OfdmChannel(numpy.ones(64)), []).soft.shape == (0, 2, 6)
    queue = ps.Queue("cpu")
    with pytest.raises(ps.UnsupportedError):
        plan.enqueue(ps.Buffer([160]), ps.Buffer([24], "int8"), 2, queue, ps.OfdmChannel(numpy.ones(64)))
    plan.close()
    with pytest.raises(ps.StateError, match="the demodulator was closed"):
        plan(x, ps.OfdmChannel(numpy.ones(64)), 0)
