#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""The spectrum block: side by side with the stock chain and with NumPy, at any chunking, tags, messages,
every method."""

import time

import numpy
import pmt
from gnuradio import blocks, fft, gr, gr_unittest, penstock
from gnuradio.fft import logpwrfft
from qa_stalling import Stalling, running, wait_until

numpy.random.seed(2)


def noise(count):
    return (numpy.random.normal(size=count) + 1j * numpy.random.normal(size=count)).astype(numpy.complex64)


def tag(place, key, value):
    return gr.tag_utils.python_to_tag((place, pmt.intern(key), value, pmt.intern("qa")))


class QaSpectrum(gr_unittest.TestCase):
    def run_block(self, data, block, most=100000, tags=()):
        top, sink = gr.top_block(), blocks.vector_sink_f(block.fft_size())
        top.connect(blocks.vector_source_c(data.tolist(), False, 1, tags), block, sink)
        top.run(most)
        return numpy.array(sink.data()).reshape(-1, block.fft_size()), sink

    def expected(self, data, n, hop, window, average):
        starts = range(0, len(data) - n + 1, hop)
        powers = [numpy.abs(numpy.fft.fft(data[s:s + n] * window)) ** 2 for s in starts]
        vectors = len(powers) // average
        return numpy.array(powers[:vectors * average]).reshape(vectors, average, n).mean(axis=1)

    def assert_close(self, got, expected, n):
        self.assertEqual(got.shape, expected.shape)
        if len(expected):
            error = numpy.linalg.norm(got - expected) / numpy.linalg.norm(expected)
            self.assertLess(error, 4 * 1.0e-7 * numpy.sqrt(numpy.log2(max(n, 2))))  # a square; both are rounded

    def test_against_numpy_at_any_chunking(self):
        cases = 0
        for n, hop, average in ((64, 64, 1), (64, 16, 3), (60, 100, 2), (1024, 1024, 16), (16, 1, 5)):
            for count in (0, n - 1, n, 5000 + n):
                data, first = noise(count), None
                window = numpy.array(penstock.window("hamming", n))
                want = (numpy.fft.fftshift(self.expected(data, n, hop, window, average), axes=1) if count >= n
                        else numpy.zeros((0, n)))
                for most, device in ((7, "cpu"), (100000, "cpu"), (100000, "auto" if hop == 16 else "cpu")):
                    block = penstock.spectrum_cvf(n, hop, "hamming", average, device=device, max_latency_ms=0)
                    got, _ = self.run_block(data, block, most)
                    self.assert_close(got, want if len(want) else numpy.zeros((0, n)), n)
                    if device == "cpu":
                        first = got if first is None else first
                        self.assertTrue(numpy.array_equal(got, first))
                    self.assertEqual(block.stats()["items_out"], len(want))
                    cases += 1
        self.assertEqual(cases, 60)

    def test_side_by_side_with_the_stock_chain(self):
        n, average, data = 256, 16, noise(256 * 16 * 9 + 100)
        top, ours, stock = gr.top_block(), blocks.vector_sink_f(n), blocks.vector_sink_f(n)
        source = blocks.vector_source_c(data.tolist())
        window = fft.window.blackmanharris(n)
        top.connect(source, penstock.spectrum_cvf(n, 0, window, average, device="cpu"), ours)
        top.connect(source, blocks.stream_to_vector(8, n), fft.fft_vcc(n, True, window, True),
                    blocks.complex_to_mag_squared(n), blocks.integrate_ff(average, n),
                    blocks.multiply_const_vff([1.0 / average] * n), stock)
        top.run()
        self.assert_close(numpy.array(ours.data()), numpy.array(stock.data()), n)
        self.assertEqual(len(ours.data()), 9 * n)

    def test_side_by_side_with_the_stock_block(self):
        """logpwrfft_c, which divides by the length and the window's power and says 0 dB for an amplitude
        of ref_scale / 2."""
        n, data = 256, noise(256 * 50 + 77)
        window = numpy.array(fft.window.blackmanharris(n))
        for shift, ref_scale in ((True, 2), (False, 1)):
            top, ours, stock = gr.top_block(), blocks.vector_sink_f(n), blocks.vector_sink_f(n)
            source = blocks.vector_source_c(data.tolist())
            top.connect(source, penstock.spectrum_cvf(n, 0, window, 1, True, shift, "cpu"), ours)
            top.connect(source, logpwrfft.logpwrfft_c(1e6, n, ref_scale, 1e6 / n, 1, False, shift=shift), stock)
            top.run()
            scale_db = 10 * numpy.log10(n * numpy.sum(window**2) * (ref_scale / 2)**2)
            ours, stock = numpy.array(ours.data()) - scale_db, numpy.array(stock.data())
            self.assertEqual((len(ours), len(stock)), (50 * n, 50 * n))
            error = numpy.linalg.norm(10**(ours / 10) - 10**(stock / 10)) / numpy.linalg.norm(10**(stock / 10))
            # decibels around 40 and, scaled, 70 below, of 24 bits: 1e-6 of the power each;
            # the stock logarithm is VOLK's polynomial
            self.assertLess(error, 5e-6)

    def test_decibel_and_order(self):
        data = noise(64 * 10)
        power, _ = self.run_block(data, penstock.spectrum_cvf(64, 0, [], 2, False, False, "cpu"))
        decibel, _ = self.run_block(data, penstock.spectrum_cvf(64, 0, [], 2, True, True, "cpu"))
        self.assertTrue(numpy.allclose(decibel, 10 * numpy.log10(numpy.fft.fftshift(power, axes=1)), atol=1e-4))

    def test_tags_go_with_their_vector(self):
        for hop, most in ((0, 100000), (16, 5), (100, 100000), (100, 5)):
            step = (hop or 64) * 3
            places = [0, 1, step - 1, step, 7 * step + 5, 9 * step - 1]
            tags = [tag(place, "mark", pmt.from_long(place)) for place in places]
            block = penstock.spectrum_cvf(64, hop, "hann", 3, device="cpu")
            _, sink = self.run_block(noise(20 * step), block, most, tags)
            came = {pmt.to_long(t.value): t.offset for t in sink.tags()}
            self.assertEqual(sorted(came), places)
            for place, vector in came.items():
                late = hop > 64 and place % step >= step - (hop - 64)  # in a gap: its vector may be gone
                self.assertTrue(vector == place // step or (late and vector == place // step + 1), (hop, place, vector))

    def test_freq_message(self):
        tags = [tag(0, "rx_freq", pmt.from_double(1e9)), tag(500, "rx_freq", pmt.from_double(2e9)),
                tag(501, "other", pmt.from_long(3))]
        top, block, store = gr.top_block(), penstock.spectrum_cvf(64, device="cpu"), blocks.message_debug()
        top.connect(blocks.vector_source_c([0] * 6400, False, 1, tags), block, blocks.null_sink(64 * 4))
        top.msg_connect(block, "freq", store, "store")
        top.run()
        wait_until(lambda: store.num_messages() >= 2)
        self.assertEqual([pmt.to_python(store.get_message(i)) for i in range(2)], [("freq", 1e9), ("freq", 2e9)])

    def test_start_stop_start(self):
        data = noise(64 * 100 + 5)
        source, sink = blocks.vector_source_c(data.tolist()), blocks.vector_sink_f(64)
        top = gr.top_block()
        top.connect(source, penstock.spectrum_cvf(64, 32, "hann", 2, device="cpu"), sink)
        want = numpy.fft.fftshift(self.expected(data, 64, 32, numpy.array(penstock.window("hann", 64)), 2), axes=1)
        for _ in range(3):
            source.rewind()
            sink.reset()
            top.run()
            self.assert_close(numpy.array(sink.data()).reshape(-1, 64), want, 64)

    def test_a_source_that_stalls(self):
        for device in ("cpu", "auto"):
            n, source = 64, Stalling()
            top, sink = gr.top_block(), blocks.vector_sink_f(n)
            top.connect(source, penstock.spectrum_cvf(n, 0, "hann", 1, device=device, max_latency_ms=5), sink)
            with running(top):
                for count in (1, 5, 6):
                    source.allowed = count * n + 3
                    wait_until(lambda: len(sink.data()) >= count * n)
                    self.assertEqual(len(sink.data()), count * n)  # although nothing follows

    def test_set_window_loses_nothing(self):
        for average in (1, 16):
            self.set_windows(64, average, 20000)

    def set_windows(self, n, average, count):
        block = penstock.spectrum_cvf(n, 0, [1.0] * n, average, centered=False, device="cpu")
        top, sink = gr.top_block(), blocks.vector_sink_f(n)
        top.connect(blocks.vector_source_c([1.0] * n * count), block, sink)
        top.start()
        for factor in (2.0, 3.0, 4.0):
            time.sleep(0.005)
            self.assertTrue(block.set_window([factor] * n))
        self.assertFalse(block.set_window([1.0] * (n + 1)))
        top.wait()
        factors = numpy.sqrt(numpy.array(sink.data()).reshape(-1, n)[:, 0]) / n
        self.assertEqual(len(factors), count // average)
        self.assertTrue(numpy.all(numpy.diff(factors) >= 0))
        self.assertTrue(set(factors) <= {1.0, 2.0, 3.0, 4.0})  # one window for all of a vector

    def test_parameters_and_stats(self):
        block = penstock.spectrum_cvf(64, device="cpu")
        self.assertEqual((block.device(), block.fft_size(), block.max_latency_ms()), ("cpu", 64, 10))
        block.set_max_latency_ms(3)
        self.assertEqual(block.max_latency_ms(), 3)
        self.assertTrue(block.set_window("kaiser:8") and block.set_window([]))
        for wrong in (dict(fft_size=0), dict(hop=-1), dict(hop=65 * 64), dict(average=0), dict(window="round"),
                      dict(window=[1.0] * 63), dict(device="warp"), dict(max_latency_ms=-1)):
            with self.assertRaises(RuntimeError, msg=str(wrong)):
                penstock.spectrum_cvf(**dict(dict(fft_size=64, hop=0, window="hann"), **wrong))
        top, store = gr.top_block(), blocks.message_debug()
        top.connect(blocks.vector_source_c([0] * 6400), block, blocks.null_sink(64 * 4))
        top.msg_connect(block, "stats", store, "store")
        top.run()
        stats = block.stats()
        self.assertEqual((stats["items_in"], stats["items_out"], stats["queue"]), (6400, 100, 0))
        self.assertEqual(sorted(pmt.to_python(store.get_message(0))), sorted(stats))


if __name__ == "__main__":
    gr_unittest.run(QaSpectrum)
