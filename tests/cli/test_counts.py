# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""Samples that were clipped, are no numbers or are missing are counted, in the closing line of each command."""

import array
import json
import os
import random
import re
import subprocess

from cli import PENSTOCK, check, check_run, finish, path, read_frames, run

chance = random.Random(5)


def counts(done):
    """The numbers of the closing line behind the names of troubles."""
    lines = done.stdout.decode().splitlines()
    return {name: int(number)
            for name, number in re.findall(r", ([a-z][a-z ]*) (\d+)(?=,|$)", lines[-1] if lines else "")}


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
            ("resample", ["--output", path("r.cf32"), "--ratio", "24/25"]),
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

# ---- receive --json: the summary has the numbers of the closing line, and zero for what that leaves out
KEYS = {"not finite": "not_finite", "samples lost": "lost", "losses of unknown size": "unknown_losses",
        "samples missing": "missing"}
NAMES = ["clipped", "not finite", "overflows", "samples lost", "losses of unknown size", "timeouts", "reconnects",
         "samples missing"]
has_json = run("devices", "--json").returncode == 0


def check_summary(text, line, **expected):
    """`text` is what --json wrote, `line` the closing line, `expected` the truth."""
    frames, summary = read_frames(text)
    samples, device, stages, rest = re.match(
        r"(\d+) samples on (\S+): ((?:\d+ [A-Za-z ]+(?:, |$))*?\d+ truncated)(.*)$", line).groups()
    truth = {"samples": int(samples), "device": device, "frames": len(frames)}
    for number, name in re.findall(r"(\d+) ([A-Za-z ]+)", stages):
        truth[{"SIGNAL": "signals", "FCS ok": "fcs_ok"}.get(name, name)] = int(number)
    told = {name: int(number) for name, number in re.findall(r", ([a-zA-Z ]+) (\d+)", rest)}
    truth["fallbacks"] = told.pop("batches done by the CPU", 0)
    truth.update({KEYS.get(name, name): told.pop(name, 0) for name in NAMES})
    truth["taken"] = expected.pop("taken", truth["samples"])
    check(summary == truth and not told, "the summary", summary, "is not the closing line's", truth, told)
    check(all(summary[key] == value for key, value in expected.items()), summary, "not", expected)
    good = sum(frame["fcs_ok"] for frame in frames)
    check(summary["fcs_ok"] == good and summary["decoded"] >= good, good, "good frames in", summary)
    return summary


def write_lossy(name, datatype, data, lost):
    """SigMF with captures at {sample: how many were lost before it}."""
    captures, index = [{"core:sample_start": 0, "core:global_index": 0}], 0
    for start, count in sorted(lost.items()):
        index += count
        captures.append({"core:sample_start": start, "core:global_index": start + index})
    with open(path(name + ".sigmf-data"), "wb") as file:
        file.write(data)
    with open(path(name + ".sigmf-meta"), "w") as file:
        json.dump({"global": {"core:datatype": datatype, "core:sample_rate": 20e6, "core:version": "1.2.0"},
                   "captures": captures, "annotations": []}, file)
    return ["--profile", "wifi", "--device", "cpu", "--input", path(name + ".sigmf-meta"),
            "--json", path(name + ".json")]


def receive_file(arguments, name, **expected):
    done = check_run(0, "receive", *arguments)
    with open(path(name + ".json")) as file:
        return check_summary(file.read(), done.stdout.decode().splitlines()[-1], **expected)


if has_json:
    sent = ["--profile", "wifi", "--mbps", "6", "--count", "30", "--length", "200", "--snr", "30"]
    loud = array.array("h", run("transmit", *sent, "--format", "cs16", "--level", "-5", "--output", "-").stdout)
    count, lost = len(loud) // 2, {20000: 777, 50000: 1, 51000: 123456}
    summary = receive_file(write_lossy("loud", "ci16_le", loud.tobytes(), lost), "loud", samples=count, taken=count,
                           clipped=limited(loud), not_finite=0, lost=sum(lost.values()), missing=0)
    check(summary["clipped"] > 0 and summary["fcs_ok"] > 20, "little to count:", summary)
    quiet = array.array("f", run("transmit", *sent, "--output", "-").stdout)
    wrong = {chance.randrange(len(quiet) // 2) for _ in range(41)}
    for i in wrong:
        quiet[2 * i + chance.randrange(2)] = chance.choice([float("nan"), float("inf"), float("-inf")])
    summary = receive_file(write_lossy("quiet", "cf32_le", quiet.tobytes(), lost), "quiet", samples=len(quiet) // 2,
                           clipped=0, not_finite=len(wrong), lost=sum(lost.values()))
    check(summary["fcs_ok"] > 5, "few frames:", summary)
    receive_file(write_lossy("nothing", "cf32_le", bytes(8 * 5000), {}), "nothing", samples=5000, frames=0,
                 clipped=0, not_finite=0, lost=0, unknown_losses=0, missing=0)
    # At half the clock the source gives half as many samples as it takes.
    arguments = write_lossy("loud", "ci16_le", loud.tobytes(), lost)
    arguments[1] = "wifi-10mhz"
    summary = receive_file(arguments, "loud", taken=count, clipped=limited(loud), lost=sum(lost.values()))
    check(abs(summary["samples"] - count / 2) < 1000, count, "samples became", summary)

# ---- a file that is cut while it is read: the output's reader holds the command up until then
LONG, LEFT = 2_000_000, 1_234_567
for name, arguments in (("filter", ["--output", "-", "--taps", "lowpass:5e6:2e6"]),
                        ("resample", ["--output", "-", "--to", "20e6"])):
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

if has_json:  # the reader of the frames holds the command up
    data = run("transmit", "--profile", "wifi", "--mbps", "54", "--count", "400", "--length", "1500",
               "--output", "-").stdout
    total = len(data) // 8
    left = total // 2
    with open(path("long.cf32"), "wb") as file:
        file.write(data)
    process = subprocess.Popen([PENSTOCK, "receive", "--profile", "wifi", "--device", "cpu",
                                "--input", path("long.cf32"), *F32[2:], "--json", "-"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    first = process.stdout.read(1)
    os.truncate(path("long.cf32"), 8 * left)
    rest = process.stdout.read()
    told = process.stderr.read().decode()
    check(process.wait() == 1, "receive ended with", process.returncode)
    lines = [line for line in told.splitlines() if not line.startswith("penstock: ")]
    check(len(lines) == 1, told)
    check_summary((first + rest).decode(), lines[0], samples=left, taken=left, missing=total - left)
finish()
