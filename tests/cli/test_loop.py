# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""transmit into receive: all rates, profiles and formats, through pipes and SigMF, with what a channel does."""

import json
import subprocess
import zlib

from cli import PENSTOCK, check, check_run, finish, path, read_frames, run, skip

if run("devices", "--json").returncode:
    skip("this build has no jansson: no --json to read")

RATES = [6, 9, 12, 18, 24, 36, 48, 54]


def frames_of(text):
    """Those that were decoded: what looked like a frame and was none is listed too, with the reason."""
    return [frame for frame in read_frames(text)[0] if frame["psdu"]]


def check_frames(frames, count, length, what, rates=None):
    check(len(frames) == count, what, "gave", len(frames), "frames, not", count)
    for number, frame in enumerate(frames):
        psdu = bytes.fromhex(frame["psdu"] or "")
        check(frame["fcs_ok"] and frame["length"] == length == len(psdu), what, frame)
        check(zlib.crc32(psdu[:-4]) == int.from_bytes(psdu[-4:], "little"), what, "FCS by zlib")
        check(psdu[:2] == b"\x08\x00", what, "no data frame")
        check(int.from_bytes(psdu[22:24], "little") >> 4 == number, what, "sequence number")
        check(not rates or frame["rate_mbps"] == rates[number % len(rates)], what, frame["rate_mbps"])


def pipe(send, receive):
    """One command into the other, as a shell does it."""
    sender = subprocess.Popen([PENSTOCK, "transmit", "--output", "-", *send], stdout=subprocess.PIPE)
    receiver = subprocess.run([PENSTOCK, "receive", "--input", "-", "--json", "-", *receive], stdin=sender.stdout,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    sender.stdout.close()
    check(sender.wait() == 0 and receiver.returncode == 0, send, receive, receiver.stderr.decode())
    return frames_of(receiver.stdout)


for profile, clock, rate in [("wifi", 1, "20e6"), ("wifi-10mhz", 0.5, "10e6"), ("wifi-5mhz", 0.25, "5e6")]:
    for mbps in RATES:
        frames = pipe(["--profile", profile, "--mbps", str(mbps * clock), "--count", "3", "--length", "200",
                       "--snr", "30"],
                      ["--profile", profile, "--format", "cf32", "--rate", rate])
        check_frames(frames, 3, 200, (profile, mbps), [mbps * clock])
        for frame in frames:
            check(frame["bandwidth_hz"] == float(rate) and abs(frame["snr_db"] - 30) < 5, frame)

for form in ["cf32", "cs16", "cs8", "cu8"]:
    frames = pipe(["--profile", "wifi", "--mbps", "all", "--count", "16", "--format", form],
                  ["--profile", "wifi", "--format", form, "--rate", "20e6"])
    check_frames(frames, 16, 138, form, RATES)

channel = ["--snr", "28", "--cfo", "-40000", "--sfo", "20", "--multipath", "50:-6,150:-12"]
frames = pipe(["--profile", "wifi", "--mbps", "12", "--count", "20", *channel],
              ["--profile", "wifi", "--format", "cf32", "--rate", "20e6"])
check_frames(frames, 20, 138, channel)
for frame in frames:
    check(abs(frame["cfo_hz"] + 40000) < 1000, "carrier offset", frame["cfo_hz"])

# Frames stand where the options say: a gap of 100 us before each, and 6 Mb/s over 400 bytes is 20 + 4 * 135 us.
check_run(0, "transmit", "--profile", "wifi", "--output", path("a.sigmf-meta"), "--mbps", "6", "--length", "400",
          "--gap", "100", "--count", "4", "--frequency", "5.18e9")
with open(path("a.sigmf-meta")) as file:
    meta = json.load(file)
check(meta["global"]["core:sample_rate"] == 20e6 and meta["captures"][0]["core:frequency"] == 5.18e9, meta)
done = check_run(0, "receive", "--profile", "wifi", "--input", path("a.sigmf-meta"), "--json", path("a.json"))
with open(path("a.json")) as file:
    frames = frames_of(file.read())
check_frames(frames, 4, 400, "SigMF")
for number, frame in enumerate(frames):
    expected = 2000 + number * (2000 + 560 * 20)
    check(abs(frame["sample"] - expected) <= 4 + number, "frame", number, "at", frame["sample"], "not", expected)
table = done.stdout.decode().splitlines()
check(table[0].split()[:2] == ["time", "s"] and "4 FCS ok" in table[-1], table)
check(sum("  ok  data " in line for line in table) == 4, table)
check("02:50:65:6e:73:74 > ff:ff:ff:ff:ff:ff" in table[1], table[1])

# The same samples at another rate are resampled, or read with the profile of half the clock as what they are.
check_run(0, "transmit", "--profile", "wifi", "--output", path("b.cf32"), "--mbps", "6", "--count", "5", "--snr", "30")
frames = frames_of(run("receive", "--profile", "wifi-10mhz", "--input", path("b.cf32"), "--format", "cf32", "--rate",
                       "10e6", "--json", "-").stdout)
check_frames(frames, 5, 138, "half clock", [3])
done = run("receive", "--profile", "wifi", "--input", path("b.cf32"), "--format", "cf32", "--rate", "40e6")
check(done.returncode == 0 and b" 0 FCS ok" in done.stdout, "frames of 20 MHz are none at 40:", done.stdout)
check_run(0, "transmit", "--profile", "wifi-10mhz", "--output", path("c.cf32"), "--mbps", "6", "--count", "5")
with open(path("c.cf32"), "rb") as file:
    slow = file.read()
# Each sample twice is a crude signal of 20 Msamples/s, which the receiver brings down to 10 again.
twice = b"".join(slow[i : i + 8] * 2 for i in range(0, len(slow), 8))
frames = frames_of(run("receive", "--profile", "wifi-10mhz", "--input", "-", "--format", "cf32", "--rate", "20e6",
                       "--json", "-", stdin=twice).stdout)
check_frames(frames, 5, 138, "resampled")

# The seed alone decides.
outputs = [run("transmit", "--profile", "wifi", "--output", "-", "--snr", "10", "--seed", seed).stdout
           for seed in (1, 1, 2)]
check(outputs[0] == outputs[1] != outputs[2], "the seed does not decide the signal")
finish()
