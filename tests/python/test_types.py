# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""The package and its stubs by mypy --strict, and what it makes of programs that use them well and badly."""

import inspect
import pathlib
import subprocess
import sys

import pytest

import penstock as ps

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = """\
import numpy
import numpy.typing
import penstock as ps
from typing_extensions import assert_type

samples = numpy.zeros(4096, numpy.complex64)
with ps.Filter([0.5, 0.5], decimation=2, device="cpu") as low:
    assert_type(low, ps.Filter)
    assert_type(low.push(samples), int)
    assert_type(low.device, str)
    for block in low.over([samples]):
        print(block.shape)
receiver = ps.WifiReceiver()
frame = receiver.pull_frame()
assert_type(frame, ps.frames.WifiFrame | None)
if frame is not None:
    assert_type(frame.psdu, bytes | None)
assert_type(ps.devices()[0].reason, str | None)
assert_type(ps.window("hann", 16), numpy.typing.NDArray[numpy.float32])
"""
WRONG = {
    'ps.FftPlan("many")': "arg-type",
    "ps.FftPlan(16).__call__(3)": "arg-type",
    "ps.FftPlan(16, windov='hann')": "call-arg",
    "ps.Filter([1.0]).pul()": "attr-defined",
    "x: int = ps.Filter([1.0]).device": "assignment",
}


def mypy(*arguments, cwd):
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-version", "3.10", *arguments], capture_output=True,
        text=True, cwd=cwd
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path):
    """Where mypy finds the package, in its current folder: it does not look into PYTHONPATH."""
    pytest.importorskip("mypy")
    (tmp_path / "penstock").symlink_to(pathlib.Path(ps.__file__).parent)
    return tmp_path


def test_package(folder):
    status, said = mypy("--config-file", str(ROOT / "pyproject.toml"), "-p", "penstock", cwd=folder)
    assert status == 0, said


def test_users(folder):
    users = ["--follow-imports=silent", "program.py"]  # as for what is installed: what is wrong in it is not told
    (folder / "program.py").write_text(PROGRAM)
    status, said = mypy(*users, cwd=folder)
    assert status == 0, said
    for line, error in WRONG.items():
        (folder / "program.py").write_text(f"import penstock as ps\n{line}\n")
        status, said = mypy(*users, cwd=folder)
        assert status == 1 and f"[{error}]" in said and "program.py:2:" in said, line + "\n" + said


def test_all_is_described():
    """Whatever is public says what it does."""
    for name in ps.__all__:
        public = getattr(ps, name)
        assert inspect.getdoc(public), name
        if inspect.isclass(public) and not issubclass(public, Exception):
            for member, value in vars(public).items():
                if not member.startswith("_"):
                    assert inspect.getdoc(value), f"{name}.{member}"
