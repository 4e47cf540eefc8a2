# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""Progress on a terminal: share, rate and time left of long work, what a slow start waits for, and nothing elsewhere.
Each command works until its line was seen, however fast it is, and is then interrupted."""

import os
import pty
import re
import select
import signal
import subprocess
import time

from cli import PENSTOCK, check, finish, path

LIMIT_S = 120
CLEAR = "\r\x1b[K"
SIGNAL = r"(\d+) %, [\d.]+ of [\d.]+ s of signal, [\d.e+-]+ Msample/s, \d+(:\d\d)? (s|min|h) left"


def chunks(total, name):
    return rf"(\d+) %, \d+ of {total} {name}"


RATED = r", [\d.e+-]+ a second, \d+(:\d\d)? (s|min|h) left"


class Terminal:
    """A command whose standard error is a terminal."""

    def __init__(self, *arguments, stdin=subprocess.DEVNULL):
        self.ours, theirs = pty.openpty()
        self.text = ""
        self.process = subprocess.Popen([PENSTOCK, *arguments], stdin=stdin, stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)

    def read(self, wait_s):
        """False at the end."""
        if not select.select([self.ours], [], [], wait_s)[0]:
            return True
        try:
            got = os.read(self.ours, 65536)
        except OSError:  # how Linux tells of the end
            got = b""
        self.text += got.decode()
        return bool(got)

    def wait_for(self, pattern):
        """The match, or None where the command ends before."""
        end = time.monotonic() + LIMIT_S
        found = None
        while not found and time.monotonic() < end and self.read(0.2):
            found = re.search(pattern, self.text)
        return found

    def close(self):
        """The exit code; all that was written is in `text` then."""
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end and self.read(0.2):
            pass
        os.close(self.ours)
        return self.process.wait(LIMIT_S)


def check_line(pattern, *arguments, **options):
    terminal = Terminal(*arguments, **options)
    found = terminal.wait_for(pattern)
    terminal.process.send_signal(signal.SIGINT)
    code = terminal.close()
    if "is not in this build" in terminal.text:
        print("SKIPPED:", arguments[0], terminal.text.strip())
        return terminal.text
    check(found, arguments, "never showed", pattern, "but", terminal.text[-2000:])
    check(not found or not found.groups() or found[1] is None or 0 <= int(found[1]) <= 100, arguments, "share", found)
    check(code == 0, arguments, "exit code", code, terminal.text[-500:])
    shown = [line for line in re.split(r"\r\x1b\[K|\r\n", terminal.text) if line and not line.startswith("penstock: ")]
    check(all(len(line) <= 160 for line in shown), arguments, "too long:", shown)
    told_last = terminal.text.rsplit(CLEAR, 1)[-1]
    check(all(not line or line.startswith("penstock: ") for line in told_last.split("\r\n")), arguments,
          "left its line:", told_last)
    return terminal.text


# A recording that takes no room and hours to go through.
huge = path("huge.cs8")
with open(huge, "wb") as file:
    file.truncate(1 << 38)
RAW = ["--format", "cs8", "--rate", "20e6"]
FILTER = ["filter", *RAW, "--output", "/dev/null", "--taps", "lowpass:1e6:1e6", "--device", "cpu"]
check_line(SIGNAL, *FILTER, "--input", huge)
check_line(SIGNAL, "spectrum", *RAW, "--input", huge, "--png", path("x.png"), "--device", "cpu")
check_line(SIGNAL, "channelize", *RAW, "--input", huge, "--png", path("y.png"), "--channels", "16", "--device", "cpu")
check_line(SIGNAL + ": 0 frames, 0 good", "receive", *RAW, "--input", huge, "--profile", "wifi", "--device", "cpu")
check_line(SIGNAL, "resample", *RAW, "--input", huge, "--output", "/dev/null", "--to", "15e6")
limited = check_line(r"(\d+) %, [\d.]+ of 3600.000 s of signal", *FILTER, "--input", huge, "--seconds", "3600")
check("of 6871.948 s" not in limited, limited)

# Nobody knows the length of a pipe.
with subprocess.Popen(["cat", huge], stdout=subprocess.PIPE) as cat:
    text = check_line(r"\d\.\d{3} s of signal, [\d.e+-]+ Msample/s", *FILTER, "--input", "-", stdin=cat.stdout)
    check("%" not in text and "left" not in text, text)
    cat.stdout.close()
    cat.terminate()

check_line(chunks(1000000000, "frames") + RATED, "transmit", "--profile", "wifi", "--count", "1e9",
           "--output", "/dev/null")
check_line(chunks(r"\d+", "cases") + r"(, [\d.e+-]+ a second, .* left)?: \S+ on cpu", "check", "cpu")
check_line(chunks(2 if len(os.sched_getaffinity(0)) > 1 else 1, "cases") + r": fft:16 on cpu", "bench", "cpu",
           "--case", "fft:16")
check_line(chunks(8, "rates") + r": 6 Mb/s at ", "bench", "--study", "per", "cpu")
check_line(chunks(r"\d+", "filters made") + r"(, .* left)?: \d+ taps", "bench", "--study", "taps", "cpu")
check_line(chunks(r"\d+", "measurements") + r"(, .* left)?: .* points", "bench", "--study", "radix", "--most", "64",
           "cpu")
check_line(chunks(r"\d+", "measurements") + r"(, .* left)?: .* points", "bench", "--study", "2d", "--most", "16", "cpu")
check_line(chunks(1, "lengths") + r"(, .* left)?: 64 points", "bench", "--study", "plans", "--most", "64", "cpu")

# A start that waits: nobody writes to a named pipe yet.
fifo = path("fifo.cs8")
os.mkfifo(fifo)
terminal = Terminal(*FILTER, "--input", fifo)
waited = terminal.wait_for(r"opening the input, 2 s")
check(waited, "did not tell what it waits for:", terminal.text)
check("opening the input, 1 s" in terminal.text, terminal.text)
with open(fifo, "wb") as file:
    file.write(bytes(2 << 16))
check(terminal.close() == 0, terminal.text)
check(CLEAR in terminal.text.split("opening the input, 2 s")[-1], "the line stays:", terminal.text)

# Elsewhere than on a terminal nothing is written.
done = subprocess.run([PENSTOCK, *FILTER, "--input", huge, "--count", "1e6"], capture_output=True, timeout=LIMIT_S)
check(done.returncode == 0 and done.stderr == b"", done.stderr)
process = subprocess.Popen([PENSTOCK, *FILTER, "--input", fifo], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
time.sleep(1.5)
with open(fifo, "wb") as file:
    file.write(bytes(2 << 16))
check(process.communicate(timeout=LIMIT_S)[1] == b"" and process.returncode == 0, "wrote to what is no terminal")

finish()
