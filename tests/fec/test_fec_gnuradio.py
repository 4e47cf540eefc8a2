#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""Encoders and decoders against GNU Radio's gr-fec, both ways: its encoder's bits are ours, with every puncturing and
both its ways to end; its noisy soft bits come back as from its own decoder. Usage: test_fec_gnuradio.py LIBRARY"""

import ctypes
import os
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from checks import check, finish, skip

try:
    import numpy
    from gnuradio import blocks, fec, gr
except ImportError as error:
    skip(error)

library = ctypes.CDLL(sys.argv[1])
library.penstock_error_text.restype = ctypes.c_char_p
ZERO, OPEN, TAIL_BITING = range(3)
FLOATS, UNPACKED = 1, 2


class Description(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("generators", ctypes.c_uint * 4), ("constraint", ctypes.c_uint),
                ("inverted", ctypes.c_uint), ("puncture", ctypes.c_char_p), ("end", ctypes.c_int),
                ("bits", ctypes.c_size_t), ("soft", ctypes.c_int), ("scale", ctypes.c_float), ("result", ctypes.c_int),
                ("batch", ctypes.c_size_t), ("slots", ctypes.c_uint)]


def call(name, *arguments):
    status = getattr(library, name)(*arguments)
    check(status == 0, f"{name}: {library.penstock_error_text().decode()}")


def describe(generators, constraint, pattern, end, bits):
    description = Description(ctypes.sizeof(Description), (ctypes.c_uint * 4)(*generators), constraint, 0,
                              pattern.encode() if pattern else None, end, bits, FLOATS, 0, UNPACKED, 0, 0)
    sent = ctypes.c_size_t()
    call("penstock_viterbi_sent", ctypes.byref(sent), ctypes.byref(description))
    return description, sent.value


def encode(description, sent, bits):
    coded = numpy.zeros(sent, numpy.uint8)
    call("penstock_viterbi_encode", ctypes.byref(description), ctypes.c_void_p(coded.ctypes.data),
         ctypes.c_void_p(bits.ctypes.data), ctypes.c_size_t(1))
    return coded


def decode(description, soft, count):
    out = numpy.zeros(count * description.bits, numpy.uint8)
    plan = ctypes.c_void_p()
    call("penstock_viterbi_plan", ctypes.byref(plan), context, ctypes.byref(description), b"cpu")
    call("penstock_plan_run", plan, ctypes.c_void_p(soft.ctypes.data), ctypes.c_void_p(out.ctypes.data),
         ctypes.c_size_t(count))
    library.penstock_plan_free(plan)
    return out


def reversed_bits(value, count):
    return int(f"{value:0{count}b}"[::-1], 2)


def run_graph(source, middle, sink):
    top = gr.top_block()
    top.connect(source, middle, sink)
    top.run()
    return sink.data()


def their_encode(generators, constraint, pattern, mode, bits):
    polynomials = [reversed_bits(g, constraint) for g in generators]
    maker = fec.cc_encoder_make(len(bits), constraint, len(generators), polynomials, 0, mode, False)
    encoder = fec.extended_encoder(maker, None, pattern or "11")
    return numpy.array(run_graph(blocks.vector_source_b(bits.tolist()), encoder, blocks.vector_sink_b()), numpy.uint8)


def their_decode(generators, constraint, mode, soft, count, bits):
    polynomials = [reversed_bits(g, constraint) for g in generators]
    maker = fec.cc_decoder.make(bits, constraint, len(generators), polynomials, 0, -1, mode, False)
    symbols = numpy.clip(numpy.rint(128 + 48 * soft), 0, 255).astype(numpy.uint8)  # as fec.extended_decoder() does
    decoder = fec.decoder(maker, 1, 1)
    return numpy.array(run_graph(blocks.vector_source_b(symbols.tolist()), decoder, blocks.vector_sink_b()),
                       numpy.uint8)


def compare_encoders(generator):
    cases = 0
    for generators, patterns in (((0o133, 0o171), (None, "1110", "111001", "1110011001")),
                                 ((0o171, 0o133), (None, "1101", "110110", "1101100110", "11010101100110")),
                                 ((0o133, 0o171, 0o165), (None, "111110"))):
        for end, mode in ((ZERO, fec.CC_TERMINATED), (TAIL_BITING, fec.CC_TAILBITING), (OPEN, fec.CC_TRUNCATED)):
            for count in (70, 420, 1134):
                bits = generator.integers(0, 2, count, numpy.uint8)
                for pattern in patterns:
                    description, sent = describe(generators, 7, pattern, end, count)
                    theirs = their_encode(generators, 7, pattern, mode, bits)
                    ours = encode(description, sent, bits)
                    whole = len(theirs)
                    check(sent - len(pattern or "") <= whole <= sent and whole > 0 and (ours[:whole] == theirs).all(),
                          f"{generators}, {pattern}, end {end}, {count} bits: {whole} of {sent} coded bits")
                    cases += 1
    return cases


def compare_decoders(generator):
    for end, mode in ((ZERO, fec.CC_TERMINATED), (TAIL_BITING, fec.CC_TAILBITING)):
        for generators in ((0o133, 0o171), (0o171, 0o133)):
            count, blocks_there, rate = 1000, 30, len(generators)
            bits = generator.integers(0, 2, count * blocks_there, numpy.uint8)
            coded = numpy.concatenate([their_encode(generators, 7, None, mode, part) for part in
                                       numpy.split(bits, blocks_there)])
            description, sent = describe(generators, 7, None, end, count)
            check(len(coded) == sent * blocks_there, f"{len(coded)} coded bits, not {sent * blocks_there}")
            sigma = (0.5 * rate / 10 ** 0.25) ** 0.5  # Eb/N0 of 2.5 dB
            soft = (1 - 2.0 * coded + sigma * generator.standard_normal(len(coded))).astype(numpy.float32)
            ours = int((decode(description, soft, blocks_there) != bits).sum())
            theirs = int((their_decode(generators, 7, mode, -soft, blocks_there, count) != bits).sum())
            print(f"{[oct(g) for g in generators]}, end {end}: {ours} errors of {len(bits)} bits, GNU Radio {theirs}")
            check(0 < ours <= 1.1 * theirs + 10, f"{ours} errors, GNU Radio has {theirs}")


context = ctypes.c_void_p()
call("penstock_context_new", ctypes.byref(context), None)
randomness = numpy.random.default_rng(1)
encoded = compare_encoders(randomness)
check(encoded == 99, f"{encoded} encoders compared")
compare_decoders(randomness)
library.penstock_context_free(context)
finish()
