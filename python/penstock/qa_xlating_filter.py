#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""The frequency xlating filters of each type: beside their definition in double precision and beside the stock ones."""

import numpy
import pmt
from gnuradio import blocks, filter, gr, gr_unittest, penstock
from qa_stalling import wait_until

random = numpy.random.RandomState(6)
KINDS = ("ccc", "ccf", "fcc", "fcf", "scc", "scf")
SOURCES = {"c": blocks.vector_source_c, "f": blocks.vector_source_f, "s": blocks.vector_source_s}


def noise(count, kind):
    if kind == "s":
        return random.randint(-100, 101, count).astype(numpy.int16)
    real = random.normal(size=count)
    return ((real + 1j * random.normal(size=count)).astype(numpy.complex64) if kind == "c"
            else real.astype(numpy.float32))


def run(data, block, kind):
    top, sink = gr.top_block(), blocks.vector_sink_c()
    top.connect(SOURCES[kind](data.tolist()), block, sink)
    top.run()
    return numpy.array(sink.data())


def definition(data, taps, decimation, freq):
    """The oscillator has phase zero in the middle of the taps."""
    moved = data.astype(complex) * numpy.exp(-2j * numpy.pi * freq * (numpy.arange(len(data)) + (len(taps) - 1) / 2))
    return numpy.convolve(moved, taps)[: len(data) // decimation * decimation : decimation]


class QaXlatingFilter(gr_unittest.TestCase):
    def test_beside_definition_and_stock(self):
        """To 1e-6 of the definition; to 3e-4 of the stock block, whose oscillator is a product of floats."""
        for kind in KINDS:
            for decimation, count, freq in ((1, 25, 0.11), (3, 64, -0.4), (8, 1, 0.25), (5, 301, 0)):
                with self.subTest(kind, decimation=decimation, taps=count, freq=freq):
                    data, taps = noise(3001, kind[0]), (noise(count, kind[2]) / numpy.sqrt(count)).tolist()
                    ours = run(data, getattr(penstock, "freq_xlating_fir_filter_" + kind)(decimation, taps, freq, 1.0,
                                                                                          "cpu"),
                               kind[0])
                    stock = run(data, getattr(filter, "freq_xlating_fir_filter_" + kind)(decimation, taps, freq, 1.0),
                                kind[0])
                    expected = definition(data, taps, decimation, freq)
                    scale = numpy.abs(expected).max()
                    self.assertEqual(len(ours), 3001 // decimation)
                    self.assertLess(numpy.abs(ours - expected).max(), 1e-6 * scale)
                    self.assertGreater(len(stock), 0.8 * len(ours))
                    self.assertLess(numpy.abs(ours[: len(stock)] - stock).max(), 3e-4 * scale)

    def test_frequency_by_method_and_message(self):
        """Before the first item, and as a pair or a dictionary while it runs; with a tag where it begins to hold."""
        data, taps = noise(1000, "c"), [0.5, 1.0, 0.25]
        block = penstock.freq_xlating_fir_filter_ccf(2, taps, 0.1, 1.0, "cpu")
        block.set_center_freq(0.3)
        self.assertLess(numpy.abs(run(data, block, "c") - definition(data, taps, 2, 0.3)).max(), 1e-5)
        pair, dictionary = (pmt.cons(pmt.intern("freq"), pmt.from_double(0.2)),
                            pmt.dict_add(pmt.make_dict(), pmt.intern("freq"), pmt.from_double(-0.1)))
        for message, freq in ((pair, 0.2), (dictionary, -0.1)):
            top, tags = gr.top_block(), blocks.tag_debug(8, "", "freq")
            tags.set_display(False)
            tags.set_save_all(True)
            top.connect(blocks.null_source(8), block, tags)
            top.start()
            wait_until(lambda: block.stats()["items_out"])
            block.to_basic_block()._post(pmt.intern("freq"), message)
            wait_until(lambda: block.center_freq() == freq)
            wait_until(lambda: tags.current_tags())
            top.stop()
            top.wait()
            self.assertEqual(pmt.to_double(tags.current_tags()[-1].value), freq)
        for message in (pmt.PMT_NIL, pmt.cons(pmt.intern("freq"), pmt.intern("much")),
                        pmt.cons(pmt.intern("freq"), pmt.from_double(float("nan")))):
            block.to_basic_block()._post(pmt.intern("freq"), message)
        self.assertEqual(len(run(data, block, "c")), 500)
        self.assertEqual(block.center_freq(), -0.1)

    def test_what_cannot_be(self):
        make = penstock.freq_xlating_fir_filter_ccf
        for arguments, words in (((0, [1.0], 0, 1), "decimation is 0"), ((1, [], 0, 1), "no taps"),
                                 ((1, [1.0], 0, 0), "sampling_freq"), ((1, [1.0], float("nan"), 1), "center_freq"),
                                 ((1, [1.0], 0, 1, "cpu", -1), "max_latency_ms"), ((1, [1.0], 0, 1, "warp"), "warp"),
                                 ((1, [float("inf")], 0, 1), "finite")):
            self.assertRaisesRegex(RuntimeError, words, make, *arguments)


if __name__ == "__main__":
    gr_unittest.run(QaXlatingFilter)
