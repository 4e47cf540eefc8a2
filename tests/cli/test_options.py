# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""Each option of each command, as the command's own --help lists it, with values that it must refuse: exit code 2, one
line that names the option, and no file made or changed. PENSTOCK_TEST_FULL=1 writes each value in every way; else of
the values that are always garbage each fourth is tried, another with each commit."""

import concurrent.futures
import math
import os
import queue
import re
import shutil
import subprocess
import zlib

from cli import FULL, PART, PENSTOCK, check, finish, path

SLOW = os.environ.get("PENSTOCK_TEST_SANITIZED") == "1"  # a process takes ten times as long there
WORKERS = 2

# ---- bad values ----

# Never a number.
GARBAGE = [
    "", " ", "\t", "\n", "nan", "NaN", "-nan", "nan(1)", "inf", "-inf", "+inf", "INF", "Infinity", "1e999",
    "-1e999", "1e-999", "1e99999999999999999999", "x", "one", "0x10", "0X1p3", "0b1", "1k", "1M", "20 ", " 20", "20\n",
    "1\r\n2", "1 2", "1,5", "1.2.3", "1e", "1e+", "1e5x", "1e5.5", "e5", ".", "+", "-", "--5", "+-5", "-", "1_000",
    "1'000", "5%", "5/0", "\u0665", "\u22125", "\uff15", "5Hz", "5dB", "true", "%s%n", "$(id)", ";", "\x1b[2J", "\x7f",
    "9" * 400, "0" * 70 + "5", "5" + " " * 3000, "\udcff",
]  # fmt: skip

OUT_OF_ALL_RANGES = ["1e30", "-1e30", "1e308", "-1e308", "9" * 60]


def below(number, whole):
    return repr(int(number) - 1) if whole else repr(math.nextafter(number, -math.inf))


def above(number, whole):
    return repr(int(number) + 1) if whole else repr(math.nextafter(number, math.inf))


def bad_numbers(low, high, whole):
    bad = GARBAGE + OUT_OF_ALL_RANGES + [below(low, whole), above(high, whole), repr(2 * high + 1)]
    bad += ["-1", "-0.5"] if low > -0.5 else []
    bad += ["0", "-0", "0.0", "0e5"] if low > 0 else []
    bad += ["1.5", "10.5", "1e-5", repr(low + 0.25)] if whole else []
    return bad


def fill(pattern, separators=""):
    """The pattern with garbage in its place that has none of the value's own separators."""
    return [pattern.replace("{}", bad) for bad in GARBAGE if not set(bad) & set(separators)]


DESIGNS = ["lowpass:{}:2e4", "highpass:1e5:{}", "bandpass:1e5:{}:2e4", "bandreject:1e5:2e5:{}", "equiripple:{}:2e4",
           "rrc:{}:0.3", "rrc:1e5:{}"]  # fmt: skip

# Options that take text: a good value, and bad ones besides the empty one. A new option must be told here.
TEXTS = {
    "input": ("in.sigmf-meta", ["in.sigmf-data.raw", "x"]),  # raw, and neither format nor rate told
    "antenna": ("RX", []),
    "device": ("cpu", []),
    "load": ("libm.so.6", []),
    "output": ("out.sigmf-meta", []),
    "png": ("out.png", []),
    "json": ("-", []),
    "pcap": ("out.pcap", []),
    "constellation": ("out.png", []),
    "format": ("cf32", ["x", "CF32", "cf32 ", " cf32", "cf32,cs16", "cf64", "f32", "c" * 300]),
    "output-format": ("cs16", ["x", "CS16", "cs16 ", "0", "f32", "c" * 300]),
    "profile": ("wifi", ["x", "WIFI", "wifi ", "wifi-20mhz", "lora", "w" * 300]),
    "window": ("hann", ["x", "Hann", "hann:3", "kaiser", "gaussian:0", "kaiser:-1", "kaiser:1001",
                        # the library reads them
                        *(value for value in fill("kaiser:{}") if not re.search("1e-999|0{9}", value))]),
    "taps": ("lowpass:1e5:2e4",
             ["lowpass:", "lowpass:1e5", "lowpass:1e5:2e4:3", "lowpass:1e5:0", "lowpass:-1e5:2e4", "bandpass:1e5:2e5",
              "rrc:1e5:1.1", "lowpass:1e30:1", "lowpass:1:1e30", "rrc:0:0.5", "rrc:1e5:-0.1",
              *(v for d in DESIGNS for v in fill(d))]),
    "oversample": ("2", ["0", "1/0", "1/2", "-2", "2.0", "2e0", "2/1/1", "3/2/", "/", "1e30", "65537", *fill("{}", "/"),
                         *fill("4/{}")]),
    "keep": ("0,1",
             [",", "0,", ",0", "0,,1", "4", "-3", "1.0", "1e0", "0;1", "-", "--1", *fill("{}", ","), *fill("0,{}")]),
    "mbps": ("6", ["0", "7", "-6", "6.1", "All", "all ", "1e30", "1e300", *fill("{}")]),
    "multipath": ("150:-6", [",", ":", "150", "150:", ":-6", "150:-6,", "-1:0", "1e6:0", "10:61", "10:-101", "150:-6:1",
                             ",".join(["1:1"] * 32), *fill("{}:-6", ":"), *fill("150:{}", ",")]),
    "part": ("1/2", ["0/2", "3/2", "1/0", "1", "1/1000001", "1.0/2", "+1/2", "1/2/3", "-1/2", "1e0/2", *fill("{}/2"),
                     *fill("1/{}")]),
    "case": ("fft:4", ["fft", "fft:0", "fft:-4", "fft:1e1", "fft:4.0", "fft:4:x0", "f" * 300, "fft:4" + ":x" * 20,
                       "ofdm:64/16/26/1", *fill("fft:{}"), *fill("fft:64:x{}"), *fill("spectrum:64:hop{}"),
                       *fill("filter:ccf:{}"), *fill("channelizer:{}"), *fill("synthesizer:{}"),
                       *fill("synthesizer:64:hop{}"), *fill("ofdm:{}/64/336"), *fill("ofdm:512/64/{}"),
                       *fill("receive:wifi:{}")]),
    "against": ("fftw", ["x", "FFTW", "fftw ", "0"]),
    "study": ("per", ["x", "PER", "per ", "0"]),
    "code": ("wifi", ["x", "WIFI", "wifi ", "wifi:", "wifi:9/8", "wifi:3/4:1", "dab:1", "c" * 300, *fill("{}"),
                      *fill("wifi:{}")]),
    "soft": ("s8", ["x", "S8", "s8 ", " s8", "cs8", "s8,f32", "s" * 300]),
    "order": ("msb", ["x", "MSB", "msb ", "lsb,msb", "0"]),
    "ratio": ("24/25", ["0", "-1", "1/0", "0/1", "24/25/1", "2.5/1", "1/2.5", "/", "1/", "/1", "1025", "1/1025",
                        "0.0009", "2147483649/2147483648", *fill("{}", "/"), *fill("24/{}"), *fill("{}/25")]),
    "csv": ("out.csv", []),
}  # fmt: skip

# Where a command's option takes other text than those of its name elsewhere.
TEXTS["why"] = TEXTS["case"]
TEXTS_OF_COMMANDS = {("fec", "input"): ("in.sigmf-data.raw", [])}  # bytes, or soft bits: no samples


def texts_of(command, name):
    return TEXTS_OF_COMMANDS.get((command, name), TEXTS.get(name))


# What else than its name a line may call an option's value.
CALLED = {"format": "format", "output-format": "format", "profile": "profile", "window": "window", "case": "case",
          "why": "case", "against": "peer", "study": "study", "input": "raw samples", "soft": "format of soft bits",
          "order": "order"}  # fmt: skip

# What makes a command do its work: options that an option under test takes the place of, then arguments. A command that
# is not here has no option that only makes sense beside others.
RECORDING = {"input": "in.sigmf-meta"}
BASES = {
    "check": ({"case": "fft:4"}, ["cpu"]),
    "spectrum": ({**RECORDING, "png": "out.png"}, []),
    "filter": ({**RECORDING, "output": "out.sigmf-meta", "taps": "lowpass:1e6:1e6"}, []),
    "resample": ({**RECORDING, "output": "out.sigmf-meta", "to": "16e6"}, []),
    "channelize": ({**RECORDING, "output": "out", "channels": "4"}, []),
    "receive": ({**RECORDING, "profile": "wifi", "pcap": "out.pcap"}, []),
    "fec": ({"from": "4", "to": "4", "count": "10000"}, ["ber"]),
    "transmit": ({"profile": "wifi", "output": "out.sigmf-meta", "count": "1"}, []),
}

# Options that not all of what a command does has a use for: (command, arguments that choose it, options without one).
MISPLACED = [
    ("fec", ["encode", "--input=in.sigmf-data.raw", "--output=out.csv"],
     "device from to step count errors seed csv png"),
    ("fec", ["decode", "--input=in.sigmf-data.raw", "--output=out.csv"], "from to step count errors seed csv png"),
    ("fec", ["ber", "--bits=8"], "input output order"),
    ("doctor", ["--load=libm.so.6"], "clear-cache"),
    ("doctor", ["--devices"], "clear-cache"),
    ("bench", ["cpu"], "most count length cfo sfo"),
    ("bench", ["--study=per", "cpu"], "case against csv most"),
    ("bench", ["--study=auto", "cpu"], "against png most count length cfo sfo"),
    ("bench", ["--study=plans", "cpu"], "case against count length cfo sfo"),
]

# ---- what the command says of itself ----


def call(arguments, folder):
    environment = {**os.environ, "PENSTOCK_CACHE_DIR": os.path.join(folder, "cache")}
    return subprocess.run([PENSTOCK, *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=600)  # fmt: skip


def learn_commands():
    text = call(["--help"], path("")).stdout.decode()
    return re.findall(r"^  (\S+) +\S", text, re.MULTILINE)


class Option:
    """A line of --help: -n, --count=N   Text: whole, 1 .. 9e+15 samples (8)"""

    def __init__(self, command, letter, name, value, about):
        self.letter, self.name, self.takes_value = letter, name, bool(value)
        self.texts = texts_of(command, name)
        number = re.search(r": (whole, )?(\S+) \.\. (\S+)(?: [A-Za-z]+)?(?: \(([^ ()]+)\))?$", about)
        self.is_number = number is not None
        if number:
            self.whole, self.low, self.high = bool(number[1]), float(number[2]), float(number[3])
            self.good = number[4] or number[2]

    def good_value(self):
        return self.good if self.is_number else self.texts[0]

    def bad_values(self):
        bad = bad_numbers(self.low, self.high, self.whole) if self.is_number else ["", *self.texts[1]]
        return list(dict.fromkeys(bad))


def learn_options(command):
    """popt breaks long lines: what belongs to an option is joined first."""
    text = call([command, "--help"], path("")).stdout.decode()
    lines = []
    for line in text.split("\n\n")[0].splitlines()[2:]:
        if re.match(r" +(-\S, +)?--", line):
            lines.append(line.strip())
        else:
            lines[-1] += " " + line.strip()
    found = [re.fullmatch(r"(?:-(\S), )?--([a-z0-9-]+)(?:=(\S+))? +(.*)", line) for line in lines]
    check(all(found) and len(found) >= 1, command, "--help has lines that are no options:", lines)
    return [Option(command, *one.groups()) for one in found if one and one[2] != "help"]


# ---- runs ----


def make_folder(name):
    """With a recording, and results of earlier work that no refused call may touch."""
    folder = path(name)
    os.mkdir(folder)
    made = call(["transmit", "--profile", "wifi", "--count", "1", "--output", "in.sigmf-meta"], folder)
    check(made.returncode == 0, made.stderr)
    shutil.copy(os.path.join(folder, "in.sigmf-data"), os.path.join(folder, "in.sigmf-data.raw"))
    shutil.rmtree(os.path.join(folder, "cache"), ignore_errors=True)
    for old in ["out.sigmf-meta", "out.sigmf-data", "out.png", "out.pcap", "out.csv",
                *(f"out-{k}.sigmf-{p}" for k in range(4) for p in ("meta", "data"))]:
        with open(os.path.join(folder, old), "w") as file:
            file.write(f"old {old}\n")
    return folder


def state_of(folder):
    """Names, sizes, times and places."""
    state = {}
    for entry in os.scandir(folder):
        about = entry.stat(follow_symlinks=False)
        state[entry.name] = about.st_size, about.st_mtime_ns, about.st_ino
    return state


def digests_of(folder):
    return {entry.name: zlib.crc32(open(entry.path, "rb").read()) for entry in os.scandir(folder) if entry.is_file()}


class Bench:
    """A folder where one call after the other is tried."""

    def __init__(self, name):
        self.folder = make_folder(name)
        self.state, self.digests = state_of(self.folder), digests_of(self.folder)


benches = queue.Queue()


def refuse(command, arguments, mentioned):
    """None, or what was wrong with the refusal."""
    bench = benches.get()
    done = call([command, *arguments], bench.folder)
    after = state_of(bench.folder)
    touched, bench.state = after != bench.state, after
    benches.put(bench)
    lines = done.stderr.decode(errors="replace").split("\n")
    wrong = []
    if done.returncode != 2:
        wrong.append(f"exit code {done.returncode}")
    if done.stdout:
        wrong.append(f"wrote {done.stdout[:200]}")
    if len(lines) != 2 or lines[1] or not lines[0].startswith("penstock: ") or len(lines[0]) > 800:
        wrong.append(f"did not tell in one line: {lines}")
    if re.search(r"[\x00-\x1f\x7f]", lines[0]):
        wrong.append(f"control characters in {lines[0]!r}")
    if not any(word in lines[0] for word in mentioned):
        wrong.append(f"does not name it: {lines[0]!r}")
    if touched:
        wrong.append("changed files")
    return f"{command} {' '.join(map(repr, arguments))[:300]}: {'; '.join(wrong)}" if wrong else None


def is_drawn(*what, one_of):
    return zlib.crc32(repr((PART, *what)).encode()) % one_of == 0


ALWAYS = {"", " ", "nan", "inf", "1e30", "-1", "0", "1.5", "0x10", "5x"}


def forms(command, option, value):
    """The value in the ways that popt knows: all, or one drawn by hash,
    and of the values that are always garbage a fourth."""
    ways = [[f"--{option.name}={value}"], [f"--{option.name}", value]]
    if option.letter:
        ways.append([f"-{option.letter}", value])
        if value:
            ways.append([f"-{option.letter}{value}"])
    if FULL:
        return ways
    if SLOW and not is_drawn(command, option.name, value, one_of=40):
        return []
    if (value not in ALWAYS and any(bad and bad in value for bad in GARBAGE)
        and not is_drawn(command, option.name, value, one_of=4)):
        return []
    return [ways[zlib.crc32(repr((PART, value, option.name, command)).encode()) % len(ways)]]


def calls_of(command, option):
    """(arguments, what the line must mention) for each call that must be refused."""
    base, rest = BASES.get(command, ({}, []))
    others = [f"--{name}={value}" for name, value in base.items() if name != option.name]
    mentioned = ["--" + option.name, CALLED.get(option.name, "--" + option.name)]
    if not option.takes_value:
        return [([f"--{option.name}={value}", *others, *rest], mentioned) for value in ("", "1", "yes")]
    calls = [([*others, *rest, *way], mentioned) for value in option.bad_values()
             for way in forms(command, option, value)]
    calls.append(([*others, *rest, "--" + option.name], mentioned))
    names = ["--" + option.name]
    if option.letter:
        names.append("-" + option.letter)
        calls.append(([*others, *rest, names[1]], names))
    if option.name != "case":
        good = option.good_value()
        for first in names:
            calls.extend(([first, good, *others, *rest, second, value], ["given twice"]) for second in names
                         for value in (good, "x"))
    return calls


def misplaced(commands):
    """Like calls_of(), of all commands."""
    calls = []
    for command, chosen, names in MISPLACED:
        options = {option.name: option for option in commands[command]}
        for name in names.split():
            option = options[name]
            given = [f"--{name}", *([option.good_value()] if option.takes_value else [])]
            calls += [(command, arguments, [f"--{name} has no place with"])
                      for arguments in ([*chosen, *given], [*given, *chosen])]
    return calls


def check_bases(commands):
    """Without the bad value each command does its work: so it is the value that is refused."""
    for number, (command, (base, rest)) in enumerate(BASES.items()):
        folder = make_folder(f"base{number}")
        done = call([command, *(f"--{name}={value}" for name, value in base.items()), *rest], folder)
        told = done.stderr.decode()
        check(done.returncode == 0 or "is not in this build" in told, command, base, "exit code", done.returncode, told)
        check(command in commands, command, "is not in --help")


def check_good(commands):
    """What the texts of --help call legal is so: a refusal for another reason names no number's range."""
    for command, options in commands.items():
        for option in options:
            for value in [repr(option.low), repr(option.high), option.good] if option.is_number else []:
                done = call([command, f"--{option.name}={value}", "--frobnicate"], path(""))
                check(b"unknown option --frobnicate" in done.stderr, command, option.name, value, done.stderr)


commands = {command: learn_options(command) for command in learn_commands()}
check(len(commands) >= 9, commands)
for command, options in commands.items():
    for option in options:
        check(not option.takes_value or option.is_number or option.name in TEXTS, command, "--" + option.name,
              "takes text that this test does not know: give it a row in TEXTS")
check_bases(commands)
check_good(commands)

jobs = [(command, arguments, mentioned) for command, options in commands.items() for option in options
        if not option.takes_value or option.is_number or option.name in TEXTS
        for arguments, mentioned in calls_of(command, option)]  # fmt: skip
jobs += [(command, [*first, "", *last], ["empty", "is not an option"]) for command in commands
         for first, last in (([], []), (["cpu"], []))]
jobs += misplaced(commands)
for number in range(WORKERS):
    benches.put(Bench(f"bench{number}"))
with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
    for wrong in pool.map(lambda job: refuse(*job), jobs):
        check(wrong is None, wrong)
while not benches.empty():
    bench = benches.get()
    check(digests_of(bench.folder) == bench.digests, bench.folder, "has other contents than before")
check(len(jobs) >= (2500 if FULL else 1500) or SLOW, "only", len(jobs), "bad values")
print(f"{len(jobs)} bad values of part {PART}, {len(commands)} commands, {sum(map(len, commands.values()))} options, "
      f"{sum(option.is_number for options in commands.values() for option in options)} of them numbers")
finish()
