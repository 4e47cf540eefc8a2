# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""filter: tones must pass or stop as the design says, samples must come out where and as many as they should."""

import array
import cmath
import json
import os
import subprocess
import threading
import time

from cli import PENSTOCK, check, check_error, check_run, finish, path

RAW = ["--format", "cf32", "--rate", "1e6"]
COUNT = 20001


def pack(values):
    return array.array("f", (part for value in values for part in (value.real, value.imag))).tobytes()


def read(data):
    floats = array.array("f")
    floats.frombytes(data)
    return [complex(floats[i], floats[i + 1]) for i in range(0, len(floats), 2)]


def tone(hertz, rate=1e6, count=COUNT):
    return [cmath.exp(2j * cmath.pi * hertz / rate * i) for i in range(count)]


# 20 kHz passes and 300 kHz is stopped, in place: the delay is taken out, and the count is the input's.
both = pack([a + b for a, b in zip(tone(20e3), tone(300e3))])
done = check_run(0, "filter", *RAW, "--input", "-", "--output", "-", "--taps", "lowpass:100e3:20e3", "--device", "cpu",
                 stdin=both)
values, expected = read(done.stdout), tone(20e3)
check(len(values) == COUNT, "samples out:", len(values))
worst = max(abs(a - b) for a, b in zip(values[400:-400], expected[400:-400]))
check(worst < 3e-4, "the tone that passes differs by", worst)

# 200 kHz to zero and down by 10, as integers in SigMF: a constant.
done = check_run(0, "filter", *RAW, "--input", "-", "--output", path("o.sigmf-meta"), "--taps", "lowpass:40e3:10e3",
                 "--shift", "-200e3", "--decimate", "10", "--output-format", "cs16",
                 stdin=pack(v / 2 for v in tone(200e3)))
check(b"2001 samples from 20001" in done.stdout and b"delay left: 0 samples" in done.stdout, done.stdout)
shorts = array.array("h")
with open(path("o.sigmf-data"), "rb") as file:
    shorts.frombytes(file.read())
check(len(shorts) == 2 * 2001, "values:", len(shorts))
check(all(abs(shorts[2 * i] - 16384) < 8 and abs(shorts[2 * i + 1]) < 8 for i in range(60, 1940)), "not a constant")
with open(path("o.sigmf-meta")) as file:
    check(json.load(file)["global"]["core:sample_rate"] == 1e5, "the rate in the metadata")

# Taps from a file: a delay by two and a factor, complex, causal.
with open(path("taps.txt"), "w") as file:
    file.write("# delay" + 300 * " " + "0.75\n0\n0 0\n\n0.5, -0.5\n")
done = check_run(0, "filter", *RAW, "--input", "-", "--output", path("o.cf32"), "--taps", path("taps.txt"), stdin=both)
with open(path("o.cf32"), "rb") as file:
    values = read(file.read())
given = read(both)
check(len(values) == COUNT and max(map(abs, values[:2])) < 1e-6, "causal, as many as came in")
check(max(abs(values[i] - (0.5 - 0.5j) * given[i - 2]) for i in range(2, COUNT)) < 3e-6, "the file's taps")
check(b"delay left: 1 samples" in done.stdout, done.stdout)

for design in ["highpass:100e3:20e3", "bandpass:100e3:200e3:20e3", "bandreject:100e3:200e3:20e3", "rrc:250e3:0.35",
               "equiripple:100e3:20e3"]:
    done = check_run(0, "filter", *RAW, "--input", "-", "--output", "-", "--taps", design, stdin=both)
    check(len(done.stdout) == 8 * COUNT, design, "gave", len(done.stdout), "bytes")
check_error(1, "is empty", "filter", *RAW, "--input", "-", "--output", "-", "--taps", "lowpass:1e5:2e4", stdin=b"")

FILTER = ["filter", *RAW, "--input", "-"]
OUT = ["--output", path("x.cf32")]
check_error(2, "--output is missing", *FILTER, "--taps", "lowpass:1e5:2e4")
check_error(2, "--taps is missing", *FILTER, *OUT)
check_error(2, "write lowpass:CUT:TRANS", *FILTER, *OUT, "--taps", "lowpass:1e5", stdin=both)
check_error(2, "write equiripple:CUT:TRANS", *FILTER, *OUT, "--taps", "equiripple:1e5", stdin=both)
check_error(2, "lower --attenuation", *FILTER, *OUT, "--taps", "equiripple:100e3:20e3", "--attenuation", "150",
            stdin=both)
check_error(2, "no equiripple filter", *FILTER, *OUT, "--taps", "equiripple:1e5:10", stdin=both)
check_error(2, "write lowpass:CUT:TRANS, all in hertz", *FILTER, *OUT, "--taps", "lowpass:1e5:0", stdin=both)
check_error(2, "between 0 and 0.5", *FILTER, *OUT, "--taps", "lowpass:6e5:1e4", stdin=both)
check_error(2, "--decimate 0 is impossible", *FILTER, *OUT, "--taps", "lowpass:1e5:2e4", "--decimate", "0")
check_error(2, "--shift", *FILTER, *OUT, "--taps", "lowpass:1e5:2e4", "--shift", "6e5", stdin=both)
check_error(2, "--advance 3 is impossible", *FILTER, *OUT, "--taps", path("taps.txt"), "--advance", "3", stdin=both)
check_error(1, "cannot open", *FILTER, *OUT, "--taps", path("none"), stdin=both)
for line in ("x", "nan", "1 inf", "1 2 3"):
    with open(path("bad.txt"), "w") as file:
        file.write(f"1\n{line}\n")
    check_error(1, "line 2 is no tap", *FILTER, *OUT, "--taps", path("bad.txt"), stdin=both)
# Another name of standard output has nothing but samples, either.
done = check_run(0, *FILTER, "--output", "/dev/stdout", "--taps", path("taps.txt"), stdin=both)
check(done.stdout == check_run(0, *FILTER, "--output", "-", "--taps", path("taps.txt"), stdin=both).stdout, "stdout")

# Who reads a slow signal's filtered samples gets them while it lasts, also where a block is longer than the signal, and
# they are those that a file gives.
with open(path("slow.cf32"), "wb") as file:
    file.write(60 * both[: 8 * 1000])
for design in "lowpass:5e4:1e4", "lowpass:5e4:100":
    end = ["--taps", design, "--device", "cpu"]
    process = subprocess.Popen([PENSTOCK, *FILTER, "--output", "-", *end], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    came = []
    reader = threading.Thread(target=lambda: came.extend(iter(lambda: process.stdout.read1(1 << 16), b"")))
    reader.start()
    for _ in range(60):
        process.stdin.write(both[: 8 * 1000])
        process.stdin.flush()
        time.sleep(0.02)
    check(came, design, "gave nothing in more than a second")
    process.stdin.close()
    reader.join()
    check(process.wait() == 0 and len(b"".join(came)) == 60 * 8 * 1000, "a slow signal")
    whole = read(check_run(0, "filter", *RAW, "--input", path("slow.cf32"), "--output", "-", *end).stdout)
    slow = read(b"".join(came))
    check(max(abs(a - b) for a, b in zip(slow, whole)) < 1e-5, design, "gave other values than of a file")

# Errors of sums over many parts of a spectrum stay within the bound.
for case in "filter:ccf:1:d65536", "filter:ccc:37:d4096", "filter:ccf:2:d8192":
    check_run(0, "check", "cpu", "--case", case)

check_error(1, "no whole sample", *FILTER, *OUT, "--taps", "lowpass:1e5:2e4", stdin=b"123")
done = check_run(1, *FILTER, *OUT, "--taps", "lowpass:1e5:2e4", stdin=both + b"12")
check("2 bytes that make no whole sample" in done.stderr and os.path.getsize(path("x.cf32")) == 8 * COUNT, done.stderr)
if os.path.exists("/dev/full"):
    check_error(1, "/dev/full", *FILTER, "--output", "/dev/full", "--taps", "lowpass:1e5:2e4", stdin=both)
finish()
