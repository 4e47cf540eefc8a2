#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""The log power FFT beside the stock chain and in double precision: rates, decaying mean, window, shift, complex and
float, at any chunking and on every device; changes while it runs; tags."""

import numpy
import pmt
from gnuradio import blocks, fft, gr, gr_unittest, penstock
from gnuradio.fft import logpwrfft
from qa_stalling import Stalling, running, wait_until

random = numpy.random.RandomState(4)
KINDS = {"logpwrfft_c": numpy.complex64, "logpwrfft_f": numpy.float32}


def noise(kind, count):
    values = random.normal(size=count) * (1 + numpy.arange(count) / count)
    return (values.astype(numpy.float32) if kind == "logpwrfft_f"
            else (values + 1j * random.normal(size=count)).astype(numpy.complex64))


def run(block, kind, data, n, most=100000, tags=()):
    top, sink = gr.top_block(), blocks.vector_sink_f(n)
    source = blocks.vector_source_f if kind == "logpwrfft_f" else blocks.vector_source_c
    top.connect(source(data.tolist(), False, 1, tags), block, sink)
    top.run(most)
    return numpy.array(sink.data()).reshape(-1, n), sink


def definition(data, n, ref_scale, decim, alphas, window, shift):
    """In doubles: the last n of each decim x n samples, and the mean by the weights `alphas`, one a vector."""
    vectors = data[:len(data) // (n * decim) * n * decim].reshape(-1, decim, n)[:, -1].astype(complex)
    powers, mean, made = numpy.abs(numpy.fft.fft(vectors * window, axis=1)) ** 2, numpy.zeros(n), []
    for power, alpha in zip(powers, alphas):
        mean = alpha * power + (1 - alpha) * mean
        made.append(mean)
    made = numpy.array(made).reshape(-1, n) / (n * numpy.sum(window**2) * (ref_scale / 2)**2)
    return numpy.fft.fftshift(made, axes=1) if shift else made


def error(decibels, powers):
    """Of the powers, all together."""
    return numpy.linalg.norm(10.0**(decibels / 10) - powers) / numpy.linalg.norm(powers)


CASES = [  # fft_size, ref_scale, decimation, avg_alpha, average, window, shift
    (64, 2, 1, 0.3, False, None, False), (64, 1, 1, 0.05, True, None, True),
    (256, 2, 3, 0.01, True, fft.window.hamming, False), (45, 0.5, 2, 1.0, True, fft.window.rectangular, True),
    (1024, 2, 1, 0.2, True, fft.window.flattop, False), (1, 2, 5, 0.5, True, fft.window.rectangular, False)]


class QaLogpwrfft(gr_unittest.TestCase):
    def parameters(self, case):
        n, ref_scale, decim, alpha, average, window, shift = case
        return dict(sample_rate=1e6, fft_size=n, ref_scale=ref_scale, frame_rate=1e6 / n / decim, avg_alpha=alpha,
                    average=average, win=window, shift=shift)

    def check(self, kind, case, vectors, device=("cpu",), mosts=(100000, 1000, 47)):
        n, ref_scale, decim, alpha, average, window, shift = case
        data, first = noise(kind, n * decim * vectors + n * decim - 1), None
        factors = numpy.array((window or fft.window.blackmanharris)(n))
        powers = definition(data, n, ref_scale, decim, [alpha if average else 1] * vectors, factors, shift)
        for most in mosts:
            mine, _ = run(getattr(penstock, kind)(*self.parameters(case).values(), *device), kind, data, n, most)
            first = mine if first is None else first
            self.assertEqual(mine.shape, (vectors, n))
            self.assertLess(error(mine, powers), 3e-6)
            self.assertTrue(numpy.array_equal(mine, first))
        return data, first

    def test_beside_the_stock_chain_at_any_chunking(self):
        """The stock logarithm is VOLK's polynomial, its decibels floats of 24 bits, and its mean a float."""
        for kind in KINDS:
            for case in CASES:
                with self.subTest(kind, case=case[:5]):
                    data, mine = self.check(kind, case, 30)
                    theirs, _ = run(getattr(logpwrfft, kind)(**self.parameters(case)), kind, data, case[0])
                    self.assertEqual(mine.shape, theirs.shape)
                    self.assertLess(error(theirs, 10.0**(mine / 10)), 1e-5)

    def test_every_device(self):
        tried = 0
        for device in ("reference", "trace", "opencl", "auto", "prefer:warp"):
            for kind in KINDS:
                try:
                    self.check(kind, CASES[2], 40, (device, 0), (100000, ))
                except RuntimeError as missing:
                    self.assertIn("no device", str(missing))
                    continue
                tried += 1
        self.assertGreaterEqual(tried, 6)

    def test_windows(self):
        """A function, a list, a name, a type."""
        data = noise("logpwrfft_c", 640)
        makers = fft.window.hann, fft.window.hann(64), fft.window.WIN_HANN, numpy.array(fft.window.hann(64))
        made = [run(penstock.logpwrfft_c(64, 64, 2, 1, 1, False, win, device="cpu"), "logpwrfft_c", data, 64)[0]
                for win in makers]
        self.assertTrue(all(numpy.array_equal(made[0], other) for other in made))
        named, _ = run(penstock.logpwrfft_c(64, 64, 2, 1, 1, False, "kaiser:8", device="cpu"), "logpwrfft_c", data, 64)
        powers = definition(data, 64, 2, 1, [1] * 10, numpy.array(penstock.window("kaiser:8", 64)), False)
        self.assertLess(error(named, powers), 3e-6)

    def test_changes_of_the_mean_while_it_runs(self):
        n, steps = 64, [(0, lambda block: None, 0.1), (3, lambda block: block.set_avg_alpha(0.4), 0.4),
                        (9, lambda block: block.set_average(False), 1), (11, lambda block: block.set_avg_alpha(0.2), 1),
                        (14, lambda block: block.set_average(True), 0.2), (30, None, None)]
        data = noise("logpwrfft_c", 30 * n)
        block, source = penstock.logpwrfft_c(n, n, 2, 1, 0.1, True, device="cpu"), Stalling(items=data)
        top, sink, alphas = gr.top_block(), blocks.vector_sink_f(n), []
        top.connect(source, block, sink)
        with running(top):
            for (_, change, alpha), (end, _, _) in zip(steps, steps[1:]):
                change(block)
                source.allowed = end * n
                wait_until(lambda: len(sink.data()) >= end * n)
                alphas += [alpha] * (end - len(alphas))
        got = numpy.array(sink.data()).reshape(-1, n)
        self.assertEqual(len(got), 30)
        self.assertLess(error(got, definition(data, n, 2, 1, alphas, numpy.array(fft.window.blackmanharris(n)), False)),
                        3e-6)

    def test_changes_of_the_rate_while_it_runs(self):
        """Each vector of a constant tells its value: 3 vectors of each one, then each second one, then each fourth."""
        n = 16
        data = numpy.repeat(1 + numpy.arange(40), n).astype(numpy.complex64)
        block, source = (penstock.logpwrfft_c(n, n, 2, 1, 1, False, fft.window.rectangular, device="cpu"),
                         Stalling(items=data))
        top, sink = gr.top_block(), blocks.vector_sink_f(n)
        top.connect(source, block, sink)
        with running(top):
            for end, change in ((3, lambda: None), (11, lambda: block.set_vec_rate(0.5)),
                                (27, lambda: block.set_sample_rate(2 * n)), (29, lambda: block.set_decimation(1)),
                                (40, lambda: block.set_decimation(5))):
                change()
                source.allowed = end * n
                wait_until(lambda: block.stats()["items_in"] // n >= {3: 3, 11: 7, 27: 11, 29: 13, 40: 15}[end])
                wait_until(lambda: len(sink.data()) // n >= {3: 3, 11: 7, 27: 11, 29: 13, 40: 15}[end])
        amplitudes = 10**(numpy.array(sink.data()).reshape(-1, n)[:, 0] / 20)
        self.assertEqual(numpy.round(amplitudes).astype(int).tolist(),
                         [1, 2, 3, 5, 7, 9, 11, 15, 19, 23, 27, 28, 29, 34, 39])

    def test_tags_go_with_their_vector(self):
        tags = [gr.tag_utils.python_to_tag((place, pmt.intern("mark"), pmt.from_long(place), pmt.intern("qa")))
                for place in (0, 15, 16, 47, 48, 333)]
        for decim in (1, 3):
            for most in (100000, 5):
                block = penstock.logpwrfft_c(16, 16, 2, 1 / decim, 1, False, device="cpu")
                _, sink = run(block, "logpwrfft_c", noise("logpwrfft_c", 16 * 30), 16, most, tags)
                came = {pmt.to_long(tag.value): tag.offset for tag in sink.tags()}
                self.assertEqual(came, {place: place // (16 * decim) for place in (0, 15, 16, 47, 48, 333)})

    def test_getters_are_those_of_the_stock_chain(self):
        lengths = random.randint(1, 5000, 8)  # FFTW, which the stock chain has, times its ways for each new one
        for _ in range(200):
            n, rate, frames = int(random.choice(lengths)), 10.0**random.uniform(3, 7), 10.0**random.uniform(-1, 4)
            ours, stock = (kind(rate, n, 2, frames, 0.5, True)
                           for kind in (penstock.logpwrfft_f, logpwrfft.logpwrfft_f))
            for block in (ours, stock):
                block.set_vec_rate(frames * 1.7)
                block.set_sample_rate(rate * 0.9)
            for getter in ("decimation", "frame_rate", "sample_rate", "average", "avg_alpha"):
                self.assertAlmostEqual(getattr(ours, getter)() / getattr(stock, getter)(), 1, places=12)
        for decim in (0.5, 1.5, 2.5, -3, 1e6):
            ours.set_decimation(decim)
            stock.set_decimation(decim)
            self.assertEqual(ours.decimation(), stock.decimation())

    def test_values_that_cannot_be(self):
        good = dict(sample_rate=1000, fft_size=64, ref_scale=2, frame_rate=10, avg_alpha=0.5, average=True,
                    device="cpu")
        for wrong in (dict(sample_rate=0), dict(fft_size=0), dict(ref_scale=-1), dict(ref_scale=1e300),
                      dict(frame_rate=0), dict(avg_alpha=0), dict(avg_alpha=1.1), dict(avg_alpha=-0.1, average=False),
                      dict(win=[0.0] * 64), dict(win=[1.0] * 63), dict(frame_rate=1e-300), dict(device="warp")):
            with self.assertRaises(RuntimeError, msg=str(wrong)):
                penstock.logpwrfft_c(**dict(good, **wrong))
        block = penstock.logpwrfft_c(**good)
        for call in (lambda: block.set_avg_alpha(0), lambda: block.set_avg_alpha(float("nan")),
                     lambda: block.set_vec_rate(0), lambda: block.set_sample_rate(float("inf")),
                     lambda: block.set_decimation(float("nan")), lambda: block.set_decimation(1e12)):
            self.assertRaises(RuntimeError, call)
        block.set_average(False)
        block.set_avg_alpha(0)
        self.assertRaises(RuntimeError, block.set_average, True)
        self.assertEqual((block.average(), block.avg_alpha(), block.decimation()), (False, 0, 2))


if __name__ == "__main__":
    gr_unittest.run(QaLogpwrfft)
