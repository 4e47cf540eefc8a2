# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""resample: tones are at the new rate what they were at the old one, in place, as many samples as there must be."""

import array
import cmath
import json
import math
import os

from cli import check, check_error, check_run, finish, path, run

RATE, COUNT = 1e6, 20001
RAW = ["--format", "cf32", "--rate", "1e6"]
has_json = run("devices", "--json").returncode == 0


def tone(hertz, rate, count):
    return [cmath.exp(2j * cmath.pi * hertz / rate * i) for i in range(count)]


def pack(values):
    return array.array("f", (part for value in values for part in (value.real, value.imag))).tobytes()


def read(data):
    floats = array.array("f")
    floats.frombytes(data)
    return [complex(floats[i], floats[i + 1]) for i in range(0, len(floats), 2)]


# A tone passes within twice 10^(-80/20) of itself; one beyond the new rate's half is gone. Without a delay.
both = pack([a + b for a, b in zip(tone(20e3, RATE, COUNT), tone(450e3, RATE, COUNT))])
cases = 0
for arguments, rate in ((["--to", "480e3"], 480e3), (["--ratio", "12/25"], 480e3), (["--ratio", "0.48"], 480e3),
                        (["--to", "123456.789"], 123456.789), (["--to", "1e5"], 1e5)):
    done = check_run(0, "resample", *RAW, "--input", "-", "--output", "-", *arguments, stdin=both)
    values, count = read(done.stdout), math.ceil(COUNT * rate / RATE)
    check(len(values) == count, arguments, "samples out:", len(values), "not", count)
    expected = tone(20e3, rate, count)
    worst = max(abs(a - b) for a, b in zip(values[100:-100], expected[100:-100]))
    check(worst < 3.2e-4, arguments, "the tone that passes differs by", worst)
    cases += 1
one = pack(tone(-333e3, RATE, COUNT))
for arguments, rate in ((["--to", "3e6"], 3e6), (["--ratio", "5/2"], 2.5e6), (["--to", "1000000.1"], 1000000.1)):
    done = check_run(0, "resample", *RAW, "--input", "-", "--output", "-", *arguments, stdin=one)
    values, count = read(done.stdout), math.ceil(COUNT * rate / RATE)
    check(len(values) == count, arguments, "samples out:", len(values), "not", count)
    expected = tone(-333e3, rate, count)
    worst = max(abs(a - b) for a, b in zip(values[400:-400], expected[400:-400]))
    check(worst < 2.2e-4, arguments, "the tone differs by", worst)
    cases += 1
check(cases == 8, cases)

# Ratios that are the same give the same bits, and integers are the same values rounded.
halves = [check_run(0, "resample", *RAW, "--input", "-", "--output", "-", *arguments, stdin=one).stdout
          for arguments in (["--to", "5e5"], ["--ratio", "0.5"], ["--ratio", "1/2"], ["--ratio", "7/14"])]
check(len(set(halves)) == 1, "one ratio, other bits")
done = check_run(0, "resample", *RAW, "--input", "-", "--output", "-", "--to", "1500e3", "--attenuation", "100",
                 "--passband", "0.45", "--transition", "0.1", stdin=one)
expected = tone(-333e3, 1.5e6, 30002)
worst = max(abs(a - b) for a, b in zip(read(done.stdout)[400:-400], expected[400:-400]))
check(worst < 2.5e-5, "at 100 dB the tone differs by", worst)

# ---- SigMF: rate, kind and description; the closing line
out = path("o.sigmf-meta" if has_json else "o.cs16")
done = check_run(0, "resample", *RAW, "--input", "-", "--output", out, "--output-format", "cs16", "--to", "480000",
                 stdin=both)
check(b"9601 samples from 20001, 12/25 of the rate, " in done.stdout, done.stdout)
check(os.path.getsize(path("o.sigmf-data") if has_json else out) == 4 * 9601, "bytes of the file")
if has_json:
    with open(out) as file:
        about = json.load(file)["global"]
    check((about["core:sample_rate"], about["core:datatype"]) == (480000, "ci16_le"), about)
    check(about["core:description"] == "penstock resample", about)

# ---- refusals; nothing is written
RESAMPLE = ["resample", *RAW, "--input", "-"]
OUT = ["--output", path("x.cf32")]
check_error(2, "--output is missing", *RESAMPLE, "--to", "1e5")
check_error(2, "one of --to HZ and --ratio R", *RESAMPLE, *OUT)
check_error(2, "one of --to HZ and --ratio R", *RESAMPLE, *OUT, "--to", "1e5", "--ratio", "2")
check_error(2, "not 1/1024 .. 1024", *RESAMPLE, *OUT, "--to", "2e9", stdin=one)
check_error(2, "not 1/1024 .. 1024", *RESAMPLE, *OUT, "--to", "900", stdin=one)
check_error(2, "transition", *RESAMPLE, *OUT, "--ratio", "2", "--passband", "0.45", "--transition", "0.2", stdin=one)
check_error(2, "--input is missing", "resample", *OUT, "--ratio", "2")
check_error(1, "is empty", *RESAMPLE, *OUT, "--ratio", "2", stdin=b"")
check_error(1, "no device", *RESAMPLE, *OUT, "--ratio", "2", "--device", "no-such", stdin=one)
check(not os.path.exists(path("x.cf32")), "a refusal wrote a file")
finish()
