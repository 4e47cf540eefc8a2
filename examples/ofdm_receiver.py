#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""Wi-Fi frames from any SoapySDR radio, without a display: a line a frame, constellation and waterfall as PNG files.

    examples/ofdm_receiver.py --args driver=hackrf --freq 2.437e9 --gain 40 --seconds 5 --waterfall waterfall.png
    examples/ofdm_receiver.py --args driver=replay,path=recording.sigmf-meta,pace=fast --constellation points.png
"""

import argparse
import math
import signal
import struct
import sys
import time
import zlib

try:
    import numpy
    import pmt
    from gnuradio import blocks, gr, penstock, soapy
except ImportError as error:
    sys.exit(f"ofdm_receiver.py: {error}; see docs/gnuradio.md for the paths that Python needs")

RATES = {"wifi": 20e6, "wifi-10mhz": 10e6, "wifi-5mhz": 5e6}
LONGEST_S = 86400
SIZE = 512  # of the pictures, and length of the waterfall's transforms
POINTS = 1 << 20  # of the constellation at most, the latest ones: what stays in memory does not grow with the time


def finite(text):
    value = float(text)
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text} is not a number")
    return value


def positive(text):
    value = finite(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return value


def seconds(text):
    value = positive(text)
    if value > LONGEST_S:
        raise argparse.ArgumentTypeError(f"{text} is more than {LONGEST_S}")
    return value


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--args", required=True, metavar="DRIVER=NAME,...", help="the radio, in SoapySDR's words")
    parser.add_argument("--profile", choices=RATES, default="wifi")
    parser.add_argument("--freq", type=positive, default=5.18e9, metavar="HZ")
    parser.add_argument("--gain", type=finite, metavar="DB", help="the radio's own if not given")
    parser.add_argument("--antenna", metavar="NAME", help="likewise")
    parser.add_argument("--device", default="auto", metavar="NAME",
                        help="that computes: auto, cpu, opencl:0, prefer:NAME")
    parser.add_argument("--seconds", type=seconds, default=1.0, help="of samples (1)")
    parser.add_argument("--constellation", metavar="OUT.png")
    parser.add_argument("--waterfall", metavar="OUT.png")
    return parser.parse_args()


def write_png(path, grey):
    """`grey`: rows of bytes. The file format is that of the W3C's PNG specification."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows, columns = grey.shape
    lines = b"".join(b"\0" + row.tobytes() for row in grey)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 0, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


def to_grey(values, low, high):
    return (255 * numpy.clip((values - low) / max(high - low, 1e-9), 0, 1)).astype(numpy.uint8)


def write_constellation(path, points):
    points = points[numpy.isfinite(points)]
    counts, _, _ = numpy.histogram2d(-points.imag, points.real, SIZE, [[-1.5, 1.5], [-1.5, 1.5]])
    write_png(path, to_grey(numpy.sqrt(counts), 0, max(4.0, float(numpy.sqrt(counts.max())) / 4)))


def write_waterfall(path, vectors):
    if len(vectors) == 0:
        raise OSError(f"{path}: there were too few samples")
    level = 10 * numpy.log10(numpy.abs(vectors) ** 2 + 1e-20)
    write_png(path, to_grey(level, *numpy.percentile(level, (5, 99.9))))


class FramePrinter(gr.basic_block):
    """A line for each frame as it comes."""

    def __init__(self):
        gr.basic_block.__init__(self, name="frame printer", in_sig=None, out_sig=None)
        self.count, self.error = 0, None
        self.message_port_register_in(pmt.intern("pdus"))
        self.set_msg_handler(pmt.intern("pdus"), self.print_frame)

    def print_frame(self, pdu):
        if self.error:
            return
        meta, psdu = pmt.to_python(pdu)
        self.count += 1
        try:
            print(f"{meta['sample']:12d}  {meta['rate_mbps']:4g} Mb/s  {len(psdu):4d} bytes  "
                  f"SNR {meta['snr_db']:5.1f} dB  EVM {meta['evm_db']:6.1f} dB  "
                  f"CFO {meta['cfo_hz'] / 1e3:7.1f} kHz", flush=True)
        except OSError as error:  # nobody reads any longer; an exception here would end the process
            self.error = error


class LatestPoints(gr.sync_block):
    """The last points of a stream, in no order."""

    def __init__(self):
        gr.sync_block.__init__(self, name="latest points", in_sig=[numpy.complex64], out_sig=None)
        self.kept, self.count = numpy.zeros(POINTS, numpy.complex64), 0

    def work(self, input_items, output_items):
        given = len(input_items[0])
        items = input_items[0][-POINTS:]
        start = self.count % POINTS
        first = min(len(items), POINTS - start)
        self.kept[start:start + first] = items[:first]
        self.kept[:len(items) - first] = items[first:]
        self.count += len(items)
        return given

    def points(self):
        return self.kept[:self.count]


def radio(options):
    kind = "driver=" + dict(part.split("=", 1) for part in options.args.split(",") if "=" in part).get("driver", "")
    source = soapy.source(options.args if "driver=" in options.args else kind, "fc32", 1, "", "", [""], [""])
    source.set_sample_rate(0, RATES[options.profile])
    source.set_frequency(0, options.freq)
    if options.gain is not None:
        source.set_gain(0, options.gain)
    if options.antenna:
        source.set_antenna(0, options.antenna)
    return source


def wait_for(receiver, printer, samples, until):
    """Until the receiver has had as many samples, a radio gives no more, or nobody reads the lines."""
    while receiver.stats()["samples"] < samples and time.monotonic() < until and not printer.error:
        before = receiver.stats()["samples"]
        time.sleep(0.5)
        if before and receiver.stats()["samples"] == before:
            break


def receive(options):
    """The receiver after `seconds` of samples or an interrupt, the printer of its frames,
    its points and the waterfall's vectors."""
    samples = int(options.seconds * RATES[options.profile])
    top, printer = gr.top_block(), FramePrinter()
    head, receiver = blocks.head(gr.sizeof_gr_complex, samples), penstock.wifi_receiver(options.profile, options.device)
    points, vectors = LatestPoints(), blocks.vector_sink_c(SIZE)
    source = radio(options)
    top.connect(source, head, receiver, points if options.constellation else blocks.null_sink(gr.sizeof_gr_complex))
    if options.waterfall:
        top.connect(head, blocks.stream_to_vector(gr.sizeof_gr_complex, SIZE),
                    blocks.keep_one_in_n(SIZE * gr.sizeof_gr_complex, max(1, samples // SIZE // SIZE)),
                    penstock.fft_vcc(SIZE, True, "hann", True, 1, options.device), vectors)
    top.msg_connect(receiver, "pdus", printer, "pdus")
    until = time.monotonic() + 10 * options.seconds + 60
    try:
        top.start()
        print(f"ofdm_receiver.py: receiving on {receiver.device()}; Ctrl-C ends it", file=sys.stderr, flush=True)
        wait_for(receiver, printer, samples, until)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second one ends the program at once
        head.set_length(0)
    if printer.error:
        head.set_length(0)
    # unlike stop() this loses nothing; it ends a source that has no more samples, head one that has
    if time.monotonic() < until:
        source._post(pmt.intern("system"), pmt.cons(pmt.intern("done"), pmt.from_long(1)))
    else:  # a radio that is too slow, but goes on
        top.stop()
    top.wait()
    if printer.error:
        raise printer.error
    return receiver, printer, points.points(), numpy.array(vectors.data()).reshape(-1, SIZE)


def main():
    options = arguments()
    try:
        receiver, printer, points, vectors = receive(options)
        counters = receiver.stats()
        print(f"{counters['samples']:.0f} samples on {receiver.device()}: {printer.count} frames, "
              f"{counters['synchronised'] - counters['fcs_ok']:.0f} others")
        if options.constellation:
            write_constellation(options.constellation, points)
        if options.waterfall:
            write_waterfall(options.waterfall, vectors)
    except (RuntimeError, OSError, ValueError) as error:
        sys.exit(f"ofdm_receiver.py: {error}")
    except KeyboardInterrupt:  # before the first sample
        sys.exit(130)


if __name__ == "__main__":
    main()
