# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""Tensors of PyTorch's: exported without the detour by Python, and refused where they are more than their memory says.
A module that has torch's names stands in for it, where the true one was not imported: in a process of its own. On the
driver for tests its tensors lie on the device."""

import ctypes
import sys
import types

import numpy
import pytest
from driver import DEVICE, SHIM, check_alone, check_on_driver, in_outer_process, in_own_process, needs_shim

import penstock as ps

X = numpy.exp(2j * numpy.pi * numpy.arange(256) / 8).reshape(4, 64).astype(numpy.complex64)
EXPECTED = numpy.fft.fft(X)


@in_outer_process
def test_in_a_process_of_its_own():
    check_alone(__file__, 5)


@in_outer_process
@needs_shim
def test_on_the_driver_for_tests():
    check_on_driver(__file__, 4)


class TensorBase:
    """What is asked of a tensor, counted in `asked`."""

    def __init__(self, memory, **members):
        self.memory, self.asked, self.requires_grad = memory, [], False
        self.conj = self.neg = False
        self.device = DEVICE
        self.__dict__.update(members)

    def is_conj(self):
        return self.conj

    def is_neg(self):
        return self.neg

    def __dlpack_device__(self):
        return self.memory.__dlpack_device__()

    def __dlpack__(self, **kwargs):
        self.asked.append("__dlpack__")
        return self.memory.__dlpack__()


def to_dlpack(tensor):
    tensor.asked.append("to_dlpack")
    return tensor.memory.__dlpack__()


@pytest.fixture(scope="module")
def torch():
    """One for all tests here: what is looked up in it is kept."""
    made = types.ModuleType("torch")
    made.Tensor = type("Tensor", (TensorBase,), {"__module__": "torch"})
    made.complex64, made.float32 = "complex64", "float32"
    made.asked = []
    made.empty = lambda shape, dtype, device: made.Tensor(buffer(shape, dtype))
    made.utils, made.cuda, made._C = (types.ModuleType(f"torch.{name}") for name in ("utils", "cuda", "_C"))
    made.utils.dlpack = types.ModuleType("torch.utils.dlpack")
    made.utils.dlpack.to_dlpack = to_dlpack
    made.cuda.current_stream = None  # not called where the next one is there
    made.queue = ps.Queue(DEVICE)

    def raw_stream(device):
        made.asked.append(device)
        return made.queue.native

    made._C._cuda_getCurrentRawStream = raw_stream
    names = {"torch": made, "torch.utils": made.utils, "torch.utils.dlpack": made.utils.dlpack, "torch.cuda": made.cuda}
    assert "torch" not in sys.modules
    sys.modules.update(names)
    yield made
    for name in names:
        del sys.modules[name]


def buffer(shape, dtype="complex64"):
    return ps.Buffer(shape, dtype, DEVICE)


def filled(torch):
    made = buffer(X.shape)
    made.upload(X, torch.queue)
    return made


@in_own_process
def test_at_once(torch):
    plan = ps.FftPlan(64, device=DEVICE)
    x, out = torch.Tensor(filled(torch)), torch.Tensor(buffer(X.shape))
    assert plan(x, out) is out
    assert x.asked == ["to_dlpack"] and out.asked == ["to_dlpack"]
    assert numpy.allclose(out.memory.download(torch.queue), EXPECTED, atol=1e-4)
    if DEVICE != "cpu":
        assert torch.asked[-1:] == [0]
        shim = ctypes.CDLL(SHIM)
        before = shim.shim_copies(0), len(torch.asked)
        made = plan(x)
        assert type(made) is torch.Tensor and (shim.shim_copies(0), len(torch.asked)) == (before[0], before[1] + 1)
        assert numpy.allclose(made.memory.download(torch.queue), EXPECTED, atol=1e-4)


@in_own_process
@pytest.mark.parametrize("state, remedy",
                         [("requires_grad", "detach"), ("conj", "resolve_conj"), ("neg", "resolve_neg")])
def test_refused(torch, state, remedy):
    plan = ps.FftPlan(64, device=DEVICE)
    for kind in torch.Tensor, type("Parameter", (torch.Tensor,), {"__module__": "torch.nn.parameter"}):
        x = kind(filled(torch), **{state: True})
        with pytest.raises(ps.ArgumentError, match=rf"x\.{remedy}\(\)"):
            plan(x, torch.Tensor(buffer(X.shape)))
        with pytest.raises(ps.ArgumentError, match=rf"out\.{remedy}\(\)"):
            plan(torch.Tensor(filled(torch)), x)
        assert not x.asked


@in_own_process
@pytest.mark.skipif(DEVICE != "cpu", reason="on the CPU")
def test_subclasses(torch):
    """Other classes may export what they like."""
    kind = type("Masked", (torch.Tensor,), {"__module__": "torch.masked"})
    x, out = kind(filled(torch)), torch.Tensor(buffer(X.shape))
    assert ps.FftPlan(64, device=DEVICE)(x, out) is out
    assert "to_dlpack" not in x.asked and out.asked == ["to_dlpack"]
    assert numpy.allclose(out.memory.download(torch.queue), EXPECTED, atol=1e-4)
