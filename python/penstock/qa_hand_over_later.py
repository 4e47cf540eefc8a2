#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""Neighbouring blocks that begin on the CPU hand their items over once they have come to one device, in the same run.
Beside the same flowgraph on the device from the start, with a second reader on every output: the same items, and tags
at the same ones. The driver is slow while the blocks are made, so that the device is not ready at once."""

import ctypes
import itertools
import threading
import time

import numpy
from drawn import draw, tell_drawn
from gnuradio import gr_unittest, penstock
from qa_hand_over import DEVICE, N, NEVER, SAMPLES, SHIM, TAPS, Chain, Source, samples

LATER = "prefer:" + DEVICE
CALL_MS = 60     # of the slow driver; the device is waited for 50 ms
LATENCY = 400.0  # milliseconds, so that the FFT gives something while the source is slow


class Later:
    """A chain, and a source that goes slowly until all its blocks are on the device, and then by `on_device` items to
    its end."""

    def __init__(self, kinds, on_device, seed=1, **arguments):
        self.kinds, self.arguments = kinds, {"latency": LATENCY, **arguments}
        shim = ctypes.CDLL(SHIM)
        shim.shim_slow_down(ctypes.c_long(CALL_MS))
        try:
            self.chain = Chain(kinds, **{"device": LATER, **self.arguments})
        finally:
            shim.shim_slow_down(ctypes.c_long(0))
        self.began = [block.device() for block in self.chain.blocks]
        self.on_device, self.items, self.moved_at = on_device, samples(SAMPLES + on_device, seed), None

    def look(self):
        if self.moved_at is None and all(block.device() != "cpu" for block in self.chain.blocks):
            self.moved_at = self.source.given
            self.source.items = self.items = self.items[:self.moved_at + self.on_device]
        elif self.moved_at is None:
            time.sleep(0.02)

    def run(self):
        self.source = Source(self.items, every=1009, at={k: self.look for k in range(10007, SAMPLES, 10007)})
        self.chain.run(self.source)
        return self

    def apart(self):
        arguments = {**self.arguments, "device": DEVICE, "last": None}
        return Chain(self.kinds, apart=True, **arguments).run(Source(self.items, every=1009))


class QaHandOverLater(gr_unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not SHIM:
            raise gr_unittest.unittest.SkipTest("no driver for tests")
        try:
            cls.keeps_the_context = penstock.fft_vcc(64, True, [], device=DEVICE)
        except RuntimeError as error:
            raise gr_unittest.unittest.SkipTest(str(error))

    @classmethod
    def tearDownClass(cls):
        cls.keeps_the_context = None
        tell_drawn()

    def check_same(self, later, least=1):
        self.assertIn("cpu", later.began)
        self.assertIsNotNone(later.moved_at, "the device was never ready")
        one = later.apart()
        got, expected = later.chain.sink.all(), one.sink.all()
        self.assertEqual(got.shape, expected.shape)
        self.assertLess(numpy.linalg.norm(got - expected), 3e-6 * numpy.linalg.norm(expected))
        self.assertEqual(later.chain.sink.tags, one.sink.tags)
        self.assertEqual(sum(one.handed_over()), 0)
        for block, same in zip(later.chain.blocks, one.blocks):
            self.assertEqual(block.stats()["items_in"], same.stats()["items_in"])
            self.assertEqual(block.stats()["items_out"], same.stats()["items_out"])
        for block in later.chain.blocks[1:]:
            self.assertGreaterEqual(block.stats()["handed_over"], least)

    def test_in_the_same_run(self):
        every = (("s", {}), ("f", {}), ("fs", {}), ("fl", {}), ("s", dict(latency=NEVER)),
                 ("fs", dict(decimation=2, center_freq=0.1)))
        for kinds, arguments in draw(every, 2, "same run"):
            with self.subTest(kinds, **arguments):
                later = Later(kinds, 2 * SAMPLES * arguments.get("decimation", 1), **arguments).run()
                self.check_same(later, SAMPLES // 2 // N)

    def test_one_that_follows(self):
        """Filter and FFT are linked from the start on, the spectrum when it is there."""
        later = Later("fs", 2 * SAMPLES, device=DEVICE, last=LATER).run()
        self.assertEqual(later.began, [DEVICE + ":0", DEVICE + ":0", "cpu"])
        self.check_same(later, SAMPLES // 2 // N)

    def test_ends_at_any_time(self):
        """Before the blocks are linked, while they are to be, and after it: no item is lost, and none comes twice."""
        for kinds, on_device in draw(list(itertools.product(("s", "fs"), (1, 5000, 40000, 99999, 300000, 1000003))), 2):
            with self.subTest(kinds, on_device=on_device):
                self.check_same(Later(kinds, on_device, seed=on_device).run(), 0)

    def test_setters_meanwhile(self):
        """From another thread, with statistics, until some time after the blocks are linked: all items come. Batches
        in which taps change go over the host."""
        later, over, asked = Later("fs", 3 * SAMPLES), threading.Event(), []

        def ask():
            while not over.is_set() and (later.moved_at is None or later.source.given < later.moved_at + SAMPLES):
                later.chain.filter.set_taps(TAPS)
                later.chain.fft.set_window([1.0] * N)
                later.chain.spectrum.set_window("hann")
                asked.append([block.stats()["items_in"] for block in later.chain.blocks])
                time.sleep(0.003)

        thread = threading.Thread(target=ask)
        thread.start()
        later.run()
        over.set()
        thread.join()
        self.check_same(later)
        self.assertGreater(len(asked), 5)


if __name__ == "__main__":
    gr_unittest.run(QaHandOverLater)
