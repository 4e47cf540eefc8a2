#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""What the library tells stands in the log of the block that it is about, under its alias."""

import os
import re
import subprocess
import sys
import unittest

from gnuradio import gr_unittest

# A device that there is not is complained of when a block is made, and again when it needs another filter.
MAKE = """
from gnuradio import penstock
made = [penstock.fft_filter_ccf(1, [1.0], device="prefer:warp") for _ in range(3)]
made.append(penstock.fft_vcc(64, True, "hann", device="prefer:warp"))
made.append(penstock.viterbi_decoder("wifi", 64, device="prefer:warp"))
for block in made[:2]:
    block.set_block_alias("alias_of_" + block.symbol_name())
print("names", *[block.alias() for block in made], flush=True)
for block in made[:3]:
    block.set_taps([0.5] * 40)
"""

# On its way to a device a block speaks from its own thread and, of a driver that fails, from one of the library's.
GO = """
from gnuradio import blocks, gr, penstock
top = gr.top_block()
made = [penstock.fft_vcc(1024, True, "hann", device="prefer:opencl") for _ in range(2)]
for block, alias in zip(made, ("left", "right")):
    block.set_block_alias(alias)
    top.connect(blocks.null_source(8192), blocks.throttle(8192, 2000), block, blocks.null_sink(8192))
top.start()
import time
end = time.monotonic() + 60
while time.monotonic() < end and any(block.device() != "opencl:0" for block in made):
    time.sleep(0.05)
top.stop()
top.wait()
print("devices", *[block.device() for block in made])
"""


def lines_of(script, **environment):
    answer = subprocess.run([sys.executable, "-c", script], env=dict(os.environ, **environment), timeout=300,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if answer.returncode:
        raise AssertionError(answer.stdout)
    return answer.stdout.splitlines()


def teller(line):
    """Whose log a line is in: "fft_vcc0 :warning: ...", or behind a time."""
    return re.search(r"([\w()]+) :\w+:", line)[1]


class QaLog(gr_unittest.TestCase):
    def test_names(self):
        lines = lines_of(MAKE)
        at, names = next((at, line.split()[1:]) for at, line in enumerate(lines) if line.startswith("names"))
        told = [[line for line in part if "warp is preferred, the CPU is used" in line]
                for part in (lines[:at], lines[at:])]
        self.assertEqual([teller(line) for line in told[0]], [name.removeprefix("alias_of_") for name in names])
        self.assertEqual([teller(line) for line in told[1]], names[:3])
        self.assertEqual(len(set(names)), 5)
        self.assertFalse([line for line in lines if teller_or_none(line) == "penstock"], lines)

    def test_threads(self):
        lines = lines_of(GO)
        if "devices opencl:0 opencl:0" not in lines:
            self.skipTest("there is no OpenCL device: " + lines[-1])
        ready = [teller(line) for line in lines if "opencl:0 is ready and goes on" in line]
        serves = [teller(line) for line in lines if "the CPU serves meanwhile" in line]
        self.assertEqual(len(ready), len(serves), lines)
        self.assertTrue(set(ready) <= {"left", "right"}, lines)


def teller_or_none(line):
    found = re.search(r"([\w()]+) :\w+:", line)
    return found and found[1]


if __name__ == "__main__":
    gr_unittest.run(QaLog)
