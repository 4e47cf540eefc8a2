#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""Blocks beside their stock counterparts as they are installed: parameters, methods, ports and descriptions for GNU
Radio Companion. What differs must be in the tables here, which docs/gnuradio.md tells in words: a difference that
comes, or goes, fails."""

import inspect
import os
import re

import yaml
from gnuradio import digital, fft, filter, gr, gr_unittest, penstock
from gnuradio.fft import logpwrfft
from gnuradio.filter import pfb

GRC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "grc")
STOCK_GRC = os.path.join(gr.prefix(), "share", "gnuradio", "grc", "blocks")
EVERY = {"device", "max_latency_ms", "set_max_latency_ms", "stats"}  # methods that each of ours has besides
EVERY_CHAIN = set(dir(gr.hier_block2("any", gr.io_signature(0, 0, 0), gr.io_signature(0, 0, 0))))
SCHEDULED = {"work", "fixed_rate_ninput_to_noutput", "fixed_rate_noutput_to_ninput"}  # those of a stock block's class

FFT = dict(
    arguments=(64, True, []), added=["device='auto'", "max_latency_ms=10.0"], methods=EVERY | {"fft_size"}, lost=set())
FILTER = dict(
    arguments=(2, [1.0, 2.0]), added=["center_freq=0.0", "sampling_freq=1.0", "device='auto'", "max_latency_ms=10.0"],
    methods=EVERY | {"center_freq", "set_center_freq"}, lost={"set_decimation"})
XLATING = dict(
    arguments=(2, [1.0, 2.0], 0.1, 1.0), added=["device='auto'", "max_latency_ms=10.0"],
    methods=EVERY, lost={"set_decimation"})
ARBITRARY = dict(
    arguments=(0.7, [1.0, 2.0, 3.0, 4.0, 5.0], 2), added=["device='auto'"], methods={"device", "stats"},
    lost={"print_taps"})
RATIONAL = dict(arguments=(3, 2, [1.0, 2.0, 3.0]), added=["device='auto'"], methods={"device", "stats"}, lost=set())
PAIRS = {
    "fft_vcc": dict(FFT, stock=fft.fft_vcc),
    "fft_vfc": dict(FFT, stock=fft.fft_vfc),
    "fft_filter_ccc": dict(FILTER, stock=filter.fft_filter_ccc),
    "fft_filter_ccf": dict(FILTER, stock=filter.fft_filter_ccf),
    "fft_filter_fff": dict(FILTER, stock=filter.fft_filter_fff),
    "channelizer_cc": dict(
        stock=pfb.channelizer_ccf, arguments=(4, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]),
        # the latter two are its parts
        added=["device='auto'", "max_latency_ms=10.0"], methods=EVERY | {"channel_map"},
        lost={"create_taps", "pfb", "s2ss"}),
    **{"freq_xlating_fir_filter_" + kind: dict(XLATING, stock=getattr(filter, "freq_xlating_fir_filter_" + kind))
       for kind in ("ccc", "ccf", "fcc", "fcf", "scc", "scf")},
    "pfb_arb_resampler_ccf": dict(ARBITRARY, stock=filter.pfb_arb_resampler_ccf),
    "pfb_arb_resampler_ccc": dict(ARBITRARY, stock=filter.pfb_arb_resampler_ccc),
    "pfb_arb_resampler_fff": dict(ARBITRARY, stock=filter.pfb_arb_resampler_fff),
    "pfb_synthesizer_ccf": dict(
        stock=filter.pfb_synthesizer_ccf, arguments=(4, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], True),
        added=["device='auto'", "max_latency_ms=10.0"], methods=EVERY, lost={"interpolation", "set_interpolation"}),
    "logpwrfft_c": dict(
        stock=logpwrfft.logpwrfft_c, arguments=(32000, 64, 2, 30, 0.5, True),
        added=["device='auto'", "max_latency_ms=10.0"], methods=EVERY, lost=set()),
    "logpwrfft_f": dict(
        stock=logpwrfft.logpwrfft_f, arguments=(32000, 64, 2, 30, 0.5, True),
        added=["device='auto'", "max_latency_ms=10.0"], methods=EVERY, lost=set()),
    "rational_resampler_ccf": dict(RATIONAL, stock=filter.rational_resampler_ccf),
    "rational_resampler_ccc": dict(RATIONAL, stock=filter.rational_resampler_ccc),
    "rational_resampler_fcc": dict(RATIONAL, stock=filter.rational_resampler_fcc),
    "rational_resampler_fff": dict(RATIONAL, stock=filter.rational_resampler_fff),
}

# Parameters that both have, of blocks whose stock counterpart is a chain: its hier block, and in our order.
SHARED = {
    "ofdm_demod_cvc": (digital.ofdm_rx, ["fft_len", "cp_len", "occupied_carriers", "pilot_carriers", "pilot_symbols",
                                         "sync_word1", "sync_word2"]),
    "spectrum_cvf": (logpwrfft.logpwrfft_c, ["fft_size", "average"]),
}

# Descriptions for GNU Radio Companion: ours, the stock one, parameters that only one has, and those that differ in
# dtype or default.
OURS = {"device", "max_latency_ms"}
DESCRIPTIONS = [
    ("penstock_fft_vxx", "fft_fft_vxx", OURS | {"num_streams"}, set(), {"window"}),
    ("penstock_fft_filter_xxx", "filter_fft_filter_xxx", OURS | {"center_freq", "samp_rate"}, set(), set()),
    ("penstock_channelizer_cc", "filter_pfb_channelizer", OURS, {"bus_structure_source"}, {"nchans", "taps"}),
    ("penstock_pfb_arb_resampler_xxx", "filter_pfb_arb_resampler", {"device"}, set(), set()),
    ("penstock_freq_xlating_fir_filter_xxx", "filter_freq_xlating_fir_filter_xxx", OURS, set(), set()),
    ("penstock_pfb_decimator_ccf", "filter_pfb_decimator", {"device"}, set(), {"taps"}),  # no default there
    ("penstock_pfb_channelizer_hier_ccf", "filter_pfb_channelizer_hier", {"device"}, set(), set()),
    ("penstock_pfb_synthesizer_ccf", "filter_pfb_synthesizer", OURS, set(), set()),
    ("penstock_logpwrfft_x", "fft_logpwrfft_x", OURS, set(), set()),
    ("penstock_rational_resampler_xxx", "filter_rational_resampler_xxx", {"device"}, set(), set()),
]


def parameters(kind):
    """`name` or `name=default` of each parameter, from a signature or from what pybind11 says of the first one."""
    made = kind.__dict__.get("__new__") or kind.__init__
    if inspect.isfunction(getattr(made, "__func__", made)):
        listed = list(inspect.signature(getattr(made, "__func__", made)).parameters.values())[1:]
        return [p.name if p.default is p.empty else "%s=%r" % (p.name, p.default) for p in listed]
    text = re.search(r"__init__\(self: [\w.]+, (.*)\) -> None", kind.__init__.__doc__).group(1)
    return [re.sub(r": [^=]+?(?:( = )|$)", lambda kind: "=" if kind[1] else "", part, count=1)
            for part in re.split(r", (?=\w+:)", text)]


def methods(block):
    known = set(dir(gr.block)) | set(dir(gr.hier_block2)) | EVERY_CHAIN
    return {name for name in dir(block) if not name.startswith("_")} - known - SCHEDULED


def alike(text):
    """1.0 and 1 are the same default."""
    return re.sub(r"=(\d+)\.0$", r"=\1", text)


def ports(block):
    return [(signature.min_streams(), signature.max_streams(), signature.sizeof_stream_item(0))
            for signature in (block.input_signature(), block.output_signature())]


def described(path):
    with open(path, encoding="utf-8") as file:
        description = yaml.safe_load(file)
    return {p["id"]: (p["dtype"], p.get("default")) for p in description["parameters"]}


class QaStock(gr_unittest.TestCase):
    def both(self, name):
        pair = PAIRS[name]
        return pair, pair["stock"](*pair["arguments"]), getattr(penstock, name)(*pair["arguments"], device="cpu")

    def test_parameters(self):
        """The stock block's, in its order and with its defaults, then our own."""
        for name, pair in PAIRS.items():
            with self.subTest(name):
                stock, ours = parameters(pair["stock"]), parameters(getattr(penstock, name))
                self.assertEqual([alike(text) for text in ours[:len(stock)]], [alike(text) for text in stock])
                self.assertEqual(ours[len(stock):], pair["added"])

    def test_methods(self):
        for name in PAIRS:
            with self.subTest(name):
                pair, stock, ours = self.both(name)
                self.assertEqual(methods(stock) - methods(ours), pair["lost"])
                self.assertEqual(methods(ours) - methods(stock), pair["methods"])

    def test_getters_give_what_was_given(self):
        for name in PAIRS:
            with self.subTest(name):
                _, stock, ours = self.both(name)
                for getter in ("decimation", "nthreads", "channel_map", "sample_rate", "frame_rate", "average",
                               "avg_alpha"):
                    if hasattr(stock, getter):
                        self.assertEqual(getattr(ours, getter)(), getattr(stock, getter)())
                if hasattr(stock, "taps"):
                    taps = ours.taps()  # the stock channelizer gives them branch by branch
                    self.assertEqual([taps[i::4] for i in range(4)] if name == "channelizer_cc" else taps, stock.taps())

    def test_ports(self):
        """The same streams of the same items, but for several streams of the FFT and left-out outputs of the
        channelizer; and a message port `stats`."""
        for name in PAIRS:
            with self.subTest(name):
                _, stock, ours = self.both(name)
                (in_least, in_most, in_bytes), (out_least, out_most, out_bytes) = ports(stock)
                if name.startswith("fft_v"):
                    in_most = out_most = 1024
                if name == "channelizer_cc":
                    out_least = 1
                self.assertEqual(ports(ours), [(in_least, in_most, in_bytes), (out_least, out_most, out_bytes)])
                self.assertEqual(str(ours.message_ports_out()), "#(stats)")
                self.assertEqual(str(stock.message_ports_out()), "#()")
                self.assertEqual(str(ours.message_ports_in()),
                                 str(stock.message_ports_in()) if "xlating" in name else "#(system)")

    def test_what_chains_share(self):
        for name, (stock, shared) in SHARED.items():
            ours = [text.partition("=")[0] for text in parameters(getattr(penstock, name))]
            theirs = [text.partition("=")[0] for text in parameters(stock)]
            self.assertEqual([one for one in ours if one in theirs], shared)
            self.assertEqual(sorted(set(theirs) & set(ours)), sorted(shared))

    def test_descriptions(self):
        for ours, stock, added, lost, other in DESCRIPTIONS:
            with self.subTest(ours):
                ours = described(os.path.join(GRC, ours + ".block.yml"))
                stock = described(os.path.join(STOCK_GRC, stock + ".block.yml"))
                self.assertEqual(set(ours) - set(stock), added)
                self.assertEqual(set(stock) - set(ours), lost)
                self.assertEqual({key for key in ours if key in stock and ours[key] != stock[key]}, other)

    def test_the_docs_name_what_differs(self):
        with open(os.path.join(GRC, "..", "docs", "gnuradio.md"), encoding="utf-8") as file:
            text = file.read()
        text = text[text.index("## Beside the stock blocks"):].split("\n## ")[0]
        names = {word.split("=")[0] for pair in PAIRS.values()
                 for word in [*pair["added"], *pair["methods"], *pair["lost"]]}
        names |= {key for _, _, added, lost, other in DESCRIPTIONS for key in added | lost | other}
        names |= {key for _, shared in SHARED.values() for key in shared}
        names |= {text.partition("=")[0] for stock, _ in SHARED.values() for text in parameters(stock)}
        self.assertEqual(sorted(name for name in names if "`%s" % name not in text), [])


if __name__ == "__main__":
    gr_unittest.run(QaStock)
