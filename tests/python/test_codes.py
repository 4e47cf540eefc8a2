# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""Codes beside a shift register's parity and a parity-check matrix; frames from the transmitter to the receiver."""

import numpy
import pytest

import penstock as ps

RNG = numpy.random.default_rng(4)


def plain_encode(bits, generators, constraint):
    """Coded bits of a convolutional code, zero-terminated, by the definition."""
    register, coded = 0, []
    for bit in [*bits, *[0] * (constraint - 1)]:
        register = register >> 1 | int(bit) << (constraint - 1)
        coded += [bin(register & generator).count("1") % 2 for generator in generators]
    return numpy.array(coded, numpy.uint8)


def noisy(coded, sigma):
    return numpy.clip(numpy.rint((1 - 2.0 * coded + sigma * RNG.standard_normal(coded.shape)) * 32), -127, 127).astype(
        numpy.int8
    )


@pytest.mark.parametrize("code", ["wifi:1/2", [0o133, 0o171]])
def test_viterbi(code):
    plan = ps.ViterbiPlan(code, 200, result="unpacked", device="cpu")
    bits = RNG.integers(0, 2, (3, 200), numpy.uint8)
    coded = plan.encode(bits)
    assert numpy.array_equal(coded, numpy.stack([plain_encode(row, (0o133, 0o171), 7) for row in bits]))
    assert numpy.array_equal(plan(noisy(coded, 0.4)), bits)
    packed = ps.ViterbiPlan(code, 200, device="cpu")
    assert numpy.array_equal(packed(noisy(coded, 0.4)), numpy.packbits(bits, axis=-1, bitorder="little"))
    assert packed(noisy(coded[0], 0.1)).shape == (25,)


def test_punctured_stream():
    mask = numpy.array([1, 1, 0, 1, 1, 0], bool)
    bits = RNG.integers(0, 2, 6000, numpy.uint8)
    coded = plain_encode(bits, (0o171, 0o133), 7)[:12000]
    sent = noisy(coded.reshape(-1, 6)[:, mask].reshape(-1), 0.2)
    stream = ps.ViterbiStream([0o171, 0o133], puncture="110110", result="unpacked", device="cpu")
    found = numpy.concatenate([stream(sent[:1001]), stream(sent[1001:])])
    stream.finish()
    found = numpy.concatenate([found, stream.pull(wait=True)])
    assert numpy.array_equal(found[:5900], bits[:5900]) and len(found) == 6000


def test_ldpc():
    plan = ps.LdpcPlan("wifi:648:1/2", result="unpacked", iterations=20, stop_early=True, device="cpu")
    bits = RNG.integers(0, 2, (4, 324), numpy.uint8)
    coded = plan.encode(bits)
    assert coded.shape == (4, 648) and numpy.array_equal(coded[:, :324], bits)
    soft = numpy.clip(numpy.rint((1 - 2.0 * coded + 0.6 * RNG.standard_normal(coded.shape)) * 12), -95, 95)
    assert (numpy.sign(soft) != 1 - 2.0 * coded).sum() > 50
    assert numpy.array_equal(plan(soft.astype(numpy.int8)), bits)
    base = numpy.array([[0, 1, 0, -1], [2, 0, 0, 0]])  # two checks of each of 8 shifts
    own = ps.LdpcPlan(base, lifting=8, result="unpacked", device="cpu")
    data = RNG.integers(0, 2, 16, numpy.uint8)
    word = own.encode(data).reshape(4, 8)
    for row in base:
        sums = sum((numpy.roll(word[column], -shift) for column, shift in enumerate(row) if shift >= 0))
        assert not (sums % 2).any()
    with pytest.raises(ps.ArgumentError, match="soft: 'x' is none of"):
        ps.LdpcPlan("wifi:648:1/2", soft="x")


def frame(length):
    body = RNG.integers(0, 256, length, numpy.uint8).tobytes()
    return body + ps.wifi_fcs(body).to_bytes(4, "little")


def test_wifi():
    import zlib

    assert ps.wifi_fcs(b"123456789") == zlib.crc32(b"123456789") and ps.wifi_rate_hz() == 20e6
    sent = [(frame(100), 6), (frame(700), 54), (frame(40), 24)]
    gap = numpy.zeros(2000, numpy.complex64)
    clean = numpy.concatenate([gap]
                              + [part for psdu, mbps in sent for part in (ps.wifi_modulate(psdu, mbps=mbps), gap)])
    channel = ps.Channel(20e6, cfo_hz=30e3, noise_power=1e-3, seed=1)
    samples = numpy.concatenate([channel(clean[:5000]), channel(clean[5000:]), channel.finish()])
    receiver = ps.WifiReceiver(points=True, device="cpu")
    found = list(receiver.over(numpy.array_split(samples, 7)))
    assert [(one.psdu, one.rate_mbps) for one in found] == sent
    for one in found:
        assert one.fcs_ok and one.reason is None and one.format == "legacy"
        assert abs(one.cfo_hz - 30e3) < 500 and 25 < one.snr_db < 35
        assert one.points.size % 48 == 0 and one.channel.shape == (64,)
    assert receiver.counters()["fcs_ok"] == 3
    with pytest.raises(ps.UnsupportedError, match="pull_frame"):
        receiver.pull()
    with pytest.raises(ps.ArgumentError):
        ps.wifi_modulate(b"", mbps=6)


def test_signals():
    a, b = (
        (RNG.standard_normal(n) + 1j * RNG.standard_normal(n)).astype(numpy.complex64) for n in (3000, 200)
    )
    assert numpy.abs(ps.convolve(a, b, "cpu") - numpy.convolve(a, b)).max() < 1e-3
    assert numpy.abs(ps.correlate(a, b, "cpu") - numpy.correlate(a, b, "full")).max() < 1e-3
    k = 0.1 + 1e-4 * numpy.arange(50)
    expected = (a.astype(complex) * numpy.exp(-2j * numpy.pi * k[:, None] * numpy.arange(3000))).sum(-1)
    assert numpy.abs(ps.zoom(a, 50, 0.1, 1e-4, "cpu") - expected).max() < 1e-3


def test_taps():
    def gain(taps, f):
        return numpy.abs(
            (taps.astype(float) * numpy.exp(-2j * numpy.pi * numpy.outer(f, numpy.arange(len(taps))))).sum(-1))

    taps = ps.taps_design(ps.taps_length(0.05, 60), "low", 0.2, attenuation_db=60)
    assert abs(gain(taps, [0.0])[0] - 1) < 1e-6 and abs(gain(taps, [0.2])[0] - 0.5) < 0.01
    taps = ps.taps_measured("band", 0.1, 0.2, transition=0.05, attenuation_db=70)
    assert gain(taps, numpy.r_[numpy.linspace(0, 0.075, 50), numpy.linspace(0.225, 0.5, 100)]).max() < 10**-3.5
    taps, ripple = ps.taps_equiripple(31, "low", [0.15, 0.25])
    error = numpy.abs(gain(taps, numpy.linspace(0, 0.15, 500)) - 1).max()
    assert abs(error - ripple) < 0.01 * ripple and gain(taps, numpy.linspace(0.25, 0.5, 500)).max() < 1.01 * ripple
    taps = ps.taps_root_raised_cosine(65, 4, 0.35)
    pulse = numpy.convolve(taps, taps)
    assert (numpy.abs(pulse[64 % 4 :: 4]).argmax() == 16
            and numpy.abs(numpy.delete(pulse[::4], 16)).max() < 0.01 * pulse.max())
    with pytest.raises(ps.ArgumentError, match="band: 'all'"):
        ps.taps_design(31, "all", 0.1)
