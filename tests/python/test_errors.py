# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""Errors are exceptions with the library's text and status, and unfit arrays are errors in words."""

import re

import numpy
import pytest

import penstock as ps


def test_each_status_has_a_class():
    statuses = {-1: ValueError, -2: MemoryError, -7: OSError, -8: ValueError, -10: TimeoutError, -11: RuntimeError}
    for status in range(-1, -12, -1):
        kind = ps.errors.of_status(status)
        assert kind is not ps.Error and issubclass(kind, ps.Error) and kind.code == status
        assert issubclass(kind, statuses.get(status, ps.Error))
    assert ps.errors.of_status(-99) is ps.Error


def test_the_library_s_text():
    with pytest.raises(ps.NoDeviceError, match="no device 'nonsense'") as caught:
        ps.FftPlan(64, device="nonsense")
    assert caught.value.code == -3
    with pytest.raises(ps.ArgumentError):
        ps.FftPlan(0)
    with pytest.raises(ps.ArgumentError, match="'round' is none of"):
        ps.FftPlan(64, output="round")


@pytest.fixture(scope="module")
def plan():
    return ps.FftPlan(64, device="cpu")


X = numpy.zeros((4, 64), numpy.complex64)


@pytest.mark.parametrize(
    "x, words",
    [
        (X.astype(complex), "x: an array of complex128, not of complex64; x.astype(numpy.complex64)"),
        (X.real.copy(), "x: an array of float32, not of complex64; x.astype(numpy.complex64)"),
        (numpy.zeros((64, 2), numpy.int16), "x: an array of int16, not of complex64; format=\"cs16\" takes such pairs"),
        (numpy.zeros(64, numpy.int16), "x: an array of int16, not of complex64; x.astype(numpy.complex64)"),
        (X[:, :32].copy(), "x: an array of shape (4, 32), not (..., 64)"),
        (numpy.complex64(1), "x: an array of shape (), not (..., 64)"),
        (numpy.zeros((4, 128), numpy.complex64)[:, ::2], "x: its values do not lie one behind the other"),
        (numpy.asfortranarray(numpy.ones((4, 64), numpy.complex64)), "numpy.ascontiguousarray(x)"),
        ([0] * 64, "x: no array, but list"),
        ('x', "x: no array, but str"),
    ],
)
def test_unfit_inputs(plan, x, words):
    with pytest.raises(ps.ArgumentError, match=re.escape(words)):
        plan(x)


def test_complex_numbers_for_a_plan_of_pairs():
    with pytest.raises(ps.ArgumentError, match=re.escape('not of int16; format="cf32" takes complex64')):
        ps.FftPlan(64, format="cs16", device="cpu")(X)


def test_unfit_outputs(plan):
    read_only = numpy.zeros((4, 64), numpy.complex64)
    read_only.flags.writeable = False
    both = numpy.zeros((5, 64), numpy.complex64)
    for out, words in (
        (read_only, "out: no array that can be written"),
        (numpy.zeros((3, 64), numpy.complex64), "out: room for 3 results, not for 4"),
        (numpy.zeros((4, 64), numpy.float32), "out: an array of float32"),
    ):
        with pytest.raises(ps.ArgumentError, match=words):
            plan(X, out)
    with pytest.raises(ps.ArgumentError, match="out: it overlaps x, and is not x itself"):
        plan(both[:4], both[1:])
    plan(both[:4], both[:4])
    assert plan(read_only).shape == (4, 64)


def test_closed():
    plan = ps.FftPlan(64, device="cpu")
    with plan as entered:
        assert entered is plan
    with pytest.raises(ps.StateError, match="the plan was closed"):
        plan(X)
    plan.close()
