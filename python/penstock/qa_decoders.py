#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""Decoders beside gr-fec's, behind its encoders, with every puncturing that both know, as blocks and within its own
blocks; packets, PDUs, any chunks; LDPC blocks as the C library decodes them."""

import ctypes

import numpy
import pmt
from gnuradio import blocks, fec, gr, gr_unittest, penstock
from qa_stalling import wait_until

# Codes with their generators, gr-fec's way to end, and the pattern in the order of sending; frames of whole patterns.
CODES = {
    "wifi:1/2": ((0o133, 0o171), fec.CC_TERMINATED, "11", 1014),
    "wifi:2/3": ((0o133, 0o171), fec.CC_TERMINATED, "1110", 1014),
    "wifi:3/4": ((0o133, 0o171), fec.CC_TERMINATED, "111001", 1014),
    "wifi:5/6": ((0o133, 0o171), fec.CC_TERMINATED, "1110011001", 1014),
    "dab": ((0o133, 0o171, 0o145, 0o133), fec.CC_TERMINATED, "11", 1014),
    "lte": ((0o133, 0o171, 0o165), fec.CC_TAILBITING, "11", 400),
}
STREAMS = {"dvb:1/2": "11", "dvb:2/3": "1101", "dvb:3/4": "110110", "dvb:5/6": "1101100110",
           "dvb:7/8": "11010101100110"}
SIGMA = {"wifi:1/2": 0.75, "wifi:2/3": 0.6, "wifi:3/4": 0.55, "wifi:5/6": 0.45, "dab": 0.7, "lte": 0.6,
         "dvb:1/2": 0.75, "dvb:2/3": 0.6, "dvb:3/4": 0.55, "dvb:5/6": 0.5, "dvb:7/8": 0.42}


def random_bits(count, seed=1):
    return numpy.random.RandomState(seed).randint(0, 2, count, numpy.uint8)


def through(source, *chain, most=100000):
    top, sink = gr.top_block(), blocks.vector_sink_b()
    top.connect(source, *chain, sink)
    top.run(most)
    return numpy.array(sink.data(), numpy.uint8), sink.tags()


def polynomials(generators):
    return [int(f"{g:07b}"[::-1], 2) for g in generators]


def their_code(generators, mode, pattern, bits):
    """gr-fec's encoded bits, and the decoder that goes with them, which it has for rate 1/2 alone."""
    arguments = (bits, 7, len(generators), polynomials(generators), 0)
    decoder = fec.cc_decoder.make(*arguments, -1, mode, False) if len(generators) == 2 else None
    return fec.extended_encoder(fec.cc_encoder_make(*arguments, mode, False), None, pattern), decoder


def noisy(coded, sigma):
    """Soft bits, positive where 1 is likelier, as in gr-fec."""
    noise = sigma * numpy.random.RandomState(7).standard_normal(len(coded)) if sigma else 0
    return (2.0 * coded - 1 + noise).astype(numpy.float32)


def floats(values):
    return blocks.vector_source_f(values.tolist())


def errors(got, bits):
    count = min(len(got), len(bits))
    return int((got[:count] != bits[:count]).sum())


class LdpcDesc(ctypes.Structure):
    """penstock_ldpc_desc"""
    _fields_ = [("size", ctypes.c_size_t), ("graph", ctypes.c_int), ("base", ctypes.c_void_p), ("rows", ctypes.c_uint),
                ("columns", ctypes.c_uint), ("lifting", ctypes.c_uint), ("punctured", ctypes.c_size_t),
                ("punctured_end", ctypes.c_size_t), ("filler", ctypes.c_size_t), ("iterations", ctypes.c_uint),
                ("stop_early", ctypes.c_bool), ("soft", ctypes.c_int), ("scale", ctypes.c_float),
                ("result", ctypes.c_int), ("soft_result", ctypes.c_bool), ("report", ctypes.c_bool),
                ("batch", ctypes.c_size_t), ("slots", ctypes.c_uint)]


def encoded_ldpc(code, words):
    """Random data bits, and what the C library makes of them."""
    with open("/proc/self/maps") as maps:
        path = next(line.split()[-1] for line in maps if "/libpenstock.so" in line)
    library, desc = ctypes.CDLL(path), LdpcDesc(ctypes.sizeof(LdpcDesc))
    desc.result = 2
    bits, sent = ctypes.c_size_t(), ctypes.c_size_t()
    assert library.penstock_ldpc_code(ctypes.byref(desc), code.encode()) == 0
    assert library.penstock_ldpc_sizes(ctypes.byref(bits), ctypes.byref(sent), ctypes.byref(desc)) == 0
    data, coded = random_bits(words * bits.value, 3), numpy.zeros(words * sent.value, numpy.uint8)
    assert library.penstock_ldpc_encode(ctypes.byref(desc), ctypes.c_void_p(coded.ctypes.data),
                                        ctypes.c_void_p(data.ctypes.data), ctypes.c_size_t(words)) == 0
    return data, coded, sent.value


class QaDecoders(gr_unittest.TestCase):
    def test_blocks_beside_gr_fec(self):
        """Its encoder's bits come back, and with noise no more errors than from its decoder:
        as a block and in its own."""
        for name, (generators, mode, pattern, frame) in CODES.items():
            bits = random_bits(30 * frame)
            encoder, _ = their_code(generators, mode, pattern, frame)
            coded, _ = through(blocks.vector_source_b(bits.tolist()), encoder)
            for sigma in (0, SIGMA[name]):
                with self.subTest(name, sigma=sigma):
                    _, theirs = their_code(generators, mode, pattern, frame)
                    soft = noisy(coded, sigma)
                    expected = (through(floats(soft), fec.extended_decoder(theirs, None, None, pattern))[0] if theirs
                                else bits)
                    ours, _ = through(floats(-soft), penstock.viterbi_decoder(name, frame, device="cpu"))
                    within, _ = through(floats(soft),
                                        fec.extended_decoder(penstock.viterbi_decoder_make(name, frame, "cpu"), None))
                    self.assertEqual(len(ours), len(bits))
                    self.assertTrue((ours == within[:len(bits)]).all() and len(within) == len(bits))
                    wrong, limit = errors(ours, bits), errors(expected, bits)
                    self.assertGreaterEqual(len(expected), len(bits) - frame)
                    self.assertLessEqual(wrong, 1.1 * limit + 10 if sigma and theirs else 0)
                    self.assertEqual(wrong > 0, sigma > 0 and theirs is not None)

    def test_stream_beside_gr_fec(self):
        for name, pattern in STREAMS.items():
            bits = random_bits(70 * 420)
            encoder, _ = their_code((0o171, 0o133), fec.CC_STREAMING, pattern, 420)
            coded, _ = through(blocks.vector_source_b(bits.tolist()), encoder)
            for sigma in (0, SIGMA[name]):
                with self.subTest(name, sigma=sigma):
                    soft = noisy(coded, sigma)
                    _, theirs = their_code((0o171, 0o133), fec.CC_STREAMING, pattern, 420)
                    expected, _ = through(floats(soft), fec.extended_decoder(theirs, None, None, pattern))
                    ours, _ = through(floats(-soft), penstock.viterbi_decoder(name, 0, device="cpu"))
                    self.assertGreater(len(ours), len(bits) - 500)
                    compared = min(len(ours), len(expected)) - 100  # the ends are less certain
                    wrong, limit = errors(ours[:compared], bits), errors(expected[:compared], bits)
                    self.assertGreater(compared, 20000)
                    self.assertLessEqual(wrong, 1.1 * limit + 10 if sigma else 0)
                    self.assertEqual(wrong > 0, sigma > 0)

    def test_any_chunks(self):
        soft = noisy(random_bits(40 * 2040, 9), 0.8)
        for name, frame in (("wifi:3/4", 1014), ("dvb:3/4", 0)):
            whole, _ = through(floats(soft), penstock.viterbi_decoder(name, frame, device="cpu"))
            self.assertGreater(len(whole), 10000)
            for most in (1020, 2041, 5000):
                got, _ = through(floats(soft), penstock.viterbi_decoder(name, frame, device="cpu"), most=most)
                self.assertTrue(numpy.array_equal(got, whole), (name, most))

    def test_packed_and_bytes(self):
        """Signed bytes as floats of the same values at the same scale; eight bits an item, the first one highest."""
        soft = numpy.clip(numpy.rint(32 * noisy(random_bits(20 * 80, 4), 0.8)), -127, 127)
        one, _ = through(blocks.vector_source_b((soft.astype(int) % 256).tolist()),
                         penstock.viterbi_decoder("wifi", 34, "byte", device="cpu"))
        packed, _ = through(blocks.vector_source_b((soft.astype(int) % 256).tolist()),
                            penstock.viterbi_decoder("wifi", 34, "byte", True, device="cpu"))
        self.assertEqual((len(one), len(packed)), (20 * 34, 20 * 5))
        expected = numpy.concatenate([numpy.packbits(block) for block in one.reshape(20, 34)])
        self.assertTrue(numpy.array_equal(packed, expected))

    def test_packets(self):
        """Tags of packets, soft bits between them, and those that fill no block."""
        frame, sent = 16, 44
        encoder, _ = their_code((0o133, 0o171), fec.CC_TERMINATED, "11", frame)
        bits = random_bits(6 * frame)
        coded, _ = through(blocks.vector_source_b(bits.tolist()), encoder)
        soft, tags, values = -noisy(coded, 0).reshape(6, sent), [], []
        for first, last, extra in ((0, 1, 0), (1, 3, 7), (3, 6, 0)):
            values += [5.0] * 10
            tags.append(gr.tag_utils.python_to_tag(
                (len(values), pmt.intern("len"), pmt.from_long((last - first) * sent + extra), pmt.PMT_F)))
            values += soft[first:last].ravel().tolist() + [1.0] * extra
        for most in (60, 100000):
            block = penstock.viterbi_decoder("wifi", frame, length_tag_name="len", device="cpu")
            got, out = through(blocks.vector_source_f(values, False, 1, tags), block, most=most)
            self.assertTrue(numpy.array_equal(got, bits))
            self.assertEqual([(tag.offset, str(tag.key), pmt.to_long(tag.value)) for tag in out],
                             [(0, "len", frame), (frame, "len", 2 * frame), (3 * frame, "len", 3 * frame)])
            self.assertEqual(block.stats()["packets"], 3)

    def test_pdus(self):
        bits, coded, sent = encoded_ldpc("wifi:648:1/2", 4)
        soft = -noisy(coded, 0.5)
        for kind, vector in (("float", pmt.init_f32vector(len(soft), soft.tolist())),
                             ("byte", pmt.init_s8vector(len(soft), (30 * soft).astype(int).tolist()))):
            block, store, top = (penstock.ldpc_decoder("wifi:648:1/2", kind, device="cpu"), blocks.message_debug(),
                                 gr.top_block())
            top.msg_connect(block, "pdus", store, "store")
            top.start()
            for message in (pmt.intern("text"), pmt.cons(pmt.make_dict(), pmt.init_f32vector(3, [1, 2, 3])),
                            pmt.cons(pmt.dict_add(pmt.make_dict(), pmt.intern("key"), pmt.from_long(5)), vector)):
                block.to_basic_block()._post(pmt.intern("pdus"), message)
            wait_until(lambda: store.num_messages() == 1)
            top.stop()
            top.wait()
            meta, got = pmt.to_python(store.get_message(0))
            self.assertTrue(meta == {"key": 5} and numpy.array_equal(got, bits))
            self.assertEqual((block.stats()["packets"], block.stats()["refused"]), (1, 2))

    def test_ldpc(self):
        """Words of every family come back through noise, as a block and in gr-fec's own, in any chunks."""
        for code, sigma in (("wifi:1944:1/2", 0.7), ("nr:bg1:52:12", 0.5), ("ccsds:1024:1/2", 0.6)):
            with self.subTest(code):
                bits, coded, sent = encoded_ldpc(code, 12)
                soft = noisy(coded, sigma)
                for most in (100, 100000):
                    got, _ = through(floats(-soft), penstock.ldpc_decoder(code, device="cpu"),
                                     most=max(most, len(bits) // 12))
                    self.assertTrue(numpy.array_equal(got, bits))
                within, _ = through(floats(soft),
                                    fec.extended_decoder(penstock.ldpc_decoder_make(code, 10, "cpu"), None))
                self.assertTrue(numpy.array_equal(within, bits))
                scaled, _ = through(floats(soft),
                                    fec.extended_decoder(penstock.ldpc_decoder_make(code, 10, "cpu", 8), None))
                self.assertTrue(numpy.array_equal(scaled, bits))
                self.assertGreater(errors(soft > 0, coded), 100)  # there was something to mend

    def test_async_decoder(self):
        """gr-fec's decoder of PDUs, whose frames are told by their length."""
        frame = 1014
        encoder, _ = their_code((0o133, 0o171), fec.CC_TERMINATED, "11", frame)
        bits = random_bits(frame)
        coded, _ = through(blocks.vector_source_b(bits.tolist()), encoder)
        soft = noisy(coded, 0.5)
        block = fec.async_decoder(penstock.viterbi_decoder_make("wifi", frame, "cpu"), False, False, 2000)
        store, top = blocks.message_debug(), gr.top_block()
        top.msg_connect(block, "out", store, "store")
        top.start()
        block.to_basic_block()._post(pmt.intern("in"),
                                     pmt.cons(pmt.PMT_NIL, pmt.init_f32vector(len(soft), soft.tolist())))
        wait_until(lambda: store.num_messages() == 1)
        top.stop()
        top.wait()
        self.assertTrue(numpy.array_equal(pmt.to_python(store.get_message(0))[1], bits))

    def test_parameters(self):
        for wrong in (dict(code="turbo"), dict(bits=-1), dict(bits=0), dict(bits=2**20 + 1), dict(soft="int"),
                      dict(device="warp"), dict(code="dvb", bits=0, length_tag_name="len"), dict(max_latency_ms=-1)):
            self.assertRaises(RuntimeError, lambda: penstock.viterbi_decoder(**wrong))
        for wrong in (dict(code="wifi:1:1/2"), dict(iterations=-1), dict(filler=-1), dict(punctured_end=10**6),
                      dict(scale=-1), dict(soft="")):
            self.assertRaises(RuntimeError, lambda: penstock.ldpc_decoder(**wrong))
        for wrong in (lambda: penstock.viterbi_decoder_make("wifi", 0), lambda: penstock.viterbi_decoder_make("x"),
                      lambda: penstock.ldpc_decoder_make("wifi:1"), lambda: penstock.ldpc_decoder_make(iterations=0),
                      lambda: penstock.ldpc_decoder_make(scale=-1),
                      lambda: penstock.ldpc_decoder_make(scale=float("nan"))):
            self.assertRaises(RuntimeError, wrong)


if __name__ == "__main__":
    gr_unittest.run(QaDecoders)
