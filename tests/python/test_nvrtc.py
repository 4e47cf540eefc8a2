# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""NVRTC as PyPI ships it: found in the folder nvidia of the packages, with the driver for tests in its place."""

import os
import shutil
import subprocess
import sys

from driver import SHIM, needs_shim

PROGRAM = """\
import os
import penstock as ps
print(os.environ.get("PENSTOCK_NVRTC_LIBRARY", "unset"))
device = next(device for device in ps.devices() if device.name.startswith("cuda"))
print("present" if device.present else device.reason)
if device.present:
    import numpy
    x = numpy.ones((4, 64), numpy.complex64)
    assert (ps.FftPlan(64, device="cuda:0")(x)[:, 0] == 64).all()
    print(ps.FftPlan(64, device="cuda:0").info()["device"])
"""


def run(site, program=PROGRAM, **more):
    environment = {key: value for key, value in os.environ.items() if key != "PENSTOCK_NVRTC_LIBRARY"}
    environment |= {"PENSTOCK_CACHE_DIR": "", "PENSTOCK_CUDA_LIBRARY": SHIM, **more}
    environment["PYTHONPATH"] = os.pathsep.join([str(site), environment.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.split("\n")


def placed(site, *names):
    """Stand-ins as packages install them."""
    made = []
    for name in names:
        made.append(site / "nvidia" / name)
        made[-1].parent.mkdir(parents=True, exist_ok=True)
        if SHIM:
            shutil.copy(SHIM, made[-1])
        else:
            made[-1].write_bytes(b"")
    return made


@needs_shim
def test_used(tmp_path):
    """A plan on CUDA is compiled by it, in the process or in the helper. It is newer than one that is installed."""
    (library,) = placed(tmp_path, "cuda_nvrtc/lib/libnvrtc.so.99")
    assert run(tmp_path)[:3] == [str(library), "present", "cuda:0"]


@needs_shim
def test_said_by_the_user(tmp_path):
    placed(tmp_path, "cuda_nvrtc/lib/libnvrtc.so.12")
    told = run(tmp_path, PENSTOCK_NVRTC_LIBRARY="/none/libnvrtc.so")
    assert told[0] == "/none/libnvrtc.so" and "/none/libnvrtc.so" in told[1]


def found(site):
    return run(site, "from penstock import _nvrtc\nprint(_nvrtc.found())")[0]


def test_newest(tmp_path):
    before = found(tmp_path)
    assert before == "None" or "/nvidia/" in before  # where the tests run with one installed
    twelve, builtins, alt, thirteen = placed(
        tmp_path,
        "cuda_nvrtc/lib/libnvrtc.so.12",
        "cuda_nvrtc/lib/libnvrtc-builtins.so.12.9",
        "cu13/lib/libnvrtc.so.99.alt",
        "cu13/lib/libnvrtc.so.13",
    )
    assert found(tmp_path) == str(thirteen)
    thirteen.unlink()
    assert found(tmp_path) == (str(twelve) if before == "None" else before)


def test_a_package_that_is_none(tmp_path):
    (tmp_path / "nvidia.py").write_text("raise RuntimeError('this is not to be imported')\n")
    assert found(tmp_path) == "None"
