# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""Samples that were clipped, are no numbers or are missing are counted, in the closing line of each command."""

import array
import os
import random
import re
import subprocess

from cli import PENSTOCK, check, check_run, finish, path, run

chance = random.Random(5)


def counts(done):
    """The numbers of the closing line behind the names of troubles."""
    lines = done.stdout.decode().splitlines()
    return {name: int(number) for name, number in re.findall(r", ([a-z][a-z ]*) (\d+)(?=,|$)", lines[-1] if lines else "")}


def limited(values):
    """Samples of 16 bits with a part at the limit."""
    return sum(1 for i in range(0, len(values), 2) if {-32768, 32767} & set(values[i : i + 2]))


def beyond(floats):
    """Samples with a part that cs16 cannot hold within half a step."""
    return sum(1 for i in range(0, len(floats), 2)
               if any(v * 32768 > 32767.5 or v * 32768 < -32768.5 for v in floats[i : i + 2]))


# ---- transmit: clipped on writing, against the same signal as floats
for level in ("0", "-3", "-6", "-15"):
    arguments = ["--profile", "wifi", "--count", "4", "--snr", "25", "--level", level]
    check_run(0, "transmit", *arguments, "--output", path("t.cf32"))
    floats = array.array("f", open(path("t.cf32"), "rb").read())
    done = check_run(0, "transmit", *arguments, "--output", path("t.cs16"), "--format", "cs16")
    expected = beyond(floats)
    check(counts(done).get("clipped on writing", 0) == expected, level, "gave", done.stdout, "not", expected)
    check((f"{expected} of {len(floats) // 2} samples were too large" in done.stderr) == (expected > 0), done.stderr)
    check(f"{len(floats) // 2} samples, 4 frames".encode() in done.stdout, done.stdout)
    done = check_run(0, "transmit", *arguments, "--output", "-", "--format", "cs16")
    check(("samples were too large" in done.stderr) == (expected > 0), "on standard output:", done.stderr)
check(beyond(array.array("f", [1.0, 0.0, -1.0, 0.5])) == 1, "full scale up is one step too much")

# ---- NaN and clipping in the input of each command that reads
COUNT = 40000
floats = array.array("f", (chance.uniform(-0.5, 0.5) for _ in range(2 * COUNT)))
wrong = {chance.randrange(COUNT) for _ in range(37)}
for i in wrong:
    floats[2 * i + chance.randrange(2)] = chance.choice([float("nan"), float("inf"), float("-inf")])
shorts = array.array("h", (chance.randrange(-32768, 32768) if chance.randrange(9) else chance.choice([-32768, 32767])
                           for _ in range(2 * COUNT)))
F32 = ["--input", "-", "--format", "cf32", "--rate", "20e6"]
S16 = ["--input", "-", "--format", "cs16", "--rate", "20e6"]
png = run("spectrum", *S16, "--png", path("probe.png"), stdin=shorts.tobytes()).returncode == 0
commands = [("filter", ["--output", path("f.cf32"), "--taps", "lowpass:1e6:1e6", "--decimate", "3"]),
            ("channelize", ["--output", path("c"), "--channels", "8"]),
            ("receive", ["--profile", "wifi"])]
commands += [("spectrum", ["--png", path("s.png")])] if png else []
for name, arguments in commands:
    done = check_run(0, name, *F32, *arguments, stdin=floats.tobytes())
    check(counts(done).get("not finite") == len(wrong), name, "counted", done.stdout[-300:], "not", len(wrong))
    check("NaN or infini" in done.stderr, name, done.stderr)
    done = check_run(0, name, *S16, *arguments, stdin=shorts.tobytes())
    check(counts(done).get("clipped") == limited(shorts), name, "counted", done.stdout[-300:], "not", limited(shorts))
    check("clipped" in done.stderr, name, done.stderr)

# One NaN spoils what one transform makes of it: how many values, the closing line tells.
done = check_run(0, "filter", *F32, "--output", path("n.cf32"), "--taps", "lowpass:1e6:1e6", stdin=floats.tobytes())
values = array.array("f", open(path("n.cf32"), "rb").read())
spoilt = sum(1 for i in range(0, len(values), 2) if not abs(values[i]) + abs(values[i + 1]) < 1e38)
check(counts(done).get("not finite on writing") == spoilt > len(wrong), done.stdout, "not", spoilt)
done = check_run(0, "filter", *F32, "--output", path("n.cs16"), "--output-format", "cs16", "--taps", "lowpass:1e6:1e6",
                 stdin=floats.tobytes())
check(counts(done).get("not finite on writing") == spoilt, "as cs16:", done.stdout, "not", spoilt)

# ---- a file that is cut while it is read: the output's reader holds the command up until then
LONG, LEFT = 2_000_000, 1_234_567
for name, arguments in (("filter", ["--output", "-", "--taps", "lowpass:5e6:2e6"]),):
    with open(path("long.cf32"), "wb") as file:
        file.write(bytes(8 * LONG))
    process = subprocess.Popen([PENSTOCK, name, "--input", path("long.cf32"), *F32[2:], *arguments],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = process.stdout.read(8)
    os.truncate(path("long.cf32"), 8 * LEFT)
    rest = process.stdout.read()
    told = process.stderr.read().decode()
    check(process.wait() == 1, name, "ended with", process.returncode)
    check(len(first) + len(rest) == 8 * LEFT, name, "gave", len(first) + len(rest), "bytes")
    check(f"{LONG - LEFT} samples of {LONG} are missing" in told and len(told.splitlines()) == 1, told)
finish()
