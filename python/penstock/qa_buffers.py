#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""The buffers between blocks: one that waits for input does not keep the block before it from making any, and a
flowgraph that starts again has what it had."""

import time

from gnuradio import blocks, gr, gr_unittest, penstock
from qa_stalling import running

POINTS = 1024


class FilterToSink:
    """Which asks for more room behind it than GNU Radio gives by itself."""

    def __init__(self):
        self.filter = penstock.fft_filter_ccf(1, [1 / 129] * 129, device="cpu")
        self.top = gr.top_block()
        self.top.connect(blocks.null_source(8), self.filter, blocks.null_sink(8))

    def room(self):
        """After a start."""
        with running(self.top):
            return self.filter.max_output_buffer(0)


class Swallows(gr.basic_block):
    """Gives what it takes, but nothing in the first of two calls: what blocks do that gather items."""

    def __init__(self):
        gr.basic_block.__init__(self, "swallows", ["complex64"], ["complex64"])
        self.called, self.held, self.pauses = None, 0, []

    def general_work(self, input_items, output_items):
        now = time.monotonic()
        if self.called is not None:
            self.pauses.append(now - self.called)
        self.called = None
        count = min(len(input_items[0]), 64)
        if not self.held:
            self.consume(0, count)
            self.held, self.called = count, time.monotonic()
            return 0
        count = min(self.held, len(output_items[0]))
        output_items[0][:count] = 1
        self.held -= count
        self.consume(0, 0)
        return count

    def forecast(self, outputs, inputs):
        return [0 if self.held else 1] * inputs


class QaBuffers(gr_unittest.TestCase):
    def test_a_block_that_waits_holds_up_no_other(self):
        """GNU Radio lets no block go on that has made nothing while the one behind it is in work, as the spectrum
        would be for 10 ms where it waits for input."""
        calls = 2048
        swallows, spectrum = Swallows(), penstock.spectrum_cvf(POINTS, average=128, device="cpu")
        top = gr.top_block()
        top.connect(blocks.null_source(8), blocks.head(8, 64 * calls), swallows, spectrum, blocks.null_sink(4 * POINTS))
        top.run()
        self.assertEqual(spectrum.nitems_read(0), 64 * calls)
        self.assertGreaterEqual(len(swallows.pauses), calls)
        self.assertLess(sum(pause > 5e-3 for pause in swallows.pauses), calls / 10)

    def test_started_again(self):
        """With a buffer as large as before, where GNU Radio tells how large it was."""
        chain = FilterToSink()
        rooms = [chain.room() for _ in range(3)]
        self.assertEqual(rooms[1:], rooms[:1] * 2)

    def test_limits_are_kept(self):
        """Those that the user sets, before the first start and later."""
        chain = FilterToSink()
        for limit in (4096, 1024):
            chain.filter.set_max_output_buffer(limit)
            self.assertEqual([chain.room() for _ in range(2)], [limit] * 2)


if __name__ == "__main__":
    gr_unittest.run(QaBuffers)
