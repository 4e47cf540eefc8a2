#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""penstock.pfb beside gnuradio.filter.pfb: the decimator. Its resamplers are in qa_resamplers.py."""

import numpy
from gnuradio import blocks, gr, gr_unittest, penstock
from gnuradio.filter import pfb

random = numpy.random.RandomState(7)


def run(data, block, outputs):
    top, sinks = gr.top_block(), [blocks.vector_sink_c() for _ in range(outputs)]
    top.connect(blocks.vector_source_c(data.tolist()), block)
    for port, sink in enumerate(sinks):
        top.connect((block, port), sink)
    top.run()
    return [numpy.array(sink.data()) for sink in sinks]


class QaPfb(gr_unittest.TestCase):
    def compare(self, ours, stock, items, most=5e-7):
        for mine, other in zip(ours, stock):
            self.assertEqual(len(mine), items)
            self.assertGreater(len(other), 0.6 * items)
            self.assertLess(numpy.linalg.norm(mine[: len(other)] - other) / numpy.linalg.norm(other), most)

    def setUp(self):
        self.data = (random.normal(size=4001) + 1j * random.normal(size=4001)).astype(numpy.complex64)

    def test_decimator(self):
        """Without FFT rotators the stock block's factors are of angles that are floats, up to 2 pi (decim - 1)^2 / decim."""
        for decim, count, channel in ((2, 11, 1), (5, 40, 0), (8, 65, 3), (16, 200, 15)):
            taps = (random.normal(size=count) / numpy.sqrt(count)).tolist()
            for rotators, filters in ((True, True), (True, False), (False, False)):
                with self.subTest(decim=decim, channel=channel, rotators=rotators, filters=filters):
                    stock = pfb.decimator_ccf(decim, taps, channel, 100, rotators, filters)
                    ours = penstock.pfb.decimator_ccf(decim, taps, channel, 100, rotators, filters, device="cpu")
                    self.compare(run(self.data, ours, 1), run(self.data, stock, 1), -(-4001 // decim), 5e-7 if rotators else 3e-6)
        ours, moved = penstock.pfb.decimator_ccf(8, taps, 0), penstock.pfb.decimator_ccf(8, taps, 5)
        ours.set_channel(5)
        self.assertTrue((run(self.data, ours, 1)[0] == run(self.data, moved, 1)[0]).all())
        self.assertEqual(ours.stats()["items_in"], 4001)

    def test_taps_that_are_not_given(self):
        """Those of the stock blocks."""
        self.assertEqual(penstock.pfb.decimator_ccf(4, atten=60).taps(), penstock.pfb.decimator_ccf(4, pfb.decimator_ccf.create_taps(4, 60)).taps())


if __name__ == "__main__":
    gr_unittest.run(QaPfb)
