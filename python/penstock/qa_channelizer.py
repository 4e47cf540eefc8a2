#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""The channelizer block: side by side with the stock one, beside its definition,
and through every method and change."""

import ctypes
import time

import numpy
import pmt
from gnuradio import blocks, gr, gr_unittest, penstock
from gnuradio.filter import pfb
from qa_stalling import Stalling, running, wait_until

numpy.random.seed(3)


def noise(count):
    return (numpy.random.normal(size=count) + 1j * numpy.random.normal(size=count)).astype(numpy.complex64)


def definition(data, taps, channels, hop, items=None):
    """Items (rows) of all channels in double precision, each channel mixed, filtered and decimated by itself."""
    items = -(-len(data) // hop) if items is None else items
    places = numpy.arange(items)[:, None] * hop + hop - 1 - numpy.arange(len(taps))[None, :]
    inside = (places >= 0) & (places < len(data))
    products = numpy.where(inside, data.astype(numpy.complex128)[numpy.clip(places, 0, len(data) - 1)], 0) * taps
    phases = numpy.exp(-2j * numpy.pi * numpy.arange(channels)[:, None] * numpy.arange(channels)[None, :] / channels)
    folded = numpy.zeros((items, channels), complex)
    for row, (values, at) in enumerate(zip(products, places)):
        numpy.add.at(folded[row], (at + 1 + hop) % channels, values)
    return folded @ phases.T


def bound(channels, taps):
    return 1e-7 * (numpy.sqrt(numpy.log2(channels)) + numpy.sqrt(len(taps) / channels) / 4)


class QaChannelizer(gr_unittest.TestCase):
    def run_block(self, data, *channelizers, outputs=None, most=100000, tags=()):
        """What each block gives for `data`, items by channels; and the sinks."""
        top, sinks = gr.top_block(), []
        source = blocks.vector_source_c(data.tolist(), False, 1, tags)
        for block in channelizers:
            top.connect(source, block)
            sinks.append([blocks.vector_sink_c() for _ in range(outputs)])
            for port, sink in enumerate(sinks[-1]):
                top.connect((block, port), sink)
        top.run(most)
        return [numpy.array([sink.data() for sink in some]).T for some in sinks], sinks

    def assert_close(self, got, expected, most):
        self.assertEqual(got.shape, expected.shape)
        self.assertLess(numpy.linalg.norm(got - expected) / numpy.linalg.norm(expected), most)

    def test_side_by_side_with_stock(self):
        """The same values at the same items in the same phase; the stock block keeps the last ones back."""
        cases = 0
        for channels, rate in ((5, 1), (8, 1), (8, 2), (8, 4), (9, 3), (12, 4 / 3), (16, 1), (20, 10)):
            for count in (3 * channels, 12 * channels + 1):
                with self.subTest(channels=channels, rate=rate, taps=count):
                    data, taps = noise(40 * channels + 3), numpy.random.normal(size=count).astype(numpy.float32)
                    ours = penstock.channelizer_cc(channels, taps.tolist(), rate, device="cpu")
                    stock = pfb.channelizer_ccf(channels, taps.tolist(), rate)
                    (got, expected), _ = self.run_block(data, ours, stock, outputs=channels)
                    hop = round(channels / rate)
                    self.assertEqual(len(got), -(-len(data) // hop))
                    self.assertGreater(len(expected), 0.2 * len(got))
                    self.assert_close(got[: len(expected)], expected, 3 * bound(channels, taps))
                    cases += 1
        self.assertEqual(cases, 16)

    def test_against_the_definition(self):
        cases = 0
        for channels, hop, count, length in ((2, 2, 9, 101), (3, 1, 2, 50), (10, 4, 77, 999), (16, 16, 5, 333),
                                             (7, 5, 70, 1)):
            data, taps = noise(length), numpy.random.normal(size=count).astype(numpy.float32)
            block = penstock.channelizer_cc(channels, taps.tolist(), channels / hop, device="cpu")
            (got,), _ = self.run_block(data, block, outputs=channels)
            self.assert_close(got, definition(data, taps, channels, hop), bound(channels, taps))
            self.assertEqual((block.stats()["items_in"], block.stats()["items_out"]), (length, len(got)))
            cases += 1
        self.assertEqual(cases, 5)

    def test_chunks_equal_the_c_library(self):
        for channels, hop, device in ((16, 16, "cpu"), (12, 5, "cpu"), (16, 8, "auto")):
            data, taps = noise(5000), numpy.random.normal(size=100).astype(numpy.float32)
            expected = c_library_channelizer(data, taps, channels, hop, device)
            for most in (1, 7, 100, 100000):
                block = penstock.channelizer_cc(channels, taps.tolist(), channels / hop, device=device)
                (got,), _ = self.run_block(data, block, outputs=channels, most=most)
                self.assertEqual(got.shape, expected.shape)
                if device == "cpu":
                    self.assertTrue(numpy.array_equal(got, expected), (channels, hop, most))
                self.assert_close(got, expected, 2 * bound(channels, taps))

    def test_designed_prototype(self):
        """A tone in each channel's middle passes with gain one, one a channel further is gone by the attenuation."""
        channels = 8
        for atten in (60, 90):
            block = penstock.channelizer_cc(channels, None, 1, atten, "cpu")
            taps = numpy.array(block.taps(), float)
            tone = numpy.exp(2j * numpy.pi * 3 / channels * numpy.arange(20000)).astype(numpy.complex64)
            (got,), _ = self.run_block(tone, block, outputs=channels)
            settled = numpy.abs(got[len(taps) // channels + 2 : -1])
            self.assertTrue(numpy.allclose(settled[:, 3], 1, atol=1e-3))
            self.assertLess(numpy.delete(settled, 3, 1).max(), 10 ** (-atten / 20) * 1.5)
            response = numpy.abs(numpy.fft.rfft(taps, 1 << 16))
            freqs = numpy.arange(len(response)) / (1 << 16) * channels
            self.assertLess(response[freqs >= 0.6].max(), 10 ** (-atten / 20) * 1.1)
            self.assertTrue(numpy.allclose(response[freqs <= 0.4], 1, atol=1e-2))
        self.assertEqual(penstock.channelizer_cc(channels, [], 1, 90, "cpu").taps(), block.taps())

    def test_channel_map(self):
        data, taps = noise(8000), numpy.random.normal(size=40).astype(numpy.float32)
        expected = definition(data, taps, 8, 8)
        block = penstock.channelizer_cc(8, taps.tolist(), device="cpu")
        block.set_channel_map([7, 0, 3])
        (got,), _ = self.run_block(data, block, outputs=3)
        self.assert_close(got, expected[:, [7, 0, 3]], 2e-6)
        (got,), _ = self.run_block(data, penstock.channelizer_cc(8, taps.tolist(), device="cpu"), outputs=2)
        self.assert_close(got, expected[:, :2], 2e-6)
        with self.assertRaisesRegex(RuntimeError, "channel_map has 3 channels, there are 4 outputs"):
            self.run_block(data, block, outputs=4)
        for wrong in ([8], [-1], [1, 1]):
            self.assertRaises(RuntimeError, block.set_channel_map, wrong)
        self.assertEqual(block.channel_map(), [7, 0, 3])

    def test_channel_map_changes_at_an_item(self):
        """Each item of both outputs is one of either map, never a mixture, and none is lost."""
        count, channels = 200000, 4
        tone = numpy.repeat(numpy.arange(1, 1 + count // 1000), 1000).astype(numpy.complex64)
        block = penstock.channelizer_cc(channels, [1.0, 0, 0, 0], device="cpu")  # channel k: a sample turned by k
        expected = definition(tone[:channels * 2000], numpy.array([1.0, 0, 0, 0]), channels, channels)
        top, sinks = gr.top_block(), [blocks.vector_sink_c(), blocks.vector_sink_c()]
        top.connect(blocks.vector_source_c(tone.tolist()), blocks.throttle(8, 1e6), block, sinks[0])
        top.connect((block, 1), sinks[1])
        top.start()
        maps = ([0, 1], [2, 3], [1, 0], [3, 2])
        for turn in range(8):
            time.sleep(0.01)
            block.set_channel_map(maps[turn % 4])
        self.assertRaises(RuntimeError, block.set_channel_map, [1])  # two outputs
        top.wait()
        got = numpy.array([sink.data() for sink in sinks]).T
        self.assertEqual(len(got), count // channels)
        turned = expected[-1] / tone[channels * 2000 - 1]
        allowed = [tuple(numpy.round(turned[numpy.array(m)], 3)) for m in maps]
        for row, value in zip(got, tone[channels - 1 :: channels]):
            self.assertIn(tuple(numpy.round(row / value, 3) + 0), [tuple(numpy.array(a) + 0) for a in allowed])

    def test_changes_at_a_sample(self):
        """Fewer, as many and more taps: each item is made by those that hold at it."""
        for channels, hop in ((8, 8), (12, 5)):
            data = noise(9000)
            sets = [numpy.random.normal(size=count).astype(numpy.float32) for count in (60, 30, 60, 300, 3)]
            for most in (13, 100000):
                block = penstock.channelizer_cc(channels, sets[0].tolist(), channels / hop, device="cpu")
                starts = [0]
                for number, taps in enumerate(sets[1:], 1):
                    starts.append(block.set_taps(taps.tolist(), 1500 * number + 3))
                    self.assertEqual(len(block.taps()), len(taps))
                    self.assertEqual(starts[-1], (1500 * number + 3) // hop * hop)
                (got,), _ = self.run_block(data, block, outputs=channels, most=most)
                for at, end, taps in zip(starts, starts[1:] + [None], sets):
                    first, last = at // hop, len(got) if end is None else end // hop
                    expected = definition(data, taps, channels, hop)[first:last]
                    self.assert_close(got[first:last], expected, 1e-6)

    def test_taps_while_it_runs(self):
        """Each prototype holds from the item on that its setter returned, although a call of work is under way."""
        data, sets = noise(150000), [numpy.random.normal(size=60).astype(numpy.float32) for _ in range(12)]
        for device, hop in (("cpu", 8), ("cpu", 4), ("prefer:opencl", 8)):
            block, top, starts = (penstock.channelizer_cc(8, sets[0].tolist(), 8 / hop, device=device), gr.top_block(),
                                  [0])
            sinks = [blocks.vector_sink_c() for _ in range(8)]
            top.connect(blocks.vector_source_c(data.tolist()), blocks.throttle(gr.sizeof_gr_complex, 1e7), block)
            for port, sink in enumerate(sinks):
                top.connect((block, port), sink)
            top.start()
            wait_until(lambda: sinks[0].data())
            for number, taps in enumerate(sets[1:], 1):
                time.sleep(0.001 * (number % 3))  # some come before what was asked for is made
                starts.append(block.set_taps(taps.tolist()))
            top.wait()
            self.assertGreater(starts[1], 0)
            got = numpy.array([sink.data() for sink in sinks]).T
            self.assertEqual(len(got), len(data) // hop)
            for at, end, taps in zip(starts, starts[1:] + [len(data)], sets):
                first, last = at // hop, min(end // hop, len(got))
                if first < last:  # else others took their place at once
                    self.assert_close(got[first:last], definition(data, taps, 8, hop)[first:last], 1e-6)

    def test_identical_taps_change_nothing(self):
        data, taps = noise(200000), numpy.random.normal(size=99).astype(numpy.float32).tolist()
        (expected,), _ = self.run_block(data, penstock.channelizer_cc(8, taps, device="cpu"), outputs=8)
        block, top = penstock.channelizer_cc(8, taps, device="cpu"), gr.top_block()
        sinks = [blocks.vector_sink_c() for _ in range(8)]
        top.connect(blocks.vector_source_c(data.tolist()), block)
        for port, sink in enumerate(sinks):
            top.connect((block, port), sink)
        top.start()
        for _ in range(50):
            block.set_taps(taps)
            time.sleep(0.0005)
        top.wait()
        self.assertTrue(numpy.array_equal(numpy.array([sink.data() for sink in sinks]).T, expected))

    def test_tags_as_the_stock_block(self):
        data, places = noise(4000), [0, 1, 3, 4, 5, 777, 3000]
        tags = [gr.tag_utils.python_to_tag((place, pmt.intern("mark"), pmt.from_long(place), pmt.intern("qa")))
                for place in places]
        for rate, delay in ((1, 0), (2, 0), (1, 20)):
            block = penstock.channelizer_cc(8, [1.0] * 16, rate, device="cpu")
            block.declare_sample_delay(delay)
            _, ((first, *_, last),) = self.run_block(data, block, outputs=8, most=97, tags=tags)
            for sink in (first, last):
                got = sorted((pmt.to_long(tag.value), tag.offset) for tag in sink.tags())
                self.assertEqual(got, [(place, int((place + delay) / (8 / rate) + 0.5)) for place in places])

    def test_a_source_that_stalls(self):
        for device in ("cpu", "auto"):
            source, top, sinks = Stalling(), gr.top_block(), [blocks.vector_sink_c() for _ in range(4)]
            block = penstock.channelizer_cc(4, [1.0] * 8, device=device, max_latency_ms=5)
            top.connect(source, block)
            for port, sink in enumerate(sinks):
                top.connect((block, port), sink)
            with running(top):
                for count in (1, 5, 6):
                    source.allowed = count * 4 + 3
                    wait_until(lambda: all(len(sink.data()) >= count for sink in sinks))
                    self.assertEqual([len(sink.data()) for sink in sinks], [count] * 4)  # although nothing follows

    def test_start_stop_start(self):
        data, taps = noise(1003), numpy.random.normal(size=40).astype(numpy.float32)
        source, block = blocks.vector_source_c(data.tolist()), penstock.channelizer_cc(8, taps.tolist(), device="cpu")
        top, sinks = gr.top_block(), [blocks.vector_sink_c() for _ in range(8)]
        top.connect(source, block)
        for port, sink in enumerate(sinks):
            top.connect((block, port), sink)
        for _ in range(3):
            source.rewind()
            for sink in sinks:
                sink.reset()
            top.run()
            got = numpy.array([sink.data() for sink in sinks]).T
            self.assert_close(got, definition(data, taps, 8, 8), 1e-6)

    def test_parameters_and_stats(self):
        block = penstock.channelizer_cc(8, [1.0, 2.0], 2, device="cpu")
        self.assertEqual((block.device(), block.taps(), block.channel_map(), block.max_latency_ms()),
                         ("cpu", [1, 2], [], 10))
        block.set_max_latency_ms(3)
        self.assertEqual(block.max_latency_ms(), 3)
        self.assertEqual(penstock.channelizer_cc(4, [1.0], device="prefer:warp").device(), "cpu")
        for wrong in (dict(numchans=1), dict(numchans=0), dict(numchans=-3), dict(numchans=65537),
                      dict(oversample_rate=3), dict(oversample_rate=0), dict(oversample_rate=-1),
                      dict(oversample_rate=float("nan")), dict(oversample_rate=0.5),
                      dict(taps=[float("nan")]), dict(taps=[], atten=-3), dict(taps=[], atten=float("nan")),
                      dict(device="warp"), dict(max_latency_ms=-1), dict(numchans=65536, taps=[], atten=100)):
            with self.assertRaises(RuntimeError, msg=str(wrong)) as caught:
                penstock.channelizer_cc(**dict(dict(numchans=8, taps=[1.0]), **wrong))
            self.assertGreater(len(str(caught.exception)), 20, wrong)
        for wrong in (lambda: block.set_taps([]), lambda: block.set_taps([float("inf")]),
                      lambda: block.set_max_latency_ms(-1)):
            self.assertRaises(RuntimeError, wrong)
        top, store = gr.top_block(), blocks.message_debug()
        top.connect(blocks.vector_source_c([0] * 6402), block, blocks.null_sink(8))
        top.msg_connect(block, "stats", store, "store")
        top.run()
        stats = block.stats()
        self.assertEqual((stats["items_in"], stats["items_out"], stats["queue"]), (6402, 1601, 0))
        self.assertEqual(sorted(pmt.to_python(store.get_message(0))), sorted(stats))

    def test_wrong_decimators(self):
        for decim, atten, text in (1, 100, "decim is 1"), (0, 100, "decim is 0"), (4, 500, "atten is 500"):
            with self.assertRaisesRegex(RuntimeError, text):
                penstock.pfb.decimator_ccf(decim, atten=atten)


class ChannelizerDesc(ctypes.Structure):
    """penstock_channelizer_desc"""
    _fields_ = [("size", ctypes.c_size_t), ("channels", ctypes.c_size_t), ("hop", ctypes.c_size_t),
                ("taps", ctypes.c_void_p), ("tap_count", ctypes.c_size_t), ("select", ctypes.c_void_p),
                ("select_count", ctypes.c_size_t), ("format", ctypes.c_int), ("advance", ctypes.c_size_t),
                ("tail", ctypes.c_bool), ("max_latency_s", ctypes.c_double), ("origin", ctypes.c_size_t)]


def c_library_channelizer(data, taps, channels, hop, device):
    """The frames of penstock_channelizer_*() in one call, in this process: FFTW measures once in it."""
    with open("/proc/self/maps") as maps:
        path = next(line.split()[-1] for line in maps if "/libpenstock.so" in line)
    library = ctypes.CDLL(path)
    context, bank, count = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
    desc = ChannelizerDesc(ctypes.sizeof(ChannelizerDesc), channels, hop, taps.ctypes.data, len(taps), None, 0, 0,
                           hop - 1, False, 0, (hop + 1) % channels)
    frames = numpy.zeros((-(-len(data) // hop) + 1, channels), numpy.complex64)
    assert library.penstock_context_new(ctypes.byref(context), None) == 0
    assert library.penstock_channelizer_open(ctypes.byref(bank), context, ctypes.byref(desc), device.encode()) == 0
    assert library.penstock_stream_push(bank, ctypes.c_void_p(data.ctypes.data), ctypes.c_size_t(len(data)),
                                        ctypes.byref(count)) == 0
    assert count.value == len(data)
    assert library.penstock_stream_finish(bank) == 0
    assert library.penstock_stream_pull(bank, ctypes.c_void_p(frames.ctypes.data), ctypes.c_size_t(len(frames)), True,
                                        ctypes.byref(count)) == 0
    library.penstock_stream_free(bank)
    library.penstock_context_free(context)
    return frames[: count.value]


if __name__ == "__main__":
    gr_unittest.run(QaChannelizer)
