#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""What type checkers read of the module: the names and parameters that it has, accepted and refused by mypy."""

import ast
import importlib.util
import inspect
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from gnuradio import gr_unittest, penstock
from gnuradio.penstock import penstock_python as module

FOLDER = pathlib.Path(module.__file__).parent
GOOD = """
import numpy
from gnuradio import penstock

fft = penstock.fft_vcc(1024, True, "hann", device="cpu")
fft = penstock.fft_vcc(1024, True, [1.0] * 1024, shift=True, nthreads=2)
filter_ = penstock.fft_filter_ccf(4, numpy.ones(33, numpy.float32), center_freq=1e5, sampling_freq=1e6)
at: int = filter_.set_taps([1, 2, 3], sample=1000)
rate: float = filter_.stats()["in_rate_hz"]
name: str = filter_.device()
filter_.declare_sample_delay(16)
filter_.set_block_alias("left")
taps: list[float] = filter_.taps()
bank = penstock.channelizer_cc(8)
bank.set_channel_map([0, 1])
bank.set_taps(penstock.window("hann", 64))
receiver = penstock.wifi_receiver("wifi", max_latency_ms=1.0)
demod = penstock.ofdm_demod_cvc(64, 16, [[-2, -1, 1, 2]], pilot_carriers=[[-3, 3]], pilot_symbols=[[1, -1]])
decimator = penstock.pfb.decimator_ccf(4, [1.0] * 32, device="cpu")
"""
BAD = {  # line, and what mypy says of it
    'penstock.fft_vcc("1024", True, "hann")': "incompatible type",
    "penstock.fft_vcc(1024, True)": "Missing positional argument",
    'penstock.fft_filter_ccf(1, ["a"])': "incompatible type",
    "penstock.fft_filter_ccf(1, [1.0], centre_freq=3)": "Unexpected keyword argument",
    "penstock.fft_filter_fff(1, [1.0]).set_tap([2.0])": "has no attribute",
    "text: str = penstock.fft_filter_ccc(1, [1j]).center_freq()": "Incompatible types in assignment",
    "penstock.fft_filter": "has no attribute",
}


def signature(node):
    """Names of parameters, those with a default marked."""
    names = [argument.arg for argument in node.args.args]
    count = len(names) - len(node.args.defaults)
    return [name + "=" * (at >= count) for at, name in enumerate(names)]


def told(name, value):
    """The same by the module's own text."""
    text = re.search(r"\((.*)\) -> ", value.__doc__.splitlines()[0])[1]
    return [name + "=" * bool(default)
            for name, default in re.findall(r"(?:^|, )(\w+): [\w.\[\], |]*?( =|(?=, \w+:|$))", text)]


class QaStubs(gr_unittest.TestCase):
    def test_names(self):
        tree = ast.parse((FOLDER / "penstock_python.pyi").read_text())
        classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        here = {name: value for name, value in vars(module).items() if not name.startswith("_")
                and not inspect.ismodule(value)}
        self.assertEqual(set(classes) - {"_block"} | functions, set(here))
        checked = 0
        for name, value in here.items():
            if not inspect.isclass(value) or hasattr(value, "__members__"):
                continue
            methods = {node.name: node for node in classes[name].body if isinstance(node, ast.FunctionDef)}
            own = {key for key in vars(value) if key == "__init__" or not key.startswith("_")}
            self.assertEqual(set(methods), own, name)
            for key, node in methods.items():
                self.assertEqual(signature(node), told(key, getattr(value, key)), f"{name}.{key}")
                checked += 1
        self.assertGreater(checked, 150)
        inherited = {node.name for node in classes["_block"].body}
        self.assertTrue({"set_block_alias", "declare_sample_delay", "set_min_output_buffer", "alias"} <= inherited)

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "no mypy for this Python")
    def test_mypy(self):
        with tempfile.TemporaryDirectory() as folder:
            def errors(text):
                path = pathlib.Path(folder, "sample.py")
                path.write_text(text)
                answer = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", folder + "/cache",
                                         "--ignore-missing-imports", str(path)],
                                        env=dict(os.environ, MYPYPATH=str(FOLDER.parents[1])), cwd=folder,
                                        capture_output=True, text=True, timeout=600)
                return [line for line in answer.stdout.splitlines() if ": error:" in line]

            self.assertEqual(errors(GOOD), [])
            lines = errors("from gnuradio import penstock\n" + "\n".join(BAD) + "\n")
            self.assertEqual(len(lines), len(BAD), lines)
            for number, (line, (text, expected)) in enumerate(zip(lines, BAD.items()), 2):
                self.assertIn(f"sample.py:{number}: ", line)
                self.assertIn(expected, line, text)


if __name__ == "__main__":
    gr_unittest.run(QaStubs)
