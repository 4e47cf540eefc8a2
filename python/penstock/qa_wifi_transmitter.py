#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""The Wi-Fi transmitter: the samples of the C library, PDUs that are none,
and the loop through a channel to the receiver."""

import ctypes

import numpy
import pmt
from gnuradio import blocks, channels, gr, gr_unittest, penstock
from qa_stalling import wait_until

RATES = (6, 9, 12, 18, 24, 36, 48, 54)


def pdu(bytes_, **meta):
    dictionary = pmt.make_dict()
    for key, value in meta.items():
        dictionary = pmt.dict_add(dictionary, pmt.intern(key),
                                  value if isinstance(value, pmt.pmt_base) else pmt.to_pmt(value))
    return pmt.cons(dictionary, pmt.init_u8vector(len(bytes_), list(bytes_)))


def random_bytes(seed, count):
    return bytes(numpy.random.RandomState(seed).randint(0, 256, count, numpy.uint8))


def send(block, messages):
    """To be called before the flowgraph starts: all of these, then the end."""
    for message in messages:
        block.to_basic_block()._post(pmt.intern("pdus"), message)
    block.to_basic_block()._post(pmt.intern("system"), pmt.cons(pmt.intern("done"), pmt.from_long(1)))


def transmitted(block, messages, most=100000):
    top, sink = gr.top_block(), blocks.vector_sink_c()
    top.connect(block, sink)
    send(block, messages)
    top.run(most)
    return numpy.array(sink.data(), numpy.complex64), sink.tags()


class TransmitDesc(ctypes.Structure):
    """penstock_wifi_transmit_desc"""
    _fields_ = [("size", ctypes.c_size_t), ("profile", ctypes.c_int), ("mbps", ctypes.c_double),
                ("seed", ctypes.c_uint)]


def c_library_frame(bytes_, mbps, seed=0):
    """Samples of penstock_wifi_modulate() for an MPDU without FCS."""
    path = next(line.split()[-1] for line in open("/proc/self/maps") if "/libpenstock.so" in line)
    library = ctypes.CDLL(path)
    library.penstock_wifi_fcs.restype = ctypes.c_uint32
    library.penstock_wifi_frame_samples.restype = ctypes.c_size_t
    fcs = library.penstock_wifi_fcs(bytes_, ctypes.c_size_t(len(bytes_)))
    psdu = bytes_ + int(fcs).to_bytes(4, "little")
    desc = TransmitDesc(ctypes.sizeof(TransmitDesc), 0, mbps, seed)
    samples = numpy.zeros(library.penstock_wifi_frame_samples(ctypes.byref(desc), ctypes.c_size_t(len(psdu))),
                          numpy.complex64)
    assert library.penstock_wifi_modulate(ctypes.byref(desc), psdu, ctypes.c_size_t(len(psdu)),
                                          ctypes.c_void_p(samples.ctypes.data)) == 0
    return samples


class QaWifiTransmitter(gr_unittest.TestCase):
    def test_samples_are_those_of_the_c_library(self):
        frames = [random_bytes(i, 20 + 37 * i) for i in range(9)]
        block = penstock.wifi_transmitter("wifi", 24)
        messages = [pdu(frame, rate_mbps=float(rate)) for frame, rate in zip(frames, RATES)]
        messages += [pdu(frames[8], scrambler_seed=5), pdu(frames[8], scrambler_seed=pmt.from_uint64(5))]
        expected = ([c_library_frame(frame, rate) for frame, rate in zip(frames, RATES)]
                    + 2 * [c_library_frame(frames[8], 24, 5)])
        for most in (100, 100000):
            got, tags = transmitted(block, messages, most)
            self.assertTrue(numpy.array_equal(got, numpy.concatenate(expected)))
            starts = numpy.cumsum([0] + [len(samples) for samples in expected])
            self.assertEqual([(tag.offset, str(tag.key), pmt.to_long(tag.value)) for tag in tags],
                             [(start, "packet_len", len(samples)) for start, samples in zip(starts, expected)])
            stats = block.stats()
            self.assertEqual([stats[key] for key in ("frames", "bytes", "items_in", "items_out", "refused", "drops",
                                                     "queue", "fallbacks")],
                             [10, sum(map(len, frames + frames[8:])) + 40, 10, len(got), 0, 0, 0, 0])
            self.assertAlmostEqual(stats["batch"], len(got) / 10)
            self.assertGreater(stats["latency_p99_ms"], 0)
            self.assertGreaterEqual(stats["latency_p99_ms"], stats["latency_p50_ms"])
            self.assertGreater(stats["kernel_ms"], 0)

    def test_gap_and_tag_name(self):
        block = penstock.wifi_transmitter("wifi-10mhz", 6, True, 8, 1, "burst")
        got, tags = transmitted(block, [pdu(b"abc"), pdu(b"def")])
        self.assertEqual([str(tag.key) for tag in tags], ["burst", "burst"])
        self.assertEqual([tag.offset for tag in tags], [0, len(got) // 2])
        self.assertTrue(numpy.all(got[len(got) // 2 - 80 : len(got) // 2] == 0))  # 8 us at 10 Msamples/s
        self.assertNotEqual(got[len(got) // 2 - 82], 0)

    def test_what_is_no_pdu_is_refused(self):
        block = penstock.wifi_transmitter()
        good = random_bytes(1, 4091)
        wrong = [pmt.intern("text"), pmt.cons(pmt.PMT_NIL, pmt.init_f32vector(2, [1, 2])), pdu(b""), pdu(good + b"x"),
                 pdu(b"abc", rate_mbps=7.0), pdu(b"abc", scrambler_seed=128), pdu(b"abc", rate_mbps="fast")]
        got, _ = transmitted(block, wrong + [pmt.cons(pmt.PMT_NIL, pmt.init_u8vector(len(good), list(good)))])
        self.assertTrue(numpy.array_equal(got, c_library_frame(good, 6)))
        self.assertEqual((block.stats()["refused"], block.stats()["frames"]), (len(wrong), 1))

    def loop(self, rate, count, gap_us, most, *channel, tail=70000):
        """The frames sent and those received, in one flowgraph; zeros behind the last one let it pass."""
        frames = [random_bytes(100 + i, 40 + 61 * i % 900) for i in range(count)]
        source, receiver = penstock.wifi_transmitter("wifi", rate, gap_us=gap_us), penstock.wifi_receiver(device="cpu")
        top, store = gr.top_block(), blocks.message_debug()
        top.connect(source, *channel, receiver)
        top.msg_connect(receiver, "pdus", store, "store")
        send(source, [pdu(frame) for frame in frames])
        top.run(most)
        got = [pmt.to_python(store.get_message(i)) for i in range(store.num_messages())]
        return frames, [bytes(psdu)[:-4] for _, psdu in got], receiver

    def test_loop_back_to_back(self):
        """Without noise and gaps, at every chunking: all of them."""
        for most in (80, 997, 4096, 100000):
            for rate in (6, 54) if most != 997 else RATES:
                with self.subTest(most=most, rate=rate):
                    sent, got, _ = self.loop(rate, 20, 0, most)
                    self.assertEqual(got, sent)

    def test_loop_through_a_channel(self):
        """28 dB, 100 kHz and two paths, which every rate up to 36 Mb/s bears."""
        for rate in (6, 24, 36):
            with self.subTest(rate=rate):
                model = channels.channel_model(0.04, 100e3 / 20e6, 1.0, [1, 0.2j], 7)
                sent, got, receiver = self.loop(rate, 20, 20, 100000, model)
                self.assertEqual(got, sent)

    def test_stop_while_idle_and_live_setters(self):
        block, sink, top = penstock.wifi_transmitter(), blocks.vector_sink_c(), gr.top_block()
        top.connect(block, sink)
        top.start()
        expected = numpy.zeros(0, numpy.complex64)
        for rate, seed in ((12, 3), (48, 100)):
            block.set_rate_mbps(rate)
            block.set_scrambler_seed(seed)
            expected = numpy.concatenate([expected, c_library_frame(b"frame", rate, seed)])
            block.to_basic_block()._post(pmt.intern("pdus"), pdu(b"frame"))
            wait_until(lambda: len(sink.data()) >= len(expected))
        top.stop()
        top.wait()
        self.assertTrue(numpy.array_equal(sink.data(), expected))

    def test_parameters(self):
        block = penstock.wifi_transmitter("wifi-5mhz", 13.5, False, 3, 9)
        self.assertEqual((block.rate_hz(), block.rate_mbps(), block.gap_us(), block.scrambler_seed()),
                         (5e6, 13.5, 3.0, 9))
        block.set_gap_us(5)
        self.assertEqual(block.gap_us(), 5.0)
        for wrong in (dict(profile="bluetooth"), dict(rate_mbps=7), dict(gap_us=-1), dict(scrambler_seed=128),
                      dict(scrambler_seed=-1), dict(gap_us=float("nan"))):
            with self.assertRaises(RuntimeError, msg=str(wrong)):
                penstock.wifi_transmitter(**wrong)
        for wrong in (lambda: block.set_rate_mbps(54), lambda: block.set_gap_us(-1),
                      lambda: block.set_scrambler_seed(300)):
            self.assertRaises(RuntimeError, wrong)
        self.assertEqual((block.rate_mbps(), block.gap_us(), block.scrambler_seed()), (13.5, 5.0, 9))

    def test_bytes_with_their_fcs(self):
        body = random_bytes(3, 50)
        store, top = blocks.message_debug(), gr.top_block()
        source, receiver = penstock.wifi_transmitter(append_fcs=False), penstock.wifi_receiver(device="cpu")
        top.connect(source, receiver)
        top.msg_connect(receiver, "rejected", store, "store")
        send(source, [pdu(body)])
        top.run()
        self.assertEqual(bytes(pmt.to_python(store.get_message(0))[1]), body)

    def test_stats_message(self):
        block, store, top = penstock.wifi_transmitter(), blocks.message_debug(), gr.top_block()
        top.connect(block, blocks.null_sink(8))
        top.msg_connect(block, "stats", store, "store")
        send(block, [pdu(b"abc")])
        top.run()
        self.assertEqual(sorted(pmt.to_python(store.get_message(0))), sorted(block.stats()))


if __name__ == "__main__":
    gr_unittest.run(QaWifiTransmitter)
