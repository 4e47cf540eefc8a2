#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""What a slider costs: how long the blocks' setters take while the flowgraph runs, and the stock blocks' beside them.

Each block works between a null source and a null sink, as fast as it can or at --rate samples a second, and its setter
is called --calls times, every --pause seconds, always with another value. With --qt instead: a window without a screen
draws 60 frames a second, first alone beside the running flowgraph, then with a call of every setter in each frame; told
is how many frames came a whole frame late or more.
"""

import argparse
import cmath
import os
import statistics
import sys
import time

sys.path.pop(0)  # this file's folder, where "gnuradio" is a file
try:
    from gnuradio import blocks, fft, filter, gr, penstock
    from gnuradio.filter import firdes, pfb
except ImportError as error:
    sys.exit(f"gnuradio_callbacks.py: {error}; see docs/gnuradio.md for the paths that Python needs")

CHANNELS = 16
FRAME_S = 1 / 60


def low_pass(taps, cut=0.1):
    """As many real taps; another cut-off frequency makes others."""
    return [float(tap) for tap in firdes.low_pass(1, 1, cut, 3.3 / taps)][:taps]


def turned(taps):
    return [tap * cmath.exp(0.3j * k) for k, tap in enumerate(taps)]


def setters(taps, device):
    """Name, our block, the stock one or None, and what call k of a setter is for a block."""
    real = [low_pass(taps), low_pass(taps, 0.12)]
    bank = [low_pass(32 * CHANNELS, 0.5 / CHANNELS), low_pass(32 * CHANNELS, 0.4 / CHANNELS)]
    arms = [[32 * tap for tap in low_pass(1024, cut / 32)] for cut in (0.4, 0.3)]
    window = [penstock.window(name, 1024) for name in ("hann", "blackman")]
    rates = (0.731, 0.732)

    def ours(make, *arguments):
        return make(*arguments, device="cpu" if "resampler" in make.__name__ else device)  # these work there alone

    def frequency(block, k):
        block.set_center_freq(0.001 * (k % 300 + 1))

    def taps_of(sets):
        return lambda block, k: block.set_taps(sets[k % 2])

    return [
        ("fft_filter_ccf set_center_freq", ours(penstock.fft_filter_ccf, 1, real[0]), None, frequency),
        ("fft_filter_ccc set_taps", ours(penstock.fft_filter_ccc, 1, turned(real[0])),
         filter.fft_filter_ccc(1, turned(real[0])), taps_of([turned(one) for one in real])),
        ("fft_filter_ccf set_taps, decimation 8", ours(penstock.fft_filter_ccf, 8, real[0]),
         filter.fft_filter_ccf(8, real[0]), taps_of(real)),
        ("fft_filter_fff set_taps", ours(penstock.fft_filter_fff, 1, real[0]), filter.fft_filter_fff(1, real[0]),
         taps_of(real)),
        ("freq_xlating_fir_filter_ccf set_center_freq", ours(penstock.freq_xlating_fir_filter_ccf, 8, real[0], 0.1, 1),
         filter.freq_xlating_fir_filter_ccf(8, real[0], 0.1, 1), frequency),
        ("freq_xlating_fir_filter_ccf set_taps", ours(penstock.freq_xlating_fir_filter_ccf, 8, real[0], 0.1, 1),
         filter.freq_xlating_fir_filter_ccf(8, real[0], 0.1, 1), taps_of(real)),
        ("fft_vcc set_window", ours(penstock.fft_vcc, 1024, True, "hann"), fft.fft_vcc(1024, True, window[0]),
         lambda block, k: block.set_window(window[k % 2])),
        ("spectrum_cvf set_window", ours(penstock.spectrum_cvf, 1024), None,
         lambda block, k: block.set_window(window[k % 2])),
        ("channelizer_cc set_taps", ours(penstock.channelizer_cc, CHANNELS, bank[0]),
         pfb.channelizer_ccf(CHANNELS, bank[0]), taps_of(bank)),
        ("pfb_arb_resampler_ccf set_rate", ours(penstock.pfb_arb_resampler_ccf, rates[0], arms[0]),
         filter.pfb_arb_resampler_ccf(rates[0], arms[0]), lambda block, k: block.set_rate(rates[k % 2])),
        ("pfb_arb_resampler_ccf set_taps", ours(penstock.pfb_arb_resampler_ccf, rates[0], arms[0]),
         filter.pfb_arb_resampler_ccf(rates[0], arms[0]), taps_of(arms)),
        ("rational_resampler_ccf set_taps", ours(penstock.rational_resampler_ccf, 3, 2, low_pass(96, 0.15)),
         filter.rational_resampler_ccf(3, 2, low_pass(96, 0.15)), taps_of([low_pass(96, 0.15), low_pass(96, 0.14)])),
    ]


def flowgraph(blocks_, rate):
    """Each between a source and sinks of its own."""
    top = gr.top_block()
    for block in blocks_:
        item = block.input_signature().sizeof_stream_item(0)
        chain = [blocks.null_source(item)]
        if rate:
            chain.append(blocks.throttle(item, rate * 8 / item))
        top.connect(*chain, block)
        outputs = CHANNELS if block.output_signature().max_streams() != 1 and "channelizer" in block.name() else 1
        for port in range(outputs):
            top.connect((block, port), blocks.null_sink(block.output_signature().sizeof_stream_item(port)))
    return top


# ---------------------------------------------------------------- each setter ---------------------------------------

def times(block, call, arguments):
    """Milliseconds of each call."""
    top = flowgraph([block], arguments.rate)
    top.start()
    time.sleep(arguments.settle)
    taken = []
    for k in range(arguments.calls):
        begin = time.perf_counter()
        call(block, k)
        taken.append(1e3 * (time.perf_counter() - begin))
        time.sleep(arguments.pause)
    top.stop()
    top.wait()
    return taken


def tell(name, ours, stock, device):
    line = f"{name:46} {statistics.median(ours):8.3f} {max(ours):8.2f}"
    line += f" {statistics.median(stock):8.3f} {max(stock):8.2f}" if stock else f" {'-':>8} {'-':>8}"
    print(f"{line}  {device}", flush=True)


def each(arguments):
    print(f"{'ms':46} {'ours':>8} {'most':>8} {'stock':>8} {'most':>8}  device")
    for name, block, stock, call in setters(arguments.taps, arguments.device):
        if arguments.only in name:
            ours = times(block, call, arguments)
            tell(name, ours, times(stock, call, arguments) if stock else [], block.device())


# ---------------------------------------------------------------- Qt -------------------------------------------------

def frames(application, window, chosen, count):
    """Times at which `count` frames came, and how long the setters and painting of each took."""
    came, taken, timer = [], [], Qt.QTimer()
    timer.setTimerType(Qt.Qt.PreciseTimer)

    def frame():
        came.append(time.perf_counter())
        window.setValue(len(came) % 100)
        for _, block, _, call in chosen:
            call(block, len(came))
        window.repaint()
        taken.append(time.perf_counter() - came[-1])
        if len(came) == count:
            application.quit()

    timer.timeout.connect(frame)
    timer.start(round(1e3 * FRAME_S))
    application.exec()
    return came, taken


def sliders(arguments):
    global Qt
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PyQt5 import Qt
    application, window = Qt.QApplication([]), Qt.QSlider()
    chosen = [entry for entry in setters(arguments.taps, arguments.device) if arguments.only in entry[0]]
    top = flowgraph([block for _, block, _, _ in chosen], arguments.rate)
    window.show()
    top.start()
    time.sleep(arguments.settle)
    for name, called in (("none", []), (f"{len(chosen)} setters", chosen)):
        came, taken = frames(application, window, called, arguments.calls)
        gaps = [after - before for before, after in zip(came, came[1:])]
        dropped = sum(max(0, round(gap / FRAME_S) - 1) for gap in gaps)
        print(f"{name:>10} a frame: {dropped} of {len(came)} dropped; "
              f"between two {1e3 * statistics.median(gaps):.1f} ms, {1e3 * max(gaps):.1f} at most; "
              f"in a frame {1e3 * statistics.median(taken):.2f} ms, {1e3 * max(taken):.2f} at most")
    top.stop()
    top.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--taps", type=int, default=257, help="of the filters (default %(default)s)")
    parser.add_argument("--only", default="", help="setters in whose name this is")
    parser.add_argument("--calls", type=int, default=300, help="of each setter, or frames (default %(default)s)")
    parser.add_argument("--pause", type=float, default=0.005, help="seconds between two (default %(default)s)")
    parser.add_argument("--rate", type=float, default=0, help="complex samples a second; 0: no limit (default)")
    parser.add_argument("--settle", type=float, default=0.5, help="seconds before the first (default %(default)s)")
    parser.add_argument("--qt", action="store_true", help="sliders in a window, all blocks in one flowgraph")
    arguments = parser.parse_args()
    (sliders if arguments.qt else each)(arguments)


main()
