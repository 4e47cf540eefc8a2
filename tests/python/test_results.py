# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""Memory of large results: what one leaves the next one has, no two that live share any, and little is kept."""

import gc
import random
import threading

import numpy
import pytest

import penstock as ps

KEPT = 256 << 20  # bytes, at most


def plan(n=1024):
    return ps.FftPlan(n, device="cpu")


def ones(frames, n=1024):
    return numpy.ones((frames, n), "complex64")


def address(x):
    return x.ctypes.data


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_what_is_left_is_used_again():
    forward, x = plan(), ones(512)
    found = forward(x)
    at = address(found)
    assert at % 64 == 0 and found.flags.writeable and found.flags.c_contiguous
    view = found[3:]
    del found
    other = forward(x)
    assert address(other) != at  # a view keeps the memory
    assert (view[:, 0] == 1024).all() and not view[:, 1:].any()
    del view
    assert address(forward(x)) == at
    assert address(forward(ones(400))) == at  # smaller, but not by half
    assert address(forward(ones(64))) != at
    assert address(other) != at


def test_none_that_live_share_memory():
    """Nor does one outlive what it was made by in another's memory."""
    forward, live, choose = plan(), [], random.Random(3)
    for number in range(300):
        x = ones(choose.randrange(1, 200))
        x *= number
        live.append((number, forward(x)))
        if len(live) > 20:
            del live[choose.randrange(len(live))]
    del forward
    gc.collect()
    for number, found in live:
        assert (found[:, 0] == 1024 * number).all() and not found[:, 1:].any()
    spans = sorted((address(found), found.nbytes) for _, found in live)
    assert all(at + size <= after for (at, size), (after, _) in zip(spans, spans[1:]))


def test_little_is_kept():
    forward, x = plan(), ones(16384)  # 128 MiB
    before = resident()
    results = [forward(x) for _ in range(6)]
    assert resident() - before > 5 * x.nbytes
    del results
    gc.collect()
    assert resident() - before <= KEPT + (32 << 20)


def test_threads():
    """Results that several threads make and leave at once."""
    failed = []

    def work(value):
        forward, x = plan(256), ones(300, 256) * value
        for _ in range(200):
            if not (forward(x)[:, 0] == 256 * value).all():
                failed.append(value)

    threads = [threading.Thread(target=work, args=(numpy.float32(i),)) for i in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not failed


@pytest.mark.parametrize("make", [lambda: ps.Filter([1.0], device="cpu"), lambda: ps.FftStream(256, device="cpu")])
def test_streams(make):
    stream = make()
    x = numpy.ones((100, 256) if stream.info()["kind"] != "filter" else 25600, "complex64")
    found = [stream(x * value) for value in range(4)]
    assert all((one.reshape(-1)[::256] == scale * value).all()
               for value, one in enumerate(found) for scale in [256 if one.ndim == 2 else 1])
