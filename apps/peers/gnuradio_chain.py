#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""What neighbouring blocks on one device gain by handing their items over there: Msamples/s from a null source to a
null sink, over the host and handed over, in turns; their ratio is the median over the rounds.
"""

import argparse
import os
import statistics
import sys
import time

sys.path.pop(0)  # this file's folder, where "gnuradio" is a file
try:
    from gnuradio import blocks, gr, penstock
except ImportError as error:
    sys.exit(f"gnuradio_chain.py: {error}; see docs/gnuradio.md for the paths that Python needs")

COMPLEX_BYTES, FLOAT_BYTES = 8, 4
CHAINS = {"filter, spectrum": "s", "filter, FFT": "f", "filter, FFT, spectrum": "fs"}


class Chain:
    """The blocks, made once, and the flowgraph with what lies between them."""

    def __init__(self, kinds, options):
        n, common = options.size, dict(device=options.device, max_latency_ms=options.latency)
        self.filter = penstock.fft_filter_ccf(1, [1 / options.taps] * options.taps, **common)
        self.last, path, self.samples = self.filter, [blocks.null_source(COMPLEX_BYTES), self.filter], 1
        if "f" in kinds:
            self.last, self.samples = penstock.fft_vcc(n, True, [], **common), n
            path += [blocks.stream_to_vector(COMPLEX_BYTES, n), self.last]
        if "s" in kinds:
            path += [blocks.vector_to_stream(COMPLEX_BYTES, n)] if "f" in kinds else []
            self.last, self.samples = penstock.spectrum_cvf(n, average=options.average, **common), 1
            path.append(self.last)
        self.top = gr.top_block()
        self.top.connect(*path, blocks.null_sink((FLOAT_BYTES if "s" in kinds else COMPLEX_BYTES) * n))

    def run(self, handed_over, seconds):
        """Samples a second that the last block takes, and which part of them came on the device."""
        os.environ["GR_CONF_PENSTOCK_HAND_OVER"] = "on" if handed_over else "off"  # Python's gr.prefs() are a copy
        self.top.start()
        try:
            time.sleep(seconds / 4)
            first, began = self.last.stats(), time.monotonic()
            time.sleep(seconds)
            last, ended = self.last.stats(), time.monotonic()
        finally:
            self.top.stop()
            self.top.wait()
        items = last["items_in"] - first["items_in"]
        return items * self.samples / (ended - began), (last["handed_over"] - first["handed_over"]) / max(items, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--size", type=int, default=1024, help="points of the transforms")
    parser.add_argument("--taps", type=int, default=129)
    parser.add_argument("--average", type=int, default=16, help="transforms of a spectrum's vector")
    parser.add_argument("--latency", type=float, default=10, help="max_latency_ms of the blocks")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1)
    options = parser.parse_args()
    for name in ("size", "taps", "average", "rounds", "seconds"):
        if not getattr(options, name) > 0:
            parser.error(f"--{name}: {getattr(options, name)} is not a number above 0")
    keeps_the_context = penstock.fft_vcc(64, True, [], device="cpu")
    print("chain | over the host | handed over | ratio | part that stays on the device")
    for name, kinds in CHAINS.items():
        try:
            chain = Chain(kinds, options)
        except RuntimeError as error:
            sys.exit(f"gnuradio_chain.py: {error}")
        rounds = [[chain.run(handed_over, options.seconds) for handed_over in (False, True)]
                  for _ in range(options.rounds)]
        host, over = (statistics.median(one[i][0] for one in rounds) for i in (0, 1))
        ratio = statistics.median(one[1][0] / max(one[0][0], 1) for one in rounds)
        stays = statistics.median(one[1][1] for one in rounds)
        print(f"{name} | {host / 1e6:.0f} | {over / 1e6:.0f} | {ratio:.2f} | {stays:.2f}", flush=True)
    del keeps_the_context


if __name__ == "__main__":
    main()
