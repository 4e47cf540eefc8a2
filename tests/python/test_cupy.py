# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""Arrays of CuPy, PyTorch and JAX as those libraries make them, on a GPU of CUDA: values beside NumPy's in double
precision, in the stream that is current there, with nothing of theirs copied."""

import numpy
import pytest
from driver import DEVICE

import penstock as ps

pytestmark = pytest.mark.skipif(DEVICE != "cpu", reason="on the driver for tests there are no such libraries")

RNG = numpy.random.default_rng(6)
X = (RNG.standard_normal((256, 1024)) + 1j * RNG.standard_normal((256, 1024))).astype(numpy.complex64)
EXPECTED = numpy.fft.fft(X.astype(numpy.complex128))
TAPS = RNG.standard_normal(129).astype(numpy.complex64)


@pytest.fixture(scope="module")
def device():
    found = next((one for one in ps.devices() if one.name.startswith("cuda")), None)
    if not found or not found.present:
        pytest.skip(f"{found.name}: {found.reason}" if found else "built without CUDA")
    return "cuda:0"


class Cupy:
    def __init__(self):
        self.cupy = pytest.importorskip("cupy")
        self.type = self.cupy.ndarray
        self.array, self.numpy = self.cupy.asarray, self.cupy.asnumpy

    def zeros(self, shape, dtype):
        return self.cupy.zeros(shape, dtype)

    def address(self, x):
        return x.data.ptr

    def stream(self):
        return self.cupy.cuda.Stream(non_blocking=True)

    def join(self, parts):
        return self.cupy.concatenate(parts)

    def of_dlpack(self, buffer):
        return self.cupy.from_dlpack(buffer)


class Torch:
    def __init__(self):
        self.torch = pytest.importorskip("torch")
        if not self.torch.cuda.is_available():
            pytest.skip("this PyTorch sees no GPU")
        self.type = self.torch.Tensor

    def array(self, x):
        return self.torch.from_numpy(numpy.ascontiguousarray(x)).cuda()

    def numpy(self, x):
        return x.cpu().numpy()

    def zeros(self, shape, dtype):
        return self.torch.zeros(shape, dtype=getattr(self.torch, dtype), device="cuda:0")

    def address(self, x):
        return x.data_ptr()

    def stream(self):
        return self.torch.cuda.stream(self.torch.cuda.Stream())

    def join(self, parts):
        return self.torch.cat(parts)

    def of_dlpack(self, buffer):
        return self.torch.from_dlpack(buffer)


@pytest.fixture(params=[Cupy, Torch])
def library(request, device):
    return request.param()


def error(found, expected):
    assert found.shape == expected.shape
    return numpy.linalg.norm(found - expected) / numpy.linalg.norm(expected)


def test_plans(library, device):
    plan = ps.FftPlan(1024, device=device)
    x, out = library.array(X), library.zeros(X.shape, "complex64")
    found, at = plan(x), library.address(out)
    assert isinstance(found, library.type) and error(library.numpy(found), EXPECTED) < 1e-6
    assert plan(x, out) is out and library.address(out) == at
    assert numpy.array_equal(library.numpy(out), library.numpy(found)) and numpy.array_equal(library.numpy(x), X)
    assert plan(x, x) is x and numpy.array_equal(library.numpy(x), library.numpy(found))
    with pytest.raises(ps.ArgumentError, match=r"shape \(256, 1000\)|1024"):
        plan(library.zeros((256, 1000), "complex64"), out)
    with pytest.raises(ps.ArgumentError, match="not of complex64"):
        plan(library.zeros(X.shape, "complex128"), out)
    with pytest.raises(ps.ArgumentError, match="do not lie one behind the other"):
        plan(x[::2], out[::2])
    with pytest.raises(ps.ArgumentError, match="on a GPU of CUDA, and the plan on cpu"):
        ps.FftPlan(1024, device="cpu")(x, out)


def test_order_with_the_callers_own_work(library, device):
    """Each step sees what the one before it wrote, in a stream that waits for no other one."""
    forward, back = ps.FftPlan(1024, device=device), ps.FftPlan(1024, reverse=True, device=device)
    for plan in forward, back:
        plan(library.array(X))
    with library.stream():
        x = library.array(X)
        for _ in range(50):
            x = x * 2
            x = back(forward(x)) / 2048
    assert error(library.numpy(x), X) < 1e-5


def test_streams_in_pieces(library, device):
    """A filter and averaged power, as on the CPU."""

    def chain(where, pieces, join):
        lowpass = ps.Filter(TAPS, decimation=4, device=where)
        power = ps.Spectrum(512, window="hann", average=4, device=where)
        rows = [power(lowpass(piece)) for piece in pieces]
        lowpass.finish()
        rows.append(power(lowpass(pieces[0][:0])))
        return join(rows)

    x = X.reshape(-1)
    cuts = [1000, 1002, 70000, 70004, 200000]
    expected = chain("cpu", numpy.split(x, cuts), numpy.concatenate)
    edges = [0, *cuts, len(x)]
    whole = library.array(x)
    found = chain(device, [whole[a:b] for a, b in zip(edges, edges[1:])], library.join)
    assert isinstance(found, library.type) and len(expected) == 32
    assert error(library.numpy(found), expected) < 1e-5
    with pytest.raises(ps.ArgumentError, match="no multiple of 16"):
        ps.Filter(TAPS, device=device)(whole[1001:])


def test_buffers_are_arrays_there(library, device):
    queue, buffer = ps.Queue(device), ps.Buffer(X.shape, device=device)
    buffer.upload(X, queue)
    view = library.of_dlpack(buffer)
    assert library.address(view) == buffer.native and numpy.array_equal(library.numpy(view), X)
    view *= 2
    library.numpy(view)
    assert numpy.array_equal(buffer.download(queue), 2 * X)
    assert error(library.numpy(ps.FftPlan(1024, device=device)(view)), 2 * EXPECTED) < 1e-6


def test_tensors_that_are_more_than_their_memory(device):
    torch = Torch()
    plan, x = ps.FftPlan(1024, device=device), torch.array(X)
    for unfit, remedy in ((x.conj(), "resolve_conj"), (x.clone().requires_grad_(), "detach")):
        with pytest.raises(ps.ArgumentError, match=rf"x\.{remedy}\(\)"):
            plan(unfit)
    assert error(torch.numpy(plan(x.conj().resolve_conj())), numpy.fft.fft(X.conj().astype(complex))) < 1e-6


def test_jax(device):
    """Its arrays are read; they cannot be written, so that results go into another library's."""
    jax = pytest.importorskip("jax")
    try:
        x = jax.device_put(X, jax.devices("cuda")[0])
    except RuntimeError as without:
        pytest.skip(str(without).splitlines()[0])
    out = ps.Buffer(X.shape, device=device)
    plan, queue = ps.FftPlan(1024, device=device), ps.Queue(device)
    x.block_until_ready()
    plan.enqueue(x, out, queue)
    assert error(out.download(queue), EXPECTED) < 1e-6
