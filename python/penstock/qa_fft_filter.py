#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""The FFT filter blocks: side by side with the stock ones, beside direct sums, and through every method and change."""

import ctypes
import time

import numpy
import pmt
from gnuradio import blocks, filter, gr, gr_unittest, penstock
from qa_stalling import Arrivals, Stalling, running, wait_until

numpy.random.seed(1)
KINDS = ("ccc", "ccf", "fff")


def random(kind, count):
    """Samples (kind "c") or taps, complex or float."""
    real = numpy.random.uniform(-1, 1, count)
    if kind == "f":
        return real.astype(numpy.float32)
    return (real + 1j * numpy.random.uniform(-1, 1, count)).astype(numpy.complex64)


def direct(data, taps, phase=0.0):
    """All values before decimation, in double precision; `phase` of each sample in turns."""
    moved = data.astype(numpy.complex128) * numpy.exp(2j * numpy.pi * phase)
    size = 1 << (len(data) + len(taps) - 1).bit_length()
    product = numpy.fft.fft(moved, size) * numpy.fft.fft(taps.astype(numpy.complex128), size)
    return numpy.fft.ifft(product)[: len(data)]


def bound(n):
    return 2e-7 * numpy.sqrt(numpy.log2(n))


class QaFftFilter(gr_unittest.TestCase):
    def setUp(self):
        # While a block lives all share its context, and with it what was measured: equal filters, equal bits.
        self.keeps_the_context = penstock.fft_vcc(64, True, [], device="cpu")

    def tearDown(self):
        self.keeps_the_context = None

    def run_blocks(self, data, *filters, most=100000, tags=()):
        """What each block gives for `data`, and the sinks."""
        top, sinks = gr.top_block(), []
        real = data.dtype == numpy.float32
        source = (blocks.vector_source_f if real else blocks.vector_source_c)(data.tolist(), False, 1, tags)
        for block in filters:
            sinks.append((blocks.vector_sink_f if real else blocks.vector_sink_c)(1, len(data)))
            top.connect(source, block, sinks[-1])
        top.run(most)
        return [numpy.array(sink.data()) for sink in sinks], sinks

    def assert_close(self, got, expected, most):
        self.assertEqual(len(got), len(expected))
        self.assertLess(numpy.linalg.norm(got - expected) / numpy.linalg.norm(expected), most)

    def test_side_by_side_with_stock(self):
        cases = 0
        for kind in KINDS:
            for count in (1, 65, 1025):
                for decimation in (1, 4):
                    with self.subTest(kind=kind, taps=count, decimation=decimation):
                        data, taps = random(kind[0], 50000), random(kind[2], count).tolist()
                        stock = getattr(filter, "fft_filter_" + kind)(decimation, taps, 1)
                        ours = getattr(penstock, "fft_filter_" + kind)(decimation, taps, 1, device="cpu")
                        (got, expected), _ = self.run_blocks(data, ours, stock)
                        self.assertEqual(len(got), len(data) // decimation)  # the stock block may lose the last ones
                        self.assertGreater(len(expected), len(got) - 4096)
                        self.assert_close(got[: len(expected)], expected, 2 * bound(ours.stats()["transform"]))
                        cases += 1
        self.assertEqual(cases, 18)

    def test_as_many_as_the_direct_stock_filter(self):
        """What stock's own tests of its FFT filter ask for: the length and the values of the stock FIR filter."""
        for kind in KINDS:
            for decimation in range(1, 26):
                data, taps = random(kind[0], 4096), random(kind[2], 2 + 4 * decimation).tolist()
                (got, expected), _ = self.run_blocks(
                    data, getattr(penstock, "fft_filter_" + kind)(decimation, taps, device="cpu"),
                    getattr(filter, "fir_filter_" + kind)(decimation, taps))
                self.assertEqual(len(got), 4096 // decimation)
                self.assert_close(got, expected, 2e-6)

    def test_no_sample_is_lost(self):
        for decimation, count, freq in ((1, 200000, 0.1), (4, 200003, 0), (7, 100001, -0.37), (4, 5, 0)):
            with self.subTest(decimation=decimation, count=count):
                data, taps = random("c", count), random("c", 65)
                block = penstock.fft_filter_ccc(decimation, taps, 1, freq, 1, "cpu")
                (got,), _ = self.run_blocks(data, block)
                expected = direct(data, taps, -freq * numpy.arange(count))[::decimation][: count // decimation]
                self.assert_close(got, expected, bound(block.stats()["transform"]))
                self.assertEqual((block.stats()["items_in"], block.stats()["items_out"]), (count, len(got)))

    def test_chunks_equal_the_c_library(self):
        data, taps = random("c", 30000), random("c", 65)
        for most in (1, 79, 1000, 100000):
            block = penstock.fft_filter_ccc(4, taps, 1, 0.2, 1, "cpu", 0)
            (got,), _ = self.run_blocks(data[: 3000 if most == 1 else None], block, most=most)
            alone = c_library_filter(data[: 3000 if most == 1 else None], taps, 4, -0.2,
                                     int(block.stats()["transform"]))
            self.assertEqual(len(got), (3000 if most == 1 else len(data)) // 4)
            self.assertTrue(numpy.array_equal(got, alone[: len(got)]), most)

    def test_identical_taps_change_nothing(self):
        data, taps = random("c", 200000), random("f", 257)
        (expected,), _ = self.run_blocks(data, penstock.fft_filter_ccf(1, taps, 1, device="cpu", max_latency_ms=0))
        block = penstock.fft_filter_ccf(1, taps, 1, device="cpu", max_latency_ms=0)
        for place in (1, 77, 4096, 50000, 199999):
            self.assertEqual(block.set_taps(taps, place), place)
        (got,), _ = self.run_blocks(data, block)
        self.assertTrue(numpy.array_equal(got, expected))
        top, sink = gr.top_block(), blocks.vector_sink_c(1, len(data))
        block = penstock.fft_filter_ccf(1, taps, 1, device="cpu", max_latency_ms=0)
        top.connect(blocks.vector_source_c(data.tolist()), block, sink)
        top.start()
        changes = 0
        while len(sink.data()) < len(data) and changes < 50:
            block.set_taps(taps)
            changes += 1
        top.wait()
        self.assertTrue(numpy.array_equal(numpy.array(sink.data()), expected))

    def test_changes_at_a_sample(self):
        """Fewer, as many and more taps; each value is made by those that hold at it, in one phase."""
        data, freq = random("c", 60000), 0.123
        for decimation in (1, 4):
            sets = [random("c", count) for count in (65, 33, 65, 257, 1, 1025)]
            block = penstock.fft_filter_ccc(decimation, sets[0], 1, freq, 1, "cpu")
            starts = [0]
            for number, taps in enumerate(sets[1:], 1):
                starts.append(block.set_taps(taps, 9000 * number + 3))
                self.assertEqual(len(block.taps()), len(taps))
            self.assertTrue(all(9000 * k + 3 <= at < 9000 * k + 3 + decimation for k, at in enumerate(starts) if k))
            (got,), _ = self.run_blocks(data, block)
            expected = numpy.zeros(len(data), complex)
            for at, taps in zip(starts, sets):
                expected[at:] = direct(data, taps, -freq * numpy.arange(len(data)))[at:]
            for at, end in zip(starts, starts[1:] + [len(data)]):
                first, last = -(-at // decimation), -(-end // decimation)
                self.assert_close(got[first:last], expected[::decimation][first:last], 5e-6)

    def test_taps_while_it_runs(self):
        """Each set holds from the item on that its setter returned, although a call of work is under way."""
        data, sets = random("c", 200000), [random("c", 65) for _ in range(16)]
        for device, decimation in (("cpu", 1), ("cpu", 4), ("prefer:opencl", 1), ("prefer:opencl", 4)):
            block = penstock.fft_filter_ccc(decimation, sets[0], device=device)
            top, sink, starts = gr.top_block(), blocks.vector_sink_c(1, len(data)), [0]
            top.connect(blocks.vector_source_c(data.tolist()), blocks.throttle(gr.sizeof_gr_complex, 2e6), block, sink)
            top.start()
            wait_until(sink.data)
            for number, taps in enumerate(sets[1:], 1):
                time.sleep(0.005 * (number % 3))  # some come before what was asked for is made
                starts.append(block.set_taps(taps))
            top.wait()
            self.assertEqual(starts, sorted(starts))
            self.assertGreater(starts[1], 0)
            got = numpy.array(sink.data())
            self.assertEqual(len(got), len(data) // decimation)
            for at, end, taps in zip(starts, starts[1:] + [len(data)], sets):
                first, last = -(-at // decimation), min(-(-end // decimation), len(got))
                if first < last:  # else others took their place at once
                    self.assert_close(got[first:last], direct(data, taps)[::decimation][first:last], 5e-6)

    def test_center_freq_without_a_jump(self):
        data, taps = random("c", 50000), random("c", 65)
        block = penstock.fft_filter_ccc(4, taps, 1, 1e5, 1e6, "cpu")
        top, sink = gr.top_block(), blocks.vector_sink_c(1, len(data))
        top.connect(blocks.vector_source_c(data.tolist()), blocks.throttle(gr.sizeof_gr_complex, 4e5), block, sink)
        top.start()
        starts = [0]
        for freq in (-2e5, 0.0, 3e5):
            time.sleep(0.02)
            starts.append(block.set_center_freq(freq))
            self.assertEqual(block.center_freq(), freq)
        top.wait()
        got, phase, at_start = numpy.array(sink.data()), numpy.arange(len(data)), 0.0
        self.assertEqual(len(got), len(data) // 4)
        for at, end, freq in zip(starts, starts[1:] + [len(data)], (0.1, -0.2, 0.0, 0.3)):
            end = min(end, len(data))
            if at >= end:
                continue
            first, last = -(-at // 4), -(-end // 4)
            expected = direct(data, taps, at_start - freq * (phase - at))[::4][first:last]
            self.assert_close(got[first:last], expected, 5e-6)
            at_start -= freq * (end - at)

    def test_tags_as_the_stock_block(self):
        data, places = random("c", 30000), [0, 1, 2, 3, 4, 777, 778, 20001, 29000]
        tags = [gr.tag_utils.python_to_tag((place, pmt.intern("mark"), pmt.from_long(place), pmt.intern("qa")))
                for place in places]
        for decimation, delay in ((1, 0), (1, 32), (4, 0), (4, 50)):
            taps = random("f", 65).tolist()
            both = penstock.fft_filter_ccf(decimation, taps, device="cpu"), filter.fft_filter_ccf(decimation, taps)
            for block in both:
                block.declare_sample_delay(delay)
            _, sinks = self.run_blocks(data, *both, most=97, tags=tags)
            got, expected = [[(tag.offset, pmt.to_long(tag.value)) for tag in sink.tags()] for sink in sinks]
            self.assertEqual(sorted(got), [(int((place + delay) / decimation + 0.5), place) for place in places])
            self.assertEqual(sorted(got)[: len(expected)], sorted(expected))  # the stock block loses the end

    def test_a_source_that_stalls(self):
        latency_ms, delays = 30, []
        top, source, sink = gr.top_block(), Stalling(), Arrivals()
        block = penstock.fft_filter_ccc(1, random("c", 65), device="cpu", max_latency_ms=latency_ms)
        top.connect(source, block, sink)
        with running(top):
            for sent in range(1, 6):  # all of it comes out although nothing follows
                source.allowed = 700 * sent
                wait_until(lambda: sink.count >= source.allowed)
                self.assertEqual(sink.count, source.allowed)
                delays.append(sink.last - source.last)
        self.assertLess(min(delays), 2 * latency_ms / 1e3, delays)  # the best of five: the machine may be busy

    def test_start_stop_start(self):
        data, taps = random("f", 5000), random("f", 65)
        source, block, sink = (blocks.vector_source_f(data.tolist()), penstock.fft_filter_fff(4, taps, device="cpu"),
                               blocks.vector_sink_f())
        top = gr.top_block()
        top.connect(source, block, sink)
        for _ in range(3):
            source.rewind()
            sink.reset()
            top.run()
            self.assert_close(numpy.array(sink.data()), direct(data, taps).real[::4], 3e-6)

    def test_parameters(self):
        block = penstock.fft_filter_ccf(3, [1.0, 2.0], 2, 1e3, 1e6, "cpu", 5)
        self.assertEqual((block.device(), block.nthreads(), block.taps()), ("cpu", 2, [1.0, 2.0]))
        self.assertEqual((block.center_freq(), block.max_latency_ms()), (1e3, 5.0))
        block.set_nthreads(3)
        block.set_max_latency_ms(0)
        self.assertEqual((block.nthreads(), block.max_latency_ms()), (3, 0.0))
        self.assertEqual(penstock.fft_filter_ccf(1, [1.0], device="prefer:warp").device(), "cpu")
        for wrong in (dict(device="warp"), dict(taps=[]), dict(taps=[float("nan")]), dict(decimation=0),
                      dict(max_latency_ms=-1), dict(sampling_freq=0), dict(center_freq=float("inf"))):
            with self.assertRaises(RuntimeError, msg=str(wrong)):
                penstock.fft_filter_ccf(**dict(dict(decimation=1, taps=[1.0]), **wrong))
        with self.assertRaisesRegex(RuntimeError, "float samples"):
            penstock.fft_filter_fff(1, [1.0], 1, 5.0)
        for wrong in (lambda: block.set_taps([]), lambda: block.set_max_latency_ms(-1),
                      lambda: block.set_center_freq(float("nan"))):
            self.assertRaises(RuntimeError, wrong)
        self.assertEqual((block.taps(), block.center_freq()), ([1.0, 2.0], 1e3))

    def test_stats_message(self):
        top, block, store = gr.top_block(), penstock.fft_filter_ccc(1, [1.0], device="cpu"), blocks.message_debug()
        top.connect(blocks.vector_source_c([0] * 6400), block, blocks.null_sink(8))
        top.msg_connect(block, "stats", store, "store")
        top.run()
        self.assertEqual(sorted(pmt.to_python(store.get_message(0))), sorted(block.stats()))

    def test_opencl(self):
        data, taps = random("c", 100000), random("c", 65)
        try:
            block = penstock.fft_filter_ccc(1, taps, device="opencl")
        except RuntimeError as error:
            self.skipTest(str(error))
        (got,), _ = self.run_blocks(data, block)
        self.assertEqual(block.device().split(":")[0], "opencl")
        self.assert_close(got, direct(data, taps), bound(block.stats()["transform"]))


class FilterDesc(ctypes.Structure):
    """penstock_filter_desc"""
    _fields_ = [("size", ctypes.c_size_t), ("format", ctypes.c_int), ("taps", ctypes.c_void_p),
                ("real_taps", ctypes.c_void_p), ("tap_count", ctypes.c_size_t), ("max_taps", ctypes.c_size_t),
                ("decimation", ctypes.c_size_t), ("shift", ctypes.c_double), ("advance", ctypes.c_size_t),
                ("tail", ctypes.c_bool), ("n", ctypes.c_size_t)]


def c_library_filter(data, taps, decimation, shift, n):
    """The values of penstock_filter_*() in one call, in this process: FFTW measures once in it."""
    path = next(line.split()[-1] for line in open("/proc/self/maps") if "/libpenstock.so" in line)
    library = ctypes.CDLL(path)
    context, filter, count = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
    taps = numpy.ascontiguousarray(taps)
    desc = FilterDesc(ctypes.sizeof(FilterDesc), 0, taps.ctypes.data, None, len(taps), 0, decimation, shift, 0, False,
                      n)
    out = numpy.zeros(-(-len(data) // decimation) + 1, numpy.complex64)
    assert library.penstock_context_new(ctypes.byref(context), None) == 0
    assert library.penstock_filter_open(ctypes.byref(filter), context, ctypes.byref(desc), b"cpu") == 0
    made = taken = 0
    while taken < len(data):
        rest = data[taken:]
        assert library.penstock_stream_push(filter, ctypes.c_void_p(rest.ctypes.data), ctypes.c_size_t(len(rest)),
                                            ctypes.byref(count)) == 0
        taken += count.value
        if taken == len(data):
            assert library.penstock_stream_finish(filter) == 0
        to = out[made:]
        assert library.penstock_stream_pull(filter, ctypes.c_void_p(to.ctypes.data), ctypes.c_size_t(len(to)), True,
                                            ctypes.byref(count)) == 0
        made += count.value
    library.penstock_stream_free(filter)
    library.penstock_context_free(context)
    return out[:made]


if __name__ == "__main__":
    gr_unittest.run(QaFftFilter)
