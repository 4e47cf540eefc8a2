#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""What calls of the Python package penstock cost. First what a call of a plan takes on the host, in microseconds: with
two small arrays of NumPy on the CPU, and with two of CuPy's and PyTorch's on the GPU beside enqueue() with two Buffers.
Then the rate with 64 MiB an array beside the one that `penstock bench` tells for as many transforms on the device, in
turns: NumPy's on the CPU, CuPy's on the GPU. Rows of CSV; medians of the rounds.

Needs the package penstock and the command penstock of one version. Without CuPy or PyTorch their rows are left out,
and so is the GPU where there is none."""

import argparse
import csv
import io
import statistics
import subprocess
import sys
import time

sys.path.pop(0)  # this file's folder, where "cupyx" is another program
try:
    import numpy
    import penstock
except ImportError as error:
    sys.exit(f"python_calls.py: {error}")

BYTES = 64 << 20
CALLS = 2000  # of a small transform, whose mean is a round's time


def fail(text):
    sys.exit(f"python_calls.py: {text}")


def imported(name):
    """A library that makes arrays on a GPU, or None."""
    try:
        module = __import__(name)
    except ImportError:
        print(f"python_calls.py: no {name}", file=sys.stderr)
        return None
    return module


def call_us(call, synchronise, rounds):
    """Of a call on the host; the device is waited for between the rounds, not within one."""
    times = []
    for _ in range(rounds + 1):
        synchronise()
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        times.append(time.perf_counter() - start)
    synchronise()
    return 1e6 * statistics.median(times[1:]) / CALLS


def aligned(frames, n):
    """Of complex values from a multiple of 64 bytes on, as the results of the package are."""
    room = numpy.ones(frames * n + 8, "complex64")
    return room[(-room.ctypes.data // 8) % 8 :][: frames * n].reshape(frames, n)


# ---------------------------------------------------------------- what a call takes -----------------------------------


def numpy_calls(rounds):
    plan, x, y = penstock.FftPlan(16, device="cpu"), aligned(1, 16), aligned(1, 16)
    print(f"numpy,16,{call_us(lambda: plan(x, y), lambda: None, rounds):.2f},,", flush=True)


def gpu_calls(cupy, torch, device, rounds):
    plan, queue = penstock.FftPlan(512, device=device), penstock.Queue(device)
    a, b = (penstock.Buffer((1, 512), device=device) for _ in range(2))
    a.upload(numpy.ones((1, 512), "complex64"), queue)
    pairs = {}
    if cupy:
        pairs["cupy"] = [cupy.ones((1, 512), "complex64") for _ in range(2)], cupy.cuda.Device().synchronize
    if torch and torch.cuda.is_available():
        pairs["torch"] = [torch.ones((1, 512), dtype=torch.complex64, device="cuda") for _ in range(2)], (
            torch.cuda.synchronize)
    for name, ((x, y), synchronise) in pairs.items():
        bare = call_us(lambda: plan.enqueue(a, b, queue), queue.wait, rounds)
        call = call_us(lambda: plan(x, y), synchronise, rounds)
        print(f"{name},512,{call:.2f},{bare:.2f},{call - bare:.2f}", flush=True)


# ---------------------------------------------------------------- rates -----------------------------------------------


def bench_msps(command, device, n, frames):
    try:
        run = subprocess.run([command, "bench", device, "--csv", "--case", f"fft:{n}:x{frames}"], capture_output=True,
                             text=True, check=False)
    except OSError as error:
        fail(f"{command}: {error.strerror}; --penstock says where the command is")
    rows = list(csv.DictReader(io.StringIO(run.stdout)))
    if run.returncode or not rows:
        fail(f"{command} bench: {run.stderr.strip()}")
    return float(rows[-1]["rate_msps"])  # the last row has all threads


def rate_msps(call, synchronise, samples):
    for count in (3, 40):  # the first ones settle
        synchronise()
        start = time.perf_counter()
        for _ in range(count):
            call()
        synchronise()
    return 1e-6 * samples * count / (time.perf_counter() - start)


def compare(what, n, command, device, arrays, synchronise, rounds):
    frames = BYTES // 8 // n
    plan = penstock.FftPlan(n, device=device)
    x, y = arrays(frames, n)
    turns = [(rate_msps(lambda: plan(x, y), synchronise, frames * n), bench_msps(command, device, n, frames))
             for _ in range(rounds)]
    ours, other = (statistics.median(one[i] for one in turns) for i in range(2))
    ratio = statistics.median(one[0] / one[1] for one in turns)
    print(f"{what},{n},{frames},{ours:.5g},{other:.5g},{ratio:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--penstock", default="penstock", metavar="PATH", help="the command (penstock)")
    parser.add_argument("--device", default="cuda:0", help="a GPU of CUDA (cuda:0); none: the CPU alone")
    parser.add_argument("--points", type=int, nargs="+", default=[512, 1024, 2048, 4096, 16384, 65536])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if options.rounds < 1 or min(options.points) < 2 or max(options.points) > 1 << 22:
        parser.error("--rounds is at least 1, --points are 2 to 4194304")
    gpu = options.device != "none" and any(
        one.name == options.device and one.present for one in penstock.devices())
    cupy, torch = (imported("cupy"), imported("torch")) if gpu else (None, None)
    print("arrays,points,call_us,enqueue_us,longer_us")
    numpy_calls(options.rounds)
    if gpu:
        gpu_calls(cupy, torch, options.device, options.rounds)
    print("arrays,points,transforms,python_msps,bench_msps,ratio")
    for n in options.points:
        compare("numpy", n, options.penstock, "cpu", lambda f, n: (aligned(f, n), aligned(f, n)), lambda: None,
                options.rounds)
    for n in options.points if cupy else []:
        compare("cupy", n, options.penstock, options.device,
                lambda f, n: (cupy.ones((f, n), "complex64"), cupy.empty((f, n), "complex64")),
                cupy.cuda.Device().synchronize, options.rounds)


if __name__ == "__main__":
    main()
