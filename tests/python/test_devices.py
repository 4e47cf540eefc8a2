# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""Contexts, devices, the log and the cache."""

import gc
import threading

import numpy
import pytest

import penstock as ps


def test_devices():
    devices = {device.name: device for device in ps.devices()}
    assert devices["cpu"].present and devices["cpu"].compute_units > 0 and devices["cpu"].product
    for device in devices.values():
        assert device.present == (device.reason is None)
        assert "absent" in repr(device) or device.present
    assert ps.find_device("cpu").name == "cpu"
    with pytest.raises(ps.NoDeviceError):
        ps.find_device("nonsense")


def test_context(tmp_path):
    lines = []
    context = ps.Context(threads=1, cache_dir=str(tmp_path), log=lambda level, line: lines.append((level, line)))
    assert context.cache_info() == {"folder": str(tmp_path), "files": 0, "bytes": 0, "limit_bytes": 64 << 20}
    plan = ps.FftPlan(64, context=context, device="prefer:cuda:77")
    assert plan.device == "cpu"
    assert [level for level, line in lines if "cuda" in line][-1:] == [30], lines
    context.clear_cache()
    del context
    gc.collect()
    assert plan(numpy.ones(64, numpy.complex64))[0] == 64  # the plan keeps its context


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_log_that_raises(tmp_path):
    def log(level, line):
        raise KeyError("of the log")

    context = ps.Context(cache_dir=str(tmp_path), log=log)
    assert ps.FftPlan(64, context=context, device="prefer:cuda:77").device == "cpu"


def test_other_threads_run_cpu_while_compiling():
    """The interpreter's lock is released: a thread of Python's counts while a plan works."""
    plan = ps.FftPlan(1 << 20, device="cpu")
    x = numpy.zeros((8, 1 << 20), numpy.complex64)
    out = numpy.empty_like(x)
    counts, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counts[0] += 1

    plan(x, out)
    thread = threading.Thread(target=count)
    thread.start()
    before = counts[0]
    plan(x, out)
    after = counts[0]
    done.set()
    thread.join()
    assert after - before > 100


def test_threads_share_a_plan():
    """Calls of one plan from several threads come one after the other."""
    plan = ps.FftPlan(256, device="cpu")
    failures = []

    def work(seed):
        x = numpy.random.default_rng(seed).standard_normal((64, 512)).astype(numpy.float32).view(numpy.complex64)
        expected = plan(x)
        for _ in range(200):
            if not numpy.array_equal(plan(x), expected):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
