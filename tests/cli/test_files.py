# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""Nothing lost: no failing call on an output file, no signal and no slip in a name costs a byte of what was there."""

import errno
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import threading
import time

from cli import FULL, PART, PENSTOCK, check, check_error, check_run, drawn, finish, folder, path, read_png, run

SHIM = os.environ.get("PENSTOCK_TEST_FILES_SHIM")
TIMES = 50 if FULL else 2  # that a signal meets a command
has_json = run("devices", "--json").returncode == 0
has_png = "libpng" not in run("spectrum", "--png", path("x.png")).stderr
lock = threading.Lock()
runs = 0

base = path("base")
os.mkdir(base)
META = "sigmf-meta" if has_json else "cf32"
done = check_run(0, "transmit", "-p", "wifi", "--count", "6", "--snr", "30", "-o", f"{base}/in.{META}")
INPUT = ["-i", f"in.{META}"] + ([] if has_json else ["-f", "cf32", "-r", "20e6"])

# What each command writes; the options name files in the folder that it runs in.
COMMANDS = {
    "transmit": (["transmit", "-p", "wifi", "--count", "6", "-o", f"o.{META}"], [f"o.{META}"]),
    "raw": (["filter", *INPUT, "-d", "cpu", "-t", "lowpass:4e6:1e6", "-o", "o.cf32"], ["o.cf32"]),
    "filter": (["filter", *INPUT, "-d", "cpu", "-t", "lowpass:4e6:1e6", "-o", f"f.{META}"], [f"f.{META}"]),
    "resample": (["resample", *INPUT, "--ratio", "3/4", "-o", f"q.{META}"], [f"q.{META}"]),
    "receive": (["receive", "-p", "wifi", *INPUT, "-d", "cpu", "--pcap", "r.pcap", *(["--json", "r.json"] * has_json),
                 *(["--constellation", "r.png"] * has_png)], ["r.pcap"] + ["r.json"] * has_json + ["r.png"] * has_png),
}
RECORDING = sorted(os.listdir(base))
with open(f"{base}/in.bytes", "wb") as file:
    file.write(random.Random(22).randbytes(200_000))
done = check_run(0, "fec", "encode", "-i", f"{base}/in.bytes", "-o", f"{base}/in.s8")
COMMANDS["fec encode"] = (["fec", "encode", "-i", "in.bytes", "-o", "e.s8"], ["e.s8"])
COMMANDS["fec decode"] = (["fec", "decode", "-d", "cpu", "-i", "in.s8", "-o", "d.bytes"], ["d.bytes"])
COMMANDS["fec ber"] = (["fec", "ber", "-d", "cpu", "--to", "1", "--csv", "b.csv", *(["--png", "b.png"] * has_png)],
                       ["b.csv"] + ["b.png"] * has_png)
if has_json:
    COMMANDS["channelize"] = (["channelize", *INPUT, "-d", "cpu", "-m", "2", "-o", "c",
                               *(["--png", "c.png"] * has_png)],
                              ["c-0.sigmf-meta", "c-1.sigmf-meta"] + ["c.png"] * has_png)
if has_png:
    COMMANDS["bench"] = (["bench", "cpu", "--study", "per", "-n", "10", "--length", "36", "--png", "e.png"], ["e.png"])
    COMMANDS["bench a case"] = (["bench", "cpu", "--case", "fft:64", "--png", "m.png"], ["m.png"])
    COMMANDS["spectrum"] = (["spectrum", *INPUT, "-d", "cpu", "--fft", "256", "--png", "s.png"], ["s.png"])


MEASURED = {"m.png", "s.png"}  # no two are the same: a clock, and FFTW, which times its ways and takes one
# Files that are opened and closed before the work, to see whether that can be done.
TRIED = {"bench": 1, "bench a case": 1, "fec ber": 2}


def files_of(names):
    return [file for name in names for file in ([name, name.replace("-meta", "-data")] if "sigmf" in name else [name])]


def read(place, name):
    try:
        with open(os.path.join(place, name), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def make_place(names, number):
    """A folder with the input, and an old file for each output."""
    place = path(f"p{number}")
    shutil.copytree(base, place)
    for name in files_of(names):
        with open(os.path.join(place, name), "wb") as file:
            file.write(f"old {name}".encode() * 50)
    return place


def digest(place, names):
    return {name: hashlib.sha256(read(place, name) or b"").hexdigest() for name in names}


INPUTS = sorted(os.listdir(base))
input_digest = digest(base, INPUTS)
references = {}
for command, (arguments, names) in COMMANDS.items():
    place = make_place(names, command)
    subprocess.run([PENSTOCK, *arguments], cwd=place, check=True, stdout=subprocess.DEVNULL, timeout=600)
    references[command] = {name: read(place, name) for name in files_of(names)}
    check(not [n for n in os.listdir(place) if "penstock" in n], command, "leaves", os.listdir(place))
    check(all(not content.startswith(b"old ") for content in references[command].values()), command, "wrote nothing")


def whole(command, name, content):
    """Is this a whole result of a beginning of the input?"""
    full = references[command][name]
    if content == full:
        return True
    if name.endswith("png"):
        with open(path(f"{threading.get_ident()}.png"), "wb") as file:
            file.write(content)
        try:
            return read_png(file.name)[0] > 100
        except ValueError:
            return False
    if name.endswith("csv"):  # the last point may have been measured with fewer bits
        rows = content.splitlines(True)
        return (len(rows) > 1 and full.startswith(b"".join(rows[:-1])) and rows[-1].endswith(b"\n") and
                rows[-1].count(b",") == rows[0].count(b","))
    if name.endswith("json"):
        frames, last = content[: content.rfind(b"\n", 0, -1) + 1], content.splitlines()[-1:]
        return (full.startswith(frames) and content.endswith(b"\n") and
                json.loads(last[0])["summary"]["frames"] == frames.count(b"\n"))
    if name.endswith("pcap"):
        at = 24
        while at < len(content):
            at += 16 + int.from_bytes(content[at + 8 : at + 12], "little")
        return at == len(content) and full[: len(content)] == content
    if name.endswith("meta"):
        return content == full
    return full.startswith(content) and len(content) % 8 == 0


def after_kill(place, together):
    """Of one output: what stands there, or the old files that the next run puts back, as the last new one, which is the
    first by name, is not in its place."""
    complete = os.path.exists(os.path.join(place, together[0]))
    return {name: (not complete and read(place, f".{name}.penstock-old")) or read(place, name) for name in together}


def verify(command, place, what, partial, killed=False):
    """Every file is the old one, or all are new: whole, or with `partial` of a beginning. Where the command was
    `killed` while it placed files, this holds for each recording and each other file."""
    names = files_of(COMMANDS[command][1])
    contents = {name: read(place, name) for name in names}
    if killed:
        for name in COMMANDS[command][1]:
            contents.update(after_kill(place, files_of([name])))
    old = {name: content == f"old {name}".encode() * 50 for name, content in contents.items()}
    new = {name: contents[name] is not None and (whole(command, name, contents[name]) if partial or name in MEASURED
                                                 else contents[name] == references[command][name])
           for name in names}
    with lock:
        for together in [files_of([name]) for name in COMMANDS[command][1]] if killed else [names]:
            check(all(old[n] for n in together) or all(new[n] for n in together), command, what, "left",
                  {n: (old[n], new[n]) for n in names})
        check(digest(place, INPUTS) == input_digest, command, what, "changed the input")
    return all(old.values())


def start(command, place, environment=None):
    global runs
    with lock:
        runs += 1
    return subprocess.Popen([PENSTOCK, *COMMANDS[command][0]], cwd=place, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, env={**os.environ, **(environment or {})})


def shim(place, call, at, number):
    return {"LD_PRELOAD": SHIM, "PENSTOCK_FILES_CALL": call, "PENSTOCK_FILES_AT": str(at),
            "PENSTOCK_FILES_ERRNO": str(number), "PENSTOCK_FILES_HIT": os.path.join(place, "hit")}


def fail_calls(command, call, number):
    """Each such call fails in turn, or the first and one of each eight, until a run has not so many."""
    for at in range(1, 100):
        with lock:
            if at > 1 and not drawn(at, 8, f"{command} {call} {number}"):
                continue
        place = make_place(COMMANDS[command][1], f"{command}-{call}-{number}-{at}")
        process = start(command, place, shim(place, call, at, number))
        told = process.communicate(timeout=600)[1].decode()
        hit = os.path.exists(os.path.join(place, "hit"))
        what = (call, at, errno.errorcode.get(number, "KILL"), told)
        if not number and hit:  # what is in the middle is put back by the next run, which fails at once
            before = start(command, place, {**shim(place, "write", 1, errno.EIO),
                                            "PENSTOCK_FILES_HIT": os.path.join(place, "again")})
            before.communicate(timeout=600)
        if call == "rename" and number and hit and "cannot" not in told:
            check(False, command, what, "was not told")
        kept_old = verify(command, place, what, False, hit and not number)
        litter = [n for n in os.listdir(place) if "penstock" in n and call != "unlink"]
        with lock:
            harmless = call in ("link", "unlink", "open") or call == "close" and at <= TRIED.get(command, 0)
            check(process.returncode == (-9 if hit and not number else 1 if hit and not harmless
                                         else process.returncode), command, what, "ended with", process.returncode)
            check(not litter, command, what, "left", litter)
            check(kept_old or process.returncode in (0, -9), command, what, "ended with", process.returncode)
        shutil.rmtree(place)
        if not hit:
            check(at > 1 or call in ("link", "fdatasync", "unlink"), command, "has no call of", call)
            check(process.returncode == 0, command, what, "ended with", process.returncode)
            return


def kill_at_times(command, number, times, length):
    draw = random.Random(f"{PART} {command} {number}")
    for i in range(times):
        place = make_place(COMMANDS[command][1], f"{command}-{number}-{i}")
        process = start(command, place)
        time.sleep(draw.uniform(0, length))
        process.send_signal(number)
        told = process.communicate(timeout=600)[1].decode()
        kept_old = verify(command, place, (number.name, told), number != signal.SIGKILL, number == signal.SIGKILL)
        with lock:  # a signal before main() ends the program as it would any other
            check(process.returncode in (0, -number)
                  and (kept_old or process.returncode == 0 or number == signal.SIGKILL),
                  command, number.name, "ended with", process.returncode, told)
        if number == signal.SIGKILL:
            process = start(command, place)
            process.communicate(timeout=600)
            with lock:
                check(process.returncode == 0, command, "after a kill ended with", process.returncode)
                check(all(whole(command, n, read(place, n)) if n in MEASURED else read(place, n) == content
                          for n, content in references[command].items()), command, "wrote other files after a kill")
        with lock:
            check(not [n for n in os.listdir(place) if "penstock-" in n], command, number.name, "left",
                  os.listdir(place))
        shutil.rmtree(place)


work = []
for command in COMMANDS:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
        work.append((kill_at_times, command, number, TIMES, 0.12))
    for call in ("open", "write", "close", "fdatasync", "rename", "link", "unlink") if SHIM else ():
        for number in (errno.ENOSPC, 0) if not FULL else (errno.ENOSPC, errno.EIO, errno.EDQUOT, 0):
            work.append((fail_calls, command, call, number))


def worker():
    while True:
        with lock:
            if not work:
                return
            function, *arguments = work.pop()
        try:
            function(*arguments)
        except Exception as error:  # a thread's own would be lost
            with lock:
                check(False, function.__name__, arguments, "raised", repr(error))


# A case is measured for 0.5 s, while all others take a twentieth: one in four ways to fail.
work = [job for i, job in enumerate(work) if job[1] != "bench a case" or drawn(i, 4, "bench a case")]
threads = [threading.Thread(target=worker) for _ in range(os.cpu_count() or 2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(runs, "runs of", len(COMMANDS), "commands")
check(runs >= ((1000 if FULL else 400) if SHIM and has_json and has_png else 15 * TIMES), "only", runs, "runs")

# ---- one file by many names
place = make_place([], "names")
os.chdir(place)
os.mkdir("d")
first = RECORDING[-1]
for name in RECORDING:
    os.symlink(name, "sym" + name[2:])
    os.link(name, "hard" + name[2:])
FILTER = ["filter", *INPUT, "-t", "lowpass:4e6:1e6", "-o"]
for name in (f"in.{META}", f"./in.{META}", f"d/../in.{META}", f"sym.{META}", f"hard.{META}", place + f"/in.{META}"):
    check_error(2, "is an input", *FILTER, name)
with open(RECORDING[0], "rb") as file:
    data = subprocess.run([PENSTOCK, "filter", "-i", "-", "-f", "cf32", "-r", "20e6", "-t", "lowpass:4e6:1e6", "-o",
                           RECORDING[0]], stdin=file, stderr=subprocess.PIPE, timeout=600)
    check(data.returncode == 2 and b"is an input" in data.stderr, "standard input as output:", data)
for name in RECORDING:
    check_error(2, "is an input", "receive", "-p", "wifi", *INPUT, "--pcap", name)
    if has_png:
        check_error(2, "is an input", "spectrum", *INPUT, "--png", name)
        check_error(2, "is an input", "channelize", *INPUT, "-m", "4", "--png", name)
with open("taps.txt", "w") as file:
    file.write("1\n")
check_error(2, "is an input", "filter", *INPUT, "-t", "taps.txt", "-o", "taps.txt")
check(read(place, "taps.txt") == b"1\n", "the taps")
if has_json:
    check_error(2, "are one file", "receive", "-p", "wifi", *INPUT, "--json", "same", "--pcap", "d/../same")
    check(not os.path.exists("same"), "a file of two outputs")
    check_error(2, "--output '' is impossible", "channelize", *INPUT, "-m", "4", "-o", "")
with open(RECORDING[0], "ab") as file:
    check_error(2, "is an input", *FILTER, "-", stdout=file)
check(digest(place, INPUTS) == input_digest, "the input has changed")

# ---- what a failing command leaves
for name in ("a.pcap", "a.png"):
    with open(name, "wb") as file:
        file.write(b"older")
check_error(1, "No such file", "receive", "-p", "wifi", *INPUT, "--pcap", "a.pcap", "--constellation", "no/a.png")
if has_png:
    check_error(1, "too short", "spectrum", "-i", "-", "-f", "cf32", "-r", "1e6", "--png", "a.png", stdin=bytes(800))
limited = f"ulimit -f 1; exec '{PENSTOCK}' transmit -p wifi --count 50 -o a.pcap"
done = subprocess.run(["sh", "-c", limited], stderr=subprocess.PIPE, timeout=600)
check(done.returncode == 1 and b"File too large" in done.stderr, "ulimit -f:", done)
check(read(place, "a.pcap") == b"older" and read(place, "a.png") == b"older", "an older result is gone")

if has_json:  # two files a channel, where a shell allows fewer at first
    done = subprocess.run(["sh", "-c",
                           f"ulimit -Sn 200; exec '{PENSTOCK}' channelize -i in.sigmf-meta -d cpu -m 256 -o many"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=600)
    check(done.returncode == 0 and os.path.exists("many-255.sigmf-data"), "256 channels:", done)

# ---- what a name stands for: links are followed, permissions kept, pipes and descriptors written as they are
os.symlink("d/target", "link")
os.chmod("a.pcap", 0o640)
check_run(0, "transmit", "-p", "wifi", "-o", "link")
check(os.path.islink("link") and os.path.getsize("d/target") > 1000, "a link as output")
check_run(0, "receive", "-p", "wifi", *INPUT, "--pcap", "a.pcap")
check(os.stat("a.pcap").st_mode & 0o777 == 0o640, "permissions")
os.mkfifo("fifo")
with open("copy", "wb") as file:
    reader = subprocess.Popen(["cat", "fifo"], stdout=file)
check_run(0, "transmit", "-p", "wifi", "-o", "fifo")
reader.wait(timeout=600)
check(read(place, "copy") == read(place, "d/target"), "through a FIFO")
piped = run("transmit", "-p", "wifi", "-o", "/dev/fd/1").stdout
check(piped.startswith(read(place, "d/target")), "through a descriptor")
os.chdir("/")

# ---- signals while nothing moves: the end comes by itself, and what came is written
def make_script(name, text):
    script = os.path.join(place, name)
    with open(script, "w") as file:
        file.write(f"#!/bin/sh\n{text}\n")
    os.chmod(script, 0o755)
    return script


RAW = ["-f", "cf32", "-r", "20e6"]
STALLED = {
    "a driver that is asked": (["devices", "--wait"], {"PENSTOCK_CACHE_DIR": path("fresh-1"),
                                             "PENSTOCK_PROBE": make_script("probe", "exec sleep 5")}),
    "a plan that is made": (["spectrum", *INPUT, "-d", "cpu", "--fft", "8388608", "--png", "a.png"],
                           {"PENSTOCK_CACHE_DIR": path("fresh-2")}),
    "a pipe without data": (["receive", "-p", "wifi", "-i", "-", *RAW, "--pcap", "a.pcap"], {}),
    "a reader that takes nothing": (["transmit", "-p", "wifi", "--count", "1e6", "-o", "-"], {}),
    "a FIFO without reader": (["transmit", "-p", "wifi", "-o", "fifo"], {}),
    "a long case": (["check", "cpu", "--full", "--case", "fft:8388608:x64"], {}),
    "a long measurement": (["bench", "cpu", "--case", "fft:8388608:x16"], {}),
}
plugins = os.environ.get("PENSTOCK_TEST_REPLAY")
if plugins and has_json:
    radio = {"SOAPY_SDR_PLUGIN_PATH": plugins, "SOAPY_SDR_ROOT": path("no-other-modules")}
    source = f"soapy:driver=replay,path={place}/in.sigmf-meta,pace=fast,"
    FROM_RADIO = ["filter", "-d", "cpu", "-t", "lowpass:4e6:1e6", "-i"]
    STALLED["a radio that is silent"] = ([*FROM_RADIO, source + "timeout_at=20000,silence=60", "-o", "r1.cf32"], radio)
    STALLED["a radio that is looked for"] = ([*FROM_RADIO, source + "disappear_at=20000", "-o", "r2.cf32"], radio)
else:
    print("SKIPPED: the replay module is not built, no radio is waited for")
os.chdir(place)
before = read(place, "a.pcap"), read(place, "a.png")
slowest = []


def listens(process, number):
    """The command has begun to wait for this signal: it is blocked, and a thread of its own takes it."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        blocked = next((line.split()[1] for line in file if line.startswith("SigBlk")), "0")
    return int(blocked, 16) >> (number - 1) & 1


def stands(process):
    """No thread of it runs or waits for the disk."""
    states = []
    for thread in os.listdir(f"/proc/{process.pid}/task"):
        try:
            with open(f"/proc/{process.pid}/task/{thread}/stat", encoding="ascii") as file:
                states.append(file.read().rpartition(")")[2].split()[0])
        except OSError:  # it has just ended
            return False
    return not {"R", "D"} & set(states)


def until(condition, times, process, *arguments):
    """Waits until a process has met a condition so many times in a row, 50 ms apart."""
    held, deadline = 0, time.monotonic() + 60
    while held < times and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
        held = held + 1 if condition(process, *arguments) else 0
    return held == times


def interrupt(what, arguments, environment, number):
    cache = environment.get("PENSTOCK_CACHE_DIR")
    if cache:
        shutil.rmtree(cache, ignore_errors=True)
    ours, theirs = os.pipe()
    process = subprocess.Popen([PENSTOCK, *arguments], stdin=subprocess.PIPE, stdout=theirs, stderr=subprocess.PIPE,
                               env={**os.environ, **environment})
    os.close(theirs)
    ready = until(listens, 6, process, number) and ("radio" not in what or until(stands, 10, process))
    begun = time.monotonic()
    process.send_signal(number)
    try:
        process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
    took = time.monotonic() - begun
    told = process.stderr.read().decode()
    os.close(ours)
    process.stdin.close()
    process.stderr.close()
    with lock:
        slowest.append(took)
        check(ready, what, "did not get to where it is to be interrupted")
        check(process.returncode == 0, what, number.name, "ended with", process.returncode, told)
        check("radio" in what or told, what, number.name, "said nothing")
    if "radio" in what:  # but for the last block, in which zeros follow
        output = arguments[arguments.index("-o") + 1]
        got, full = read(place, output) or b"", references["raw"]["o.cf32"]
        with lock:
            check(len(got) == 8 * 20000 and got[:-16384] == full[: len(got) - 16384], what, number.name, "gave",
                  len(got))
        if got:
            os.remove(output)


def interrupt_by_each(what):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        interrupt(what, *STALLED[what], number)


threads = [threading.Thread(target=interrupt_by_each, args=(what,)) for what in STALLED]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
check(len(slowest) == 3 * len(STALLED), "only", len(slowest), "interrupts")
check(before == (read(place, "a.pcap"), read(place, "a.png")), "an older result is gone")
check(not [n for n in os.listdir(place) if "penstock-" in n], "left:", os.listdir(place))
print(f"the slowest of {len(slowest)} interrupts took {max(slowest):.2f} s")
os.chdir("/")
finish()
