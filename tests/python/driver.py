# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""The driver for tests: a file's tests once more, in a process of its own whose CUDA it is."""

import os
import pathlib
import subprocess
import sys

import pytest

SHIM = os.environ.get("PENSTOCK_TEST_SHIM", "")
DEVICE = os.environ.get("PENSTOCK_TEST_DEVICE", "cpu")
needs_shim = pytest.mark.skipif(not pathlib.Path(SHIM).is_file(),
                                reason="the driver for tests was not built (PENSTOCK_TEST_SHIM)")
in_outer_process = pytest.mark.skipif(DEVICE != "cpu", reason="runs in the outer process")


def check_on_driver(file, count):
    """So many of the file's tests pass there."""
    environment = dict(os.environ, PENSTOCK_CUDA_LIBRARY=SHIM, PENSTOCK_NVRTC_LIBRARY=SHIM,
                       PENSTOCK_TEST_DEVICE="cuda:0", PENSTOCK_CACHE_DIR="")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", file], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and f"{count} passed" in done.stdout, done.stdout + done.stderr
