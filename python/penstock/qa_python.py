#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""The blocks as Python sees them: help for each block, parameter and method, keywords,
and the types that users have at hand."""

import inspect
import re

import numpy
from gnuradio import fft, gr_unittest, penstock

BLOCKS = {name: kind for name, kind in vars(penstock).items() if inspect.isclass(kind) and hasattr(kind, "stats")}


def signatures(function):
    """The names of the parameters, from each signature that pybind11 tells."""
    return [re.findall(r", (\w+): ", text) for text in re.findall(r"\w+(\(self: .*\)) -> ", function.__doc__)]


class QaPython(gr_unittest.TestCase):
    def test_help(self):
        """Each parameter in the block's text, and a sentence for each method of its own."""
        methods = 0
        for name, kind in BLOCKS.items():
            told = re.findall(r"(?m)^    (\w+(?:, \w+)*): ", kind.__doc__)
            listed = [parameter for line in told for parameter in line.split(", ")]
            for parameters in signatures(kind.__init__):
                self.assertEqual(listed, parameters, name)
            for method in (key for key in vars(kind) if not key.startswith("_")):
                text = getattr(kind, method).__doc__
                self.assertRegex(re.sub(r"(?m)^.*\(self: .*$|Overloaded function\.", "", text), r"[A-Z]\w+",
                                 f"{name}.{method}")
                methods += 1
        self.assertEqual(len(BLOCKS), 29)
        self.assertGreater(methods, 60)

    def test_keywords_in_any_order(self):
        window = [0.5] * 64
        for factors in (window, tuple(window), numpy.array(window), numpy.array(window, numpy.float32), "hann", []):
            with self.subTest(str(type(factors))):
                block = penstock.spectrum_cvf(window=factors, fft_size=64, device="cpu")
                self.assertEqual((block.fft_size(), block.set_window(factors)), (64, True))
                block = penstock.fft_vcc(device="cpu", window=factors, forward=True, fft_size=64)
                self.assertEqual((block.fft_size(), block.set_window(factors)), (64, True))
        self.assertEqual(penstock.channelizer_cc(device="cpu", taps=window, numchans=8).taps(), window)
        self.assertEqual(penstock.fft_filter_fff(taps=window, decimation=3, device="cpu").decimation(), 3)
        self.assertEqual(penstock.wifi_transmitter(gap_us=3, rate_mbps=54).rate_mbps(), 54)

    def test_types(self):
        """What NumPy and the stock helpers give is taken; other kinds of values are a TypeError,
        wrong values a RuntimeError."""
        taps = numpy.array([1, 2j, 3], numpy.complex128)
        block = penstock.fft_filter_ccc(numpy.int64(2), taps, numpy.int32(1), numpy.float32(0.25), numpy.float64(1),
                                        "cpu")
        self.assertEqual((block.taps(), block.decimation(), block.center_freq()), ([1, 2j, 3], 2, 0.25))
        self.assertEqual(penstock.fft_filter_ccc(1, numpy.array([1, 2], int), device="cpu").taps(), [1, 2])
        self.assertEqual(penstock.fft_vfc(numpy.int16(32), numpy.bool_(True), fft.window.hann(32), numpy.bool_(False),
                                          device="cpu").fft_size(), 32)
        channelizer = penstock.channelizer_cc(8, None, numpy.int64(2), device="cpu")
        for channels in (numpy.array([3, 1]), (3, 1), range(3, 0, -2)):
            channelizer.set_channel_map(channels)
            self.assertEqual(channelizer.channel_map(), [3, 1])
        for carriers in ([range(1, 9)], numpy.arange(1, 9).reshape(1, 8), (tuple(range(1, 9)),), [numpy.arange(1, 9)]):
            block = penstock.ofdm_demod_cvc(64, 16, carriers, [numpy.array([10, 11])], numpy.ones((2, 2)),
                                            sync_word2=numpy.ones(64), device="cpu")
            self.assertEqual(block.output_signature().sizeof_stream_item(0), 8 * 8)
        for wrong in (lambda: penstock.fft_vcc(64.5, True, []), lambda: penstock.fft_vcc(64, True, None),
                      lambda: penstock.fft_filter_ccf(1, 5), lambda: penstock.fft_filter_ccf(1, [1j]),
                      lambda: penstock.fft_filter_ccf(1, numpy.ones((2, 2))),
                      lambda: penstock.ofdm_demod_cvc(64, 16, [1, 2]), lambda: penstock.wifi_receiver(5)):
            self.assertRaises(TypeError, wrong)
        for wrong in (lambda: penstock.window("hann", -1), lambda: penstock.window("round", 8),
                      lambda: penstock.fft_filter_ccf(1, [numpy.nan]), lambda: penstock.wifi_receiver("wlan"),
                      lambda: penstock.fft_vcc(64, True, numpy.ones(63))):
            self.assertRaises(RuntimeError, wrong)


if __name__ == "__main__":
    gr_unittest.run(QaPython)
