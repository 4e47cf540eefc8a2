# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""A file's tests in a process of its own, and once more in one whose CUDA is the driver for tests."""

import os
import pathlib
import subprocess
import sys

import pytest

SHIM = os.environ.get("PENSTOCK_TEST_SHIM", "")
DEVICE = os.environ.get("PENSTOCK_TEST_DEVICE", "cpu")
needs_shim = pytest.mark.skipif(not pathlib.Path(SHIM).is_file(),
                                reason="the driver for tests was not built (PENSTOCK_TEST_SHIM)")
ALONE = "PENSTOCK_TEST_ALONE" in os.environ
in_outer_process = pytest.mark.skipif(ALONE, reason="runs in the outer process")
in_own_process = pytest.mark.skipif(not ALONE, reason="runs in a process of its own")


def check_alone(file, count, **environment):
    """So many of the file's tests pass there."""
    environment = dict(os.environ, PENSTOCK_TEST_ALONE="1", **environment)
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", file], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and f"{count} passed" in done.stdout, done.stdout + done.stderr


def check_on_driver(file, count):
    check_alone(file, count, PENSTOCK_CUDA_LIBRARY=SHIM, PENSTOCK_NVRTC_LIBRARY=SHIM, PENSTOCK_TEST_DEVICE="cuda:0",
                PENSTOCK_CACHE_DIR="")
