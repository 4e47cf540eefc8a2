#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""The Wi-Fi receiver in a flowgraph: the frames of `penstock receive`, and none lost at any chunking."""

import json
import math
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

import numpy
import pmt
from gnuradio import blocks, gr, gr_unittest, penstock
from qa_stalling import Stalling, running, wait_until

COMMAND = os.environ.get("PENSTOCK_COMMAND", "")
RECORDINGS = pathlib.Path(os.environ.get("PENSTOCK_RECORDINGS", "../shared/recordings"))
EXACT = ("sample", "format", "mcs", "length", "fcs_ok", "psdu")
CLOSE = ("bandwidth_hz", "rate_mbps", "snr_db", "evm_db", "cfo_hz", "sfo_ppm", "raw_ber")
DIFFERENCE = dict(bandwidth_hz=0, rate_mbps=0, snr_db=1e-4, evm_db=1e-3, cfo_hz=0.1, sfo_ppm=1e-3, raw_ber=1e-3)
COUNTERS = ("samples", "triggers", "synchronised", "signals", "decoded", "fcs_ok", "unsupported", "truncated",
            "clipped", "not_finite", "ready", "items_in", "items_out", "queue", "in_rate_hz", "out_rate_hz", "batch",
            "transfer_ms", "kernel_ms", "latency_p50_ms", "latency_p99_ms", "fallbacks", "drops", "cpu_while_compiling",
            "handed_over")


class Times(gr.basic_block):
    """When the messages of a port came."""

    def __init__(self):
        gr.basic_block.__init__(self, "times", None, None)
        self.message_port_register_in(pmt.intern("in"))
        self.set_msg_handler(pmt.intern("in"), self.note)
        self.came = []

    def note(self, message):
        self.came.append(time.monotonic())


class Collector:
    """Keeps the messages of a receiver."""

    def __init__(self, top, receiver):
        self.stores = {port: blocks.message_debug() for port in ("pdus", "rejected", "channel", "stats")}
        for port, store in self.stores.items():
            top.msg_connect(receiver, port, store, "store")

    def messages(self, port):
        store = self.stores[port]
        return [pmt.to_python(store.get_message(i)) for i in range(store.num_messages())]

    def frames(self):
        rows = []
        for port in ("pdus", "rejected"):
            for meta, psdu in self.messages(port):
                assert meta["fcs_ok"] == (port == "pdus")
                rows.append(dict(meta, psdu=bytes(psdu).hex() or None))
        return sorted(rows, key=lambda row: row["sample"])


def flowgraph(source, receiver, points=None):
    """`source` to `receiver`; the collector of its messages, the sink of its points."""
    top = gr.top_block()
    top.connect(source, receiver)
    collector = Collector(top, receiver)
    if points:
        top.connect(receiver, points)
    return top, collector


def transmit(*options):
    """Samples of a test signal, from the command."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "signal.cf32")
        subprocess.run([COMMAND, "transmit", "--profile", "wifi", "--output", path, *options], check=True,
                       stdout=subprocess.DEVNULL)
        return numpy.fromfile(path, numpy.complex64)


def command_frames(path, device, *options):
    answer = subprocess.run([COMMAND, "receive", "--profile", "wifi", "--input", str(path), "--rate", "20e6",
                             "--device", device, "--json", "-", *options], check=True, capture_output=True, text=True)
    return [row for row in map(json.loads, answer.stdout.splitlines()) if "summary" not in row]


def has_device(name):
    try:
        penstock.wifi_receiver(device=name)
        return True
    except RuntimeError:
        return False


@unittest.skipUnless(COMMAND, "the command penstock was not built")
class QaWifiReceiver(gr_unittest.TestCase):
    def assert_same_frames(self, got, expected):
        self.assertEqual([[row[key] for key in EXACT] for row in got],
                         [[row[key] for key in EXACT] for row in expected])
        for mine, its in zip(got, expected):
            self.assertEqual(mine.get("reason"), its.get("reason"))
            for key in CLOSE:
                if its[key] is None:
                    self.assertIsNone(mine[key])
                else:
                    # Two processes: FFTW measures in each, and its plans differ in the last bits, by a few 1e-7 of a
                    # symbol's level. Against the error vector of a frame at 40 dB, 1e-2 of that level, this is some
                    # 1e-5 of the vector at the worst: 8.7e-5 dB of the EVM. Offsets come from phases over whole frames,
                    # whose last bits weigh 1e-7 of the 312.5 kHz that they can tell: 0.03 Hz.
                    self.assertTrue(math.isclose(mine[key], its[key], rel_tol=1e-6, abs_tol=DIFFERENCE[key]),
                                    (key, mine, its))

    def check_recordings(self, device):
        if not has_device(device):
            self.skipTest(f"no device {device}")
        paths = sorted(RECORDINGS.glob("wifi/conducted/*.dat"))
        if not paths:
            self.skipTest(f"no recordings in {RECORDINGS}")
        frames = 0
        for path in paths[::3]:
            with self.subTest(path.name):
                source = blocks.file_source(gr.sizeof_short, str(path))
                convert = blocks.interleaved_short_to_complex(False, False, 32768)
                receiver = penstock.wifi_receiver(device=device)
                top, collector = flowgraph(convert, receiver)
                top.connect(source, convert)
                top.run()
                self.assertEqual(receiver.device().split(":")[0], device)
                expected = command_frames(path, device, "--format", "cs16")
                self.assert_same_frames(collector.frames(), expected)
                frames += len(expected)
        self.assertGreater(frames, 10)

    def test_recordings_cpu(self):
        self.check_recordings("cpu")

    def test_recordings_opencl(self):
        self.check_recordings("opencl")

    def test_back_to_back_at_every_chunking(self):
        count = 24
        samples = transmit("--mbps", "all", "--count", str(count), "--gap", "0", "--length", "300")
        expected = None
        for most, buffer in ((79, None), (1000, None), (4095, None), (100000, 1 << 17), (100000, None)):
            with self.subTest(most=most, buffer=buffer):
                source = blocks.vector_source_c(samples)
                if buffer:
                    source.set_min_output_buffer(buffer)
                receiver = penstock.wifi_receiver("wifi", "cpu")
                points = blocks.vector_sink_c()
                top, collector = flowgraph(source, receiver, points)
                top.run(most)
                frames = collector.frames()
                self.assertEqual(len(frames), count)
                self.assertTrue(all(frame["fcs_ok"] for frame in frames))
                self.assertEqual(receiver.stats()["samples"], len(samples))
                self.assertEqual(len(points.data()) % 48, 0)
                expected = expected or (frames, points.data())
                self.assertEqual((frames, points.data()), expected)

    def test_points_lie_on_the_constellation(self):
        length = 500
        samples = transmit("--mbps", "12", "--count", "3", "--gap", "10", "--length", str(length))
        points = blocks.vector_sink_c()
        top, _ = flowgraph(blocks.vector_source_c(samples), penstock.wifi_receiver(device="cpu"), points)
        top.run()
        symbols = -(-(16 + 8 * length + 6) // 48)  # IEEE 802.11-2020 equation 17-11, QPSK 1/2
        self.assertEqual(len(points.data()), 3 * 48 * symbols)
        data = numpy.array(points.data())
        self.assertLess(numpy.max(numpy.abs(numpy.abs(data) - 1)), 0.1)

    def test_end_without_output_and_restart(self):
        samples = transmit("--count", "5", "--gap", "0")
        source = blocks.vector_source_c(samples)
        receiver = penstock.wifi_receiver(device="cpu")
        top, collector = flowgraph(source, receiver)
        for run in (1, 2, 3):
            source.rewind()
            top.run()
            self.assertEqual(len(collector.messages("pdus")), 5 * run)
            self.assertEqual(receiver.stats()["samples"], len(samples))
        starts = [meta["sample"] for meta, _ in collector.messages("pdus")]
        self.assertEqual(starts[:5], starts[5:10])

    def test_stop_while_waiting(self):
        idle = blocks.copy(gr.sizeof_gr_complex)
        idle.set_enabled(False)
        receiver = penstock.wifi_receiver(device="cpu")
        top, _ = flowgraph(idle, receiver)
        top.connect(blocks.null_source(gr.sizeof_gr_complex), idle)
        top.start()
        time.sleep(0.2)
        before = time.monotonic()
        top.stop()
        top.wait()
        self.assertLess(time.monotonic() - before, 120)  # it does not hang

    def test_stats(self):
        samples = transmit("--count", "2")
        receiver = penstock.wifi_receiver(device="cpu")
        top, collector = flowgraph(blocks.vector_source_c(samples), receiver)
        top.run()
        self.assertEqual(sorted(receiver.stats()), sorted(COUNTERS))
        last, now = collector.messages("stats")[-1], receiver.stats()
        for key in COUNTERS:
            if not key.endswith("rate_hz"):  # rates die away
                self.assertEqual(last[key], now[key], key)
        self.assertEqual(receiver.stats()["fcs_ok"], 2)

    def test_channel_messages(self):
        samples = transmit("--mbps", "24", "--count", "4", "--multipath", "150:-6")
        first = None
        for level in (1.0, 0.01):
            receiver = penstock.wifi_receiver(device="cpu")
            top, collector = flowgraph(blocks.vector_source_c((level * samples).tolist()), receiver)
            top.run()
            messages = collector.messages("channel")
            self.assertEqual([meta["sample"] for meta, _ in messages],
                             [meta["sample"] for meta, _ in collector.messages("pdus")])
            self.assertEqual(len(messages), 4)
            for _, bins in messages:
                carriers = numpy.r_[-26:0, 1:27]
                response = numpy.array(bins)[carriers % 64]
                self.assertEqual(numpy.count_nonzero(bins), 52)
                delays = numpy.abs(numpy.exp(2j * numpy.pi * numpy.outer(numpy.arange(64), carriers) / 64) @ response)
                self.assertEqual(delays.argmax(), 0)  # the first path, and the one three samples after it
                self.assertEqual(delays[2:].argmax(), 1)
                first = first or delays[0]
                self.assertAlmostEqual(delays[0] / level / first, 1, delta=0.01)  # in units of the samples

    def test_a_radios_tags(self):
        count = 6
        samples = transmit("--mbps", "12", "--count", str(count), "--gap", "100")

        def tag(offset, key, value):
            return gr.tag_utils.python_to_tag((offset, pmt.intern(key), value, pmt.intern("radio")))

        second = len(samples) // 2
        wrap = 1 - second / 2 / 20e6  # the next second begins between two frames of the first half
        tags = [tag(0, "rx_freq", pmt.from_double(5.18e9)), tag(0, "rx_rate", pmt.from_double(20e6)),
                tag(0, "rx_time", pmt.make_tuple(pmt.from_uint64(1000), pmt.from_double(wrap))),
                tag(second, "rx_freq", pmt.from_double(5.2e9)),
                tag(second, "rx_time", pmt.make_tuple(pmt.from_uint64(2000), pmt.from_double(0.25)))]
        receiver = penstock.wifi_receiver(device="cpu")
        top, collector = flowgraph(blocks.vector_source_c(samples.tolist(), False, 1, tags), receiver)
        top.run(999)
        metas = [meta for meta, _ in collector.messages("pdus")]
        self.assertEqual(len(metas), count)
        for meta in metas:
            late = meta["sample"] >= second
            seconds, part = meta["rx_time"]
            expected = 2000.25 + (meta["sample"] - second) / 20e6 if late else 1000 + wrap + meta["sample"] / 20e6
            self.assertEqual(seconds, int(expected))
            self.assertAlmostEqual(part, expected % 1, delta=1e-9)
            self.assertEqual(meta["rx_freq"], 5.2e9 if late else 5.18e9)
        self.assertEqual(len({seconds for seconds, _ in (meta["rx_time"] for meta in metas)}), 3)
        self.assertTrue(all("rx_time" in meta for meta, _ in collector.messages("channel")))

    def test_points_are_tagged_by_frame(self):
        samples = transmit("--mbps", "all", "--count", "8", "--length", "100")
        for most in (100, 100000):
            points = blocks.vector_sink_c()
            top, collector = flowgraph(blocks.vector_source_c(samples.tolist()), penstock.wifi_receiver(device="cpu"),
                                       points)
            top.run(most)
            lengths = [(tag.offset, pmt.to_long(tag.value)) for tag in points.tags() if str(tag.key) == "packet_len"]
            frames = [(tag.offset, pmt.to_python(tag.value)) for tag in points.tags() if str(tag.key) == "frame"]
            self.assertEqual([offset for offset, _ in lengths], [sum(n for _, n in lengths[:i]) for i in range(8)])
            self.assertEqual(sum(n for _, n in lengths), len(points.data()))
            self.assertEqual([meta for _, meta in frames], [meta for meta, _ in collector.messages("pdus")])
            self.assertEqual([offset for offset, _ in frames], [offset for offset, _ in lengths])

    def test_max_latency_changes_no_frame(self):
        samples = transmit("--mbps", "all", "--count", "16", "--gap", "2")
        receiver = penstock.wifi_receiver(device="cpu")
        top, collector = flowgraph(blocks.vector_source_c(samples.tolist()), receiver)
        top.start()
        for latency_ms in (0.05, 1, 0.1, 0) * 5:
            receiver.set_max_latency_ms(latency_ms)
            self.assertEqual(receiver.max_latency_ms(), latency_ms)
        top.wait()
        self.assertEqual(len(collector.messages("pdus")), 16)
        self.assertRaises(RuntimeError, receiver.set_max_latency_ms, -1)
        self.assertEqual(receiver.max_latency_ms(), 0)

    def stall_behind_each_frame(self, samples, expected, latency_ms, points, count):
        """The frames, which must all come, and the time that each took after its last sample;
        `count` points to `points`."""
        source, times, delays = Stalling(items=samples), Times(), []
        receiver = penstock.wifi_receiver("wifi", "cpu", latency_ms)
        top, collector = flowgraph(source, receiver, points)
        top.msg_connect(receiver, "pdus", times, "in")
        with running(top):
            for k, frame in enumerate(expected):
                source.allowed = frame["sample"] + frame["samples"]
                wait_until(lambda: len(times.came) > k)
                if len(times.came) != k + 1:
                    break  # it did not come although its samples are there, or came twice
                delays.append(times.came[k] - source.last)
            wait_until(lambda: len(collector.messages("pdus")) >= len(delays)
                       and (not points or len(points.data()) >= count))
        return collector.frames(), delays

    def test_a_source_that_stalls(self):
        samples = transmit("--mbps", "all", "--count", "8", "--gap", "100", "--length", "400")
        whole = blocks.vector_sink_c()
        top, collector = flowgraph(blocks.vector_source_c(samples), penstock.wifi_receiver(device="cpu"), whole)
        top.run()
        expected = collector.frames()
        self.assertEqual(len(expected), 8)
        for latency_ms, points in ((0, None), (30, blocks.vector_sink_c())):
            with self.subTest(latency_ms=latency_ms):
                frames, delays = self.stall_behind_each_frame(samples, expected, latency_ms, points, len(whole.data()))
                self.assertEqual(frames, expected)
                self.assertLess(min(delays), 2 * (latency_ms or 10) / 1e3, delays)  # the best: the machine may be busy
                if points:
                    self.assertEqual(points.data(), whole.data())

    def test_a_frame_on_both_sides_of_a_stall(self):
        samples = transmit("--mbps", "all", "--count", "8", "--gap", "0", "--length", "300")
        top, collector = flowgraph(blocks.vector_source_c(samples), penstock.wifi_receiver(device="cpu"))
        top.run()
        expected = collector.frames()
        self.assertEqual(len(expected), 8)
        source, receiver = Stalling(items=samples), penstock.wifi_receiver(device="cpu", max_latency_ms=1)
        top, collector = flowgraph(source, receiver)
        with running(top):
            for place in sorted(numpy.random.default_rng(5).integers(1, len(samples), 11)) + [len(samples)]:
                source.allowed = int(place)
                wait_until(lambda: source.given >= place)
                time.sleep(0.02)
            wait_until(lambda: len(collector.messages("pdus")) >= 8 and receiver.stats()["samples"] >= len(samples))
        self.assertEqual(receiver.stats()["samples"], len(samples))
        self.assertEqual(collector.frames(), expected)

    def test_parameters(self):
        for profile, rate in (("wifi", 20e6), ("wifi-10mhz", 10e6), ("wifi-5mhz", 5e6)):
            self.assertEqual(penstock.wifi_receiver(profile=profile).rate_hz(), rate)
        with self.assertRaisesRegex(RuntimeError, "bluetooth"):
            penstock.wifi_receiver(profile="bluetooth")
        with self.assertRaisesRegex(RuntimeError, "warp"):
            penstock.wifi_receiver(device="warp")
        self.assertEqual(penstock.wifi_receiver(device="prefer:warp").device(), "cpu")
        with self.assertRaisesRegex(RuntimeError, "max_latency_s"):
            penstock.wifi_receiver(max_latency_ms=-1)


if __name__ == "__main__":
    gr_unittest.run(QaWifiReceiver)
