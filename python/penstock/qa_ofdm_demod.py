#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""The OFDM demodulators: side by side with the stock chain, every frame at every chunking, soft bits,
and every method."""

import numpy
import pmt
from gnuradio import blocks, digital, fft, gr, gr_unittest, penstock

N, CP = 64, 16
CARRIERS = [[k for k in range(-26, 27) if k not in (-21, -7, 0, 7, 21)]]
PILOTS, PILOT_SYMBOLS = [[-21, -7, 7, 21]], [[1, 1, 1, -1], [-1, -1, -1, 1], [1, -1, 1, 1]]
random = numpy.random.RandomState(5)
ACTIVE = [abs(k) <= 26 and k != 0 for k in range(-32, 32)]
WORD1 = [numpy.sqrt(2) * random.choice([-1, 1]) if on and k % 2 else 0 for k, on in zip(range(-32, 32), ACTIVE)]
WORD2 = [float(random.choice([-1, 1])) if on else 0.0 for on in ACTIVE]
GRID = dict(fft_len=N, cp_len=CP, occupied_carriers=CARRIERS, pilot_carriers=PILOTS, pilot_symbols=PILOT_SYMBOLS,
            sync_word1=WORD1, sync_word2=WORD2)


def tag(offset, key, value):
    return gr.tag_utils.python_to_tag((int(offset), pmt.intern(key), pmt.to_pmt(value), pmt.intern("qa")))


def transmitted(points, symbols):
    """Samples of frames of so many symbols each, by the stock blocks; `points` on the carriers."""
    per_frame = symbols * len(CARRIERS[0])
    tags = [tag(start, "packet_len", per_frame) for start in range(0, len(points), per_frame)]
    top, sink = gr.top_block(), blocks.vector_sink_c()
    top.connect(blocks.vector_source_c(points.tolist(), False, 1, tags),
                digital.ofdm_carrier_allocator_cvc(N, CARRIERS, PILOTS, PILOT_SYMBOLS, [WORD1, WORD2], "packet_len"),
                fft.fft_vcc(N, False, [1 / 8] * N, True), digital.ofdm_cyclic_prefixer(N, N + CP, 0, "packet_len"),
                sink)
    top.run()
    return numpy.array(sink.data(), numpy.complex64)


def qpsk(count):
    return ((random.choice([-1, 1], count) + 1j * random.choice([-1, 1], count))
            / numpy.sqrt(2)).astype(numpy.complex64)


def through_channel(samples, noise):
    out = numpy.convolve(samples, [1, 0.2 - 0.1j, 0.05j])[: len(samples)] * numpy.exp(0.7j)
    return (out + noise * (random.randn(len(out)) + 1j * random.randn(len(out)))).astype(numpy.complex64)


def demodulate(block, samples, tags, most=100000):
    top = gr.top_block()
    sink = (blocks.vector_sink_c(len(CARRIERS[0])) if isinstance(block, penstock.ofdm_demod_cvc)
            else blocks.vector_sink_b())
    top.connect(blocks.vector_source_c(samples.tolist(), False, 1, tags), block, sink)
    top.run(most)
    return numpy.array(sink.data()), [(t.offset, str(t.key), pmt.to_python(t.value)) for t in sink.tags()]


def stock_chain(samples, symbols, equalizer):
    """Equalised carriers of back-to-back frames, by FFT, channel estimator, frame equalizer and serializer."""
    vectors = samples.reshape(-1, N + CP)[:, CP:].reshape(-1)
    top, sink = gr.top_block(), blocks.vector_sink_c()
    top.connect(blocks.vector_source_c(vectors.tolist(), False, N), fft.fft_vcc(N, True, [], True),
                digital.ofdm_chanest_vcvc(WORD1, WORD2, symbols, 0, 0),
                blocks.stream_to_tagged_stream(8, N, symbols, "frame_len"),
                digital.ofdm_frame_equalizer_vcvc(equalizer.base(), CP, "", False, symbols),
                digital.ofdm_serializer_vcc(N, CARRIERS, "frame_len"), sink)
    top.run()
    return numpy.array(sink.data())


def sent_by_stock(data, length):
    """The stock transmitter, the samples of each of its packets, and their number of symbols behind the sync words."""
    starts = range(0, len(data), length)
    transmitter, top, sink = (digital.ofdm_tx(packet_length_tag_key="length", bps_payload=2), gr.top_block(),
                              blocks.vector_sink_c())
    top.connect(blocks.vector_source_b(data.tolist(), False, 1, [tag(start, "length", length) for start in starts]),
                transmitter, sink)
    top.run()
    packets = numpy.array(sink.data(), numpy.complex64).reshape(len(starts), -1)
    return transmitter, packets, packets.shape[1] // (transmitter.fft_len + transmitter.cp_len) - 2


def packets_of_points(points, data_length, symbols, carriers):
    """Bytes of packets, from the carriers of their header symbol and of the others, by the stock blocks."""
    top, sink = gr.top_block(), blocks.vector_sink_b()
    payload = points.reshape(-1, symbols,
                             carriers)[:, 1:].reshape(len(points) // symbols, -1)[:, :4 * (data_length + 4)]
    top.connect(blocks.vector_source_c(payload.reshape(-1).tolist()),
                digital.constellation_decoder_cb(digital.constellation_qpsk().base()),
                blocks.repack_bits_bb(2, 8), sink)
    top.run()
    return [bytes(packet[:data_length])
            for packet in numpy.array(sink.data(), numpy.uint8).reshape(-1, data_length + 4)]


class QaOfdmDemod(gr_unittest.TestCase):
    def assert_close(self, got, expected, most):
        self.assertEqual(len(got), len(expected))
        self.assertLess(numpy.linalg.norm(got - expected) / numpy.linalg.norm(expected), most)

    def test_side_by_side_with_stock(self):
        """The static equalizer with noise; the decision-directed one where there is none,
        so that it decides nothing else."""
        frames, symbols = 12, 7
        points = qpsk(frames * symbols * 48)
        clean = transmitted(points, symbols)
        starts = range(0, len(clean), (symbols + 2) * (N + CP))
        corners = [(re + 1j * im) / numpy.sqrt(2) for re in (-1, 1) for im in (-1, 1)]  # the stock QPSK has twice that
        qpsk_base = digital.constellation_calcdist(corners, [0, 1, 2, 3], 4, 1,
                                                   digital.constellation.NO_NORMALIZATION).base()
        # the transforms' 2.4e-7 twice on each side, in symbols and in the channel, of which the weakest carrier has 0.7
        limit = 1.5e-6
        for noise, equalizer in ((0.03, digital.ofdm_equalizer_static(N, CARRIERS, PILOTS, PILOT_SYMBOLS)),
                                 (0, digital.ofdm_equalizer_simpledfe(N, qpsk_base, CARRIERS, PILOTS, PILOT_SYMBOLS, 0,
                                                                      0.1, True, True))):
            samples = through_channel(clean, noise)
            expected = stock_chain(samples, symbols, equalizer)
            block = penstock.ofdm_demod_cvc(**GRID, frame_len=symbols, track=False, device="cpu")
            got, _ = demodulate(block, samples, [tag(start, "frame_start", True) for start in starts])
            self.assert_close(got, expected, limit)
            if not noise:
                self.assert_close(got, points, limit)

    def test_side_by_side_with_the_stock_receiver(self):
        """Packets of digital.ofdm_tx: digital.ofdm_rx's bytes are ours, with the same grid,
        as far as it finds the packets."""
        length, count = 50, 12
        data = random.randint(0, 256, length * count).astype(numpy.uint8)
        transmitter, packets, symbols = sent_by_stock(data, length)
        spaced = numpy.concatenate([numpy.concatenate([numpy.zeros(331), packet]) for packet in packets]
                                   + [numpy.zeros(2000)])
        samples = through_channel(spaced, 1e-3 * numpy.std(packets))
        receiver, top, sink = (digital.ofdm_rx(frame_length_tag_key="frame_length", bps_payload=2), gr.top_block(),
                               blocks.vector_sink_b())
        top.connect(blocks.vector_source_c(samples.tolist()), receiver, sink)
        top.run()
        stock = numpy.array(sink.data(), numpy.uint8).reshape(-1, length)
        grid = dict(fft_len=receiver.fft_len, cp_len=receiver.cp_len, occupied_carriers=receiver.occupied_carriers,
                    pilot_carriers=transmitter.pilot_carriers, pilot_symbols=transmitter.pilot_symbols,
                    sync_word1=receiver.sync_word1, sync_word2=receiver.sync_word2)
        starts = [331 + i * (331 + packets.shape[1]) for i in range(count)]
        got, _ = demodulate(penstock.ofdm_demod_cvc(**grid, frame_len=symbols, track=False, device="cpu"), samples,
                            [tag(start, "frame_start", True) for start in starts])
        ours = packets_of_points(got.reshape(-1, 48), length, symbols, 48)
        self.assertEqual(ours, [bytes(packet) for packet in data.reshape(-1, length)])  # all of them
        self.assertGreater(len(stock), count // 2)
        self.assertTrue({bytes(packet) for packet in stock} <= set(ours))

    def test_every_frame_at_every_chunking(self):
        symbols, stream, tags, points, expected = (1, 9, 30, 2), [], [], [], None
        at = 0
        for number in range(20):
            gap, count = int(random.randint(0, 200)) * (number % 2), symbols[number % 4]
            points.append(qpsk(count * 48))
            frame, cfo = transmitted(points[-1], count), float(random.uniform(-0.02, 0.02))
            at += gap
            stream += [numpy.zeros(gap),
                       through_channel(frame, 0) * numpy.exp(2j * numpy.pi * cfo * numpy.arange(len(frame)))]
            tags.append(
                tag(at, "burst", dict(symbols=count, cfo=cfo) if number % 3 else dict(symbols=count, cfo=cfo, note=1)))
            at += len(frame)
        samples, sent = numpy.concatenate(stream).astype(numpy.complex64), numpy.concatenate(points)
        for most in (1, 79, 1000, 100000):
            block = penstock.ofdm_demod_cvc(**GRID, trigger_tag_name="burst", len_tag_name="frame_len", track=True,
                                            device="cpu")
            got, got_tags = demodulate(block, samples, tags, most)
            self.assertLess(numpy.max(numpy.abs(got - sent)), 2e-4)
            lengths = [symbols[number % 4] for number in range(20)]
            self.assertEqual(got_tags, [(sum(lengths[:i]), "frame_len", n) for i, n in enumerate(lengths)])
            expected = got if expected is None else expected
            self.assertTrue(numpy.array_equal(got, expected), most)
            stats = block.stats()
            self.assertEqual((stats["items_in"], stats["frames"], stats["items_out"], stats["waiting"],
                              stats["refused"]),
                             (len(samples), 20, sum(lengths), 0, 0))

    def test_soft_bits(self):
        """Their signs are the bits, their sizes those of the channel: strong_bit 24 on a mean carrier of QPSK."""
        points = qpsk(4 * 5 * 48)
        samples = transmitted(points, 5)
        tags = [tag(start, "frame_start", 5) for start in range(0, len(samples), 7 * (N + CP))]
        got, got_tags = demodulate(penstock.ofdm_demod_cb(**GRID, device="cpu"), samples, tags)
        soft = got.astype(numpy.int8).astype(int).reshape(-1, 2)
        self.assertTrue(numpy.array_equal(soft[:, 0] < 0, points.real > 0))
        self.assertTrue(numpy.array_equal(soft[:, 1] < 0, points.imag > 0))
        self.assertTrue(numpy.all(numpy.abs(numpy.abs(soft) - 24) <= 1))
        self.assertEqual([t[2] for t in got_tags], [5 * 48 * 2] * 4)

    def test_continuous_symbols(self):
        samples = (random.randn(8050) + 1j * random.randn(8050)).astype(numpy.complex64)
        expected = numpy.fft.fft(samples[:8000].reshape(-1, N + CP)[:, CP:])[:, numpy.array(CARRIERS[0])].reshape(-1)
        for most in (50, 100000):
            block = penstock.ofdm_demod_cvc(N, CP, CARRIERS, trigger_tag_name="", device="cpu")
            got, tags = demodulate(block, samples, [], most)
            self.assert_close(got, expected, 2.5e-7)
            self.assertEqual(tags, [])

    def test_numbers_of_symbols(self):
        """GNU Radio has integers of two kinds, and a dictionary may have either."""
        points = qpsk(2 * 48)
        samples = transmitted(points, 2)
        for value in (pmt.from_long(2), pmt.from_uint64(2),
                      pmt.dict_add(pmt.make_dict(), pmt.intern("symbols"), pmt.from_uint64(2)),
                      pmt.dict_add(pmt.make_dict(), pmt.intern("cfo"), pmt.from_double(0)),
                      pmt.PMT_T, pmt.from_double(9.5)):
            block = penstock.ofdm_demod_cvc(**GRID, frame_len=2, device="cpu")
            got, _ = demodulate(block, samples,
                                [gr.tag_utils.python_to_tag((0, pmt.intern("frame_start"), value, pmt.intern("qa")))])
            self.assert_close(got, points, 2e-6)
            with self.subTest(str(value)):
                block = penstock.ofdm_demod_cvc(**GRID, frame_len=0, device="cpu")  # so that each must say it
                got, _ = demodulate(
                    block, samples,
                    [gr.tag_utils.python_to_tag((0, pmt.intern("frame_start"), value, pmt.intern("qa")))])
                self.assertEqual(len(got), 96 if "2" in str(value) else 0)

    def test_carriers_as_the_stock_blocks_number_them(self):
        points = qpsk(3 * 48)
        samples = transmitted(points, 3)
        grid = dict(GRID, occupied_carriers=[[k % N for k in CARRIERS[0]]], pilot_carriers=[[k % N for k in PILOTS[0]]])
        got, _ = demodulate(penstock.ofdm_demod_cvc(**grid, device="cpu"), samples, [tag(0, "frame_start", 3)])
        self.assert_close(got, points, 2e-6)

    def test_start_stop_start(self):
        points = qpsk(3 * 48)
        samples = transmitted(points, 3)
        source, sink = (blocks.vector_source_c(samples.tolist(), False, 1, [tag(0, "frame_start", 3)]),
                        blocks.vector_sink_c(48))
        top = gr.top_block()
        top.connect(source, penstock.ofdm_demod_cvc(**GRID, device="cpu"), sink)
        for _ in range(3):
            source.rewind()
            sink.reset()
            top.run()
            self.assert_close(numpy.array(sink.data()), points, 2e-6)

    def test_parameters(self):
        block = penstock.ofdm_demod_cb(**GRID, bits=4, device="cpu")
        self.assertEqual((block.device(), block.frame_len()), ("cpu", 0))
        block.set_frame_len(9)
        self.assertEqual(block.frame_len(), 9)
        self.assertRaises(RuntimeError, block.set_frame_len, -1)
        self.assertEqual(penstock.ofdm_demod_cvc(**GRID, device="prefer:warp").device(), "cpu")
        for wrong in (dict(fft_len=1), dict(cp_len=-1), dict(occupied_carriers=[[]]),
                      dict(occupied_carriers=[[1], [2]]), dict(pilot_symbols=[[1]]), dict(sync_word2=[1, 2]),
                      dict(sync_word2=[0] * N), dict(bits=3), dict(device="warp"), dict(trigger_tag_name=""),
                      dict(occupied_carriers=[[32 + N]])):
            with self.assertRaises(RuntimeError, msg=str(wrong)):
                penstock.ofdm_demod_cb(**dict(GRID, **wrong))

    def test_frames_that_cannot_be(self):
        points = qpsk(3 * 48)
        samples = transmitted(points, 3)
        tags = [tag(0, "frame_start", 3), tag(5, "frame_start", 0), tag(6, "frame_start", "x"),
                tag(len(samples) - 9, "frame_start", 1)]
        block = penstock.ofdm_demod_cvc(**GRID, device="cpu")
        got, _ = demodulate(block, samples, tags)
        self.assert_close(got, points, 2e-6)
        self.assertEqual((block.stats()["refused"], block.stats()["waiting"]), (2, 1))

    def test_stats_message(self):
        top, block, store = gr.top_block(), penstock.ofdm_demod_cvc(**GRID, device="cpu"), blocks.message_debug()
        top.connect(blocks.vector_source_c([0] * 6400), block, blocks.null_sink(48 * 8))
        top.msg_connect(block, "stats", store, "store")
        top.run()
        self.assertEqual(sorted(pmt.to_python(store.get_message(0))), sorted(block.stats()))

    def test_opencl(self):
        try:
            block = penstock.ofdm_demod_cvc(**GRID, device="opencl")
        except RuntimeError as error:
            self.skipTest(str(error))
        points = qpsk(20 * 48)
        got, _ = demodulate(block, transmitted(points, 20), [tag(0, "frame_start", 20)])
        self.assertEqual(block.device().split(":")[0], "opencl")
        self.assert_close(got, points, 2e-6)


if __name__ == "__main__":
    gr_unittest.run(QaOfdmDemod)
