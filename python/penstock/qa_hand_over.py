#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""Neighbouring blocks on one device hand their items over there. Beside the same flowgraph with a second reader on
every output, which forbids it: the same bits, and tags at the same items; who is linked, and who is not; setters, ends,
restarts and new topologies; a source that stalls; a device that is lost."""

import ctypes
import itertools
import os
import tempfile
import threading
import time

import numpy
import pmt
from drawn import draw, tell_drawn
from gnuradio import blocks, gr, gr_unittest, penstock
from qa_stalling import running, wait_until

DEVICE = "opencl"
SHIM = os.environ.get("PENSTOCK_OPENCL_LIBRARY", "")
N, AVERAGE, TAPS = 256, 4, [1.0 / (k + 3) for k in range(65)]
SAMPLES = 2600000 + 77  # a filter's batch is a million of them
NEVER = 600000.0        # milliseconds


def samples(count=SAMPLES, seed=1):
    random = numpy.random.RandomState(seed)
    return random.uniform(-1, 1, 2 * count).astype(numpy.float32).view(numpy.complex64)


class Source(gr.sync_block):
    """Gives its items, with a tag on every `every`-th, and calls `at[k]` before item k."""

    def __init__(self, items, every=0, at=None):
        gr.sync_block.__init__(self, "source", None, [numpy.complex64])
        self.items, self.every, self.at, self.given = items, every, sorted((at or {}).items()), 0

    def work(self, input_items, output_items):
        while self.at and self.at[0][0] <= self.given:
            self.at.pop(0)[1]()
        end = min(self.given + len(output_items[0]), len(self.items), self.at[0][0] if self.at else len(self.items))
        if end == self.given:
            return -1
        output_items[0][:end - self.given] = self.items[self.given:end]
        if self.every:
            for k in range(-(-self.given // self.every) * self.every, end, self.every):
                self.add_item_tag(0, k, pmt.intern("k"), pmt.from_long(k))
        count, self.given = end - self.given, end
        return count


class Sink(gr.sync_block):
    """Keeps items and tags."""

    def __init__(self, item):
        gr.sync_block.__init__(self, "sink", [item], None)
        self.items, self.tags = [], []

    def work(self, input_items, output_items):
        self.items.append(input_items[0].copy())
        for tag in self.get_tags_in_window(0, 0, len(input_items[0])):
            self.tags.append((tag.offset, pmt.symbol_to_string(tag.key), pmt.to_python(tag.value)))
        return len(input_items[0])

    def all(self):
        return numpy.concatenate(self.items) if self.items else numpy.zeros(0)


class Chain:
    """Filter, FFT where `kinds` has an f, spectrum where it has an s, log power FFT where it has an l; `apart`: with a
    second reader on each output; `last`: the device of the last one."""

    def __init__(self, kinds, apart=False, device=DEVICE, decimation=1, latency=NEVER, n=N, center_freq=0, last=None,
                 alpha=0.25):
        self.filter = penstock.fft_filter_ccf(decimation, TAPS, 1, center_freq, 1, device, latency)
        self.blocks, self.path, item = [self.filter], [self.filter], numpy.complex64
        if "f" in kinds:
            self.fft = penstock.fft_vcc(n, True, [], device=device, max_latency_ms=latency)
            self.blocks.append(self.fft)
            self.path += [blocks.stream_to_vector(8, n), self.fft]
            item = (numpy.complex64, n)
        if "s" in kinds:
            self.spectrum = penstock.spectrum_cvf(N, average=AVERAGE, device=last or device, max_latency_ms=latency)
            self.blocks.append(self.spectrum)
            self.path += ([blocks.vector_to_stream(8, n)] if "f" in kinds else []) + [self.spectrum]
            item = (numpy.float32, N)
        if "l" in kinds:
            self.log = penstock.logpwrfft_c(1000 * N, N, 2, 1000, alpha, alpha < 1, device=last or device,
                                            max_latency_ms=latency)
            self.blocks.append(self.log)
            self.path += ([blocks.vector_to_stream(8, n)] if "f" in kinds else []) + [self.log]
            item = (numpy.float32, N)
        self.sink = Sink(item)
        self.apart = apart

    def connect(self, top, source):
        top.connect(source, *self.path, self.sink)
        if self.apart:
            for block in self.path[:-1]:
                top.connect(block, blocks.null_sink(block.output_signature().sizeof_stream_item(0)))
        return self

    def run(self, source):
        top = gr.top_block()
        self.connect(top, source)
        top.run()
        return self

    def handed_over(self):
        return [block.stats()["handed_over"] for block in self.blocks]


class QaHandOver(gr_unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # While a block lives all share its context, and with it what was measured: equal filters, equal bits.
        cls.keeps_the_context = penstock.fft_vcc(64, True, [], device="cpu")
        try:
            chain = Chain("s").run(Source(samples()))
        except RuntimeError as error:
            raise gr_unittest.unittest.SkipTest(str(error))
        if not chain.handed_over()[1]:
            raise gr_unittest.unittest.SkipTest("the device filters in no kernel of its own")

    @classmethod
    def tearDownClass(cls):
        cls.keeps_the_context = None
        tell_drawn()

    def check_same(self, kinds, two, one, least=0.5):
        """`two` were linked and `one` were not."""
        self.assertTrue(numpy.array_equal(two.sink.all(), one.sink.all()),
                        (kinds, two.sink.all().shape, one.sink.all().shape))
        self.assertGreater(len(one.sink.all()), 0)
        self.assertEqual(two.sink.tags, one.sink.tags)
        self.assertEqual(sum(one.handed_over()), 0)
        for block in two.blocks[1:]:
            stats = block.stats()
            self.assertGreater(stats["handed_over"], least * stats["items_in"], kinds)

    def test_same_bits_and_tags(self):
        every = (("s", {}), ("f", {}), ("fs", dict(center_freq=0.1)), ("s", dict(decimation=2)),
                 ("fs", dict(decimation=3)), ("l", {}), ("fl", dict(alpha=1)), ("fs", {}))
        for kinds, arguments in draw(every, 2, "same bits"):
            with self.subTest(kinds, **arguments):
                items = samples(SAMPLES * arguments.get("decimation", 1))
                one = Chain(kinds, apart=True, **arguments).run(Source(items, every=1009))
                two = Chain(kinds, **arguments).run(Source(items, every=1009))
                self.check_same(kinds, two, one, 0.3)
                self.assertGreater(len(one.sink.tags), 1000)

    def test_ends_at_any_sample(self):
        """N items make floor(N / decimation) values, whole vectors and whole spectra of these."""
        counts = (0, 1, 3 * N, 3 * N + 1, 3 * N * AVERAGE - 1, 30 * N * AVERAGE, 30 * N * AVERAGE + 2)
        for kinds, count in draw(list(itertools.product(("s", "f", "fs", "fl"), counts)), 2, "ends"):
            items = samples(count)
            one, two = (Chain(kinds, apart=apart, decimation=3).run(Source(items)) for apart in (True, False))
            self.assertTrue(numpy.array_equal(one.sink.all(), two.sink.all()), (kinds, count))
            self.assertEqual(len(two.sink.all()), count // 3 // N // (AVERAGE if "s" in kinds else 1))

    def test_who_is_not_linked(self):
        """A reader that takes no items on a device: a null sink, a copy block before the taker, another device,
        more readers."""
        def run(*path, more=()):
            top, source = gr.top_block(), Source(items)  # a block in Python is kept by no flowgraph
            top.connect(source, *path)
            for one, other in more:
                top.connect(one, other)
            top.run()
            return [block.stats()["handed_over"] for block in path if hasattr(block, "stats")]

        def filter():
            return penstock.fft_filter_ccf(1, TAPS, device=DEVICE, max_latency_ms=NEVER)

        def spectrum(device=DEVICE):
            return penstock.spectrum_cvf(N, average=AVERAGE, device=device, max_latency_ms=NEVER)

        items, expected = samples(), Chain("s", apart=True).run(Source(samples())).sink.all()
        self.assertEqual(run(filter(), blocks.null_sink(8)), [0])
        probe = blocks.probe_signal_c()
        self.assertEqual(run(filter(), probe), [0])
        alone = Sink(numpy.complex64)
        self.assertEqual(run(filter(), alone), [0])
        self.assertEqual(len(alone.all()), SAMPLES)
        sink = Sink((numpy.float32, N))
        self.assertEqual(run(filter(), blocks.copy(8), spectrum(), sink), [0, 0])
        self.assertTrue(numpy.array_equal(sink.all(), expected))
        self.assertEqual(run(filter(), spectrum("cpu"), Sink((numpy.float32, N))), [0, 0])
        both, first, second = filter(), Sink((numpy.float32, N)), Sink((numpy.float32, N))
        other = spectrum()
        self.assertEqual(run(both, spectrum(), first, more=((both, other), (other, second))), [0, 0])
        self.assertTrue(numpy.array_equal(first.all(), expected) and numpy.array_equal(second.all(), expected))
        vectors, split, tail = (blocks.stream_to_vector(8, N), penstock.fft_vcc(N, True, [], device=DEVICE),
                                Sink((numpy.complex64, N)))
        self.assertEqual(run(filter(), vectors, split, tail, more=((vectors, blocks.null_sink(8 * N)),)), [0, 0])

    def test_lengths_that_do_not_fit(self):
        """Vectors that make no whole steps of the spectrum: the FFT's go over the host, the filter's stay."""
        one, two = (Chain("fs", apart=apart, n=96).run(Source(samples())) for apart in (True, False))
        self.assertTrue(numpy.array_equal(one.sink.all(), two.sink.all()))
        self.assertGreater(two.handed_over()[1], 0)
        self.assertEqual(two.handed_over()[2], 0)

    def test_taps_at_a_sample(self):
        """Other taps, and more than ever: from the item on that the setter returns, as without it. That goes over the
        host, and what follows where there is no batch free at the taker."""
        more, place, items = [1.0 / (k + 2) for k in range(200)], 2400000, samples(3 * SAMPLES)
        for kinds, taps in draw((("s", TAPS[::-1]), ("fs", TAPS[::-1]), ("s", more), ("fs", more)), 2, "taps"):
            chains, counts = [], []
            for apart in (True, False):
                chain, at = Chain(kinds, apart=apart), []
                source = Source(items, at={1000: lambda: at.append(chain.filter.set_taps(taps, place)),
                                           place + 1500000: lambda: counts.append(chain.handed_over()[-1])})
                chains.append(chain.run(source))
                self.assertEqual(at, [place])
            one, two = (chain.sink.all() for chain in chains)
            self.assertTrue(numpy.array_equal(one, two), (kinds, len(taps)))
            self.assertGreater(counts[1], 0)
            self.assertEqual(sum(chains[0].handed_over()), 0)

    def test_window_in_mid_stream(self):
        """From one vector on, and none before or behind has another one."""
        window = [(k + 1) / N for k in range(N)]
        chain = Chain("f")
        chain.run(Source(samples(), at={SAMPLES // 2: lambda: self.assertTrue(chain.fft.set_window(window))}))
        before, after = Chain("f", apart=True), Chain("f", apart=True)
        self.assertTrue(after.fft.set_window(window))
        before.run(Source(samples()))
        after.run(Source(samples()))
        got, one, other = (each.sink.all() for each in (chain, before, after))
        self.assertEqual(got.shape, one.shape)
        ours = (got == one).all(axis=1)
        change = int(numpy.argmin(ours))
        self.assertGreater(change, 0)
        self.assertFalse(ours[change:].any())
        self.assertTrue(numpy.array_equal(got[change:], other[change:]))
        self.assertGreater(chain.handed_over()[1], 0)

    def test_decimation_in_mid_stream(self):
        """Of the log power FFT: 3 parts it from the others, and 1 links it again. All vectors, then each third one,
        then all; a tag with its vector, or the next one that is used."""
        for kinds in draw(("l", "fl"), 2, "decimation"):
            chain, items, counts = Chain(kinds, alpha=1), samples(9 * SAMPLES), []
            at = {place: lambda: counts.append(chain.log.stats()["handed_over"])
                  for place in (2 * SAMPLES - 1, 3 * SAMPLES, 4 * SAMPLES - 1, 9 * SAMPLES - 9)}
            at.update({2 * SAMPLES: lambda: chain.log.set_decimation(3),
                       4 * SAMPLES: lambda: chain.log.set_decimation(1)})
            got = 10 ** (chain.run(Source(items, every=1009, at=at)).sink.all() / 10)
            every = 10 ** (Chain(kinds, apart=True, alpha=1).run(Source(items)).sink.all() / 10)
            used = []
            for vector in got:
                first = used[-1] + 1 if used else 0
                near = numpy.linalg.norm(every[first:first + 3] - vector, axis=1) < 1e-5 * numpy.linalg.norm(vector)
                self.assertEqual(near.sum(), 1, (kinds, len(used)))
                used.append(first + int(near.argmax()))
            used = numpy.array(used)
            steps = numpy.diff(used)
            self.assertLess(numpy.count_nonzero(steps == 2), 2)  # of those that 3 left out when it was 1 again
            self.assertEqual(numpy.count_nonzero(numpy.diff(steps[steps != 2])), 2, "more than two changes")
            self.assertGreater(numpy.count_nonzero(steps == 3), 100)
            self.assertLess(len(every) - used[-1], 4)
            self.assertGreater(counts[0], 0)
            self.assertEqual(counts[1], counts[2])
            self.assertGreater(counts[3], counts[2])
            half = N // 2 if "f" in kinds else 0  # stream_to_vector rounds
            expected = [(int(numpy.searchsorted(used, (k + half) // N)), "k", k) for k in range(0, used[-1] * N, 1009)]
            self.assertTrue(chain.sink.tags[:len(expected)] == expected)

    def test_setters_all_the_time(self):
        """From other threads, with statistics and latencies: it goes on, and all items come."""
        chain, over, asked = Chain("fs"), threading.Event(), [0, 0]

        def ask(number):
            while not over.is_set():
                if number:
                    chain.filter.set_taps(TAPS if asked[1] % 2 else TAPS[::-1])
                    chain.filter.set_max_latency_ms(NEVER + asked[1] % 2)
                    chain.spectrum.set_window("hann" if asked[1] % 2 else "hamming")
                else:
                    chain.fft.set_window([1.0] * N)
                    chain.spectrum.set_max_latency_ms(NEVER + asked[0] % 2)
                    self.assertEqual(len({len(block.stats()) > 5 for block in chain.blocks}), 1)
                asked[number] += 1
                time.sleep(0.003)

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        chain.run(Source(samples()))
        over.set()
        for thread in threads:
            thread.join()
        self.assertEqual(len(chain.sink.all()), SAMPLES // N // AVERAGE)
        self.assertGreater(min(asked), 5)

    def test_started_again(self):
        """Stopped in the middle, and run from the first item on again: linked each time, the same bits."""
        expected, chain = Chain("fs", apart=True).run(Source(samples())), Chain("fs")
        for _ in range(3):
            top = gr.top_block()
            source = blocks.null_source(8)
            top.connect(source, *chain.path, chain.sink)
            with running(top):
                wait_until(lambda: chain.spectrum.stats()["handed_over"])
            self.assertGreater(chain.spectrum.stats()["handed_over"], 0)
            chain.sink.items, chain.sink.tags = [], []
            top.disconnect_all()
            chain.run(Source(samples()))
            self.check_same("fs", chain, expected)
            chain.sink.items = []

    def test_rewired_while_it_runs(self):
        """Linked, then with a second reader, then linked again; what follows is what fresh blocks give."""
        chain, expected = Chain("fs"), Chain("fs", apart=True).run(Source(samples())).sink.all()
        top, endless, more = gr.top_block(), blocks.null_source(8), blocks.null_sink(8)
        top.connect(endless, *chain.path, chain.sink)
        top.start()
        wait_until(lambda: chain.spectrum.stats()["handed_over"])
        self.assertGreater(chain.spectrum.stats()["handed_over"], 0)
        top.lock()
        top.connect(chain.filter, more)
        top.unlock()
        wait_until(lambda: chain.spectrum.stats()["items_in"] > 4000000)
        self.assertEqual(chain.fft.stats()["handed_over"], 0)
        self.assertEqual(chain.spectrum.stats()["handed_over"], 0)
        top.lock()
        top.disconnect(chain.filter, more)
        top.unlock()
        wait_until(lambda: chain.spectrum.stats()["handed_over"])
        top.lock()
        top.disconnect(endless, chain.filter)
        source = Source(samples())
        top.connect(source, chain.filter)
        chain.sink.items, chain.sink.tags = [], []
        top.unlock()
        top.wait()
        self.assertTrue(numpy.array_equal(chain.sink.all(), expected))
        self.assertGreater(chain.spectrum.stats()["handed_over"], 0)

    def test_taker_put_off(self):
        """Under lock() the taker goes, and a sink reads in its place: values of the filter, and nothing from before."""
        chain, top, endless = Chain("s"), gr.top_block(), blocks.null_source(8)
        top.connect(endless, *chain.path, chain.sink)
        top.start()
        wait_until(lambda: chain.spectrum.stats()["handed_over"])
        top.lock()
        top.disconnect_all()
        sink, items = Sink(numpy.complex64), samples(200000)
        source = Source(items)
        top.connect(source, chain.filter, sink)
        top.unlock()
        top.wait()
        fresh, source, expected = gr.top_block(), Source(items), Sink(numpy.complex64)
        fresh.connect(source, penstock.fft_filter_ccf(1, TAPS, device=DEVICE, max_latency_ms=NEVER), expected)
        fresh.run()
        self.assertTrue(numpy.array_equal(sink.all(), expected.all()), (sink.all().shape, expected.all().shape))
        self.assertEqual(len(sink.all()), len(items))

    def test_ended_from_behind(self):
        chain, top = Chain("fs"), gr.top_block()
        sink = blocks.null_sink(4 * N)
        top.connect(blocks.null_source(8), *chain.path, blocks.head(4 * N, 3000), sink)
        top.run()
        self.assertEqual(sink.nitems_read(0), 3000)

    def test_slow_behind(self):
        """Who takes the results slowly holds the source up, and loses nothing."""
        class Slow(Sink):
            def work(self, input_items, output_items):
                time.sleep(0.002)
                return Sink.work(self, [input_items[0][:20]], output_items) if len(input_items[0]) else 0

        one, two = Chain("fs", apart=True), Chain("fs")
        two.sink = Slow((numpy.float32, N))
        self.check_same("fs", two.run(Source(samples())), one.run(Source(samples())))

    def test_source_that_stalls(self):
        """In mid-block and mid-batch: what is complete comes within the latencies of the blocks, and all comes."""
        count, late = N * AVERAGE * 20 + 13, []
        for kinds in ("s", "fs"):
            chain, items = Chain(kinds, latency=20.0), samples(2 * count)
            wanted = count // N // (AVERAGE if "s" in kinds else 1)

            def stall():
                began = time.monotonic()
                wait_until(lambda: len(chain.sink.all()) >= wanted, 20)
                late.append(time.monotonic() - began)
                self.assertEqual(len(chain.sink.all()), wanted)

            chain.run(Source(items, at={count: stall}))
            one = Chain(kinds, apart=True).run(Source(items)).sink.all()
            self.assertEqual(chain.sink.all().shape, one.shape)
            self.assertLess(numpy.linalg.norm(chain.sink.all() - one), 1e-6 * numpy.linalg.norm(one))
        self.assertLess(max(late), 5)  # a busy machine; without a flush nothing would come in the 20 s

    def test_device_that_is_lost(self):
        """In mid-stream, for good: the CPU goes on from the same samples."""
        if not SHIM:
            self.skipTest("no driver for tests")
        shim = ctypes.CDLL(SHIM)
        fail_from = shim.shim_fail_from
        fail_from.argtypes = [ctypes.c_long]
        items, deadline = samples(3 * SAMPLES), time.monotonic() + 300
        for kinds in draw(("s", "f", "fs"), 3, "lost"):
            one = Chain(kinds, apart=True).run(Source(items)).sink.all()
            chain, stayed = Chain(kinds, device="prefer:" + DEVICE), []
            # it was the CPU while kernels compiled
            while not all(block.device().startswith(DEVICE) for block in chain.blocks):
                chain.run(Source(samples(100000)))
                self.assertLess(time.monotonic(), deadline)
            chain.sink.items = []

            def lose():
                stayed.append(chain.handed_over()[-1])
                fail_from(0)

            try:
                chain.run(Source(items, at={len(items) - 200000: lose}))
            finally:
                shim.shim_fail_at(ctypes.c_long(-1))
            got = chain.sink.all()
            self.assertEqual(got.shape, one.shape, kinds)
            self.assertLess(numpy.linalg.norm(got - one), 3e-6 * numpy.linalg.norm(one), kinds)
            self.assertGreater(stayed[0], 0, kinds)
            self.assertEqual([block.device() for block in chain.blocks], ["cpu"] * len(chain.blocks))

    def test_many_at_a_time(self):
        """Four chains behind one source: each is linked in itself."""
        top, source, chains = gr.top_block(), Source(samples()), [Chain("fs") for _ in range(4)]
        for chain in chains:
            chain.connect(top, source)
        top.run()
        expected = chains[0].sink.all()
        for chain in chains:
            self.assertTrue(numpy.array_equal(chain.sink.all(), expected))
            self.assertGreater(chain.spectrum.stats()["handed_over"], 0)


if __name__ == "__main__":
    gr_unittest.run(QaHandOver)
