#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""Penstock's streams on CuPy's arrays beside CuPy's own cupyx.signal and cupyx.scipy.signal: averaged power spectra,
filters and filter banks of samples that are in the memory of a CUDA GPU. Millions of samples a second, medians of
interleaved rounds; a row of CSV each. Of two ways in CuPy to averaged power the faster one is the peer. Results agree
to 1e-5 of their norm (those of filter banks, of which the levels of tones are compared, to 1e-3), or the program ends
with status 1.

Needs the package penstock, CuPy 14 and SciPy, from PyPI. --chain measures Penstock alone: a filter that keeps one of 4
samples and averaged power of its values, one by one and in a row."""

import argparse
import statistics
import sys
import time

sys.path.pop(0)  # this file's folder, where "cupyx" is this file
try:
    import cupy
    import cupyx.signal
    import penstock
    from cupyx.scipy import signal
except ImportError as error:
    sys.exit(f"cupyx.py: {error}")

POINTS, MEAN, CHANNELS = 2048, 16, 64


def lowpass(count, cutoff):
    """Taps of a windowed sinc, whose pass band ends at cutoff in parts of the rate."""
    at = cupy.arange(count) - (count - 1) / 2
    taps = 2 * cutoff * cupy.sinc(2 * cutoff * at) * cupy.blackman(count)
    return taps.astype("float32")


def all_of(stream, x):
    """What a stream gives for x up to the end, which then begins anew."""
    values = stream(x)
    stream.finish()
    values = cupy.concatenate([values, stream(x[:0])])
    stream.reset()
    return values


def power_case(x):
    window = cupy.asarray(penstock.window("hann", POINTS))
    stream = penstock.Spectrum(POINTS, window="hann", average=MEAN, device="cuda:0")

    def by_fft():
        bins = cupy.fft.fft(x.reshape(-1, POINTS) * window)
        return (bins.real**2 + bins.imag**2).reshape(-1, MEAN, POINTS).mean(axis=1)

    def by_spectrogram():
        power = signal.spectrogram(x, window=window, nperseg=POINTS, noverlap=0, detrend=False,
                                   return_onesided=False, scaling="spectrum", mode="psd")[2]
        return power.T.reshape(-1, MEAN, POINTS).mean(axis=1)

    return lambda: stream(x), {"fft": by_fft, "spectrogram": by_spectrogram}, all_of(stream, x), by_fft()


def filter_case(x, count):
    taps = lowpass(count, 0.1)
    stream = penstock.Filter(cupy.asnumpy(taps).astype("complex64"), device="cuda:0")

    def convolve():
        return signal.oaconvolve(x, taps)

    return lambda: stream(x), {"oaconvolve": convolve}, all_of(stream, x), convolve()[: len(x)]


def channelizer_case(x):
    taps = lowpass(16 * CHANNELS, 0.5 / CHANNELS)
    taps /= taps.sum()
    stream = penstock.Channelizer(CHANNELS, taps=cupy.asnumpy(taps), device="cuda:0")

    def poly():
        return cupyx.signal.channelize_poly(x, taps, CHANNELS)

    # Channels are numbered and delayed in other ways, so what is compared is how much of tones each has: 1 to 64.
    level = cupy.arange(1, CHANNELS + 1)
    at = cupy.arange(CHANNELS)
    tones = (level[:, None] * cupy.exp(2j * cupy.pi / CHANNELS * at[:, None] * at)).sum(axis=0)
    sent = cupy.tile(tones, 4096).astype("complex64")
    ours = cupy.abs(all_of(stream, sent)[16:]).mean(axis=0)
    theirs = cupy.abs(cupyx.signal.channelize_poly(sent, taps, CHANNELS)[:, 16:-16]).mean(axis=1)
    theirs *= level.sum() / theirs.sum()  # whose gain is another
    return lambda: stream(x), {"channelize_poly": poly}, cupy.stack([cupy.sort(ours), cupy.sort(theirs)]), cupy.stack(
        [level, level])


def seconds(work):
    cupy.cuda.Device().synchronize()
    start = time.perf_counter()
    work()
    cupy.cuda.Device().synchronize()
    return time.perf_counter() - start


def medians(works, rounds):
    """Of works called by turns, the first round left out."""
    times = [[seconds(work) for work in works] for _ in range(rounds + 1)][1:]
    return [statistics.median(column) for column in zip(*times)]


def compare(name, x, case, rounds, bound=1e-5):
    ours, peers, found, expected = case
    error = float(cupy.linalg.norm(found - expected) / cupy.linalg.norm(expected))
    own, *others = medians([ours, *peers.values()], rounds)
    best = min(others)
    peer = list(peers)[others.index(best)]
    print(f"{name},{len(x)},{1e-6 * len(x) / own:.4g},{peer},{1e-6 * len(x) / best:.4g},{best / own:.2f},{error:.1e}",
          flush=True)
    return error < bound


def chain(x, rounds):
    fir = penstock.Filter(cupy.asnumpy(lowpass(129, 0.1)).astype("complex64"), decimation=4, device="cuda:0")
    spectrum = penstock.Spectrum(POINTS, window="hann", average=MEAN, device="cuda:0")
    values = fir(x)
    times = medians([lambda: fir(x), lambda: spectrum(values), lambda: spectrum(fir(x))], rounds)
    both, least = times[2], max(times[:2])
    print("samples,filter_msps,spectrum_msps,both_msps,share_of_slowest")
    print(",".join(f"{value:.4g}" for value in (len(x), *(1e-6 * len(x) / one for one in times), least / both)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1 << 26, help="a call, a power of two (default 2^26)")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--chain", action="store_true", help="a filter and averaged power in a row")
    options = parser.parse_args()
    count = options.samples
    if count < 1 << 18 or count & (count - 1):
        sys.exit(f"cupyx.py: {count} samples, not a power of two of at least {1 << 18}")
    generator = cupy.random.default_rng(1)
    x = (generator.standard_normal(count) + 1j * generator.standard_normal(count)).astype("complex64")
    if options.chain:
        chain(x, options.rounds)
        return
    print("case,samples,penstock_msps,peer,peer_msps,ratio,error")
    good = [compare(f"power:{POINTS}:avg{MEAN}", x, power_case(x), options.rounds)]
    for taps in (129, 1025):
        good.append(compare(f"filter:{taps}", x, filter_case(x, taps), options.rounds))
    good.append(compare(f"channelizer:{CHANNELS}", x, channelizer_case(x), options.rounds, 1e-3))
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
