#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""Every block on machines without an OpenCL driver, or with one that crashes: the CPU with one log line, or an exception."""

import inspect
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from gnuradio import gr_unittest, penstock

CRASHING_DRIVER = os.environ.get("PENSTOCK_TEST_CRASH_DRIVER", "")

# Values of the parameters that have no default, by their names.
VALUES = dict(cp_len=16, decimation=1, fft_len=64, fft_size=64, forward=True, numchans=8, occupied_carriers=[[-2, -1, 1, 2]], taps=[1.0], window=[])

BLOCKS = sorted(name for name, kind in vars(penstock).items() if inspect.isclass(kind) and hasattr(kind, "device"))
DEVICES = ("auto", "prefer:opencl", "prefer:warp", "opencl", "opencl:0", "warp", "cpu")


def arguments(name):
    """The keyword arguments that the block cannot be made without: "self: block, fft_size: int, shift: bool = False"."""
    signature = re.search(r"__init__\(self: [\w.]+(.*)\)", getattr(penstock, name).__init__.__doc__)[1]
    return {key: VALUES[key] for key, default in re.findall(r", (\w+): [^=,]+(=?)", signature) if not default}


# Makes each block on each device, and says what came of it; the log's lines go to standard output too.
MAKE = """
import json, sys
from gnuradio import penstock
for name, arguments in json.loads(sys.argv[1]).items():
    for device in sys.argv[2:]:
        try:
            print(name, device, "made on", getattr(penstock, name)(device=device, **arguments).device(), flush=True)
        except RuntimeError as error:
            print(name, device, "exception:", error, flush=True)
"""


@unittest.skipUnless(CRASHING_DRIVER, "this build has no OpenCL")
class QaDevices(gr_unittest.TestCase):
    def make_all(self, vendors):
        """What a process of its own says; nothing may end it."""
        with tempfile.TemporaryDirectory() as cache:
            environment = dict(os.environ, OCL_ICD_VENDORS=str(vendors), PENSTOCK_CACHE_DIR=cache,
                               PENSTOCK_CUDA_LIBRARY="/none/libcuda.so.1")
            blocks = {name: arguments(name) for name in BLOCKS}
            answer = subprocess.run([sys.executable, "-c", MAKE, json.dumps(blocks), *DEVICES], env=environment,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1200)
        self.assertEqual(answer.returncode, 0, answer.stdout)
        return answer.stdout.splitlines()

    def check_machine(self, vendors, reason):
        lines = self.make_all(vendors)
        self.assertGreater(len(BLOCKS), 2)
        answers = [line for line in lines if line.split()[0] in BLOCKS]
        log = [line for line in lines if line not in answers]
        self.assertEqual(len(answers), len(BLOCKS) * len(DEVICES), lines)
        for name in BLOCKS:
            of = {line.split()[1]: line.split(maxsplit=2)[2] for line in answers if line.split()[0] == name}
            with self.subTest(name):
                for device in ("auto", "prefer:opencl", "prefer:warp", "cpu"):
                    self.assertEqual(of[device], "made on cpu", device)
                for device in ("opencl", "opencl:0"):
                    self.assertRegex(of[device], f"^exception: no device '{device}'.*({reason})")
                self.assertRegex(of["warp"], "^exception: no device 'warp'; there are: cpu")
        for cause in ("auto has cpu alone.*; opencl: .*" + reason, "opencl is preferred, the CPU is used: .*" + reason,
                      "warp is preferred, the CPU is used: no device 'warp'"):
            self.assertEqual(sum(re.search(cause, line) is not None for line in log), len(BLOCKS), (cause, log))
        self.assertEqual(len(log), 3 * len(BLOCKS), log)

    def test_no_driver(self):
        with tempfile.TemporaryDirectory() as vendors:
            self.check_machine(vendors, "(no driver|not found)")

    def test_driver_that_crashes(self):
        with tempfile.TemporaryDirectory() as vendors:
            (pathlib.Path(vendors) / "crash.icd").write_text(CRASHING_DRIVER + "\n")
            self.check_machine(vendors, r"the driver crashed while it was probed \(signal 11\)")


if __name__ == "__main__":
    gr_unittest.run(QaDevices)
