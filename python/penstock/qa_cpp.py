#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""GNU Radio Companion's output in C++: a flowgraph with every block that can be in one compiles, and its files are
those of the same flowgraph in Python."""

import glob
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy
import yaml
from gnuradio import gr_unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = os.environ.get("PENSTOCK_TEST_CPP_PACKAGE", "")  # folder of gnuradio-penstockConfig.cmake
CMAKE = os.environ.get("PENSTOCK_TEST_CMAKE", "cmake")
SAMPLES = 20000
TAPS = "[0.1, 0.2, 0.4, 0.2, 0.1]"
COMPLEX_TAPS = "[0.1, 0.2j, 0.4+0.1j, -0.2]"

# Name, parameters, what feeds it ("samples", "reals" or a block's name), and the item and number of its outputs.
BLOCKS = [
    ("fft_filter_xxx", dict(type="ccf", decim="3", taps=TAPS, center_freq="rate / 10", samp_rate="rate"), "samples",
     "complex", 1),
    ("freq_xlating_fir_filter_xxx", dict(type="ccc", decim="2", taps=COMPLEX_TAPS, center_freq="1e5", samp_rate="rate"),
     "samples", "complex", 1),
    ("fft_vxx", dict(fft_size="64", window="'hann'", shift="True"), "vectors", "complex*64", 1),
    ("spectrum_cvf", dict(fft_size="128", window="[1.0] * 128", average="4"), "samples", "float*128", 1),
    ("channelizer_cc", dict(nchans="4", ch_map="[2, 0]"), "samples", "complex", 2),
    ("pfb_synthesizer_ccf", dict(numchans="4", connections="1", ch_map="[3]", taps=TAPS, twox="True"), "samples",
     "complex", 1),
    ("logpwrfft_x", dict(fft_size="64", sample_rate="rate", frame_rate="5000", average="True", avg_alpha="0.5"),
     "samples", "float*64", 1),
    ("pfb_arb_resampler_xxx", dict(rrate="0.77"), "samples", "complex", 1),
    ("rational_resampler_xxx", dict(type="ccf", interp="3", decim="2"), "samples", "complex", 1),
    ("ofdm_demod_cx", dict(type="cvc", trigger_tag_name=""), "samples", "complex*8", 1),
    ("viterbi_decoder", dict(code="dvb:3/4", bits="0"), "reals", "byte", 1),
    ("ldpc_decoder", dict(code="wifi:648:1/2"), "reals", "byte", 1),
    ("wifi_receiver", dict(), "samples", "complex", 1),
    ("wifi_transmitter", dict(), None, "complex", 1),
]


def flowgraph(language, folder):
    """As Companion writes it."""
    made, connections = [], []

    def add(name, key, **parameters):
        made.append(dict(name=name, id=key, parameters=parameters,
                         states=dict(coordinate=[8, 8 * len(made)], rotation=0, state="enabled")))

    add("rate", "variable", value="1e6")
    add("noise", "analog_noise_source_x", type="complex", noise_type="analog.GR_GAUSSIAN", amp="1", seed="42")
    add("samples", "blocks_head", type="complex", num_items=str(SAMPLES))
    add("vectors", "blocks_stream_to_vector", type="complex", num_items="64")
    add("reals", "blocks_complex_to_real")
    connections += [["wifi_receiver", "pdus", "wifi_transmitter", "pdus"], ["noise", "0", "samples", "0"],
                    ["samples", "0", "vectors", "0"], ["samples", "0", "reals", "0"]]
    for name, parameters, before, item, outputs in BLOCKS:
        add(name, "penstock_" + name, **dict(parameters, **({} if name == "wifi_transmitter" else {"device": "cpu"})))
        if before:
            connections.append([before, "0", name, "0"])
        kind, _, vlen = item.partition("*")
        for port in range(outputs):
            sink = f"{name}_{port}"
            add(sink, "blocks_file_sink", type=kind, vlen=vlen or "1", file=f"{folder}/{sink}", unbuffered="False")
            connections.append([name, str(port), sink, "0"])
    options = dict(id="every_block", output_language=language, generate_options="no_gui", run_options="run",
                   gen_cmake="On", gen_linking="dynamic", title="Every block")
    return dict(options=dict(parameters=options, states=dict(coordinate=[8, 8], rotation=0, state="enabled")),
                blocks=made, connections=connections, metadata=dict(file_format=1))


def in_cpp():
    """Of the blocks here, those that are said to go into C++."""
    return {path.name.split(".")[0].removeprefix("penstock_") for path in (SOURCE / "grc").glob("*.block.yml")
            if "cpp" in yaml.safe_load(path.read_text())["flags"]}


class QaCpp(gr_unittest.TestCase):
    def run_all(self, *command, **more):
        answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900,
                                **more)
        self.assertEqual(answer.returncode, 0, f"{command}\n{answer.stdout}")
        return answer.stdout

    def generate(self, language, folder):
        os.makedirs(folder)
        path = folder + "/every_block.grc"
        pathlib.Path(path).write_text(yaml.safe_dump(flowgraph(language, folder)))
        answer = subprocess.run(["grcc", "-o", folder, path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, env=dict(os.environ, GRC_BLOCKS_PATH=str(SOURCE / "grc"), HOME=folder),
                                timeout=300)
        return answer.returncode, answer.stdout

    def test_every_block(self):
        self.assertEqual(in_cpp(), {name for name, *_ in BLOCKS})
        if not shutil.which("grcc") or not importlib.util.find_spec("gnuradio.grc.core.generator.cpp_top_block"):
            self.skipTest("no grcc here, or one that makes no C++")
        if not shutil.which(CMAKE) or not PACKAGE:
            self.skipTest("no CMake here, or no package for it")
        with tempfile.TemporaryDirectory() as folder:
            failed, said = self.generate("cpp", folder + "/cpp")
            sources = sorted(os.path.dirname(path)
                             for path in glob.glob(folder + "/cpp/**/every_block.cpp", recursive=True))
            self.assertTrue(sources and not failed, said)
            self.run_all(CMAKE, "-S", sources[0], "-B", folder + "/build", "-Dgnuradio-penstock_DIR=" + PACKAGE,
                         "-DCMAKE_BUILD_TYPE=Debug")
            self.run_all(CMAKE, "--build", folder + "/build")
            self.run_all(folder + "/build/every_block", cwd=folder)
            failed, said = self.generate("python", folder + "/python")
            self.assertFalse(failed, said)
            self.run_all(sys.executable, folder + "/python/every_block.py", cwd=folder)
            compared = 0
            for name, _, _, item, outputs in BLOCKS:
                for port in range(outputs):
                    kind = numpy.uint8 if item == "byte" else numpy.float32
                    ours, theirs = (numpy.fromfile(f"{folder}/{way}/{name}_{port}", kind) for way in ("cpp", "python"))
                    self.assertEqual(len(ours), len(theirs), name)
                    # What a source that stalls gets of a block may differ in the last bits; decibels are around 30.
                    self.assertTrue(numpy.allclose(ours, theirs, rtol=0, atol=0 if item == "byte" else 1e-4), name)
                    self.assertTrue(len(ours) or name.startswith("wifi"), f"{name} gives nothing")  # no frames in noise
                    compared += 1
            self.assertEqual(compared, sum(entry[-1] for entry in BLOCKS))


if __name__ == "__main__":
    unittest.main()
