#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""Every block in flowgraphs that are stopped in the middle, locked and rewired, with many instances, and with
parameters that cannot be: it goes on, ends, or says in words why not."""

import gc
import re
import threading
import time

import numpy
from gnuradio import blocks, gr, gr_unittest, penstock
from qa_stalling import Stalling, wait_until

CARRIERS = [[-2, -1, 1, 2]]

# The blocks with their arguments, the bytes of an item in and out, and samples in an item in.
BLOCKS = {
    "fft_vcc": (dict(fft_size=64, forward=True, window=[]), 8 * 64, 8 * 64),
    "fft_vfc": (dict(fft_size=64, forward=True, window=[]), 4 * 64, 8 * 64),
    "spectrum_cvf": (dict(fft_size=64, hop=32, window="hann", average=2), 8, 4 * 64),
    "fft_filter_ccc": (dict(decimation=2, taps=[1.0, 2.0, 1j]), 8, 8),
    "fft_filter_ccf": (dict(decimation=1, taps=[1.0, 2.0, 3.0]), 8, 8),
    "fft_filter_fff": (dict(decimation=3, taps=[1.0] * 65), 4, 4),
    "channelizer_cc": (dict(numchans=8, taps=[1.0] * 24, oversample_rate=2), 8, 8),
    "ofdm_demod_cvc": (dict(fft_len=64, cp_len=16, occupied_carriers=CARRIERS, trigger_tag_name=""), 8, 8 * 4),
    "ofdm_demod_cb": (dict(fft_len=64, cp_len=16, occupied_carriers=CARRIERS, trigger_tag_name=""), 8, 1),
    "pfb_arb_resampler_ccf": (dict(rate=0.7, taps=[1.0] * 65), 8, 8),
    "pfb_arb_resampler_ccc": (dict(rate=0.3, taps=[1j] * 65), 8, 8),
    "pfb_arb_resampler_fff": (dict(rate=1.7, taps=[1.0] * 65), 4, 4),
    "rational_resampler_ccf": (dict(interpolation=3, decimation=4), 8, 8),
    "rational_resampler_ccc": (dict(interpolation=3, decimation=2, taps=[1j] * 30), 8, 8),
    "rational_resampler_fcc": (dict(interpolation=1, decimation=2, taps=[1j] * 30), 4, 8),
    "rational_resampler_fff": (dict(interpolation=24, decimation=25), 4, 4),
    "freq_xlating_fir_filter_ccc": (dict(decimation=2, taps=[1.0, 2.0, 1j], center_freq=0.1, sampling_freq=1.0), 8, 8),
    "freq_xlating_fir_filter_ccf": (dict(decimation=1, taps=[1.0, 2.0], center_freq=0.1, sampling_freq=1.0), 8, 8),
    "freq_xlating_fir_filter_fcc": (dict(decimation=3, taps=[1j], center_freq=0.1, sampling_freq=1.0), 4, 8),
    "freq_xlating_fir_filter_fcf": (dict(decimation=2, taps=[1.0, 2.0], center_freq=0, sampling_freq=1.0), 4, 8),
    "freq_xlating_fir_filter_scc": (dict(decimation=2, taps=[1j], center_freq=0.1, sampling_freq=1.0), 2, 8),
    "freq_xlating_fir_filter_scf": (dict(decimation=5, taps=[1.0, 2.0], center_freq=0.1, sampling_freq=1.0), 2, 8),
    "pfb_synthesizer_ccf": (dict(numchans=4, taps=[1.0] * 21, twox=True), 8, 8),
    "logpwrfft_c": (dict(sample_rate=64000, fft_size=64, ref_scale=2, frame_rate=500, avg_alpha=0.1, average=True), 8,
                    4 * 64),
    "logpwrfft_f": (dict(sample_rate=64000, fft_size=64, ref_scale=2, frame_rate=1000, avg_alpha=0.1, average=False), 4,
                    4 * 64),
    "viterbi_decoder": (dict(bits=16), 4, 1),
    "ldpc_decoder": (dict(code="wifi:648:1/2"), 4, 1),
    "wifi_receiver": (dict(), 8, 8),
    "wifi_transmitter": (dict(), 0, 8),
}


def make(name, **more):
    arguments = dict(BLOCKS[name][0], **more)
    return getattr(penstock, name)(
        **(arguments if name == "wifi_transmitter" else dict(dict(device="cpu"), **arguments)))


def data(item_bytes, count):
    """Items of small numbers, the same ones each time."""
    return numpy.random.RandomState(5).uniform(-1, 1, count * item_bytes // 4).astype(numpy.float32).tobytes()


class QaLifecycle(gr_unittest.TestCase):
    def setUp(self):
        # While a block lives all share its context, and with it what was measured: equal filters, equal bits.
        self.keeps_the_context = penstock.fft_vcc(64, True, [], device="cpu")

    def tearDown(self):
        self.keeps_the_context = None

    def test_the_table_is_complete(self):
        self.assertEqual(sorted(BLOCKS),
                         sorted(name for name, kind in vars(penstock).items() if hasattr(kind, "stats")))

    def test_stopped_in_the_middle(self):
        """An endless source, stopped and started again: neither hangs, and the block goes on each time."""
        for name, (_, in_bytes, out_bytes) in BLOCKS.items():
            with self.subTest(name):
                top, block, sink = gr.top_block(), make(name), blocks.null_sink(out_bytes)
                if in_bytes:
                    top.connect(blocks.null_source(in_bytes), block)
                top.connect(block, sink)
                for _ in range(3):
                    top.start()
                    wait_until(lambda: not in_bytes or block.stats()["items_in"])
                    top.stop()
                    top.wait()
                    self.assertGreater(block.stats()["items_in"] + (not in_bytes), 0)

    def test_rewired_while_it_runs(self):
        """Locked, taken out, put in again, unlocked: what follows is what a fresh block gives."""
        for name, (_, in_bytes, out_bytes) in BLOCKS.items():
            if not in_bytes or name == "wifi_receiver":  # zeros make no frame to compare
                continue
            with self.subTest(name):
                top, block, first = gr.top_block(), make(name), blocks.null_sink(out_bytes)
                source = blocks.null_source(in_bytes)
                top.connect(source, block, first)
                top.start()
                time.sleep(0.01)
                top.lock()
                top.disconnect(source, block, first)
                top.unlock()
                time.sleep(0.002)
                items = data(in_bytes, 5000)
                vectors = blocks.vector_source_b(list(items))
                packed, sink = blocks.stream_to_vector(1, in_bytes), blocks.vector_sink_b(out_bytes)
                top.lock()
                top.connect(vectors, packed, block, sink)
                top.unlock()
                top.wait()
                self.assertEqual(bytes(sink.data()), self.alone(name, items))

    def test_rewired_while_it_waits(self):
        """Locked while it waits for more input or its deadline: it runs on, to its end."""
        for name, (_, in_bytes, out_bytes) in BLOCKS.items():
            if not in_bytes:
                continue
            with self.subTest(name):
                top, block, source = gr.top_block(), make(name), Stalling((numpy.uint8, in_bytes))
                if hasattr(block, "set_max_latency_ms"):
                    block.set_max_latency_ms(60000)
                first, source.allowed = blocks.null_sink(out_bytes), 3
                top.connect(source, block, first)
                top.start()
                wait_until(lambda: source.given >= source.allowed)
                time.sleep(0.02)
                top.lock()
                top.disconnect(source, block, first)
                top.connect(blocks.null_source(in_bytes), blocks.head(in_bytes, 5000), block,
                            blocks.null_sink(out_bytes))
                top.unlock()
                end = threading.Thread(target=top.wait, daemon=True)
                end.start()
                end.join(120)
                self.assertFalse(end.is_alive(), "it does not end")

    def alone(self, name, items):
        _, in_bytes, out_bytes = BLOCKS[name]
        top, sink = gr.top_block(), blocks.vector_sink_b(out_bytes)
        top.connect(blocks.vector_source_b(list(items)), blocks.stream_to_vector(1, in_bytes), make(name), sink)
        top.run()
        return bytes(sink.data())

    def test_many_instances_at_a_time(self):
        """Six of each in one flowgraph, and flowgraphs in four threads: all give the same."""
        for name, (_, in_bytes, out_bytes) in BLOCKS.items():
            if not in_bytes:
                continue
            with self.subTest(name):
                items, top, sinks = data(in_bytes, 3000), gr.top_block(), []
                source, packed = blocks.vector_source_b(list(items)), blocks.stream_to_vector(1, in_bytes)
                top.connect(source, packed)
                for _ in range(6):
                    sinks.append(blocks.vector_sink_b(out_bytes))
                    top.connect(packed, make(name), sinks[-1])
                top.run()
                expected = bytes(sinks[0].data())
                self.assertTrue(len(expected) > 0 or name == "wifi_receiver")
                self.assertTrue(all(bytes(sink.data()) == expected for sink in sinks))
        results, names = {}, [name for name in BLOCKS if BLOCKS[name][1]]

        def work(number):
            name = names[number]
            results[name] = (self.alone(name, data(BLOCKS[name][1], 1000))
                             == self.alone(name, data(BLOCKS[name][1], 1000)))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(0, len(names), 3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(set(results.values()), {True})

    def test_parameters_that_cannot_be(self):
        """Each parameter of each block with values that nobody should pass: an exception with a text, or a block."""
        numbers = (0, -1, 2**23 + 1, 2**28, 2**29, 2**30, 2**31 - 1, -2**31, 2**63, None, "x", [], [1])
        reals = (0.0, -1.0, float("nan"), float("inf"), 1e308, 1e-320, None, "x")
        lists = ([], [float("nan")], [float("inf")], [1] * 63, None, "x", [[1]], ["a"], 3)
        texts = ("", " ", "cuda:7", "opencl:99", "prefer:", "prefer:prefer:cpu", "cpu:1", "x" * 100000, "\0", "AUTO",
                 ":", None, 3)
        tried = made = 0
        for name in BLOCKS:
            signature = re.search(r"__init__\(self: [\w.]+(.*?)\) -> None", getattr(penstock, name).__init__.__doc__)[1]
            for parameter, kind in re.findall(r", (\w+): ([^=,]+)", signature):
                values = (numbers if kind.startswith("int") else reals if kind.startswith("float") else texts
                          if kind.startswith("str") else lists)
                for value in values:
                    with self.subTest(name, parameter=parameter, value=str(value)[:20]):
                        tried += 1
                        try:
                            make(name, **{parameter: value}).stats()
                            made += 1
                        except (RuntimeError, TypeError) as error:
                            self.assertGreater(len(str(error)), 15)
        self.assertGreater(tried, 400)
        self.assertGreater(made, 40)  # what is harmless is taken

    def test_memory_is_given_back(self):
        """Made, run and thrown away again and again: the process does not grow."""

        def resident_pages():
            with open("/proc/self/statm") as numbers:
                return int(numbers.read().split()[1])

        for name, (_, in_bytes, _) in BLOCKS.items():
            if not in_bytes:
                continue
            with self.subTest(name):
                items = data(in_bytes, 500)
                for turn in range(12):
                    self.alone(name, items)
                    gc.collect()
                    if turn == 3:
                        before = resident_pages()
                self.assertLess(resident_pages() - before, 8 * 256 * 4)  # 8 MiB

    def test_threads_are_given_back(self):
        def threads():
            with open("/proc/self/status") as lines:
                return int(re.search(r"Threads:\s+(\d+)", lines.read())[1])

        self.alone("fft_vcc", data(512, 10))
        gc.collect()
        before = threads()
        for _ in range(5):
            self.alone("fft_vcc", data(512, 10))
            gc.collect()
        wait_until(lambda: threads() <= before)  # the kernel counts a thread a little longer than a join
        self.assertLessEqual(threads(), before)


if __name__ == "__main__":
    gr_unittest.run(QaLifecycle)
