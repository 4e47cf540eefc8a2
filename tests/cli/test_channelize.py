# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""channelize: tones must come out in their channels, at their frequencies and times, and in no other."""

import array
import cmath
import json
import os

from cli import check, check_error, check_run, finish, path

RAW = ["--format", "cf32", "--rate", "1e6"]
COUNT = 64000


def pack(values):
    return array.array("f", (part for value in values for part in (value.real, value.imag))).tobytes()


def read(name):
    floats = array.array("f")
    with open(path(name), "rb") as file:
        floats.frombytes(file.read())
    return [complex(floats[i], floats[i + 1]) for i in range(0, len(floats), 2)]


# 10 channels of 100 kHz at twice their rate: +310 kHz is 10 kHz in channel 3, -200 kHz is the middle of channel 8.
tones = pack(cmath.exp(2j * cmath.pi * 0.31 * i) + 0.5 * cmath.exp(-2j * cmath.pi * 0.2 * i) for i in range(COUNT))
done = check_run(0, "channelize", *RAW, "--input", "-", "--channels", "10", "--oversample", "2", "--output", path("c"),
                 "--device", "cpu", stdin=tones)
check(b"10 of 10 channels of 100000 Hz at 200000 Hz: 12800 values each from 64000 samples" in done.stdout, done.stdout)
channels = [read(f"c-{k}.sigmf-data") for k in range(10)]
check(all(len(channel) == COUNT // 5 for channel in channels), "values:", [len(channel) for channel in channels])
inner = range(50, COUNT // 5 - 50)
worst = max(abs(channels[3][m] - cmath.exp(2j * cmath.pi * 0.01 * 5 * m)) for m in inner)
check(worst < 1e-3, "the tone in channel 3 differs by", worst)
worst = max(abs(channels[8][m] - 0.5) for m in inner)
check(worst < 1e-3, "the tone in channel 8 differs by", worst)
for k in (0, 1, 5, 6):
    check(max(abs(channels[k][m]) for m in inner) < 1e-4, "channel", k, "is not empty")
with open(path("c-8.sigmf-meta")) as file:
    check(json.load(file)["global"]["core:sample_rate"] == 2e5, "the rate in the metadata")

# The same by choice; a negative number counts down from the centre.
check_run(0, "channelize", *RAW, "--input", "-", "--channels", "10", "--oversample", "2", "--output", path("k"),
          "--keep", "-2,3", "--device", "cpu", stdin=tones)
check(read("k-8.sigmf-data") == channels[8] and read("k-3.sigmf-data") == channels[3], "the channels kept")
check(not os.path.exists(path("k-0.sigmf-meta")), "a channel that was not asked for")

done = check_run(0, "channelize", *RAW, "--input", "-", "--channels", "16", "--output", path("d"), "--output-format",
                 "cs16", "--taps", "8", stdin=tones)
check(b"127 taps" in done.stdout and os.path.getsize(path("d-0.sigmf-data")) == 4 * COUNT // 16, done.stdout)

CHANNELIZE = ["channelize", *RAW, "--input", "-"]
OUT = ["--output", path("x")]
check_error(2, "--channels is missing", *CHANNELIZE, *OUT)
check_error(2, "--output or --png is missing", *CHANNELIZE, "--channels", "4")
check_error(2, "--channels 1 is impossible", *CHANNELIZE, *OUT, "--channels", "1")
check_error(2, "--oversample '3/2' is impossible", *CHANNELIZE, *OUT, "--channels", "10", "--oversample", "3/2")
check_error(2, "--oversample '1/2' is impossible", *CHANNELIZE, *OUT, "--channels", "10", "--oversample", "1/2")
check_error(2, "it must be N or N/D", *CHANNELIZE, *OUT, "--channels", "10", "--oversample", "x")
check_error(2, "--keep '10' is impossible", *CHANNELIZE, *OUT, "--channels", "10", "--keep", "10")
check_error(2, "selected twice", *CHANNELIZE, *OUT, "--channels", "10", "--keep", "1,1", stdin=tones)
check_error(2, "give one of them", *CHANNELIZE, *OUT, "--channels", "10", "--keep", "1", "--png", path("x.png"))
check_error(1, "absent", *CHANNELIZE, "--png", path("absent/x.png"), "--channels", "4", stdin=tones)
check_error(1, "cannot", *CHANNELIZE, "--output", path("no/x"), "--channels", "4", stdin=tones)
check_error(1, "is empty", *CHANNELIZE, *OUT, "--channels", "4", stdin=b"")
finish()
