#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""The FFT blocks: side by side with the stock ones, to the last vector, in time, and through every method."""

import contextlib
import os
import subprocess
import sys
import time

import numpy
import pmt
from gnuradio import blocks, fft, gr, gr_unittest, penstock
from qa_stalling import Arrivals, Stalling, running, wait_until

numpy.random.seed(1)


def signal(kind, count):
    real = numpy.random.uniform(-1, 1, count).astype(numpy.float32)
    if kind == "vfc":
        return real
    return (real + 1j * numpy.random.uniform(-1, 1, count)).astype(numpy.complex64)


@contextlib.contextmanager
def busy_processor():
    """Other work on every processor meanwhile."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * os.cpu_count())]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


class QaFft(gr_unittest.TestCase):
    def run_blocks(self, kind, data, n, *fft_blocks, most=100000):
        """What each block gives for the vectors of `data`."""
        top, sinks = gr.top_block(), []
        make = blocks.vector_source_c if kind == "vcc" else blocks.vector_source_f
        source = make(data.tolist(), False, n)
        for block in fft_blocks:
            sinks.append(blocks.vector_sink_c(n))
            top.connect(source, block, sinks[-1])
        top.run(most)
        return [numpy.array(sink.data()) for sink in sinks]

    def assert_close(self, got, expected, n):
        self.assertEqual(len(got), len(expected))
        error = numpy.linalg.norm(got - expected) / numpy.linalg.norm(expected)
        self.assertLess(error, 2 * 1.0e-7 * numpy.sqrt(numpy.log2(max(n, 2))))  # each within the bound of the other

    def test_side_by_side_with_stock(self):
        cases = 0
        for kind in ("vcc", "vfc"):
            for n in (1, 8, 60, 64, 101, 1024):
                for forward in (True, False):
                    for shift in (True, False):
                        for window in ([], list(fft.window.blackmanharris(n)) if n > 1 else [0.5]):
                            if kind == "vfc" and n % 2 and n > 1 and shift and not forward:
                                continue  # the stock block gives something else there: docs/gnuradio.md
                            if window and n > 2:  # not the same read backwards
                                window = [w + 0.1 * i / n for i, w in enumerate(window)]
                            with self.subTest(kind=kind, n=n, forward=forward, shift=shift, window=bool(window)):
                                data = signal(kind, 50 * n)
                                stock = getattr(fft, "fft_" + kind)(n, forward, window, shift, 1)
                                ours = getattr(penstock, "fft_" + kind)(n, forward, window, shift, 1, "cpu")
                                got, expected = self.run_blocks(kind, data, n, ours, stock)
                                self.assert_close(got, expected, n)
                                cases += 1
        self.assertEqual(cases, 94)

    def test_any_chunking_and_the_tail(self):
        for kind in ("vcc", "vfc"):
            for count in (0, 1, 7, 1000):
                data, expected = signal(kind, 64 * count), None
                for most in (1, 3, 100000):  # on one device: bits differ between two
                    block = getattr(penstock, "fft_" + kind)(64, True, [], device="cpu", max_latency_ms=0)
                    got = self.run_blocks(kind, data, 64, block, most=most)[0]
                    self.assertEqual(len(got), 64 * count)
                    expected = got if expected is None else expected
                    self.assertTrue(numpy.array_equal(got, expected))
                    self.assertEqual(block.stats()["items_in"], count)
                    self.assertEqual(block.stats()["items_out"], count)

    def test_window_by_name(self):
        data, factors = signal("vcc", 64 * 10), penstock.window("hann", 64)
        self.assertTrue(numpy.allclose(factors, fft.window.hann(65)[:64], atol=1e-6))
        named, given = self.run_blocks("vcc", data, 64, penstock.fft_vcc(64, True, "hann", device="cpu"),
                                       penstock.fft_vcc(64, True, factors, device="cpu"))
        self.assertTrue(numpy.array_equal(named, given))

    def test_a_source_that_stalls(self):
        n, latency_ms = 64, 30
        top, source, sink = gr.top_block(), Stalling((numpy.complex64, n)), Arrivals((numpy.complex64, n))
        top.connect(source, penstock.fft_vcc(n, True, [], max_latency_ms=latency_ms), sink)
        delays = []
        with running(top):
            while len(delays) < 200 and min(delays, default=1) > 2 * latency_ms / 1e3:  # the machine may be busy
                source.allowed += 1  # it comes out although no other follows it
                wait_until(lambda: sink.count > len(delays))
                self.assertEqual(sink.count, len(delays) + 1)
                delays.append(sink.last - source.last)
        self.assertLess(min(delays), 2 * latency_ms / 1e3, delays)

    def test_start_stop_start(self):
        data = signal("vcc", 64 * 100)
        source, block, sink = (blocks.vector_source_c(data.tolist(), False, 64), penstock.fft_vcc(64, True, []),
                               blocks.vector_sink_c(64))
        top = gr.top_block()
        top.connect(source, block, sink)
        for _ in range(3):
            source.rewind()
            sink.reset()
            top.run()
            self.assert_close(numpy.array(sink.data()), numpy.fft.fft(data.reshape(-1, 64)).ravel(), 64)

    def test_tags_stay_on_their_vector(self):
        """Also where the block is put off just when it has handed vectors out, which other work makes likely."""
        n, count, ports = 64, 20000, (range(0, 20000, 3), range(1, 20000, 7))
        with busy_processor():
            for _ in range(5):
                top, block, sinks = gr.top_block(), penstock.fft_vcc(n, True, []), []
                for port, places in enumerate(ports):
                    tags = [gr.tag_utils.python_to_tag(
                        (place, pmt.intern("mark"), pmt.from_long(place), pmt.intern("qa")))
                            for place in places]
                    sinks.append(blocks.vector_sink_c(n))
                    top.connect(blocks.vector_source_c([1] * n * count, False, n, tags), (block, port), sinks[-1])
                top.run(3)
                for places, sink in zip(ports, sinks):
                    got = sorted((tag.offset, pmt.to_long(tag.value)) for tag in sink.tags())
                    self.assertEqual(got, [(place, place) for place in places])

    def test_set_window_loses_nothing(self):
        n, count = 64, 20000
        block = penstock.fft_vcc(n, True, [1.0] * n)
        source, sink = blocks.vector_source_c([1.0] * n * count, False, n), blocks.vector_sink_c(n)
        top = gr.top_block()
        top.connect(source, block, sink)
        top.start()
        for factor in (2.0, 3.0, 4.0):
            time.sleep(0.005)
            self.assertTrue(block.set_window([factor] * n))
        self.assertFalse(block.set_window([1.0] * (n + 1)))
        top.wait()
        sums = numpy.array(sink.data()).reshape(-1, n)[:, 0].real / n
        self.assertEqual(len(sums), count)
        self.assertTrue(numpy.all(numpy.diff(sums) >= 0))
        self.assertTrue(set(sums) <= {1.0, 2.0, 3.0, 4.0})

    def test_several_streams(self):
        n, counts = 64, (500, 500, 120)  # the last one ends early and keeps no other from going on
        for device, kind in (("cpu", "vcc"), ("cpu", "vfc"), ("auto", "vcc")):
            with self.subTest(device=device, kind=kind):
                block = getattr(penstock, "fft_" + kind)(n, True, "hann", False, 1, device, 0)
                top, sinks, data = gr.top_block(), [], [signal(kind, n * count) for count in counts]
                make = blocks.vector_source_c if kind == "vcc" else blocks.vector_source_f
                for port, values in enumerate(data):
                    sinks.append(blocks.vector_sink_c(n))
                    top.connect(make(values.tolist(), False, n), (block, port), sinks[-1])
                top.run(7)
                for values, sink in zip(data, sinks):
                    expected = numpy.fft.fft(values.reshape(-1, n) * penstock.window("hann", n)).ravel()
                    self.assert_close(numpy.array(sink.data()), expected, n)
                self.assertEqual(block.stats()["items_out"], sum(counts))

    def test_parameters(self):
        block = penstock.fft_vcc(64, True, [], False, 2, "cpu")
        self.assertEqual((block.device(), block.nthreads(), block.fft_size(), block.max_latency_ms()),
                         ("cpu", 2, 64, 10))
        block.set_nthreads(3)
        self.assertEqual(block.nthreads(), 3)
        block.set_max_latency_ms(2.5)
        self.assertEqual(block.max_latency_ms(), 2.5)
        self.assertTrue(block.set_window("kaiser:8"))
        self.assertEqual(penstock.fft_vcc(64, True, [], device="prefer:warp").device(), "cpu")
        for wrong in (dict(device="warp"), dict(window=[1.0] * 63), dict(window="round"), dict(fft_size=0),
                      dict(max_latency_ms=-1)):
            with self.assertRaises(RuntimeError, msg=str(wrong)):
                penstock.fft_vcc(**dict(dict(fft_size=64, forward=True, window=[]), **wrong))
        for method, wrong in ((block.set_window, "round"), (block.set_max_latency_ms, -1)):
            with self.assertRaises(RuntimeError, msg=str(method)):
                method(wrong)

    def test_stats(self):
        top, block, store = gr.top_block(), penstock.fft_vcc(64, True, [], device="cpu"), blocks.message_debug()
        top.connect(blocks.vector_source_c([0] * 64000, False, 64), block, blocks.null_sink(64 * 8))
        top.msg_connect(block, "stats", store, "store")
        top.run()
        stats = block.stats()
        self.assertEqual(sorted(stats), sorted(
            ["items_in", "items_out", "queue", "in_rate_hz", "out_rate_hz", "batch", "transfer_ms", "kernel_ms",
             "latency_p50_ms", "latency_p99_ms", "fallbacks", "drops", "cpu_while_compiling", "handed_over"]))
        self.assertEqual(sorted(pmt.to_python(store.get_message(0))), sorted(stats))
        self.assertEqual([stats[k] for k in ("items_in", "items_out", "queue", "fallbacks", "drops", "transfer_ms")],
                         [1000, 1000, 0, 0, 0, 0])
        self.assertTrue(stats["in_rate_hz"] > 0 and stats["kernel_ms"] > 0 and 1 <= stats["batch"] <= 1000, stats)
        self.assertTrue(0 < stats["latency_p50_ms"] <= stats["latency_p99_ms"], stats)

    def test_a_limit_of_the_buffer_holds(self):
        """Nothing sees more vectors at a time than the user allows,
        nor more symbols of DVB-T's 8k mode than it expects."""

        class Look(gr.basic_block):
            def __init__(self, n):
                gr.basic_block.__init__(self, "look", [(numpy.complex64, n)], None)
                self.most = 0

            def forecast(self, _, inputs):
                return [1] * (inputs if isinstance(inputs, int) else len(inputs))

            def general_work(self, input_items, _):
                self.most = max(self.most, len(input_items[0]))
                self.consume(0, 1)
                return 0

        for n, limit, few in ((4096, 4, True), (4096, 0, False), (8192, 0, True)):
            top, block, look = gr.top_block(), penstock.fft_vcc(n, True, [], device="cpu"), Look(n)
            if limit:
                block.set_max_output_buffer(limit)
            top.connect(blocks.null_source(8 * n), blocks.head(8 * n, 100), block, look)
            top.run()
            self.assertEqual(look.most <= 4, few, (n, limit, look.most))

    def test_opencl(self):
        try:
            block = penstock.fft_vcc(1024, True, "hann", True, 1, "opencl")
        except RuntimeError as error:
            self.skipTest(str(error))
        data = signal("vcc", 1024 * 100)
        got, expected = self.run_blocks("vcc", data, 1024, block,
                                        fft.fft_vcc(1024, True, penstock.window("hann", 1024), True))
        self.assertEqual(block.device().split(":")[0], "opencl")
        self.assert_close(got, expected, 1024)


if __name__ == "__main__":
    gr_unittest.run(QaFft)
