#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""How fast the GNU Radio blocks are beside the stock ones, from a null source to a null sink.

In every round each block runs once, one right after the other; a ratio is the median over the rounds. The copy block
stands for what the scheduler itself allows.
"""

import argparse
import csv
import os
import statistics
import sys
import time

sys.path.pop(0)  # this file's folder, where "gnuradio" is this file
from gnuradio import blocks, fft, gr, penstock

COLUMNS = ["block", "n", "buffers", "ours_msps", "stock_msps", "copy_msps", "ratio", "bar", "share_of_bar", "held"]
FFT_SIZES = [2**k for k in range(4, 17)]
FFT_FAST_SIZES = (64, 512, 2048, 16384, 65536)  # where more than the stock block's own speed is asked for
LARGE_BUFFER_BYTES = 1 << 20
COMPLEX_BYTES = 8


# ---------------------------------------------------------------- one run --------------------------------------------

def run(chain, in_items, count, buffer_bytes):
    """Seconds that `count` vectors of `in_items` samples take through the blocks of `chain`."""
    top = gr.top_block()
    source = blocks.null_source(in_items * COMPLEX_BYTES)
    head = blocks.head(in_items * COMPLEX_BYTES, count)
    sink = blocks.null_sink(chain[-1].output_signature().sizeof_stream_item(0))
    if buffer_bytes:
        for block in [head] + chain:
            block.set_min_output_buffer(max(2, buffer_bytes // block.output_signature().sizeof_stream_item(0)))
    top.connect(source, head, *chain, sink)
    start = time.perf_counter()
    top.run()
    return time.perf_counter() - start


def vectors_for(chain, in_items, buffer_bytes, seconds):
    """How many vectors take about so long."""
    count = max(16, (1 << 20) // in_items)
    while True:
        taken = run(chain(), in_items, count, buffer_bytes)
        if taken > seconds / 4:
            return max(16, int(count * seconds / taken))
        count *= 4


def rounds_of(chains, in_items, buffer_bytes, arguments):
    """Msamples/s of every chain in each round."""
    count = vectors_for(chains["stock"], in_items, buffer_bytes, arguments.seconds)
    rates = {name: [] for name in chains}
    for _ in range(arguments.rounds):
        for name, chain in chains.items():
            rates[name].append(count * in_items / run(chain(), in_items, count, buffer_bytes) / 1e6)
    return rates


# ---------------------------------------------------------------- comparisons ----------------------------------------

def fft_bar(n, stock, copy):
    return min(2 * stock, 0.9 * copy) if n in FFT_FAST_SIZES else 0.95 * stock


def fft_row(n, buffers, arguments):
    window = fft.window.hann(n) if arguments.window else []
    chains = {
        "ours": lambda: [penstock.fft_vcc(n, True, window, False, 1, arguments.device)],
        "stock": lambda: [fft.fft_vcc(n, True, window, False, 1)],
        "copy": lambda: [blocks.copy(n * COMPLEX_BYTES)],
    }
    rates = rounds_of(chains, n, buffers, arguments)
    return row("fft_vcc", n, buffers, rates, lambda stock, copy: max(fft_bar(n, stock, copy), 0.95 * stock))


def row(block, n, buffers, rates, bar):
    """`bar`: the rate that is asked for, from the rates of the stock block and of the copy block."""
    each = list(zip(rates["ours"], rates["stock"], rates["copy"]))
    share = statistics.median(ours / bar(stock, copy) for ours, stock, copy in each)
    middle = {name: statistics.median(values) for name, values in rates.items()}
    return {
        "block": block,
        "n": n,
        "buffers": buffers or "default",
        "ours_msps": round(middle["ours"], 1),
        "stock_msps": round(middle["stock"], 1),
        "copy_msps": round(middle["copy"], 1),
        "ratio": round(statistics.median(ours / stock for ours, stock, _ in each), 3),
        "bar": round(statistics.median(bar(stock, copy) / stock for _, stock, copy in each), 3),
        "share_of_bar": round(share, 3),
        "held": "yes" if share >= 1 else "NO",
    }


# ---------------------------------------------------------------- the table ------------------------------------------

def report(rows, csv_path):
    """Prints rows as they come; gives back how many there were and how many held."""
    done = []
    print("  ".join(f"{name:>12}" for name in COLUMNS))
    for one in rows:
        done.append(one)
        print("  ".join(f"{one[name]:>12}" for name in COLUMNS), flush=True)
    if csv_path:
        with open(csv_path, "w", newline="", encoding="ascii") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(done)
    return len(done), sum(one["held"] == "yes" for one in done)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=FFT_SIZES, help="transform lengths")
    parser.add_argument("--device", default="cpu", help="what ours run on")
    parser.add_argument("--window", action="store_true", help="FFT blocks with a Hann window")
    parser.add_argument("--buffers", choices=["default", "large", "both"], default="both",
                        help="GNU Radio's own buffers, 1 MiB before and behind the block, or one after the other")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.3, help="about how long the stock block runs each time")
    parser.add_argument("--cores", type=int, default=2, help="cores to run on")
    parser.add_argument("--csv", help="write the table to this file too")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    gr.logging().set_default_level(gr.log_levels.warn)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:arguments.cores])
    sides = {"default": [0], "large": [LARGE_BUFFER_BYTES], "both": [0, LARGE_BUFFER_BYTES]}[arguments.buffers]
    rows = (fft_row(n, buffers, arguments) for buffers in sides for n in arguments.sizes)
    count, held = report(rows, arguments.csv)
    print(f"{held} of {count} held")
    return 0 if held == count else 1


if __name__ == "__main__":
    sys.exit(main())
