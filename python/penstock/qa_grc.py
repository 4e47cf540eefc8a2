#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""GNU Radio Companion accepts every block without a word, and every flowgraph of examples/ generates and runs."""

import functools
import logging
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest

import numpy
from gnuradio import gr, gr_unittest, penstock
from gnuradio.grc.core.platform import Platform

SOURCE = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("PENSTOCK_COMMAND", "")
REPLAY = os.environ.get("PENSTOCK_TEST_REPLAY", "")
BLOCKS = sorted(path.name for path in (SOURCE / "grc").glob("*.block.yml"))


def take_interrupts():
    """In a child: a shell's background jobs ignore interrupts, and so would all that they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


# The flowgraph with one more block that keeps the frames, until there are enough of them.
RUN = """
import sys, time
sys.path.insert(0, sys.argv[1])
from PyQt5 import Qt
from gnuradio import blocks
application = Qt.QApplication([])
import ofdm_receiver_soapy as module
top = module.ofdm_receiver_soapy(driver="replay", device_args=sys.argv[2], device="cpu")
store = blocks.message_debug()
top.msg_connect(top.penstock_wifi_receiver_0, "pdus", store, "store")
top.start()
until = time.monotonic() + 600
while store.num_messages() < 40 and time.monotonic() < until:
    application.processEvents()
    time.sleep(0.02)
top.stop()
top.wait()
sys.exit(store.num_messages() < 40)
"""

LOOP = """
import sys, time
sys.path.insert(0, sys.argv[1])
from gnuradio import blocks
import wifi_loop
top = wifi_loop.wifi_loop(device="cpu", rate_mbps=36)
store = blocks.message_debug()
top.msg_connect(top.penstock_wifi_receiver_0, "pdus", store, "store")
top.start()
until = time.monotonic() + 600
while store.num_messages() < 5 and time.monotonic() < until:
    time.sleep(0.02)
top.stop()
top.wait()
sys.exit(store.num_messages() < 5)
"""


# A flowgraph with displays to the end of its samples.
DISPLAY = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
from PyQt5 import Qt
application = Qt.QApplication([])
name, path, count = sys.argv[2:]
top = getattr(importlib.import_module(name), name)(device="cpu", path=path, count=int(count))
top.show()
top.start()
top.wait()
application.processEvents()
"""


# Parameters that a block takes, and others that both its description and the block itself refuse.
PARAMETERS = {
    "penstock_fft_vxx": (
        [{}, dict(window="[]"), dict(window="[0.5] * 1024"), dict(window="'kaiser:8'"),
         dict(fft_size="8388608", window="[]"), dict(type="float")],
        [dict(fft_size="0"), dict(fft_size="2**23 + 1"), dict(window="'round'"), dict(window="[1.0] * 1023"),
         dict(max_latency_ms="-1")]),
    "penstock_spectrum_cvf": (
        [{}, dict(hop="65536"), dict(window="[]")],
        [dict(fft_size="0"), dict(hop="-1"), dict(hop="65537"), dict(average="0"), dict(window="'round'"),
         dict(window="[1.0] * 5"), dict(max_latency_ms="-1")]),
    "penstock_fft_filter_xxx": (
        [dict(taps="[1]"), dict(taps="[1]", type="fff"), dict(taps="5"), dict(taps="[1]", center_freq="-3e5")],
        [dict(taps="[]"), dict(taps="[1]", decim="0"), dict(taps="[1]", samp_rate="0"),
         dict(taps="[1]", type="fff", center_freq="3"), dict(taps="[1]", max_latency_ms="-1")]),
    "penstock_channelizer_cc": (
        [{}, dict(osr="8"), dict(osr="8 / 3"), dict(taps="[1.0]"), dict(ch_map="[7, 0]")],
        [dict(nchans="1"), dict(osr="0.5"), dict(osr="9"), dict(osr="3"), dict(osr="0"), dict(ch_map="[8]"),
         dict(ch_map="[1, 1]"), dict(max_latency_ms="-1")]),
    "penstock_ofdm_demod_cx": (
        [{}, dict(type="cb", bits="10"), dict(occupied_carriers="((1, 32, 63),)"),
         dict(occupied_carriers="((-32, 1),)"), dict(pilot_carriers="()", pilot_symbols="()"),
         dict(trigger_tag_name="", pilot_carriers="()", pilot_symbols="()"),
         dict(sync_word1="[0, 1] * 32", sync_word2="[1] * 64"), dict(sync_word1="[1] * 64"), dict(cp_len="640")],
        [dict(fft_len="1"), dict(fft_len="8193"), dict(cp_len="-1"), dict(occupied_carriers="()"),
         dict(occupied_carriers="((),)"), dict(occupied_carriers="(1, 2)"), dict(occupied_carriers="((1,), (2,))"),
         dict(occupied_carriers="((1, 64),)"), dict(occupied_carriers="((1, -33),)"),
         dict(occupied_carriers="((1, 1),)"), dict(occupied_carriers="((-1, 63),)"),
         dict(pilot_symbols="((1,),)"), dict(pilot_symbols="()"), dict(sync_word1="[1]"), dict(sync_word2="[0] * 64"),
         dict(sync_word1="[0, 1] * 32"), dict(frame_len="-1"), dict(trigger_tag_name="", sync_word1="[1] * 64")]),
    "penstock_pfb_arb_resampler_xxx": (
        [dict(rrate="0.7"), dict(rrate="1.5", taps="[1, 2]", nfilts="4"), dict(rrate="2", taps="[1j]", type="ccc"),
         dict(rrate="2", type="fff")],
        [dict(rrate="0"), dict(rrate="1025"), dict(rrate="1", taps="[1]", nfilts="0"),
         dict(rrate="1", taps="[1]", nfilts="65537")]),
    "penstock_rational_resampler_xxx": (
        [{}, dict(interp="24", decim="25"), dict(taps="[1]", decim="7", type="fff"), dict(fbw="-1"),
         dict(fbw="0.3", type="fcc")],
        [dict(interp="0"), dict(decim="0"), dict(interp="1025", taps="[1]"), dict(decim="1025", taps="[1]"),
         dict(fbw="0.5"), dict(interp="65537", decim="64", taps="[1]")]),
    "penstock_freq_xlating_fir_filter_xxx": (
        [dict(taps="[1]"), dict(taps="[1]", type="scf", center_freq="2e5"), dict(taps="[1j]", type="fcc", decim="5"),
         dict(taps="[1]", center_freq="5e6")],
        [dict(taps="[]"), dict(taps="[1]", decim="0"), dict(taps="[1]", samp_rate="0"),
         dict(taps="[1]", center_freq="float('inf')"), dict(taps="[1]", max_latency_ms="-1")]),
    "penstock_pfb_decimator_ccf": (
        [dict(decim="4", taps="[1]"), dict(decim="4", taps="[1]", channel="3")],
        [dict(decim="1", taps="[1]"), dict(decim="65537", taps="[1]"), dict(decim="4", taps="[1]", channel="4"),
         dict(decim="4", taps="[1]", channel="-1")]),
    "penstock_pfb_channelizer_hier_ccf": (
        [dict(taps="[1]"), {}, dict(nchans="8", taps="[1, 2]", outchans="[5, 0]")],
        [dict(nchans="1", taps="[1]"), dict(taps="[]"), dict(taps="[1]", outchans="[3]"),
         dict(taps="[1]", outchans="[1, 1]")]),
    "penstock_pfb_synthesizer_ccf": (
        [dict(taps="[1]"), dict(taps="[1]", numchans="4", connections="4"),
         dict(taps="[1, 2]", twox="True", ch_map="[3, 0]"),
         dict(taps="[1]", numchans="8", connections="3", ch_map="[7, 0, 2, 1]")],
        [dict(numchans="1", taps="[1]"), dict(taps="[]"), dict(numchans="3", taps="[1]", twox="True"),
         dict(numchans="65537", taps="[1]"), dict(taps="[1]", max_latency_ms="-1")]),
    "penstock_logpwrfft_x": (
        [{}, dict(type="float", shift="True"), dict(average="True", avg_alpha="0.01"), dict(avg_alpha="0"),
         dict(frame_rate="1e9"), dict(fft_size="1000")],
        [dict(sample_rate="0"), dict(fft_size="0"), dict(fft_size="2**23 + 1"), dict(ref_scale="0"),
         dict(frame_rate="0"), dict(avg_alpha="1.5"), dict(average="True", avg_alpha="0"),
         dict(sample_rate="1e14", frame_rate="1e-3"), dict(max_latency_ms="-1")]),
    "penstock_viterbi_decoder": (
        [{}, dict(code="dvb:7/8", bits="0"), dict(code="lte", bits="40", soft="byte", packed="True"),
         dict(length_tag_name="packet_len")],
        [dict(bits="-1"), dict(bits="2**20 + 1"), dict(bits="0"),
         dict(code="ccsds:1/2", bits="0", length_tag_name="len"), dict(max_latency_ms="-1")]),
    "penstock_viterbi_decoder_def": ([{}, dict(code="dvb:7/8", parallelism="2")],
                                     [dict(bits="0"), dict(bits="2**20 + 1")]),
    "penstock_ldpc_decoder": (
        [{}, dict(code="nr:bg2:52:12", filler="20"), dict(code="ccsds:1024:1/2", soft="byte", packed="True"),
         dict(iterations="0", scale="20")],
        [dict(code="turbo"), dict(iterations="-1"), dict(iterations="1001"), dict(filler="-1"),
         dict(punctured_end="-1"), dict(scale="-1"), dict(max_latency_ms="-1")]),
    "penstock_ldpc_decoder_def": ([{}, dict(code="nr:bg1:384:9")],
                                  [dict(code="turbo"), dict(iterations="0"), dict(iterations="1001")]),
    "penstock_wifi_receiver": (
        [{}, dict(profile="wifi-5mhz", max_latency_ms="1")],
        [dict(max_latency_ms="-1"), dict(max_latency_ms="4e6")]),
    "penstock_wifi_transmitter": (
        [{}, dict(rate_mbps="0"), dict(profile="wifi-5mhz", rate_mbps="2.25"),
         dict(profile="wifi-10mhz", rate_mbps="27")],
        [dict(rate_mbps="7"), dict(profile="wifi-5mhz", rate_mbps="54"), dict(gap_us="-1"), dict(gap_us="2e6"),
         dict(scrambler_seed="128"), dict(scrambler_seed="-1")]),
}


def alone(base=None, **values):
    """One dictionary for each value of each parameter."""
    return [dict(base or {}, **{name: value}) for name, several in values.items() for value in several]


NO_COUNT = ["-1", "-2**31", "2**31", "2**63", "1.5", "float('nan')", "float('inf')", "'many'", "None"]
NO_TIME = ["-1", "-1e-9", "-1e300", "float('nan')", "float('inf')", "4e6", "'soon'", "None"]
NO_DEVICE = ["", "None", "warp", "cpu:1", "opencl:99", "prefer:", "cpu cpu"]
NO_WINDOW = ["'Hann'", "''", "'kaiser'", "'kaiser:'", "'kaiser:-1'", "'kaiser:nan'", "'kaiser:1e9'", "'gaussian'",
             "'gaussian:0'", "'hann:3'", "None", "99", "[1.0] * 1025", "[float('nan')] * 1024", "[float('inf')] * 1024",
             "[1j] * 1024", "['a'] * 1024"]
NO_TAPS = ["None", "'taps'", "[float('nan')]", "[1, float('inf')]", "[-float('inf')]", "[1e39]", "['a']", "[[1]]",
           "[1] * (2**20 + 1)"]

# What somebody may type: each is red with a sentence, or refused when the block is made; none waits for the run.
TYPED = {
    "penstock_fft_vxx": alone(fft_size=NO_COUNT, window=NO_WINDOW, num_streams=["0", "1025", *NO_COUNT],
                              nthreads=["1.5", "'two'"], device=NO_DEVICE, max_latency_ms=NO_TIME),
    "penstock_spectrum_cvf": alone(fft_size=NO_COUNT, hop=NO_COUNT, average=NO_COUNT, window=NO_WINDOW,
                                   device=NO_DEVICE, max_latency_ms=NO_TIME),
    "penstock_fft_filter_xxx":
        alone(taps=NO_TAPS) + alone(dict(type="ccf"), taps=["[1j]", *NO_TAPS]) +
        alone(dict(taps="[1]", type="fff"), taps=["[1j]", *NO_TAPS], center_freq=["-1e-9", "float('nan')"]) +
        alone(dict(taps="[1]"), decim=["2**20 + 1", "2**25", *NO_COUNT], samp_delay=NO_COUNT, nthreads=["1.5", "'two'"],
              samp_rate=["-1", "float('nan')", "float('inf')", "'fast'", "None"],
              center_freq=["1.1e6", "-1.1e6", "1e300", "float('nan')", "float('inf')", "'low'", "None"],
              device=NO_DEVICE, max_latency_ms=NO_TIME),
    "penstock_channelizer_cc":
        alone(nchans=["0", "65537", *NO_COUNT], taps=["1.5j", "[1j]", *NO_TAPS],
              atten=["-10", "0", "201", "1e9", "float('nan')", "'much'", "None"],
              osr=["-1", "float('nan')", "float('inf')", "'twice'", "None"], samp_delay=NO_COUNT,
              ch_map=["[-1]", "[1.5]", "[2**40]", "['a']", "None"], device=NO_DEVICE, max_latency_ms=NO_TIME),
    "penstock_ofdm_demod_cx":
        alone(fft_len=NO_COUNT, cp_len=NO_COUNT, frame_len=NO_COUNT, device=NO_DEVICE,
              sync_word1=["None", "'word'", "[1j] * 63", "[float('nan')] * 64", "['a'] * 64"],
              sync_word2=["None", "'word'", "[1j] * 63", "[float('inf')] * 64", "['a'] * 64"],
              pilot_symbols=["None", "5", "((1, 1, 1),)", "((float('nan'),) * 4,)", "(('a',) * 4,)"],
              pilot_carriers=["None", "5", "((1,), (2,))", "((1.5,),)"],
              occupied_carriers=["None", "5", "((1.5, 2),)", "((2**40,),)", "(('a',),)"]),
    "penstock_pfb_arb_resampler_xxx":
        alone(dict(taps="[1]"), rrate=["-1", "1e-9", "1e9", "float('nan')", "float('inf')", "'fast'", "None", "1j"]) +
        alone(dict(rrate="0.7"), taps=["[1j]", *NO_TAPS[1:]]) +
        alone(dict(rrate="0.7", taps="[1]"), nfilts=NO_COUNT, samp_delay=NO_COUNT, device=[*NO_DEVICE, "trace"],
              atten=["-10", "0", "201", "float('nan')", "'much'", "None"]),
    "penstock_rational_resampler_xxx":
        alone(dict(type="ccf"), taps=["[1j]", *NO_TAPS[1:]]) +
        alone(interp=NO_COUNT, decim=["2**20 + 1", *NO_COUNT],
              fbw=["0.6", "1e9", "float('nan')", "float('inf')", "'wide'", "None"],
              device=[*NO_DEVICE, "trace"]),
    "penstock_freq_xlating_fir_filter_xxx":
        alone(taps=NO_TAPS) + alone(dict(type="scf"), taps=["[1j]", *NO_TAPS]) +
        alone(dict(taps="[1]"), decim=["2**20 + 1", *NO_COUNT],
              samp_rate=["-1", "float('nan')", "float('inf')", "'fast'", "None"],
              center_freq=["float('nan')", "'low'", "None"], device=NO_DEVICE, max_latency_ms=NO_TIME),
    "penstock_pfb_decimator_ccf":
        alone(dict(decim="4"), taps=["[1j]", *NO_TAPS]) +
        alone(dict(taps="[1]"), decim=["0", *NO_COUNT]) +
        alone(dict(decim="4", taps="[1]"), channel=["4", *NO_COUNT], samp_delay=NO_COUNT) +
        alone(dict(decim="4", taps="[1]"), device=NO_DEVICE,
              atten=["-10", "0", "201", "float('nan')", "'much'", "None"]),
    "penstock_pfb_channelizer_hier_ccf":
        alone(taps=["[1j]", *NO_TAPS[1:]]) +
        alone(dict(taps="[1]"), nchans=["0", *NO_COUNT], n_filterbanks=["0", *NO_COUNT],
              outchans=["[]", "[-1]", "[1.5]", "['a']", "5"], device=NO_DEVICE) +
        alone(atten=["-10", "0", "201", "float('nan')", "'much'", "None"], bw=["-1", "0", "float('nan')", "9", "'x'"],
              tb=["0", "-1", "float('inf')", "None"], ripple=["0", "-1", "float('nan')", "1e9", "None"]),
    "penstock_pfb_synthesizer_ccf":
        alone(taps=["[1j]", *NO_TAPS]) +
        alone(dict(taps="[1]"), numchans=["0", *NO_COUNT], connections=["0", "3", *NO_COUNT], samp_delay=NO_COUNT,
              ch_map=["[-1]", "[1, 1]", "[2, 0]", "[0]", "[1.5]", "[2**40]", "['a']", "None"], device=NO_DEVICE,
              max_latency_ms=NO_TIME),
    "penstock_logpwrfft_x":
        alone(sample_rate=["-1", "float('nan')", "float('inf')", "'fast'", "None"], fft_size=NO_COUNT,
              ref_scale=["-1", "1e30", "float('nan')", "'x'", "None"],
              frame_rate=["-30", "1e-300", "float('nan')", "float('inf')", "'slow'", "None"],
              avg_alpha=["-0.1", "2", "float('nan')", "'x'", "None"], device=NO_DEVICE, max_latency_ms=NO_TIME),
    "penstock_viterbi_decoder": alone(bits=["0", *NO_COUNT], device=NO_DEVICE, max_latency_ms=NO_TIME),
    "penstock_viterbi_decoder_def": alone(bits=["0", *NO_COUNT], device=NO_DEVICE),
    "penstock_ldpc_decoder": alone(code=["", "wifi:1", "turbo", "nr:bg3:2", "nr:bg1:17", "ccsds:7:1/2", "None"],
                                   iterations=["1001", *NO_COUNT], filler=NO_COUNT, punctured_end=NO_COUNT,
                                   scale=["-1", "float('nan')", "float('inf')", "'much'", "None"], device=NO_DEVICE,
                                   max_latency_ms=NO_TIME),
    "penstock_ldpc_decoder_def": alone(code=["", "turbo", "nr:bg1:17"], iterations=["0", "1001", *NO_COUNT],
                                       device=NO_DEVICE),
    "penstock_wifi_receiver": alone(max_latency_ms=["0.01", *NO_TIME], device=NO_DEVICE),
    "penstock_wifi_transmitter":
        alone(rate_mbps=["-6", "54.1", "float('nan')", "float('inf')", "'fast'", "None"], gap_us=NO_TIME,
              scrambler_seed=NO_COUNT, length_tag_name=[""]) + [dict(profile="wifi-10mhz", rate_mbps="36.5")],
}


class Warnings(logging.Handler):
    def __init__(self):
        super().__init__(logging.WARNING)
        self.lines = []

    def emit(self, record):
        self.lines.append(self.format(record))


@functools.lru_cache
def library(folder):
    """GRC's library with the blocks of `folder`, and what it said about them."""
    warnings, log = Warnings(), logging.getLogger("gnuradio.grc")
    log.addHandler(warnings)
    platform = Platform(name="test", prefs=gr.prefs(), version=gr.version(),
                        version_parts=(gr.major_version(), gr.api_version(), gr.minor_version()))
    platform.build_library([str(folder), *gr.prefs().get_string("grc", "global_blocks_path", "").split(":")])
    log.removeHandler(warnings)
    return platform, [line for line in warnings.lines if "penstock" in line]


class QaGrc(gr_unittest.TestCase):
    def test_blocks_pass_the_schema(self):
        platform, lines = library(SOURCE / "grc")
        self.assertEqual(lines, [])
        self.assertEqual(sorted(f"{name}.block.yml" for name in platform.blocks if name.startswith("penstock_")),
                         BLOCKS)
        self.assertGreater(len(BLOCKS), 0)
        for name, block in platform.blocks.items():
            if name.startswith("penstock_"):
                self.assertEqual(block.category[0].strip("[]"), "Penstock")
                self.assertIn(block.category[1:], (["FEC"], ["Filters"], ["OFDM"], ["Spectrum"]), name)
                self.assertIn("penstock.", block.templates["var_make" if name.endswith("_def") else "make"])

    def test_the_schema_check_is_real(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "penstock_wrong.block.yml")
            text = (SOURCE / "grc" / BLOCKS[0]).read_text().replace("parameters:", "paramters:", 1)
            path.write_text(text)
            _, lines = library(folder)
        library.cache_clear()  # GRC keeps the blocks of the last library for all
        self.assertTrue(any("paramters" in line for line in lines), lines)

    def test_parameters_are_checked(self):
        """What a block refuses when it is made the description refuses before, and nothing else."""
        platform, _ = library(SOURCE / "grc")
        self.assertEqual(sorted(f"{kind}.block.yml" for kind in PARAMETERS), BLOCKS)
        for kind, (right, wrong) in PARAMETERS.items():
            for values in right + wrong:
                with self.subTest(kind, **values):
                    red, raised = self.offer(platform, kind, values)
                    self.assertEqual(bool(red), values in wrong, red)
                    self.assertEqual(bool(raised), values in wrong, raised)

    def test_wrong_values_are_told_before_the_run(self):
        platform, _ = library(SOURCE / "grc")
        self.keeps_the_context = penstock.fft_vcc(16, True, [], device="cpu")
        self.assertGreaterEqual(sum(len(values) for values in TYPED.values()), 300)
        for kind, typed in TYPED.items():
            for values in typed:
                with self.subTest(kind, **values):
                    red, raised = self.offer(platform, kind, values)
                    self.assertTrue(red or raised)
                    for text in red:  # GRC's own words for a value of another type, or a sentence of ours
                        self.assertRegex(text, r" or not '[A-Z][^']{10,}'|Expression .* is invalid|"
                                               r"Value .* cannot be evaluated|not .*valid")
                    self.assertNotRegex(raised,
                                        "NULL|real_taps|null|incompatible constructor arguments" if not red else "NULL")

    @staticmethod
    def offer(platform, kind, values):
        """What GRC says of a block with these values, and what the block itself says when it is made."""
        graph = platform.make_flow_graph()
        graph.options_block.params["output_language"].set_value("python")
        block, all_values = (graph.new_block(kind),
                             dict(dict(id="block", device="cpu", samp_rate="1e6", sample_rate="1e6"), **values))
        for name in all_values.keys() & block.params.keys():
            block.params[name].set_value(all_values[name])
        graph.rewrite()
        graph.validate()
        red = [text for text in block.get_error_messages() if "connected" not in text]
        red += [text for one in block.params.values() for text in one.get_error_messages()]
        try:
            made = (block.templates.render("var_make") if block.is_variable
                    else "self.block = " + block.templates.render("make"))
            exec(made, dict(penstock=penstock, self=types.SimpleNamespace()))
        except (RuntimeError, TypeError, ValueError, NameError, AttributeError) as error:
            return red, f"{type(error).__name__}: {error}"
        return red, ""

    def generate(self, name, folder):
        answer = subprocess.run(["grcc", "-o", folder, str(SOURCE / "examples" / name)], capture_output=True, text=True,
                                env=dict(os.environ, GRC_BLOCKS_PATH=str(SOURCE / "grc")))
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        self.assertNotIn("rror", answer.stdout + answer.stderr)

    def run_generated(self, name, *options):
        """The flowgraph in a folder of its own, to its end; what it wrote to its file."""
        with tempfile.TemporaryDirectory() as folder:
            self.generate(name + ".grc", folder)
            path = os.path.join(folder, "out")
            answer = subprocess.run([sys.executable, os.path.join(folder, name + ".py"), "--device", "cpu",
                                     "--path", path, *options],
                                    stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1200)
            self.assertEqual(answer.returncode, 0, answer.stdout[-2000:] + answer.stderr[-2000:])
            return pathlib.Path(path).read_bytes()

    def test_fft_filter(self):
        """All of the samples: 100001 // 20 values of 8 bytes."""
        self.assertEqual(len(self.run_generated("fft_filter", "--count", "100001")), 5000 * 8)

    def test_ofdm_demod(self):
        """Ten symbols of 96 soft bits a frame, without noise: all at the size of a mean carrier's."""
        soft = self.run_generated("ofdm_demod", "--frames", "20")
        self.assertEqual(len(soft), 19 * 10 * 96)
        self.assertTrue(set(soft) <= {24, 25, 23, 256 - 23, 256 - 24, 256 - 25}, set(soft))
        self.assertGreater(len(set(soft)), 1)

    def display_generated(self, name, count, dtype):
        """The same for one with displays, on a screen that is none."""
        try:
            import PyQt5  # noqa: F401
            from gnuradio import qtgui  # noqa: F401
        except ImportError as error:
            self.skipTest(str(error))
        with tempfile.TemporaryDirectory() as folder:
            self.generate(name + ".grc", folder)
            path = os.path.join(folder, "out")
            answer = subprocess.run([sys.executable, "-c", DISPLAY, folder, name, path, str(count)],
                                    capture_output=True, text=True, timeout=1200,
                                    env=dict(os.environ, QT_QPA_PLATFORM="offscreen", XDG_RUNTIME_DIR=folder,
                                             XDG_CONFIG_HOME=folder))
            self.assertEqual(answer.returncode, 0, answer.stdout[-2000:] + answer.stderr[-2000:])
            return numpy.fromfile(path, dtype)

    def test_spectrum(self):
        """All averages of 16 half-overlapping windows, and both tones at their bins:
        200 and -650 kHz of 2 MHz, 20 dB apart."""
        made = self.display_generated("spectrum", 100001, numpy.float32).reshape(-1, 1024)
        self.assertEqual(len(made), ((100001 - 1024) // 512 + 1) // 16)
        for vector in made:
            self.assertEqual(vector.argmax(), 512 + round(0.1 * 1024))
            self.assertEqual(vector[:400].argmax(), 512 - round(0.325 * 1024))
            self.assertAlmostEqual(vector.max() - vector[:400].max(), 20, delta=3)  # windows by place, and noise

    def test_channelizer(self):
        """All items of channel 1, which has the tone of 0.5 at 210 kHz, 40 kHz below its middle."""
        made = self.display_generated("channelizer", 100001, numpy.complex64)
        self.assertEqual(len(made), -(-100001 // 8))
        settled = made[200:-10]
        spectrum = numpy.abs(numpy.fft.fft(settled[:10000])) / 10000
        self.assertEqual(spectrum.argmax(), 10000 - 1600)
        self.assertAlmostEqual(spectrum.max(), 0.5, delta=0.01)

    def test_wifi_loop(self):
        with tempfile.TemporaryDirectory() as folder:
            self.generate("wifi_loop.grc", folder)
            answer = subprocess.run([sys.executable, "-c", LOOP, folder], capture_output=True, text=True, timeout=1200)
            self.assertEqual(answer.returncode, 0, answer.stdout[-2000:] + answer.stderr[-2000:])

    @unittest.skipUnless(COMMAND and REPLAY, "needs the command penstock and the replay device")
    def test_ofdm_receiver_script(self):
        """Frames, constellation and waterfall without a display; what is wrong is said in one line."""
        try:
            from gnuradio import soapy  # noqa: F401
        except ImportError as error:
            self.skipTest(str(error))
        script = str(SOURCE / "examples" / "ofdm_receiver.py")
        with tempfile.TemporaryDirectory() as folder:
            recording, pictures = (os.path.join(folder, "made.sigmf-meta"),
                                   [os.path.join(folder, name) for name in ("c.png", "w.png")])
            subprocess.run([COMMAND, "transmit", "--profile", "wifi", "--mbps", "all", "--count", "16", "--snr", "30",
                            "--output", recording], check=True, stdout=subprocess.DEVNULL)
            environment = dict(os.environ, SOAPY_SDR_PLUGIN_PATH=REPLAY)
            environment.pop("DISPLAY", None)

            def run(*options):
                return subprocess.run([sys.executable, script, *options], env=environment, capture_output=True,
                                      text=True, timeout=1200)

            radio = f"driver=replay,path={recording},pace=fast,loop=1"
            answer = run("--args", radio, "--seconds", "0.03", "--device", "cpu", "--constellation", pictures[0],
                         "--waterfall", pictures[1])
            self.assertEqual(answer.returncode, 0, answer.stdout[-2000:] + answer.stderr[-2000:])
            self.assertGreater(answer.stdout.count("Mb/s"), 16)
            answer = run("--args", f"driver=replay,path={recording},pace=fast", "--seconds", "1", "--device", "cpu")
            # the radio ends, and none is lost
            self.assertEqual(answer.stdout.count("Mb/s"), 16, answer.stdout + answer.stderr)
            for picture in pictures:
                self.assertEqual(pathlib.Path(picture).read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
            self.assertIn("--waterfall", run("--help").stdout)
            for options, status in ((("--args", radio, "--device", "warp"), 1), (("--args", "driver=none"), 1),
                                    (("--args", radio, "--freq", "-1"), 2), ((), 2)):
                answer = run(*options)
                self.assertEqual(answer.returncode, status, options)
                self.assertIn("ofdm_receiver.py", answer.stderr)
                self.assertNotIn("Traceback", answer.stderr)

    def interrupt(self, command, environment, seconds):
        """What a program says that is interrupted so long after it has said that it receives."""
        program = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   preexec_fn=take_interrupts)
        try:
            told = program.stderr.readline()
            while told and "receiving" not in told:
                told = program.stderr.readline()
            time.sleep(seconds)
            program.send_signal(signal.SIGINT)
            out, err = program.communicate(timeout=300)
        finally:
            program.kill()
        return program.returncode, out, told + err

    @unittest.skipUnless(COMMAND and REPLAY, "needs the command penstock and the replay device")
    def test_ofdm_receiver_script_interrupted(self):
        """Ctrl-C while the radio goes on: what was received is shown."""
        try:
            from gnuradio import soapy  # noqa: F401
        except ImportError as error:
            self.skipTest(str(error))
        with tempfile.TemporaryDirectory() as folder:
            recording = os.path.join(folder, "made.sigmf-meta")
            subprocess.run([COMMAND, "transmit", "--profile", "wifi", "--mbps", "all", "--count", "16", "--snr", "30",
                            "--output", recording], check=True, stdout=subprocess.DEVNULL)
            environment = dict(os.environ, SOAPY_SDR_PLUGIN_PATH=REPLAY)
            command = [sys.executable, str(SOURCE / "examples" / "ofdm_receiver.py"), "--device", "cpu",
                       "--seconds", "3600", "--args", f"driver=replay,path={recording},loop=1"]
            for seconds in (0, 0.5, 4, 30):  # the last ones where the machine is busy
                status, out, err = self.interrupt(command, environment, seconds)
                self.assertEqual(status, 0, err)
                self.assertNotIn("Traceback", err)
                self.assertIn(" samples on cpu: ", out)
                frames = out.count("Mb/s")
                if seconds and frames:
                    break
            self.assertGreater(frames, 0, out + err)

    @unittest.skipUnless(COMMAND and REPLAY, "needs the command penstock and the replay device")
    def test_ofdm_receiver_soapy(self):
        try:
            import PyQt5  # noqa: F401
            from gnuradio import qtgui, soapy  # noqa: F401
        except ImportError as error:
            self.skipTest(str(error))
        with tempfile.TemporaryDirectory() as folder:
            self.generate("ofdm_receiver_soapy.grc", folder)
            recording = os.path.join(folder, "made.sigmf-meta")
            subprocess.run([COMMAND, "transmit", "--profile", "wifi", "--mbps", "all", "--count", "16", "--snr", "30",
                            "--output", recording], check=True, stdout=subprocess.DEVNULL)
            environment = dict(os.environ, SOAPY_SDR_PLUGIN_PATH=REPLAY, QT_QPA_PLATFORM="offscreen",
                               XDG_RUNTIME_DIR=folder)
            answer = subprocess.run([sys.executable, "-c", RUN, folder, f"path={recording},pace=fast,loop=1"],
                                    env=environment, capture_output=True, text=True, timeout=1200)
            self.assertEqual(answer.returncode, 0, answer.stdout[-2000:] + answer.stderr[-2000:])


if __name__ == "__main__":
    gr_unittest.run(QaGrc)
