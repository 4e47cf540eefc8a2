#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""Every block on machines without an OpenCL driver, or with one that crashes:
the CPU with one log line, or an exception."""

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
OPENCL_SHIM = os.environ.get("PENSTOCK_TEST_OPENCL_SHIM", "")  # breaks the driver that is there when a device is used

# What is wrong with a driver that lists its devices, and why these are then not offered.
FAULTS = {
    "build-crash": r"the driver crashed while it compiled a first kernel \(signal 11\)",
    "build-exit": r"the driver ended the process that probed it \(exit code 127\), while it compiled a first kernel",
    "run-wrong": r"the driver fails with a first kernel: value 0 of a first kernel is 64, it should be ",
}
SLOW_FAULTS = {
    "context-crash": r"the driver crashed while it made a context \(signal 11\)",
    "build-error": r"the driver fails with a first kernel: clBuildProgram: CL_BUILD_PROGRAM_FAILURE: "
                   r"trial.cl:9: error: ",
    "build-hang": r"the driver did not answer within 20 s while it compiled a first kernel",
    "run-crash": r"the driver crashed while it ran a first kernel \(signal 11\)",
    "wait-crash": r"the driver crashed while it ran a first kernel \(signal 11\)",
}

# Values of the parameters that have no default, by their names.
VALUES = dict(average=True, avg_alpha=0.5, center_freq=0.0, cp_len=16, decimation=1, fft_len=64, fft_size=64,
              forward=True, interpolation=2, numchans=8, frame_rate=30.0, ref_scale=2.0, sample_rate=64000.0,
              occupied_carriers=[[-2, -1, 1, 2]], rate=1.5, sampling_freq=1.0, taps=[1.0], window=[])

BLOCKS = sorted(name for name, kind in vars(penstock).items() if inspect.isclass(kind) and hasattr(kind, "device"))
DEVICES = ("auto", "prefer:opencl", "prefer:warp", "opencl", "opencl:0", "warp", "cpu")


def arguments(name):
    """The keyword arguments that the block cannot be made without:
    "self: block, fft_size: int, shift: bool = False"."""
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
    def make_all(self, machine, names):
        """What a process of its own says; nothing may end it."""
        with tempfile.TemporaryDirectory() as cache:
            environment = dict(os.environ, PENSTOCK_CACHE_DIR=cache, PENSTOCK_CUDA_LIBRARY="/none/libcuda.so.1",
                               **machine)
            blocks = {name: arguments(name) for name in names}
            answer = subprocess.run([sys.executable, "-c", MAKE, json.dumps(blocks), *DEVICES], env=environment,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1200)
        self.assertEqual(answer.returncode, 0, answer.stdout)
        return answer.stdout.splitlines()

    def check_machine(self, reason, names=BLOCKS, **machine):
        lines = self.make_all(machine, names)
        self.assertGreater(len(BLOCKS), 2)
        answers = [line for line in lines if line.split()[0] in BLOCKS]
        log = [line for line in lines if line not in answers]
        self.assertEqual(len(answers), len(names) * len(DEVICES), lines)
        for name in names:
            of = {line.split()[1]: line.split(maxsplit=2)[2] for line in answers if line.split()[0] == name}
            with self.subTest(name):
                for device in ("auto", "prefer:opencl", "prefer:warp", "cpu"):
                    self.assertEqual(of[device], "made on cpu", device)
                for device in ("opencl", "opencl:0"):
                    self.assertRegex(of[device], f"^exception: no device '{device}'.*({reason})")
                self.assertRegex(of["warp"], "^exception: no device 'warp'; there are: cpu")
        # The CPU serves at once where a driver has not answered; who ends before that is told nothing.
        log = [line for line in log if "auto is being made ready, the CPU serves meanwhile" not in line]
        auto = sum(re.search("auto has cpu alone.*; opencl(:0)?: .*" + reason, line) is not None for line in log)
        self.assertLessEqual(auto, len(names), log)
        for cause in ("opencl is preferred, the CPU is used: .*" + reason,
                      "warp is preferred, the CPU is used: no device 'warp'"):
            self.assertEqual(sum(re.search(cause, line) is not None for line in log), len(names), (cause, log))
        self.assertEqual(len(log), 2 * len(names) + auto, log)

    def test_no_driver(self):
        with tempfile.TemporaryDirectory() as vendors:
            self.check_machine("(no driver|not found)", OCL_ICD_VENDORS=vendors)

    def test_driver_that_crashes(self):
        with tempfile.TemporaryDirectory() as vendors:
            (pathlib.Path(vendors) / "crash.icd").write_text(CRASHING_DRIVER + "\n")
            self.check_machine(r"the driver crashed while it was probed \(signal 11\)", OCL_ICD_VENDORS=vendors)

    def test_driver_that_crashes_later(self):
        """In the compiler, in its first kernel, or with wrong values."""
        healthy = self.make_all({}, ["fft_vcc"])
        if "fft_vcc opencl made on opencl:0" not in healthy or not OPENCL_SHIM:
            self.skipTest(f"no OpenCL device on this machine that could be broken: {healthy}")
        faults = dict(FAULTS, **SLOW_FAULTS) if os.environ.get("PENSTOCK_TEST_FULL") else FAULTS
        for fault, reason in faults.items():
            with self.subTest(fault):
                self.check_machine(reason, BLOCKS if fault == "build-crash" else ["fft_vcc"],
                                   PENSTOCK_OPENCL_LIBRARY=OPENCL_SHIM, PENSTOCK_SHIM_FAULT=fault)


if __name__ == "__main__":
    gr_unittest.run(QaDevices)
