#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""What every block tells of itself after a run, on each device that is there: the same keys, all numbers finite, and
the time of kernels, and of copies where the device has memory of its own. On OpenCL three blocks, whose kernels are
few: a filter's choice of its length compiles dozens. PENSTOCK_TEST_FULL=1: all; test_stream_times has the operators of
all."""

import math
import os

import numpy
import pmt
from gnuradio import blocks, gr, gr_unittest, penstock

DEVICES = ("cpu", "reference", "trace", "opencl")
KEYS = {"items_in", "items_out", "queue", "in_rate_hz", "out_rate_hz", "batch", "transfer_ms", "kernel_ms",
        "latency_p50_ms", "latency_p99_ms", "fallbacks", "drops", "cpu_while_compiling", "handed_over"}
GRID = dict(fft_len=64, cp_len=16, occupied_carriers=[[-2, -1, 1, 2]], trigger_tag_name="")
TAPS = [1.0, 2.0, 3.0]
FEW = ("fft_vcc", "ofdm_demod_cvc", "wifi_receiver")

# The blocks with their arguments, numbers of 4 bytes in an item in, or shorts, and bytes of an item out.
BLOCKS = {
    "fft_vcc": (dict(fft_size=64, forward=True, window=[]), 128, 512),
    "fft_vfc": (dict(fft_size=64, forward=True, window=[]), 64, 512),
    "spectrum_cvf": (dict(fft_size=64, average=2), 2, 256),
    "fft_filter_ccc": (dict(decimation=2, taps=[1.0, 1j]), 2, 8),
    "fft_filter_ccf": (dict(decimation=1, taps=TAPS), 2, 8),
    "fft_filter_fff": (dict(decimation=1, taps=TAPS), 1, 4),
    "channelizer_cc": (dict(numchans=8, taps=[1.0] * 24), 2, 8),
    "ofdm_demod_cvc": (GRID, 2, 32),
    "ofdm_demod_cb": (GRID, 2, 1),
    "pfb_arb_resampler_ccf": (dict(rate=0.7, taps=TAPS), 2, 8),
    "pfb_arb_resampler_ccc": (dict(rate=0.7, taps=[1j, 2]), 2, 8),
    "pfb_arb_resampler_fff": (dict(rate=0.7, taps=TAPS), 1, 4),
    "rational_resampler_ccf": (dict(interpolation=3, decimation=4), 2, 8),
    "rational_resampler_ccc": (dict(interpolation=3, decimation=4), 2, 8),
    "rational_resampler_fcc": (dict(interpolation=3, decimation=4), 1, 8),
    "rational_resampler_fff": (dict(interpolation=3, decimation=4), 1, 4),
    "freq_xlating_fir_filter_ccc": (dict(decimation=2, taps=[1.0, 1j], center_freq=0.1, sampling_freq=1), 2, 8),
    "freq_xlating_fir_filter_ccf": (dict(decimation=2, taps=TAPS, center_freq=0.1, sampling_freq=1), 2, 8),
    "freq_xlating_fir_filter_fcc": (dict(decimation=2, taps=[1.0, 1j], center_freq=0.1, sampling_freq=1), 1, 8),
    "freq_xlating_fir_filter_fcf": (dict(decimation=2, taps=TAPS, center_freq=0.1, sampling_freq=1), 1, 8),
    "freq_xlating_fir_filter_scc": (dict(decimation=2, taps=[1.0, 1j], center_freq=0.1, sampling_freq=1), "short", 8),
    "freq_xlating_fir_filter_scf": (dict(decimation=2, taps=TAPS, center_freq=0.1, sampling_freq=1), "short", 8),
    "pfb_synthesizer_ccf": (dict(numchans=8, taps=[1.0] * 24), 2, 8),
    "logpwrfft_c": (dict(sample_rate=64000, fft_size=64, ref_scale=2, frame_rate=500, avg_alpha=0.1, average=True), 2,
                    256),
    "logpwrfft_f": (dict(sample_rate=64000, fft_size=64, ref_scale=2, frame_rate=1000, avg_alpha=0.1, average=False), 1,
                    256),
    "viterbi_decoder": (dict(bits=20), 1, 1),
    "ldpc_decoder": (dict(code="wifi:648:1/2", scale=20.0), 1, 1),
    "wifi_receiver": (dict(), 2, 8),
}


def copies(stats, device):
    """Whether the time of copies is right: `trace` has memory of its own, processors have not, OpenCL may have."""
    return device == "opencl" or (stats["transfer_ms"] > 0) == (device == "trace")


def random_bytes(count):
    return numpy.random.RandomState(1).randint(0, 256, count, numpy.uint8)


def frames():
    """A block that gives a few frames and ends, as penstock.wifi_transmitter does after its `done` message."""
    block = penstock.wifi_transmitter(rate_mbps=24, gap_us=30)
    for _ in range(5):
        block.to_basic_block()._post(pmt.intern("pdus"),
                                     pmt.cons(pmt.make_dict(), pmt.init_u8vector(300, list(random_bytes(300)))))
    block.to_basic_block()._post(pmt.intern("system"), pmt.cons(pmt.intern("done"), pmt.from_long(1)))
    return block


def numbers(numbers_of_an_item):
    data = numpy.random.RandomState(2).uniform(-1, 1, 512 * 128).astype(numpy.float32)
    if numbers_of_an_item == "short":
        return blocks.vector_source_s((1000 * data).astype(int).tolist())
    return blocks.vector_source_f(data.tolist(), vlen=numbers_of_an_item)


def run(block, name):
    _, size, out_bytes = BLOCKS[name]
    top = gr.top_block()
    top.connect(frames() if name == "wifi_receiver" else numbers(size), block)
    outputs = 8 if name == "channelizer_cc" else 1
    for port in range(outputs):
        top.connect((block, port), blocks.null_sink(out_bytes))
    top.run()
    return block.stats()


class QaStats(gr_unittest.TestCase):
    def make(self, name, device):
        try:
            return getattr(penstock, name)(**dict(BLOCKS[name][0], device=device))
        except RuntimeError as error:
            if "no device" not in str(error) and not ("does not resample" in str(error) and "resampler" in name):
                raise
            return None

    def test_every_block_on_every_device(self):
        count = dict.fromkeys(DEVICES, 0)
        for device in DEVICES:
            for name in FEW if device == "opencl" and not os.environ.get("PENSTOCK_TEST_FULL") else BLOCKS:
                with self.subTest(name, device=device):
                    block = self.make(name, device)
                    if not block:
                        continue
                    self.check(run(block, name), device)
                    count[device] += 1
        print("cases:", count)
        traced = len([name for name in BLOCKS if "resampler" not in name])
        self.assertEqual((count["cpu"], count["trace"]), (len(BLOCKS), traced))
        for device in ("reference", "opencl"):
            self.assertIn(count[device], (0, len(FEW), len(BLOCKS)), device)

    def check(self, stats, device):
        self.assertLessEqual(KEYS, set(stats))
        self.assertEqual([key for key, value in stats.items() if not math.isfinite(value)], [])
        for key in ("items_in", "items_out", "batch", "kernel_ms", "latency_p50_ms", "latency_p99_ms"):
            self.assertGreater(stats[key], 0, key)
        self.assertTrue(copies(stats, device), stats["transfer_ms"])
        self.assertEqual(stats["fallbacks"] + stats["drops"], 0)

    def test_the_transmitter(self):
        block, top = frames(), gr.top_block()
        top.connect(block, blocks.null_sink(8))
        top.run()
        stats = block.stats()
        self.assertLessEqual(KEYS, set(stats))
        self.assertEqual([key for key, value in stats.items() if not math.isfinite(value)], [])
        self.assertEqual((stats["items_in"], stats["drops"], stats["transfer_ms"]), (5, 0, 0))
        self.assertGreater(stats["kernel_ms"], 0)

    def test_the_table_is_complete(self):
        known = sorted(name for name, kind in vars(penstock).items() if hasattr(kind, "stats"))
        self.assertEqual(sorted(BLOCKS) + ["wifi_transmitter"], known)


if __name__ == "__main__":
    gr_unittest.run(QaStats)
