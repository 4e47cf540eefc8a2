#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""The synthesizer beside the stock block and its definition in double precision: any channels, taps, map and chunks;
other taps and another map while it runs; tags; every device."""

import numpy
import pmt
from gnuradio import blocks, filter, gr, gr_unittest, penstock
from qa_stalling import Stalling, running, wait_until

random = numpy.random.RandomState(3)


def noise(*shape):
    return (random.normal(size=shape) + 1j * random.normal(size=shape)).astype(numpy.complex64)


def prototype(count):
    return (random.normal(size=count) / numpy.sqrt(count)).astype(numpy.float32)


def definition(numchans, taps, twox, data, channels):
    """Of `data`, a row for each input, at the channels: what the stock block's documentation and source say,
    in doubles."""
    places, hop = (2 if twox else 1) * numchans, numchans
    spectra = numpy.zeros((data.shape[1], places), complex)
    spectra[:, channels[:len(data)]] = data.T
    periods = numpy.fft.ifft(spectra, axis=1) * places
    periods = numpy.roll(periods, -(places - hop), axis=1)
    made = numpy.zeros(data.shape[1] * hop + len(taps), complex)
    for m, period in enumerate(periods):
        samples = numpy.arange(m * hop, m * hop + len(taps))
        made[samples] += numpy.asarray(taps, float) * period[samples % places]
    return made[:data.shape[1] * hop]


def run(block, data, most=100000):
    top, sink = gr.top_block(), blocks.vector_sink_c()
    for port, stream in enumerate(data):
        top.connect(blocks.vector_source_c(stream.tolist()), (block, port))
    top.connect(block, sink)
    top.run(most)
    return numpy.array(sink.data())


def error(got, wanted):
    return numpy.linalg.norm(got - wanted) / numpy.linalg.norm(wanted)


CASES = [  # channels, taps, twice oversampled, inputs, map
    (4, 13, False, 4, None), (4, 13, True, 4, None), (6, 20, True, 3, [5, 11, 0, 7]), (5, 11, False, 3, [4, 0, 2]),
    (2, 1, False, 1, None), (2, 5, True, 2, [3, 1]), (8, 9, True, 8, None), (32, 400, False, 32, None),
    (64, 777, True, 20, list(range(127, 63, -1))), (7, 3, False, 7, None), (100, 1000, True, 100, None)]


class QaSynthesizer(gr_unittest.TestCase):
    def make(self, kind, case, device=("cpu",)):
        numchans, count, twox, inputs, channels = case
        taps = prototype(count)
        block = kind(numchans, taps.tolist(), twox, *device)
        if channels:
            block.set_channel_map(channels)
        return block, taps, noise(inputs, 300), channels or list(range(2 * numchans))

    def test_beside_the_stock_block_at_any_chunking(self):
        """Each item of the stock block, which gives numchans for each item in, too."""
        for case in CASES:
            ours, taps, data, channels = self.make(penstock.pfb_synthesizer_ccf, case)
            stock = filter.pfb_synthesizer_ccf(case[0], taps.tolist(), case[2])
            stock.set_channel_map(channels[:(2 if case[2] else 1) * case[0]])
            theirs, first = run(stock, data), None
            for most in (100000, 1, 37):
                with self.subTest(case=case[:4], most=most):
                    mine = run(ours, data, most * case[0])
                    first = mine if first is None else first
                    self.assertEqual(len(mine), 300 * case[0])
                    self.assertEqual(len(theirs), len(mine))
                    self.assertLess(error(mine, theirs), 5e-7)
                    self.assertTrue(numpy.array_equal(mine, first))
            self.assertLess(error(first, definition(*case[:1], taps, case[2], data, channels)), 3e-7)
            self.assertEqual(ours.taps(), stock.taps())

    def test_every_device(self):
        tried = 0
        for device in ("reference", "trace", "opencl", "auto", "prefer:warp"):
            for case in CASES[:3]:
                try:
                    block, taps, data, channels = self.make(penstock.pfb_synthesizer_ccf, case, (device, 0))
                except RuntimeError as missing:
                    self.assertIn("no device", str(missing))
                    continue
                self.assertLess(error(run(block, data), definition(case[0], taps, case[2], data, channels)), 2e-6,
                                device)
                tried += 1
        self.assertGreaterEqual(tried, 9)

    def change(self, case, change):
        """What comes of 100 items before and 200 after `change(block)`."""
        block, taps, data, channels = self.make(penstock.pfb_synthesizer_ccf, case)
        sources = [Stalling(items=stream) for stream in data]
        top, sink = gr.top_block(), blocks.vector_sink_c()
        for port, source in enumerate(sources):
            top.connect(source, (block, port))
        top.connect(block, sink)
        with running(top):
            for count in (100, 300):
                if count == 300:
                    change(block)
                for source in sources:
                    source.allowed = count
                wait_until(lambda: len(sink.data()) >= count * case[0])
        return numpy.array(sink.data()), taps, data, channels

    def test_other_taps_while_it_runs(self):
        """Each item is made by one set of taps, of the items before the change too; the stock block forgets those."""
        for case in CASES[:4]:
            for count in (1, 8, 60):
                later, hop = prototype(count), case[0]
                got, taps, data, channels = self.change(case, lambda block: block.set_taps(later.tolist()))
                old, new = (definition(hop, some, case[2], data, channels) for some in (taps, later))
                turn = max(100, 100 + (count - 1) // hop - (case[1] - 1) // hop) * hop if count > case[1] else 100 * hop
                self.assertEqual(len(got), 300 * hop)
                wanted = numpy.concatenate((old[:turn], new[turn:]))
                self.assertLess(min(error(got, wanted),
                                    error(got, numpy.concatenate((old[:100 * hop], new[100 * hop:])))),
                                3e-7, (case, count))

    def test_another_map_while_it_runs(self):
        for case in CASES[:3]:
            numchans, _, twox, inputs, _ = case
            later = list(range(numchans))[::-1]
            got, taps, data, channels = self.change(case, lambda block: block.set_channel_map(later))
            before, after = data.copy(), data.copy()
            before[:, 100:], after[:, :100] = 0, 0
            self.assertLess(error(got, definition(numchans, taps, twox, before, channels)
                                  + definition(numchans, taps, twox, after, later)), 3e-7)

    def test_tags_and_shorter_inputs(self):
        tags = [gr.tag_utils.python_to_tag((place, pmt.intern("mark"), pmt.from_long(place), pmt.intern("qa")))
                for place in (0, 1, 77)]
        top, sink, data = gr.top_block(), blocks.vector_sink_c(), noise(2, 100)
        block = penstock.pfb_synthesizer_ccf(4, [1.0] * 9, device="cpu")
        top.connect(blocks.vector_source_c(data[0].tolist(), False, 1, tags), (block, 0))
        top.connect(blocks.vector_source_c(data[1][:90].tolist()), (block, 1), )
        top.connect(block, sink)
        top.run()
        self.assertEqual(len(sink.data()), 90 * 4)
        self.assertEqual(sorted((pmt.to_long(tag.value), tag.offset) for tag in sink.tags()),
                         [(place, 4 * place) for place in (0, 1, 77)])

    def test_values_that_cannot_be(self):
        block = penstock.pfb_synthesizer_ccf(4, [1.0], True, "cpu")
        self.assertEqual(block.channel_map(), list(range(8)))
        for channels in ([8], [-1], [1, 1]):
            self.assertRaises(RuntimeError, block.set_channel_map, channels)
        self.assertRaises(RuntimeError, block.set_taps, [])
        self.assertRaises(RuntimeError, block.set_taps, [float("nan")])
        for wrong in ((1, [1.0]), (3, [1.0], True), (4, []), (65537, [1.0]), (4, [float("inf")])):
            self.assertRaises(RuntimeError, penstock.pfb_synthesizer_ccf, *wrong)
        block.set_channel_map([6])  # one channel, two inputs
        top = gr.top_block()
        for port in range(2):
            top.connect(blocks.vector_source_c([1]), (block, port))
        top.connect(block, blocks.null_sink(8))
        self.assertRaisesRegex(RuntimeError, "channel_map has 1 channels, there are 2 inputs", top.run)
        block.set_channel_map([])
        self.assertEqual(block.channel_map(), list(range(8)))
        block.print_taps()


if __name__ == "__main__":
    gr_unittest.run(QaSynthesizer)
