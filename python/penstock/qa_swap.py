#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""Our blocks in every installed example of GNU Radio that has a block which we have too: put in by their names alone,
all parameters kept. What grcc compiles with the stock blocks it compiles with ours; and where a file is the source,
both give the same samples."""

import copy
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy
import yaml
from drawn import FULL, draw, tell_drawn
from gnuradio import gr, gr_unittest
from gnuradio.grc.core.platform import Platform

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PLACES = [pathlib.Path(gr.prefix(), "share", "gnuradio")]
OURS = {
    "fft_vxx": "penstock_fft_vxx",
    "fft_filter_xxx": "penstock_fft_filter_xxx",
    "freq_xlating_fft_filter_ccc": "penstock_fft_filter_xxx",
    "freq_xlating_fir_filter_xxx": "penstock_freq_xlating_fir_filter_xxx",
    "pfb_channelizer_ccf": "penstock_channelizer_cc",
    "pfb_channelizer_hier_ccf": "penstock_pfb_channelizer_hier_ccf",
    "pfb_synthesizer_ccf": "penstock_pfb_synthesizer_ccf",
    "pfb_arb_resampler_xxx": "penstock_pfb_arb_resampler_xxx",
    "pfb_decimator_ccf": "penstock_pfb_decimator_ccf",
    "rational_resampler_xxx": "penstock_rational_resampler_xxx",
    "logpwrfft_x": "penstock_logpwrfft_x",
}
NUMBERS = {"complex": numpy.complex64, "float": numpy.float32, "int": numpy.int32, "short": numpy.int16,
           "byte": numpy.uint8}
MADE_BY = {"dvbt_rx_8k.grc": "dvbt_tx_8k.grc"}  # a receiver wants the signal of its transmitter
PACKETS, SUPERFRAMES, SAMPLES = 1000, 12000, 100000  # transport packets, those of some DVB-T superframes, and numbers
TURNS = 12  # gr-dtv's decoders give what hangs on how their input is cut: with all cores busy 4 runs in 10 differ
RESAMPLER = "pfb_arb_resampler_xxx_0"
BOUND = 2e-5  # of the output's norm: what docs/gnuradio.md says of resamplers, the least exact


def examples():
    """Each with its flowgraph and the names of those blocks that we have. Files of GNU Radio 3.7, in XML, have none."""
    for path in sorted({path for place in PLACES for path in place.rglob("*.grc")}):
        text = path.read_text()
        if text.lstrip().startswith("<"):
            found = set(re.findall(r"<key>(\w+)</key>", text)) & set(OURS)
            assert not found, f"{path}: {found}"
            continue
        graph = yaml.safe_load(text)
        if not isinstance(graph, dict) or "blocks" not in graph:
            continue
        found = [block["name"] for block in graph["blocks"] if block["id"] in OURS]
        if found:
            yield path, graph, found


def drawn_examples():
    """One in two of them, of those with a file and of the others; what makes a receiver's signal; and what
    test_a_difference_is_seen() takes its wrong one from."""
    every = list(examples())
    kept = draw([one for one in every if file_source(one[1])], 2, "file")
    kept += draw([one for one in every if not file_source(one[1])], 2, "other")
    paths = {path for path, _, _ in kept}
    makers = {MADE_BY.get(path.name) for path in paths}
    return [one for one in every if one[0] in paths or one[0].name in makers or RESAMPLER in one[2]]


def swapped(graph):
    graph = copy.deepcopy(graph)
    for block in graph["blocks"]:
        block["id"] = OURS.get(block["id"], block["id"])
    return graph


def write(graph, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(graph, sort_keys=False))
    return path


def compile_all(paths, folder):
    """What grcc says of those which it does not compile. It ends at the first one of those that it is given."""
    failed, left = {}, list(paths)
    while left:
        answer = subprocess.run(["grcc", "-o", str(folder), *map(str, left)], capture_output=True, text=True,
                                timeout=1200, env=dict(os.environ, GRC_BLOCKS_PATH=str(SOURCE / "grc")))
        if answer.returncode == 0:
            break
        text = answer.stdout + answer.stderr
        at = [place for place, path in enumerate(left) if f"Loading: {path}\n" in text][-1]
        failed[left[at]] = text.split(f"Loading: {left[at]}\n")[1]
        left = left[at + 1:]
    return failed


def reason(text):
    """What grcc says is missing: the exception, or what cannot be evaluated."""
    lines = list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip() and "arning" not in line))
    said = [line for line in lines
            if re.search(r"No module|cannot be evaluated|Failed to eval|has no attribute|Missing|not found", line)]
    module = re.search(r"No module named '[\w.]+'", text)
    return module[0] if module else "; ".join(said or lines)[:200]


# ---- without a screen, a radio and a sound card

class Headless:
    """A flowgraph that reads its file once, and writes what went into its last blocks to files."""

    def __init__(self, platform, path, graph, source):
        self.platform, self.graph, self.sinks = platform, copy.deepcopy(graph), []
        loaded = platform.make_flow_graph(str(path))
        loaded.rewrite()
        blocks = {block.name: block for block in loaded.blocks}
        ends, ports = self.ends(blocks), {}
        for wire in loaded.connections:
            if wire.sink_block.name in ends and wire.enabled and wire.source_port.domain == "stream":
                ports[wire.source_block.name, wire.source_port.key] = ("".join(wire.source_port.dtype),
                                                                       int(wire.source_port.vlen))
        off = {name for name, block in blocks.items() if block.state == "disabled"} | ends
        self.graph["blocks"] = [self.plain(block, source) for block in self.graph["blocks"] if block["name"] not in off]
        self.graph["connections"] = [wire for wire in self.graph["connections"] if not {wire[0], wire[2]} & off]
        for number, ((name, key), (kind, vlen)) in enumerate(sorted(ports.items())):
            self.add_sink(number, name, key, kind, vlen)
        self.graph["options"]["parameters"].update(generate_options="no_gui", run_options="run",
                                                   output_language="python", id="headless")

    @staticmethod
    def ends(blocks):
        """Blocks with no stream out, of those that are on."""
        return {name for name, block in blocks.items() if block.enabled and block.sinks
                and not block.key.startswith(("virtual_", "pad_"))
                and not any(port.domain == "stream" for port in block.sources)}

    @staticmethod
    def plain(block, source):
        parameters = block["parameters"]
        if block["id"] == "blocks_file_source":
            parameters.update(file=str(source), repeat="False", begin_tag="pmt.PMT_NIL", length="0", offset="0")
        if block["id"].startswith("blocks_throttle"):  # bypassed ones are lost by grcc now and then
            block.update(id="blocks_copy",
                         parameters=dict(type=parameters["type"], vlen=parameters["vlen"], enabled="True"))
        if block["id"].startswith("variable_qtgui_"):
            block.update(id="variable", parameters=dict(value=parameters["value"]))
        return block

    def add_sink(self, number, name, key, kind, vlen):
        sink, file = f"swap_sink_{number}", f"out_{number}"
        self.graph["blocks"].append(dict(
            name=sink, id="blocks_file_sink", states=dict(coordinate=[0, 0], rotation=0, state="enabled"),
            parameters=dict(file=file, type=kind, vlen=str(vlen), append="False", unbuffered="False")))
        self.graph["connections"].append([name, key, sink, "0"])
        self.sinks.append((file, NUMBERS[kind], f"{name}:{key}"))

    def run(self, graph, folder):
        """The outputs of `graph`, this one or this one swapped."""
        flowgraph = self.platform.make_flow_graph(str(write(graph, folder / "headless.grc")))
        flowgraph.rewrite()
        flowgraph.validate()
        assert flowgraph.is_valid(), list(flowgraph.iter_error_messages())
        self.platform.Generator(flowgraph, str(folder)).write()  # as grcc does, which takes seconds to start
        answer = subprocess.run([sys.executable, str(folder / "headless.py")], cwd=folder, stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=600,
                                env=dict(os.environ, PYTHONPATH=os.environ["PYTHONPATH"] + ":" + str(folder)))
        assert answer.returncode == 0, answer.stdout[-2000:] + answer.stderr[-2000:]
        return [numpy.fromfile(folder / file, kind) for file, kind, _ in self.sinks]


def file_source(graph):
    """The file source that is on, or None."""
    on = [block for block in graph["blocks"] if block["id"] == "blocks_file_source"
          and block["states"].get("state") in ("enabled", True, "true")]
    return on[0] if on else None


def make_input(kind, path, count=PACKETS):
    """Transport packets, or noise with a carrier."""
    random = numpy.random.RandomState(1)
    if kind == "byte":
        packets = random.randint(0, 256, (count, 188)).astype(numpy.uint8)
        packets[:, 0] = 0x47
        packets.tofile(path)
    else:
        values = (random.normal(size=(SAMPLES, 2)) * 0.1
                  + numpy.exp(0.03j * numpy.arange(SAMPLES)).view(float).reshape(-1, 2))
        (values.astype(numpy.float32) if kind == "complex" else values[:, 0].astype(NUMBERS[kind])).tofile(path)


def difference(ours, stock):
    """Relative, of what both gave: ours goes on where the stock block keeps back what fills no buffer, and what lies
    behind both may end sooner in any run."""
    count = min(len(ours), len(stock))
    if count < 0.8 * len(stock) or not count:
        return numpy.inf
    ours, stock = ours[:count], stock[:count]
    if not numpy.issubdtype(stock.dtype, numpy.inexact):
        return 0.0 if numpy.array_equal(ours, stock) else numpy.inf
    return numpy.linalg.norm(ours - stock) / numpy.linalg.norm(stock)


def least(ours, stock):
    """Of one sink, in several runs."""
    return min(difference(mine, other) for mine in ours for other in stock)


class QaSwap(gr_unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.examples = drawn_examples()
        cls.platform = Platform(name="test", prefs=gr.prefs(), version=gr.version(),
                                version_parts=(gr.major_version(), gr.api_version(), gr.minor_version()))
        cls.platform.build_library(
            [str(SOURCE / "grc"), *gr.prefs().get_string("grc", "global_blocks_path", "").split(":")])
        with tempfile.TemporaryDirectory() as folder:
            # by the stock blocks: GNU Radio's own affair
            cls.broken = compile_all([path for path, _, _ in cls.examples], folder)
        cls.sound = [one for one in cls.examples if one[0] not in cls.broken and
                     one[0].with_name(MADE_BY.get(one[0].name, one[0].name)) not in cls.broken]

    @classmethod
    def tearDownClass(cls):
        tell_drawn()

    def setUp(self):
        if not self.examples:
            self.skipTest("GNU Radio's examples are not installed")

    def test_all_compile(self):
        with tempfile.TemporaryDirectory() as folder:
            pairs = {path: write(swapped(graph), pathlib.Path(folder, f"{number}", path.name))
                     for number, (path, graph, _) in enumerate(self.examples)}
            ours = compile_all([mine for path, mine in pairs.items() if path not in self.broken],
                               pathlib.Path(folder, "ours"))
        blocks = sum(len(found) for _, _, found in self.examples)
        print(f"{len(pairs)} examples, {blocks} blocks swapped, {len(pairs) - len(self.broken) - len(ours)} compiled, "
              f"{len(pairs) - len(self.broken)} with the stock blocks")
        for path, text in self.broken.items():
            print(f"  {path.name} does not compile with the stock blocks: {reason(text)}")
        self.assertEqual({path.name: reason(ours[mine]) for path, mine in pairs.items() if mine in ours}, {})
        self.assertGreater(len(pairs) - len(self.broken) - len(ours), len(pairs) // 2)

    def headless(self, path, graph, folder, packets=PACKETS):
        """The flowgraph without a screen, and with its input."""
        source = file_source(graph)
        given = pathlib.Path(folder, "input")
        if path.name in MADE_BY:
            maker = path.with_name(MADE_BY[path.name])
            given.write_bytes(self.stock(maker, yaml.safe_load(maker.read_text()),
                                         pathlib.Path(folder, "maker"))[0].tobytes())
        else:
            make_input(source["parameters"]["type"], given, packets)
        return Headless(self.platform, path, graph, given)

    def stock(self, path, graph, folder):
        folder.mkdir()
        made = self.headless(path, graph, folder, SUPERFRAMES)
        return made.run(made.graph, folder)

    def test_those_with_a_file_give_the_same(self):
        compared, worst = 0, 0.0
        for path, graph, _ in self.sound:
            if not file_source(graph):
                continue
            with self.subTest(path.name), tempfile.TemporaryDirectory() as folder:
                made = self.headless(path, graph, folder)
                ours, stock = [], []
                for turn in range(TURNS):  # until they are alike
                    ours.append(made.run(swapped(made.graph), pathlib.Path(folder, f"ours{turn}")))
                    stock.append(made.run(made.graph, pathlib.Path(folder, f"stock{turn}")))
                    off = [least(*runs) for runs in zip(zip(*ours), zip(*stock))]
                    if max(off) < BOUND:
                        break
                steady = [all(difference(*pair) < BOUND for pair in itertools.combinations(runs, 2))
                          for runs in zip(*stock)]
                for number, (_, _, port) in enumerate(made.sinks):
                    print(f"  {path.name}, {port}: {len(stock[-1][number])} items, "
                          f"{len(ours[-1][number])} of ours, difference {off[number]:.2g}"
                          + ("" if steady[number] else "; the stock blocks differ from run to run"), flush=True)
                self.assertLess(max(each for each, same in zip(off, steady) if same), BOUND)
                worst = max(worst, *(each for each, same in zip(off, steady) if same))
                compared += 1
        print(f"{compared} examples with a file source compared, at most {worst:.2g} apart")
        self.assertEqual(compared, sum(1 for _, graph, _ in self.sound if file_source(graph)))
        self.assertGreater(compared, 4 if FULL else 2)

    def test_a_difference_is_seen(self):
        """What is not the same is told: other values, too few, none; a block that is not there;
        a parameter that is wrong."""
        values = numpy.exp(1j * numpy.arange(1000)).astype(numpy.complex64)
        self.assertLess(difference(values, values[:900]), BOUND)
        for other in (values * 1.0001, values[1:], values[:700], -values):
            self.assertGreater(difference(other, values), BOUND)
        self.assertGreater(difference(values, values[:0]), BOUND)
        self.assertGreater(difference(numpy.array([1, 2], numpy.uint8), numpy.array([1, 3], numpy.uint8)), BOUND)
        _, graph, found = next((one for one in self.sound if RESAMPLER in one[2]), (None, None, None))
        if not graph:
            self.skipTest("none of GNU Radio's own examples with a resampler compiles here")
        wrong, missing = swapped(graph), swapped(graph)
        for block in wrong["blocks"]:
            if block["name"] in found:
                block["parameters"]["rrate"] = "0"
        for block in missing["blocks"]:
            if block["name"] in found:
                block["id"] += "_none"
        with tempfile.TemporaryDirectory() as folder:
            paths = [write(one, pathlib.Path(folder, name))
                     for name, one in (("wrong.grc", wrong), ("good.grc", swapped(graph)), ("missing.grc", missing))]
            self.assertEqual([one.name for one in compile_all(paths, pathlib.Path(folder, "out"))],
                             ["wrong.grc", "missing.grc"])


if __name__ == "__main__":
    gr_unittest.run(QaSwap)
