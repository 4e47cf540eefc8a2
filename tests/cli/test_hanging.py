# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""A driver that hangs: no command that does not name it waits for it but doctor, who names it is told, the result is
remembered, and a signal ends the wait at any time."""

import os
import random
import shutil
import signal
import statistics
import subprocess
import threading
import time

from cli import PENSTOCK, check, check_run, finish, path, run

DRIVER = os.environ.get("PENSTOCK_TEST_HANG_DRIVER")
if not DRIVER:
    print("SKIPPED: this build has no OpenCL")
    raise SystemExit(77)
MOST_S = 0.3  # that a command may be delayed
TRIES = 10  # of which the best counts: what others do on this machine delays it too
SIGNAL_S = 0.5
has_json = run("devices", "--json").returncode == 0
has_png = "libpng" not in run("spectrum", "--png", path("x.png")).stderr
cold, kept = path("cold"), path("kept")
hang = {"PENSTOCK_OPENCL_LIBRARY": DRIVER, "PENSTOCK_CUDA_LIBRARY": "/none"}
none = {"PENSTOCK_OPENCL_LIBRARY": "/none", "PENSTOCK_CUDA_LIBRARY": "/none"}
check_run(0, "transmit", "-p", "wifi", "--count", "3", "-o", path("in.cf32"))
RAW = ["-f", "cf32", "-r", "20e6"]
COMMANDS = {
    "devices": ["devices"],
    "check": ["check", "cpu", "--case", "fft:64"],
    "check auto": ["check", "auto", "--case", "fft:64"],
    "bench": ["bench", "cpu", "--case", "fft:64"],
    "filter": ["filter", "-i", path("in.cf32"), *RAW, "-t", "lowpass:4e6:1e6", "-o", path("o.cf32")],
    "filter on cpu": ["filter", "-d", "cpu", "-i", path("in.cf32"), *RAW, "-t", "lowpass:4e6:1e6",
                      "-o", path("o.cf32")],
    "resample": ["resample", "-i", path("in.cf32"), *RAW, "--to", "16e6", "-o", path("q.cf32")],
    "receive": ["receive", "-p", "wifi", "-i", path("in.cf32"), *RAW, "--pcap", path("o.pcap")],
    "transmit": ["transmit", "-p", "wifi", "-o", path("t.cf32")],
}
if has_png:
    COMMANDS["spectrum"] = ["spectrum", "-i", path("in.cf32"), *RAW, "--fft", "64", "--png", path("o.png")]
if has_json:
    COMMANDS["channelize"] = ["channelize", "-i", path("in.cf32"), *RAW, "-m", "4", "-o", path("c")]


def measure(command, machine, folder):
    began = time.monotonic()
    done = run(*COMMANDS[command], environment={**machine, "PENSTOCK_CACHE_DIR": folder})
    took = time.monotonic() - began
    check(done.returncode == 0, command, "ended with", done.returncode, done.stderr)
    return took, done


def ours():
    """Processes of this test's driver, for as long as they are at it."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/environ", "rb") as file:
                if f"PENSTOCK_CACHE_DIR={path('')}".encode() in file.read():
                    found.append(int(number))
        except OSError:
            continue
    return found


# ---- cold: the probe goes on beside, and the delay is bounded
for command in COMMANDS:
    extra = []
    while len(extra) < TRIES and (len(extra) < 3 or min(extra) > MOST_S):
        shutil.rmtree(cold, ignore_errors=True)
        without, _ = measure(command, none, path("none"))
        took, done = measure(command, hang, cold)
        extra.append(took - without)
    print(f"{command}: {min(extra):.3f} to {max(extra):.3f} s more with a driver that hangs")
    check(min(extra) <= MOST_S, command, "is delayed by", extra)
    check("nobody waits" not in done.stderr and "did not answer" not in done.stderr, command, done.stderr)
    if command == "devices":
        check(b"has not answered yet" in done.stdout and b"devices --wait" in done.stdout, done.stdout.decode())

# ---- the probe went on without the command that began it, one for all of them, and has left its result
shutil.rmtree(kept, ignore_errors=True)
for _ in range(3):
    measure("devices", hang, kept)
check(len(ours()) <= 6, "processes are left:", ours())

# ---- any signal ends the wait for a driver that was named
# Who names the driver waits for it meanwhile, 20 s.
folder, waited = path("named"), []


def wait_for_named():
    began = time.monotonic()
    waited.append(run(*COMMANDS["filter"], "-d", "opencl", environment={**hang, "PENSTOCK_CACHE_DIR": folder},
                      timeout=120))
    waited.append(time.monotonic() - began)


def wait_for_doctor():
    began = time.monotonic()
    asked.append(run("doctor", environment={**hang, "PENSTOCK_CACHE_DIR": path("doctor")}, timeout=120))
    asked.append(time.monotonic() - began)


asked = []
waiters = [threading.Thread(target=wait) for wait in (wait_for_named, wait_for_doctor)]
for waiter in waiters:
    waiter.start()
draw = random.Random(18)
WAITS = [["devices", "--wait"], ["check", "opencl"], ["bench", "opencl", "--case", "fft:64"],
         ["receive", "-p", "wifi", "-d", "opencl", "-i", path("in.cf32"), *RAW],
         ["filter", "-d", "opencl", "-i", path("in.cf32"), *RAW, "-t", "lowpass:4e6:1e6", "-o", path("w.cf32")],
         ["filter", "-d", "opencl", "-i", "-", *RAW, "-t", "lowpass:4e6:1e6", "-o", "-"]]
times = []
for arguments in WAITS:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process = subprocess.Popen([PENSTOCK, *arguments], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE,
                                   env={**os.environ, **hang, "PENSTOCK_CACHE_DIR": path("signals")})
        time.sleep(draw.uniform(0.2, 1))
        began = time.monotonic()
        process.send_signal(number)
        told = process.communicate(timeout=60)[1].decode()
        times.append(time.monotonic() - began)
        check(process.returncode == 0, arguments, number.name, "ended with", process.returncode, told)
        check("interrupted" in told and "did not answer" not in told, arguments, number.name, "told", told)
check(not os.path.exists(path("w.cf32")), "a file of nothing")
print(f"{len(times)} signals: {statistics.median(times):.2f} s in the median, {max(times):.2f} s at most")
check(statistics.median(times) <= SIGNAL_S, "signals are obeyed late:", times)

# ---- who names it is told after 2 s, gets the reason, and nobody waits for it again
for waiter in waiters:
    waiter.join()
told, took = asked
check(told.returncode == 0 and 19 < took < 60, "doctor:", took, told)
check(b"did not answer within 20 s" in told.stdout and b"cure: update or remove that driver" in told.stdout, told)
named, took = waited
lines = named.stderr.splitlines()
check(named.returncode == 1 and 19 < took < 60 and len(lines) == 2, "named:", took, named)
check(lines and "for more than 2 s now" in lines[0] and "asking drivers" in lines[0], lines)
check(lines and "did not answer within 20 s" in lines[-1], lines)
for command in ("devices", "filter", "receive", "transmit"):
    without, _ = measure(command, none, path("none"))
    took, done = measure(command, hang, folder)
    check(took - without <= MOST_S + 0.7, command, "waits for what is known:", took, without)
began = time.monotonic()
named = run(*COMMANDS["filter"], "-d", "opencl", environment={**hang, "PENSTOCK_CACHE_DIR": folder})
check(named.returncode == 1 and time.monotonic() - began < 3 and "did not answer within 20 s" in named.stderr, named)

# ---- by now the probe that was left to itself has told, too
end = time.monotonic() + 60
while time.monotonic() < end and not any(name.startswith("probe-opencl") for name in os.listdir(kept)):
    time.sleep(0.2)
took, done = measure("devices", hang, kept)
check(b"did not answer within 20 s" in done.stdout, "the result is not remembered:", done.stdout.decode())
end = time.monotonic() + 60
while time.monotonic() < end and ours():
    time.sleep(0.2)
check(not ours(), "processes are left:", ours())

# ---- another driver is tried again, and the folder can be cleared
other = path("other-driver.so")
shutil.copy(DRIVER, other)
took, done = measure("devices", {**hang, "PENSTOCK_OPENCL_LIBRARY": other}, kept)
check(b"has not answered yet" in done.stdout, "another driver has the first one's result:", done.stdout.decode())
while left := ours():  # they would ask it for 20 s
    for process in left:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass
    time.sleep(0.1)
finish()
