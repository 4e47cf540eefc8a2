#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""The resampler blocks: beside their definition in double precision, beside the stock ones,
and through every change."""

import math

import numpy
import pmt
from gnuradio import blocks, filter, gr, gr_unittest, penstock
from gnuradio.filter import firdes, pfb
from qa_stalling import wait_until

random = numpy.random.RandomState(5)
KINDS = {"ccf": (complex, complex, float), "ccc": (complex, complex, complex), "fff": (float, float, float),
         "fcc": (float, complex, complex)}
ARBITRARY = ("ccf", "ccc", "fff")
RATES = (0.11, 0.73, 0.96, 1.0, 1.5, 2.3, 100 / 7)


def noise(count, kind):
    real = random.normal(size=count)
    return ((real + 1j * random.normal(size=count)).astype(numpy.complex64) if kind is complex
            else real.astype(numpy.float32))


def run(data, block, out):
    source = blocks.vector_source_c if data.dtype == numpy.complex64 else blocks.vector_source_f
    top, sink = gr.top_block(), (blocks.vector_sink_c if out is complex else blocks.vector_sink_f)()
    top.connect(source(data.tolist()), block, sink)
    top.run()
    return numpy.array(sink.data())


def definition(data, taps, arms, times):
    """The straight line between the outputs of two neighbouring arms, in double precision."""
    taps = numpy.concatenate([numpy.asarray(taps, complex), numpy.zeros(2 * arms)])
    places = numpy.floor(times).astype(int)
    part = (times - places) * arms
    arm = numpy.floor(part).astype(int)
    between, made = part - arm, numpy.zeros(len(times), complex)
    for i in range((len(taps) - arms - 1) // arms):
        at = places - i
        samples = numpy.where((at >= 0) & (at < len(data)), data.astype(complex)[numpy.clip(at, 0, len(data) - 1)], 0)
        made += samples * ((1 - between) * taps[arm + i * arms] + between * taps[arm + 1 + i * arms])
    return made


def times(count, rate, phase=0.0):
    return phase + numpy.arange(math.ceil((count - phase) * rate - 1e-9)) / rate


class QaResamplers(gr_unittest.TestCase):
    def assert_close(self, got, expected, most):
        self.assertEqual(len(got), len(expected))
        self.assertLess(numpy.abs(got - expected).max(), most)

    def test_arbitrary_by_definition(self):
        for kind in ARBITRARY:
            for rate in RATES:
                for arms, count in ((32, 385), (32, 100), (7, 50)):
                    with self.subTest(kind, rate=rate, arms=arms, taps=count):
                        sample, _, tap = KINDS[kind]
                        data, taps = noise(3001, sample), noise(count, tap) / math.sqrt(count / arms)
                        block = getattr(penstock, "pfb_arb_resampler_" + kind)(rate, taps.tolist(), arms)
                        got = run(data, block, sample)
                        self.assert_close(got, definition(data, taps, arms,
                                                          times(len(data), rate, count // 2 % arms / arms)), 2e-5)

    def test_arbitrary_beside_stock(self):
        """Two things differ, as docs/gnuradio.md says: behind the last tap the stock block's line does not go down to
        zero, and its times are sums of floats. So the filter here ends in small taps, and the difference may grow."""
        for kind in ARBITRARY:
            for rate in RATES:
                with self.subTest(kind, rate=rate):
                    sample, _, tap = KINDS[kind]
                    taps = firdes.low_pass_2(32, 32, 0.4 * min(rate, 1), 0.2 * min(rate, 1), 80)
                    taps = [value * (1 - 0.5j) for value in taps] if tap is complex else taps
                    data = noise(4000, sample)
                    stock = run(data, getattr(filter, "pfb_arb_resampler_" + kind)(rate, taps, 32), sample)
                    got = run(data, getattr(penstock, "pfb_arb_resampler_" + kind)(rate, taps, 32), sample)
                    self.assertGreater(len(stock), 0.7 * len(got))
                    self.assertLessEqual(len(stock), len(got))
                    # in samples, of the floats' sums
                    drift = 2.0**-22 * 32 / rate * numpy.arange(1, len(stock) + 1) / 32
                    most = 2e-5 + 4 * abs(taps[-1]) + 16 * drift
                    self.assertLess((numpy.abs(got[:len(stock)] - stock) / most).max(), 1)

    def test_the_last_tap_of_the_stock_block(self):
        """Where the last tap is large the two differ by it, at its arm, and nowhere else:
        what stands behind it is none to us."""
        arms, taps, rate = 32, noise(385, float).tolist(), 0.73
        data = noise(1000, complex)
        stock = run(data, filter.pfb_arb_resampler_ccf(rate, taps, arms), complex)
        got = run(data, penstock.pfb_arb_resampler_ccf(rate, taps, arms), complex)[:len(stock)]
        place = times(1000, rate, 192 % 32 / 32)[:len(stock)]
        arm = (place % 1) * arms
        delayed = data[numpy.clip(place.astype(int) - 12, 0, None)] * (place >= 12)
        lost = numpy.where((arm < 1) & (arm >= 0), taps[384] * (arm % 1) * delayed, 0)
        self.assertGreater(numpy.abs(lost).max(), 0.1)
        self.assertGreater(numpy.abs(got - stock).max(), 0.1)
        self.assertLess(numpy.abs(got + lost - stock).max(), 2e-2)

    def test_arbitrary_numbers(self):
        """What the block tells of itself is what the stock one does."""
        for rate, count, arms in ((0.73, 385, 32), (2.3, 100, 32), (0.11, 4000, 16), (1.0, 33, 8)):
            taps = noise(count, float).tolist()
            stock, ours = (filter.pfb_arb_resampler_ccf(rate, taps, arms),
                           penstock.pfb_arb_resampler_ccf(rate, taps, arms))
            for name in ("interpolation_rate", "decimation_rate", "taps_per_filter", "group_delay", "taps"):
                self.assertEqual(getattr(ours, name)(), getattr(stock, name)(), (name, rate))
            for name, most in (("fractional_rate", 1e-4), ("phase", 1e-6)):
                self.assertAlmostEqual(getattr(ours, name)(), getattr(stock, name)(), delta=most)
            self.assertAlmostEqual(ours.phase_offset(0.1, 1.0), stock.phase_offset(0.1, 1.0), delta=1e-3)

    def test_phase(self):
        data, taps = noise(500, complex), noise(100, float).tolist()
        ours, stock = penstock.pfb_arb_resampler_ccf(1.25, taps, 32), filter.pfb_arb_resampler_ccf(1.25, taps, 32)
        for block in (ours, stock):
            block.set_phase(math.pi / 3)
        self.assertAlmostEqual(ours.phase(), stock.phase(), delta=1e-6)
        self.assert_close(run(data, ours, complex), definition(data, taps, 32, times(500, 1.25, 5 / 32)), 1e-4)
        for wrong in (-0.1, 2 * math.pi, math.nan):
            self.assertRaises(RuntimeError, ours.set_phase, wrong)
        self.assertRaisesRegex(RuntimeError, "first item", ours.set_phase, 0)

    def test_changes_hold_again_from_the_start(self):
        data, taps, other = noise(700, complex), noise(100, float).tolist(), noise(200, float).tolist()
        block = penstock.pfb_arb_resampler_ccf(0.7, taps, 32)
        block.set_rate(1.3)
        block.set_taps(other)
        expected = definition(data, other, 32, times(700, 1.3, 50 % 32 / 32))
        self.assert_close(run(data, block, complex), expected, 1e-4)
        self.assert_close(run(data, block, complex), expected, 1e-4)

    def test_tags_stay_with_their_items(self):
        """Through a change of the rate: each impulse comes where its tag is, one sample of the filter's delay aside."""
        count, step = 60000, 1000
        data = numpy.zeros(count, numpy.complex64)
        data[step::step] = 1
        tags = [gr.tag_utils.python_to_tag((i, pmt.intern("at"), pmt.from_long(i), pmt.PMT_F))
                for i in range(step, count, step)]
        line = (1 - numpy.abs(numpy.arange(64) - 32) / 32).tolist()
        block, sink, top = penstock.pfb_arb_resampler_ccf(1.0, line, 32, "cpu"), blocks.vector_sink_c(), gr.top_block()
        top.connect(blocks.vector_source_c(data.tolist(), False, 1, tags), blocks.throttle(8, 100000), block, sink)
        top.start()
        wait_until(lambda: block.nitems_read(0) > count // 3)
        block.set_rate(2.0)
        changed = block.nitems_read(0)
        top.wait()
        made = numpy.abs(numpy.array(sink.data()))
        places = {pmt.to_long(tag.value): tag.offset for tag in sink.tags()}
        self.assertEqual(sorted(places), list(range(step, count, step)))
        self.assertLess(changed, count - step)
        for place in places.values():
            self.assertGreater(made[place - 1 : place + 4].max(), 0.4)

    def test_rational_beside_stock_and_definition(self):
        """The stock block of GNU Radio 3.10.5 takes its first samples for the history of its taps, and so begins too
        late by all but one of an arm: here it gets as many zeros before them. What it makes of samples behind the last
        one is cut off."""
        for kind, (sample, out, tap) in KINDS.items():
            for up, down, count in ((24, 25, 480), (3, 2, 31), (1, 7, 50), (5, 1, 11), (4, 6, 40), (160, 147, 1600)):
                with self.subTest(kind, up=up, down=down):
                    data, taps = noise(3000, sample), (noise(count, tap) / math.sqrt(count / up)).tolist()
                    missed = -(-count // up) - 1
                    late = numpy.concatenate([numpy.zeros(missed, data.dtype), data])
                    stock = run(late, getattr(filter, "rational_resampler_" + kind)(up, down, taps),
                                out)[:-(-len(data) * up // down)]
                    got = run(data, getattr(penstock, "rational_resampler_" + kind)(up, down, taps), out)
                    self.assertEqual(len(got), -(-len(data) * up // down))
                    self.assertGreater(len(stock), 0.7 * len(got))
                    self.assertLess(numpy.abs(got[:len(stock)] - stock).max(), 2e-5)
                    self.assert_close(got, definition(data, taps, up, numpy.arange(len(got)) * down / up + 1e-12), 2e-5)

    def test_rational_without_taps(self):
        """Those of the stock block, for the ratio without common factors."""
        for up, down, width in ((24, 25, 0), (8, 4, 0.3), (4, 6, 0.45), (1, 1, -1)):
            stock, ours = (filter.rational_resampler_ccf(up, down, [], width),
                           penstock.rational_resampler_ccf(up, down, [], width))
            for name in ("taps", "interpolation", "decimation"):
                self.assertEqual(getattr(ours, name)(), getattr(stock, name)())
        self.assertEqual(penstock.rational_resampler_ccc(4, 6).taps(), filter.rational_resampler_ccc(4, 6).taps())

    def test_arbitrary_without_taps(self):
        for kind in ARBITRARY:
            stock, ours = (getattr(pfb, "arb_resampler_" + kind)(0.6, flt_size=16),
                           getattr(penstock.pfb, "arb_resampler_" + kind)(0.6, flt_size=16))
            self.assertEqual(ours.taps(), stock.pfb.taps())
            self.assertEqual(ours.interpolation_rate(), 16)

    def test_changes_while_it_runs(self):
        """Rates and taps from sliders: it goes on, and no longer gives items at the old rate."""
        for block in (penstock.pfb_arb_resampler_ccf(1.0, [1.0] * 64, 32),
                      penstock.rational_resampler_ccf(3, 2, [1.0] * 30)):
            top, sink = gr.top_block(), blocks.null_sink(8)
            top.connect(blocks.null_source(8), block, sink)
            top.start()
            wait_until(lambda: block.stats()["items_out"])
            for i in range(50):
                block.set_taps([1.0 + i] * (64 + i % 5))
                if hasattr(block, "set_rate"):
                    block.set_rate(0.7 + i / 20)
            before = block.stats()
            wait_until(lambda: block.stats()["items_in"] > before["items_in"] + 1000000)
            after, rate = block.stats(), 0.7 + 49 / 20 if hasattr(block, "set_rate") else 1.5
            top.stop()
            top.wait()
            made = after["items_out"] - before["items_out"]
            self.assertAlmostEqual(made / (rate * (after["items_in"] - before["items_in"])), 1, delta=0.2)

    def test_what_cannot_be(self):
        arb, rational = penstock.pfb_arb_resampler_ccf, penstock.rational_resampler_ccf
        for make, arguments, words in (
                (arb, (0, [1.0]), "rate is 0"), (arb, (-1, [1.0]), "rate is -1"),
                (arb, (math.nan, [1.0]), "rate is nan"), (arb, (2000, [1.0]), "rate is 2000"),
                (arb, (1, []), "no taps"), (arb, (1, [1.0], 0), "filter_size is 0"),
                (arb, (1, [math.nan]), "tap"), (arb, (1, [1.0], 32, "trace"), "does not resample"),
                (rational, (0, 1), "interpolation is 0"), (rational, (1, 0), "decimation 0"),
                (rational, (1, 2000), "ratio"), (rational, (3, 2, [], 0.5), "fractional_bw"),
                (rational, (1, 1, [1.0], 0, "warp"), "warp")):
            self.assertRaisesRegex(RuntimeError, words, make, *arguments)
        block = rational(3, 2, [1.0])
        self.assertRaisesRegex(RuntimeError, "set_taps", block.set_taps, [])


if __name__ == "__main__":
    gr_unittest.run(QaResamplers)
