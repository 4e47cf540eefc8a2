# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""A user who may have no more threads or processes (`ulimit -u`): each command does its work with those that it gets,
or ends with an error in a line; no signal ends it, and none hangs."""

import os
import re
import resource
import subprocess

from cli import PENSTOCK, check, check_run, finish, path, run, skip

USER = 1000000 + os.getpid()  # limits of processes do not bind root: of one who has none running, this test's alone
LIMITS = (1, 2, 4, 6, 8, 12)
has_json = run("devices", "--json").returncode == 0
has_png = "libpng" not in run("spectrum", "--png", path("x.png")).stderr
check_run(0, "transmit", "-p", "wifi", "--count", "3", "-o", path("in.cf32"))
RAW = ["-i", path("in.cf32"), "-f", "cf32", "-r", "20e6"]
COMMANDS = {
    "devices": ["devices"],
    "devices --wait": ["devices", "--wait"],
    "doctor": ["doctor"],
    "check": ["check", "cpu", "--case", "fft:64", "--case", "fft:1021", "--case", "filter:ccc:129"],
    "check auto": ["check", "auto", "--case", "fft:64"],
    "bench": ["bench", "cpu", "--case", "fft:64:x16"],
    "filter": ["filter", *RAW, "-t", "lowpass:4e6:1e6", "-o", path("o/f.cf32")],
    "receive": ["receive", "-p", "wifi", *RAW, "--pcap", path("o/r.pcap")],
    "fec": ["fec", "ber", "--from", "3", "--to", "4", "-n", "1e5", "--csv", path("o/b.csv")],
    "resample": ["resample", *RAW, "--ratio", "24/25", "-o", path("o/q.cf32")],
    "transmit": ["transmit", "-p", "wifi", "-o", path("o/t.cf32")],
}
if has_png:
    COMMANDS["spectrum"] = ["spectrum", *RAW, "--fft", "64", "--png", path("o/s.png")]
if has_json:
    COMMANDS["channelize"] = ["channelize", *RAW, "-m", "4", "-o", path("o/c")]


def limit(most):
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(USER)
        os.setuid(USER)
    resource.setrlimit(resource.RLIMIT_NPROC, (most, most))


def run_limited(most, *command):
    environment = {**os.environ, "PENSTOCK_CACHE_DIR": "", "HOME": path("home")}
    return subprocess.run(command, preexec_fn=lambda: limit(most), stdin=subprocess.DEVNULL, capture_output=True,
                          env=environment, timeout=120)


os.chmod(path("."), 0o755)
for place in ("o", "home"):  # a driver keeps its files in the latter
    os.mkdir(path(place))
    os.chmod(path(place), 0o777)
try:
    bound = run_limited(1, "/bin/sh", "-c", "(:) && :").returncode != 0
    reached = run_limited(100, PENSTOCK, "--version").returncode == 0
except OSError as error:
    bound, reached = False, error
if not bound or reached is not True:
    skip(f"no limit of processes can be set here (it binds: {bound}, the command is reached: {reached})")

listed = set(re.findall(r"^  (\S+) +\S", run("--help").stdout.decode(), re.MULTILINE))
check(listed - {"spectrum", "channelize"} <= set(name.split()[0] for name in COMMANDS), "--help lists", listed)
runs = failed = 0
for name, command in COMMANDS.items():
    for most in LIMITS:
        done = run_limited(most, PENSTOCK, *command)
        told = done.stderr.decode().splitlines()
        runs += 1
        failed += done.returncode != 0
        check(done.returncode in (0, 1), name, "with", most, "threads ended with", done.returncode, told)
        check(all(line.startswith("penstock: ") for line in told), name, "with", most, "threads said", told)
        check(done.returncode == 0 or told or name in ("doctor", "check auto"), name, "failed without a word")
        for left in os.listdir(path("o")):
            check(done.returncode == 0 and "part" not in left, name, "with", most, "threads left", left)
            os.unlink(path("o/" + left))
print(f"{runs} runs, {failed} ended with an error in words")
finish()
