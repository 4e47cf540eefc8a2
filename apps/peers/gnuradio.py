#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""How fast the GNU Radio blocks are beside the stock ones, from a null source to a null sink.

In every round each block runs once, one right after the other; a ratio is the median over the rounds. The copy block
stands for what the scheduler itself allows. A head block counts the samples, and with the source sets a limit of its
own: the two wake each other for every 64 KiB. With --endless the block stands right behind the source, as in a
receiver, and what it takes in --seconds is counted. With --latency instead: how long a vector takes through the FFT
block at a given rate of vectors, as the block itself measures it. With --threads instead: which block's thread is the
limit, the share of a core that each uses for its work and in the kernel, there mostly for going to sleep and waking
others.
"""

import argparse
import csv
import functools
import math
import os
import statistics
import sys
import time

sys.path.pop(0)  # this file's folder, where "gnuradio" is this file
try:
    from gnuradio import blocks, fft, filter, gr, penstock
    from gnuradio.fft import logpwrfft
    from gnuradio.filter import pfb
except ImportError as error:
    sys.exit(f"gnuradio.py: {error}; see docs/gnuradio.md for the paths that Python needs")

FFT_SIZES = [2**k for k in range(4, 17)]
FFT_FAST_SIZES = (64, 512, 2048, 16384, 65536)  # where more than the stock block's own speed is asked for
SPECTRUM_SIZES = [256, 1024, 4096, 16384]
FILTER_TAPS = [16, 65, 127, 257, 513, 1025, 2049, 4097, 8193, 16384, 32769, 65536]
FILTER_FAST_TAPS = (65, 257, 1025, 4097)  # where more than the stock block's own speed is asked for
FILTER_UNIT = 4096  # samples, to count by
RESAMPLER_RATES = [110, 730, 2300]  # in thousandths
CHANNELS = [16, 64]
LOG_POWER_SIZES = [256, 1024, 4096]
AVERAGE = 16
LARGE_BUFFER_BYTES = 1 << 20
COMPLEX_BYTES = 8


# ---------------------------------------------------------------- one run --------------------------------------------

class WithSinks(gr.hier_block2):
    """A block with a null sink behind each of its outputs."""

    def __init__(self, block, outputs):
        gr.hier_block2.__init__(self, "with_sinks", block.input_signature(), gr.io_signature(0, 0, 0))
        self.connect(self, block)
        for port in range(outputs):
            self.connect((block, port), blocks.null_sink(block.output_signature().sizeof_stream_item(port)))


def flowgraph(chain, samples, buffer_bytes):
    """So many samples (None: without end) from a null source through `chain` to a null sink,
    and the block before it."""
    item_bytes = chain[0].input_signature().sizeof_stream_item(0)
    top = gr.top_block()
    first = [blocks.null_source(item_bytes)]
    if samples:
        first.append(blocks.head(item_bytes, samples * COMPLEX_BYTES // item_bytes))
    with_output = [block for block in first[-1:] + chain if block.output_signature().max_streams()]
    if buffer_bytes:
        for block in with_output:
            block.set_min_output_buffer(max(2, buffer_bytes // block.output_signature().sizeof_stream_item(0)))
    top.connect(*first, *chain)
    if chain[-1] in with_output:
        top.connect(chain[-1], blocks.null_sink(chain[-1].output_signature().sizeof_stream_item(0)))
    return top, first[-1]


def run_and_look(top, first, settle_s, seconds, look=lambda: None):
    """Once a flowgraph that does not end runs: Msamples/s from its block `first`, seconds,
    and look() before and after."""
    def now():
        return look(), first.nitems_written(0), time.perf_counter()

    top.start()
    time.sleep(settle_s)
    before, old_items, start = now()
    time.sleep(seconds)
    after, items, end = now()
    top.stop()
    top.wait()
    samples = (items - old_items) * first.output_signature().sizeof_stream_item(0) / COMPLEX_BYTES
    return samples / (end - start) / 1e6, end - start, before, after


def run(chain, samples, count, buffer_bytes):
    """Seconds that `count` times `samples` samples take through the blocks of `chain`."""
    top, _ = flowgraph(chain, count * samples, buffer_bytes)
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
    if arguments.endless:
        def rate(chain):
            return run_and_look(*flowgraph(chain(), None, buffer_bytes), arguments.seconds / 3, arguments.seconds)[0]
    else:
        count = vectors_for(chains["stock"], in_items, buffer_bytes, arguments.seconds)

        def rate(chain):
            return count * in_items / run(chain(), in_items, count, buffer_bytes) / 1e6
    rates = {name: [] for name in chains}
    for _ in range(arguments.rounds):
        for name, chain in chains.items():
            rates[name].append(rate(chain))
    return rates


# ---------------------------------------------------------------- comparisons ----------------------------------------

def fft_bar(n, stock, copy):
    return min(2 * stock, 0.9 * copy) if n in FFT_FAST_SIZES else 0.95 * stock


def fft_chains(n, arguments):
    window = fft.window.hann(n) if arguments.window else []
    return {
        "ours": lambda: [penstock.fft_vcc(n, True, window, False, 1, arguments.device)],
        "stock": lambda: [fft.fft_vcc(n, True, window, False, 1)],
        "copy": lambda: [blocks.copy(n * COMPLEX_BYTES)],
    }


def fft_row(n, buffers, arguments):
    rates = rounds_of(fft_chains(n, arguments), n, buffers, arguments)
    return row("fft_vcc", n, buffers, rates, lambda stock, copy: max(fft_bar(n, stock, copy), 0.95 * stock))


def spectrum_chains(n, arguments):
    window = fft.window.hann(n)
    return {
        "ours": lambda: [penstock.spectrum_cvf(n, 0, window, AVERAGE, False, False, arguments.device)],
        "stock": lambda: [blocks.stream_to_vector(COMPLEX_BYTES, n), fft.fft_vcc(n, True, window, False, 1),
                          blocks.complex_to_mag_squared(n), blocks.integrate_ff(AVERAGE, n)],
        "copy": lambda: [blocks.copy(COMPLEX_BYTES)],
    }


def spectrum_row(n, buffers, arguments):
    rates = rounds_of(spectrum_chains(n, arguments), n, buffers, arguments)
    return row("spectrum_cvf", n, buffers, rates, lambda stock, copy: 2 * stock)


def filter_chains(kind, taps, arguments):
    """Taps of no meaning, no decimation."""
    values = [complex(math.sin(i), math.cos(i)) / taps for i in range(taps)]
    if kind == "ccf":
        values = [value.real for value in values]
    ours, stock = ((penstock.fft_filter_ccc, filter.fft_filter_ccc) if kind == "ccc"
                   else (penstock.fft_filter_ccf, filter.fft_filter_ccf))
    return {
        "ours": lambda: [ours(1, values, 1, 0, 1, arguments.device)],
        "stock": lambda: [stock(1, values, 1)],
        "copy": lambda: [blocks.copy(COMPLEX_BYTES)],
    }


def filter_row(kind, taps, buffers, arguments):
    rates = rounds_of(filter_chains(kind, taps, arguments), FILTER_UNIT, buffers, arguments)
    fast = taps in FILTER_FAST_TAPS
    return row(f"fft_filter_{kind}", taps, buffers, rates,
               lambda stock, copy: min(2 * stock, 0.9 * copy) if fast else stock)


def resampler_chains(thousandths, arguments):
    """By the taps that the stock block makes for 80 dB."""
    rate = thousandths / 1000
    taps = pfb.arb_resampler_ccf.create_taps(rate, 32, 80)
    return {
        "ours": lambda: [penstock.pfb_arb_resampler_ccf(rate, taps, 32, arguments.device)],
        "stock": lambda: [filter.pfb_arb_resampler_ccf(rate, taps, 32)],
        "copy": lambda: [blocks.copy(COMPLEX_BYTES)],
    }


def resampler_row(thousandths, buffers, arguments):
    rates = rounds_of(resampler_chains(thousandths, arguments), FILTER_UNIT, buffers, arguments)
    return row("pfb_arb_resampler_ccf", thousandths, buffers, rates,
               lambda stock, copy: (5 if thousandths <= 110 else 4) * stock)


def channelizer_chains(channels, arguments):
    """By the taps that ours makes. What the scheduler itself allows is dealing samples out to as many sinks."""
    taps = penstock.channelizer_cc(channels).taps()
    return {
        "ours": lambda: [WithSinks(penstock.channelizer_cc(channels, taps, 1, 100, arguments.device), channels)],
        "stock": lambda: [WithSinks(pfb.channelizer_ccf(channels, taps), channels)],
        "copy": lambda: [WithSinks(blocks.stream_to_streams(COMPLEX_BYTES, channels), channels)],
    }


def channelizer_row(channels, buffers, arguments):
    rates = rounds_of(channelizer_chains(channels, arguments), FILTER_UNIT, buffers, arguments)
    return row("channelizer_cc", channels, buffers, rates, lambda stock, copy: 2 * stock)


def log_power_chains(n, arguments):
    """Each vector is given, of a decaying mean."""
    given = (1, n, 2, 1 / n, 0.1, True)
    return {
        "ours": lambda: [penstock.logpwrfft_c(*given, device=arguments.device)],
        "stock": lambda: [logpwrfft.logpwrfft_c(*given)],
        "copy": lambda: [blocks.copy(COMPLEX_BYTES)],
    }


def log_power_row(n, buffers, arguments):
    rates = rounds_of(log_power_chains(n, arguments), n, buffers, arguments)
    return row("logpwrfft_c", n, buffers, rates, lambda stock, copy: 3 * stock)


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


COMPARISONS = {
    "fft": (fft_chains, fft_row, FFT_SIZES),
    "spectrum": (spectrum_chains, spectrum_row, SPECTRUM_SIZES),
    "filter_ccc": (functools.partial(filter_chains, "ccc"), functools.partial(filter_row, "ccc"), FILTER_TAPS),
    "filter_ccf": (functools.partial(filter_chains, "ccf"), functools.partial(filter_row, "ccf"), FILTER_TAPS),
    "arb_resampler": (resampler_chains, resampler_row, RESAMPLER_RATES),
    "channelizer": (channelizer_chains, channelizer_row, CHANNELS),
    "logpwrfft": (log_power_chains, log_power_row, LOG_POWER_SIZES),
}


# ---------------------------------------------------------------- latency --------------------------------------------

def latency_row(n, arguments):
    """A throttled source, `rate` vectors a second for the given time."""
    block = penstock.fft_vcc(n, True, [], False, 1, arguments.device, arguments.max_latency)
    top = gr.top_block()
    throttle = blocks.throttle(n * COMPLEX_BYTES, arguments.latency, True)
    throttle.set_max_noutput_items(max(1, int(arguments.latency // 200)))  # a few milliseconds' worth at a time
    top.connect(blocks.null_source(n * COMPLEX_BYTES), throttle, block, blocks.null_sink(n * COMPLEX_BYTES))
    top.start()
    time.sleep(arguments.seconds * 10)
    stats = block.stats()
    top.stop()
    top.wait()
    return {"block": "fft_vcc", "n": n, "device": block.device(), "rate_hz": round(stats["in_rate_hz"]),
            "batch": round(stats["batch"], 1), "p50_ms": round(stats["latency_p50_ms"], 3),
            "p99_ms": round(stats["latency_p99_ms"], 3), "limit_ms": arguments.max_latency,
            "held": "yes" if 0 < stats["latency_p99_ms"] <= arguments.max_latency else "NO"}


# ---------------------------------------------------------------- threads --------------------------------------------

def threads_now():
    """The name, seconds of work, seconds in the kernel and switches of each of this process's threads,
    by its number."""
    tick_s, threads = 1 / os.sysconf("SC_CLK_TCK"), {}
    for number in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{number}/stat", encoding="utf-8") as file:
                name, _, rest = file.read().partition("(")[2].rpartition(")")
            with open(f"/proc/self/task/{number}/status", encoding="utf-8") as file:
                switches = sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)
        except (FileNotFoundError, ProcessLookupError):  # it ended meanwhile
            continue
        fields = rest.split()
        threads[number] = (name, int(fields[11]) * tick_s, int(fields[12]) * tick_s, switches)
    return threads


def thread_rows(name, n, chain, buffers, arguments):
    """What each thread of a flowgraph that does not end costs, once it runs."""
    graph = flowgraph(chain, None if arguments.endless else 1 << 60, buffers)
    msps, taken, before, after = run_and_look(*graph, arguments.seconds, 10 * arguments.seconds, threads_now)
    for number in sorted(set(before) & set(after), key=int):
        thread, *spent = after[number]
        work, kernel, switches = [(now - then) / taken for now, then in zip(spent, before[number][1:])]
        if switches > 1:
            yield {"chain": name, "n": n, "buffers": buffers or "default", "msps": round(msps, 1),
                   "thread": thread, "work": round(work, 2), "kernel": round(kernel, 2),
                   "switches_per_s": round(switches)}


# ---------------------------------------------------------------- the table ------------------------------------------

def report(rows, csv_path):
    """Prints rows as they come; gives back how many there were and how many held."""
    done = []
    for one in rows:
        if not done:
            print("  ".join(f"{name:>12}" for name in one))
        done.append(one)
        print("  ".join(f"{value:>12}" for value in one.values()), flush=True)
    if csv_path:
        with open(csv_path, "w", newline="", encoding="ascii") as file:
            writer = csv.DictWriter(file, list(done[0]))
            writer.writeheader()
            writer.writerows(done)
    return len(done), sum(one.get("held") == "yes" for one in done)


def above_zero(kind):
    """What argparse makes of a text: a number of this kind, or an error."""
    def convert(text):
        value = kind(text)
        if not (value > 0 and math.isfinite(value)):
            raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
        return value
    convert.__name__ = kind.__name__  # argparse says "invalid int value"
    return convert


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--block", choices=list(COMPARISONS), default="fft")
    parser.add_argument("--sizes", type=above_zero(int), nargs="+",
                        help="transform lengths, numbers of taps or channels, or thousandths of a rate")
    parser.add_argument("--latency", type=above_zero(float), metavar="HZ",
                        help="the FFT block's latency at HZ vectors a second")
    parser.add_argument("--max-latency", type=float, default=10, metavar="MS", help="what the block is told for it")
    parser.add_argument("--endless", action="store_true", help="no head block between the source and the block")
    parser.add_argument("--threads", action="store_true", help="what each thread of the flowgraph costs")
    parser.add_argument("--device", default="cpu", help="what ours run on")
    parser.add_argument("--window", action="store_true", help="FFT blocks with a Hann window")
    parser.add_argument("--buffers", choices=["default", "large", "both"], default="both",
                        help="GNU Radio's own buffers, 1 MiB before and behind the block, or one after the other")
    parser.add_argument("--rounds", type=above_zero(int), default=7)
    parser.add_argument("--seconds", type=above_zero(float), default=0.3,
                        help="about how long the stock block runs each time, "
                             "a tenth of that with --latency or --threads")
    parser.add_argument("--cores", type=above_zero(int), default=2, help="cores to run on")
    parser.add_argument("--csv", help="write the table to this file too")
    return parser.parse_args()


def rows_for(arguments):
    """The rows of what the arguments ask for, as they are measured."""
    sides = {"default": [0], "large": [LARGE_BUFFER_BYTES], "both": [0, LARGE_BUFFER_BYTES]}[arguments.buffers]
    chains, compare, sizes = COMPARISONS[arguments.block]
    if arguments.latency:
        return (latency_row(n, arguments) for n in arguments.sizes or [64, 1024, 16384])
    if arguments.threads:
        return (one for buffers in sides for n in arguments.sizes or sizes
                for name, chain in chains(n, arguments).items()
                for one in thread_rows(name, n, chain(), buffers, arguments))
    return (compare(n, buffers, arguments) for buffers in sides for n in arguments.sizes or sizes)


def main():
    arguments = parse_arguments()
    gr.logging().set_default_level(gr.log_levels.warn)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:arguments.cores])
    try:
        count, held = report(rows_for(arguments), arguments.csv)
    except (RuntimeError, ValueError, OSError) as error:  # a device or a size that cannot be, a file
        sys.exit(f"gnuradio.py: {error}")
    if arguments.threads:
        return 0
    print(f"{held} of {count} held")
    return 0 if held == count else 1


if __name__ == "__main__":
    sys.exit(main())
