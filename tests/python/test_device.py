# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""Samples that stay on the device: buffers, queues, arrays of CUDA's and of DLPack. On the CPU, and in a process of its
own on the driver for tests, which counts copies and launches."""

import ctypes
import gc
import pathlib

import numpy
import pytest
from driver import DEVICE, SHIM, check_on_driver, in_outer_process, needs_shim

import penstock as ps

RNG = numpy.random.default_rng(5)
X = (RNG.standard_normal((8, 64)) + 1j * RNG.standard_normal((8, 64))).astype(numpy.complex64)
EXPECTED = numpy.fft.fft(X)
on_cuda = pytest.mark.skipif(DEVICE == "cpu", reason="runs on the driver for tests, below")


@in_outer_process
@needs_shim
def test_on_the_driver_for_tests():
    check_on_driver(__file__, 9)


def close(found):
    return found.shape == EXPECTED.shape and numpy.abs(found - EXPECTED).max() < 1e-4


def test_buffers_and_queues():
    plan, queue = ps.FftPlan(64, device=DEVICE), ps.Queue(DEVICE)
    a, b = ps.Buffer((8, 64), device=DEVICE), ps.Buffer((8, 64), device=DEVICE)
    assert a.shape == (8, 64) and a.dtype == "complex64" and a.nbytes == 4096 and a.device == DEVICE
    a.upload(X, queue)
    assert plan.enqueue(a, b, queue) is b
    assert close(b.download(queue))
    plan.enqueue(a, a, queue)
    queue.wait()
    assert close(a.download(queue))
    other = ps.Queue(DEVICE)
    other.follow(queue)
    part = b.download(other, numpy.zeros((2, 64), numpy.complex64))
    assert numpy.array_equal(part, b.download(queue)[:2])
    with pytest.raises(ps.ArgumentError, match="out: room for 4 results, not for 8"):
        plan.enqueue(a, ps.Buffer((4, 64), device=DEVICE), queue)
    with pytest.raises(ps.ArgumentError, match="4096 bytes is wanted"):
        a.upload(X[:4], queue)
    b.close()
    with pytest.raises(ps.StateError, match="the buffer was closed"):
        plan.enqueue(a, b, queue)


def test_dlpack_of_a_buffer():
    a, queue = ps.Buffer((8, 64), device=DEVICE), ps.Queue(DEVICE)
    a.upload(X, queue)
    assert a.__dlpack_device__() == ((1, 0) if DEVICE == "cpu" else (2, 0))
    assert "dltensor" in repr(a.__dlpack__())
    if DEVICE == "cpu":
        view = numpy.from_dlpack(a)
        assert view.ctypes.data == a.native and numpy.array_equal(view, X)
        assert close(ps.FftPlan(64, device="cpu")(a))
        with pytest.raises(AttributeError, match="not CUDA's"):
            a.__cuda_array_interface__
        del a
        gc.collect()
        assert numpy.array_equal(view, X)  # the view keeps the memory


class Producer:
    """An array that is known by one interface alone, and what it was asked."""

    def __init__(self, array):
        self._array = array
        self.asked = 0


class Dlpack(Producer):
    def __dlpack__(self, **kwargs):
        self.asked += 1
        return self._array.__dlpack__()

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class Cuda(Producer):
    """On a device, with the stream that it is worked on in: the driver for tests has no default stream."""

    def __init__(self, array, queue):
        super().__init__(array)
        self._stream = queue.native

    @property
    def __cuda_array_interface__(self):
        self.asked += 1
        return {**self._array.__cuda_array_interface__, "stream": self._stream}


class Both(Cuda):
    def __dlpack__(self, **kwargs):
        return self._array.__dlpack__()

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_items_of_streams():
    """Enqueued in pieces; what a stream holds between two of them is on the device."""
    stream, queue = ps.FftStream(64, device=DEVICE), ps.Queue(DEVICE)
    a, b = ps.Buffer((8, 64), device=DEVICE), ps.Buffer((8, 64), device=DEVICE)
    a.upload(X, queue)
    assert stream.results_of(3) == 3 and stream.enqueue(a, b, queue) == 8
    assert close(b.download(queue)) and stream.info()["given"] == 8
    with pytest.raises(ps.StateError, match="are enqueued"):
        stream.push(X)
    with pytest.raises(ps.ArgumentError, match="has .* bytes"):
        stream.enqueue(a, ps.Buffer((64,), device=DEVICE), queue)
    if DEVICE != "cpu":
        shim = ctypes.CDLL(SHIM)
        copies = shim.shim_copies(0)
        assert stream.enqueue(Cuda(a, queue), Cuda(b, queue), queue) == 8
        assert shim.shim_copies(0) == copies
        with pytest.raises(ps.ArgumentError, match="an array on the device is wanted"):
            stream(Cuda(a, queue))
    queue.wait()
    stream.reset()
    stream.push(X)
    stream.flush()
    assert close(stream.pull(8, wait=True))
    if DEVICE == "cpu":
        spectrum = ps.Spectrum(64, hop=24, average=2, device=DEVICE)
        expected = spectrum(X.reshape(-1))
        spectrum.reset()
        at, found = 0, []
        for count in (100, 1, 11, 400):
            part, results = ps.Buffer((count,)), spectrum.results_of(count)
            out = ps.Buffer((max(results, 1), 64), "float32")
            part.upload(X.reshape(-1)[at : at + count], queue)
            assert spectrum.enqueue(part, out, queue) == results
            found.append(out.download(queue)[:results])
            at += count
        assert at == 512 and numpy.array_equal(numpy.concatenate(found), expected)


@pytest.mark.skipif(DEVICE != "cpu", reason="on the CPU")
def test_dlpack_of_others():
    out = numpy.zeros_like(X)
    given, taken = Dlpack(X), Dlpack(out)
    assert ps.FftPlan(64, device="cpu")(given, taken) is taken
    assert close(out) and given.asked == taken.asked == 1


@on_cuda
@pytest.mark.parametrize("kind", [Cuda, Both])
def test_arrays_of_cuda(kind):
    """No copy in either direction, and one launch for each call."""
    shim = ctypes.CDLL(SHIM)
    plan, queue = ps.FftPlan(64, device=DEVICE), ps.Queue(DEVICE)
    a, b = ps.Buffer((8, 64), device=DEVICE), ps.Buffer((8, 64), device=DEVICE)
    a.upload(X, queue)
    plan(kind(a, queue), kind(b, queue))
    copies, launches = shim.shim_copies(0), shim.shim_launches(0)
    for _ in range(10):
        plan(kind(a, queue), kind(b, queue))
    assert shim.shim_copies(0) == copies
    queue.wait()
    assert shim.shim_launches(0) - launches == 10
    assert close(b.download(queue))
    with pytest.raises(ps.ArgumentError, match="out: an array on the device is wanted"):
        plan(kind(a, queue))
    with pytest.raises(ps.ArgumentError, match="on a GPU of CUDA, and the plan on cpu"):
        ps.FftPlan(64, device="cpu")(kind(a, queue), kind(b, queue))
    with pytest.raises(ps.ArgumentError, match="no memory of a GPU|out: it is not on the device"):
        plan(kind(a, queue), numpy.zeros_like(X))
    with pytest.raises(ps.ArgumentError, match="host's memory"):
        ps.Filter([1.0], device="cpu").push(kind(ps.Buffer((64,), device=DEVICE), queue))


@on_cuda
def test_unfit_arrays_of_cuda():
    plan, queue = ps.FftPlan(64, device=DEVICE), ps.Queue(DEVICE)
    a = ps.Buffer((8, 64), device=DEVICE)

    class Fake:
        def __init__(self, **changes):
            self.__cuda_array_interface__ = {**a.__cuda_array_interface__, "stream": queue.native, **changes}

    for changes, words in (
        ({"typestr": "<c16"}, "not of complex64"),
        ({"shape": (8, 32)}, r"shape \(8, 32\)"),
        ({"shape": (4, 64), "strides": (1024, 8)}, "do not lie one behind the other"),
        ({"data": (X.ctypes.data, False)}, "no memory of a GPU"),
    ):
        with pytest.raises(ps.ArgumentError, match=words):
            plan(Fake(**changes), Fake())
    with pytest.raises(ps.ArgumentError, match="can be written"):
        plan(Fake(), Fake(data=(a.native, True)))


@on_cuda
def test_a_stream_of_the_caller_s():
    shim = ctypes.CDLL(SHIM)
    before = shim.shim_live()
    mine = ps.Queue(DEVICE)
    again = ps.Queue(DEVICE, mine.native)
    a, b = ps.Buffer((8, 64), device=DEVICE), ps.Buffer((8, 64), device=DEVICE)
    a.upload(X, mine)
    plan = ps.FftPlan(64, device=DEVICE)
    plan.enqueue(Cuda(a, mine), Cuda(b, mine), again)
    assert close(b.download(mine))
    for thing in (plan, again, a, b, mine):
        thing.close()
    assert shim.shim_live() <= before + 2  # what the device keeps for all


@on_cuda
def test_frames_from_the_host_on_the_device():
    assert close(ps.FftPlan(64, device=DEVICE)(X))
    assert ps.find_device("cuda").name == "cuda:0"


def test_leaks():
    """10,000 rounds of everything that is made and given back leave no memory behind."""

    def resident():
        return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096

    plan, queue = ps.FftPlan(64, device=DEVICE), ps.Queue(DEVICE)
    a, b = ps.Buffer((8, 64), device=DEVICE), ps.Buffer((8, 64), device=DEVICE)
    a.upload(X, queue)
    stream = ps.Filter([1.0, 2.0], device="cpu")

    def rounds(count):
        for _ in range(count):
            plan.enqueue(a, b, queue)
            if DEVICE == "cpu":
                plan(X)
                plan(Dlpack(X))
            else:
                plan(Cuda(a, queue), Cuda(b, queue))
            queue.wait()
            stream(X[0])
            ps.Buffer((64,), device=DEVICE).close()
            try:
                plan(X[:, :3])
            except ps.ArgumentError:
                pass
        gc.collect()

    rounds(1000)
    before = resident()
    rounds(10000)
    assert resident() - before < 1 << 20
