# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""For the tests of flowgraphs that do not end: waiting and ending, a source that stalls,
a sink that notes when items come."""

import contextlib
import time

import numpy
from gnuradio import gr


def wait_until(condition, seconds=120):
    """Much longer than a busy machine takes; what the condition stands for is for the caller to check."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.002)


@contextlib.contextmanager
def running(top):
    """The flowgraph runs meanwhile. One that still runs when it is dropped, as by a test that fails, hangs: GNU Radio
    waits for its end with Python's lock in hand, which the blocks below need to end."""
    top.start()
    try:
        yield
    finally:
        top.stop()
        top.wait()


class Stalling(gr.sync_block):
    """Gives as many items as are allowed, ones if there are no others, and then nothing."""

    def __init__(self, item=numpy.complex64, items=None):
        gr.sync_block.__init__(self, "stalling", None, [item])
        self.items, self.allowed, self.given, self.last = items, 0, 0, None

    def work(self, input_items, output_items):
        count = min(self.allowed - self.given, len(output_items[0]))
        if count <= 0:
            time.sleep(0.002)
            return 0
        output_items[0][:count] = 1 if self.items is None else self.items[self.given:self.given + count]
        self.given += count
        self.last = time.monotonic()
        return count


class Arrivals(gr.sync_block):
    def __init__(self, item=numpy.complex64):
        gr.sync_block.__init__(self, "arrivals", [item], None)
        self.count, self.last = 0, None

    def work(self, input_items, output_items):
        self.last = time.monotonic()
        self.count += len(input_items[0])
        return len(input_items[0])
