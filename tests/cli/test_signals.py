# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""Any signal is obeyed within 0.5 s at any time: every command that --help lists gets INT, TERM and HUP at random
times, with a fresh cache and with a kept one, and with nobody who takes its output.

What counts is the slowest. The machine may be busy with other things, so a process of its own is timed in the same
instant: it sleeps as often as the command may while it waits for its work to end, and computes for as long as the
command may to conclude it. What that process is late by, and nothing else, is added to the limit; on a machine with
nothing else to do it is late by a few milliseconds. What still takes longer is tried again at the same moment, three
times in all: what the command does at that moment is as slow again, what the machine did is not. Each part of the tests
has other moments, and one of the three signals for each command and state; PENSTOCK_TEST_FULL=1 has all three, each ten
times, in more states."""

import fcntl
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from cli import FULL, PART, PENSTOCK, check, check_run, draw, finish, path, run

DRIVER = os.environ.get("PENSTOCK_TEST_HANG_DRIVER")
LIMIT_S = 0.5
LONGEST_S = 0.9  # before the signal
AT_ONCE = 2
TRIES = 3
has_json = run("devices", "--json").returncode == 0
reference = ["reference"] * (run("check", "reference", "--case", "fft:16").returncode == 0)
has_png = "libpng" not in run("spectrum", "--png", path("x.png")).stderr

# ---- inputs that no command comes to the end of meanwhile
check_run(0, "transmit", "-p", "wifi", "--count", "20", "-o", path("long.cf32"))
os.truncate(path("long.cf32"), 1 << 32)
with open(path("long.bytes"), "wb") as file:
    file.truncate(1 << 32)
RAW = ["-i", path("long.cf32"), "-f", "cf32", "-r", "20e6"]
LOWPASS = ["-t", "lowpass:4e6:1e6"]
png = ["--png", "o.png"] if has_png else []
COMMANDS = {
    "devices": [["devices"], ["devices", "--wait"]],
    "doctor": [["doctor"]],
    "check": [["check", "--full"], ["check", "cpu", *reference, "--full"]],
    "bench": [["bench"], ["bench", "cpu", "--case", "fft:1048576:x16"], ["bench", "--study", "auto"],
              ["bench", "--study", "per", *png], ["bench", "cpu", "--study", "taps", *png],
              ["bench", "--study", "plans", *png], ["bench", "--study", "radix"], ["bench", "--study", "2d", *png],
              ["bench", "opencl", "--study", "enqueue"]],
    "spectrum": [["spectrum", *RAW, "--fft", "4096", "--png", "o.png"]] * has_png,
    "filter": [["filter", *RAW, *LOWPASS, "-o", "/dev/null"], ["filter", *RAW, *LOWPASS, "-d", "cpu", "-o", "-"]],
    "resample": [["resample", *RAW, "--to", "15e6", "-o", "/dev/null"],
                 ["resample", *RAW, "--ratio", "0.7312", "-o", "-"]],
    "channelize": [["channelize", *RAW, "-m", "4", "-o", "c", *png]] * has_json,
    "receive": [["receive", "-p", "wifi", *RAW, "--pcap", "o.pcap"], ["receive", "-p", "wifi", *RAW, "-d", "cpu"]],
    "transmit": [["transmit", "-p", "wifi", "--count", "1e9", "-o", "/dev/null"],
                 ["transmit", "-p", "wifi", "--count", "1e9", "-o", "-"]],
    "fec": [["fec", "ber", "--errors", "1e12", "--count", "1e12", "--csv", "o.csv", *png],
            ["fec", "ber", "--code", "ccsds", "-b", "100000", "-d", "prefer:opencl", "--from", "5", "--errors", "1e12"],
            ["fec", "encode", "-i", path("long.bytes"), "-o", "/dev/null"],
            ["fec", "decode", "-i", path("long.bytes"), "-o", "-"]],
}
listed = re.findall(r"^  (\S+) +\S", run("--help").stdout.decode(), re.MULTILINE)
check(set(listed) == set(COMMANDS), "--help lists", listed)

# ---- how late a process is that another one has nothing to do with
BASELINE = """
import sys, time
while sys.stdin.readline():
    began, busy = time.monotonic(), time.process_time()
    for _ in range(10):
        time.sleep(0.02)
    while time.process_time() - busy < 0.02:
        pass
    print(time.monotonic() - began - 0.2 - (time.process_time() - busy), flush=True)
"""


class Baseline:
    def __init__(self):
        self.process = subprocess.Popen([sys.executable, "-c", BASELINE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def begin(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def late_s(self):
        return max(0, float(self.process.stdout.readline()))

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def full_pipe():
    """Its two ends, where nothing more can be written."""
    ours, theirs = os.pipe()
    flags = fcntl.fcntl(theirs, fcntl.F_GETFL)
    fcntl.fcntl(theirs, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    try:
        while True:
            os.write(theirs, bytes(4096))
    except BlockingIOError:
        fcntl.fcntl(theirs, fcntl.F_SETFL, flags)
    return ours, theirs


lock = threading.Lock()
results, slow = [], []


def interrupt(baseline, arguments, number, cold, stalled, turn):
    for attempt in range(TRIES):
        took, late, ended, code, told, what = interrupt_once(baseline, arguments, number, cold, stalled, turn)
        if took <= LIMIT_S + late:
            break
        with lock:
            slow.append(f"{took:.2f} s where a process of its own was {late:.2f} s late: {' '.join(what)}")
    with lock:
        results.append((took - late, took, late, ended, what))
        check(code in (0, -number), *what, "ended with", code, told)
        check(took <= LIMIT_S + late, *what, f"took {took:.2f} s where a process of its own was {late:.2f} s late:",
              told)


def interrupt_once(baseline, arguments, number, cold, stalled, turn):
    draw = random.Random(repr((PART, arguments, number, cold, stalled, turn)))
    place = tempfile.mkdtemp(dir=path("."))
    environment = {**os.environ}
    if cold:
        environment["PENSTOCK_CACHE_DIR"] = os.path.join(place, "cache")
    if DRIVER and "--wait" in arguments:
        environment.update(PENSTOCK_OPENCL_LIBRARY=DRIVER, PENSTOCK_CUDA_LIBRARY="/none",
                           PENSTOCK_CACHE_DIR=os.path.join(place, "cache"))
    ours, theirs = full_pipe() if stalled else (None, subprocess.DEVNULL)
    process = subprocess.Popen([PENSTOCK, *arguments], cwd=place, stdin=subprocess.DEVNULL, stdout=theirs,
                               stderr=subprocess.PIPE, env=environment)
    after = draw.uniform(0.02, LONGEST_S)
    time.sleep(after)
    ended = process.poll() is not None
    baseline.begin()
    began = time.monotonic()
    process.send_signal(number)
    try:
        process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
    took, late = time.monotonic() - began, baseline.late_s()
    told = process.communicate()[1].decode()
    shutil.rmtree(place, ignore_errors=True)  # a driver may still be asked for the cache folder in it
    if stalled:
        os.close(ours)
        os.close(theirs)
    what = (" ".join(arguments), number.name, "cold" if cold else "warm", "stalled" if stalled else "",
            f"after {after:.2f} s")
    return took, late, ended, process.returncode, told, what


work = [(arguments, number, cold, stalled, turn) for command in COMMANDS.values() for arguments in command
        for cold, stalled in ((True, False), (False, True)) + (((True, True), (False, False)) if FULL else ())
        for turn in range(10 if FULL else 1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
work = draw(work, 4)
check({job[1] for job in work} == {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}, "not all signals are drawn")
random.Random(18).shuffle(work)
work.sort(key=lambda job: "--wait" in job[0])  # taken first: its driver is asked on for 20 s


def worker():
    baseline = Baseline()
    while True:
        with lock:
            if not work:
                break
            job = work.pop()
        try:
            interrupt(baseline, *job)
        except Exception as error:  # a thread's own would be lost
            with lock:
                check(False, job, "raised", repr(error))
    baseline.end()


wanted = len(work)
threads = [threading.Thread(target=worker) for _ in range(AT_ONCE)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
check(len(results) == wanted, "only", len(results), "signals of", wanted)
at_work = sum(not ended for _, _, _, ended, _ in results)
check(at_work >= 0.8 * wanted, "only", at_work, "signals met a command at work")
most, took, late, _, what = max(results, default=(0, 0, 0, True, ()))
print(f"{wanted} signals, {at_work} of them to a command at work: "
      f"{max((r[1] for r in results), default=0):.2f} s at most; "
      f"the worst took {took:.2f} s where a process of its own was {late:.2f} s late: {' '.join(what)}")

# ---- two at once, as timeout(1) and closed terminals send them, are one: what was read is written
for first, second in ((signal.SIGTERM, signal.SIGHUP), (signal.SIGINT, signal.SIGTERM), (signal.SIGHUP, signal.SIGINT)):
    process = subprocess.Popen([PENSTOCK, "resample", "-i", "-", "-f", "cf32", "-r", "1e6", "--ratio", "1", "-d", "cpu",
                                "-o", path("two.cf32")], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(bytes(8 * 100000))
    process.stdin.flush()
    time.sleep(0.5)
    process.send_signal(first)
    process.send_signal(second)
    told = process.communicate(timeout=60)[1].decode()
    check(process.returncode == 0 and os.path.getsize(path("two.cf32")) == 8 * 100000, first.name, "and", second.name,
          "ended it with", process.returncode, told)
    os.remove(path("two.cf32"))
if slow:
    print("Tried again:", *slow, sep="\n  ")
finish()
