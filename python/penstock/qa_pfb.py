#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""The decimator and the hierarchical channelizer beside the stock blocks. The resamplers are in qa_resamplers.py."""

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
        """Without FFT rotators the stock block's factors are of angles that are floats,
        up to 2 pi (decim - 1)^2 / decim."""
        for decim, count, channel in ((2, 11, 1), (5, 40, 0), (8, 65, 3), (16, 200, 15)):
            taps = (random.normal(size=count) / numpy.sqrt(count)).tolist()
            for rotators, filters in ((True, True), (True, False), (False, False)):
                with self.subTest(decim=decim, channel=channel, rotators=rotators, filters=filters):
                    stock = pfb.decimator_ccf(decim, taps, channel, 100, rotators, filters)
                    ours = penstock.pfb.decimator_ccf(decim, taps, channel, 100, rotators, filters, device="cpu")
                    self.compare(run(self.data, ours, 1), run(self.data, stock, 1), -(-4001 // decim),
                                 5e-7 if rotators else 3e-6)
        ours, moved = penstock.pfb.decimator_ccf(8, taps, 0), penstock.pfb.decimator_ccf(8, taps, 5)
        ours.set_channel(5)
        self.assertTrue((run(self.data, ours, 1)[0] == run(self.data, moved, 1)[0]).all())
        self.assertEqual(ours.stats()["items_in"], 4001)

    def test_hier_channelizer(self):
        """Items of the stock block, which keeps back what fills no vector; with taps that are not symmetric."""
        for count, taps, banks, outchans in ((2, 7, 1, None), (3, 40, 4, None), (8, 65, 2, [5, 0, 7]),
                                             (13, 200, 5, list(range(12, -1, -1)))):
            with self.subTest(channels=count):
                values = (random.normal(size=taps) / numpy.sqrt(taps)).tolist()
                stock = pfb.channelizer_hier_ccf(count, banks, values, outchans)
                ours = penstock.pfb.channelizer_hier_ccf(count, banks, values, outchans, device="cpu")
                outputs = len(outchans or range(count))
                both = run(self.data, ours, outputs), run(self.data, stock, outputs)
                self.compare(*both, -(-4001 // count))
                self.assertEqual({len(one) for one in both[1]}, {4001 // count})
                self.assertEqual(ours.taps()[:taps], [float(numpy.float32(value)) for value in values])
        longer = (random.normal(size=90) / 9).tolist()
        ours.set_taps(longer)
        self.compare(run(self.data, ours, 13), run(self.data, pfb.channelizer_hier_ccf(13, 2, longer, outchans), 13),
                     -(-4001 // 13))

    def test_taps_that_are_not_given(self):
        """Those of the stock blocks."""
        self.assertEqual(penstock.pfb.channelizer_hier_ccf(4).taps()[:20],
                         penstock.pfb.channelizer_hier_ccf(4, taps=pfb.channelizer_hier_ccf.create_taps(4)).taps()[:20])
        self.assertEqual(penstock.pfb.decimator_ccf(4, atten=60).taps(),
                         penstock.pfb.decimator_ccf(4, pfb.decimator_ccf.create_taps(4, 60)).taps())


if __name__ == "__main__":
    gr_unittest.run(QaPfb)
