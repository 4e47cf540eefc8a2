# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""Samples that were lost are part of time: in the recordings that commands write, and in the frames that they find.

The signal is a ramp, so that each value of a filter's output tells of itself where it is in the stream; metadata must
say the same. Frames must have the sample numbers that they have in the recording without gaps."""

import array
import datetime
import json
import os
import random
import re

from cli import FULL, check, check_run, finish, path, read_frames, run, skip

if run("devices", "--json").returncode:
    skip("SigMF needs jansson, which this build has not")
chance = random.Random(7)
RATE, LENGTH, START = 1e6, 60000, datetime.datetime(2026, 11, 24, 23, 59, 59, 990000)
KNOWN = {"global": {"core:version": str, "core:datatype": str, "core:sample_rate": (int, float),
                    "core:num_channels": int, "core:recorder": str, "core:description": str, "core:hw": str},
         "captures": {"core:sample_start": int, "core:global_index": int, "core:datetime": str,
                      "core:frequency": (int, float)},
         "annotations": {"core:sample_start": int, "core:sample_count": int, "core:label": str, "core:comment": str}}


def read_meta(name, samples):
    """The metadata, checked by the rules of SigMF 1.2: known names of the core namespace with their types, captures and
    annotations in the order of their samples, all within the data, datetimes in the form that is prescribed."""
    with open(path(name + ".sigmf-meta")) as file:
        meta = json.load(file)
    check(set(meta) == set(KNOWN), "the top level:", meta.keys())
    for place, known in KNOWN.items():
        for one in [meta[place]] if place == "global" else meta[place]:
            check(all(key in known and isinstance(value, known[key]) for key, value in one.items()), place, one)
    check({"core:version", "core:datatype"} <= set(meta["global"]) and meta["global"]["core:version"] == "1.2.0",
          meta["global"])
    for place in ("captures", "annotations"):
        starts = [one["core:sample_start"] for one in meta[place]]
        check(starts == sorted(set(starts)) and all(0 <= start < samples for start in starts), place, starts, samples)
    check(meta["captures"][0]["core:sample_start"] == 0, meta["captures"][:1])
    for one in meta["captures"]:
        check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", one.get("core:datetime", "2026-01-01T00:00:00.0Z")),
              one)
    return meta


def seconds(text):
    """Since START."""
    whole, fraction = text[:-1].split(".")
    return ((datetime.datetime.fromisoformat(whole) - START.replace(microsecond=0)).total_seconds()
            + float("0." + fraction) - 0.99)


def ramp(positions):
    return array.array("f", (part for p in positions for part in (p / 2**17, -p / 2**17)))


def positions_of(name):
    """What the values of a recording tell of their places."""
    values = array.array("f", open(path(name + ".sigmf-data"), "rb").read())
    return [2**17 * value for value in values[::2]]


def gaps(shortest):
    """Positions at which samples are lost, and how many."""
    found, at = [], 0
    while True:
        at += shortest + chance.randrange(12000)
        lost = chance.randrange(1, 9) if chance.random() < 0.5 else chance.randrange(1, 5000)
        if at + lost + shortest > LENGTH or len(found) == 7:
            return found
        found.append((at, lost))
        at += lost


def check_output(name, decimation, lost, first, reach, frequency, hardware, timed=True, exact=0.02):
    """Metadata and values must agree, these to `exact` samples. Those within `reach` samples of a gap are mixtures of
    both of its sides."""
    given = positions_of(name)
    meta = read_meta(name, len(given))
    captures = meta["captures"]
    check(meta["global"].get("core:hw") == hardware, meta["global"])
    check(len(captures) == len(lost) + 1 == len(meta["annotations"]) + 1, name, "has", captures, "for", lost)
    ends = [capture["core:sample_start"] for capture in captures[1:]] + [len(given)]
    checked = far = late = 0
    for capture, end in zip(captures, ends):
        check(not frequency or capture["core:frequency"] == frequency, capture)
        for m in range(capture["core:sample_start"], end):
            inside = min(m - capture["core:sample_start"], end - 1 - m) * decimation
            if inside < reach:
                continue
            index = capture.get("core:global_index", 0) + m - capture["core:sample_start"]
            far += abs(index * decimation - first - given[m]) > decimation / 2 + exact
            if timed:
                after = seconds(capture["core:datetime"]) + (m - capture["core:sample_start"]) * decimation / RATE
                late += abs(after * RATE - given[m]) > exact
            checked += 1
    check(checked > 100 and not far and not late, name, decimation, lost, ":", far, "far and", late, "late of", checked)


def check_sums(done, is_file, lost, pattern, made, name=None):
    """Of the closing line: what was taken and what was lost are all that there was; what was made is what the taken
    ones give, to the sample, and what the data file holds; metadata tell of each loss once."""
    closing, total = done.stdout.decode().splitlines()[-1], sum(count for _, count in lost)
    told = {name: int(count) for name, count in re.findall(r", ([a-z][a-z ]*) (\d+)(?=,|$)", closing)}
    check(told.get("samples lost", 0) == total and "losses of unknown size" not in told, closing, "not", total)
    check(told.get("overflows", 0) == (0 if is_file else len(lost)), closing, "not", len(lost), "overflows")
    numbers = [int(number) for number in re.search(pattern, closing).groups()]
    check(numbers == [made, LENGTH - total][: len(numbers)], closing, "not", made, "of", LENGTH - total)
    if name:
        check(os.path.getsize(path(name + ".sigmf-data")) == 8 * made, name, "does not hold", made)
        with open(path(name + ".sigmf-meta")) as file:
            notes = json.load(file)["annotations"]
        counts = [int(re.search(r"\d+", note["core:comment"])[0]) for note in notes]
        check(counts == [count for _, count in lost], name, "tells of", notes, "not", lost)


def write_recording(name, lost, first):
    captures = [{"core:sample_start": 0, "core:global_index": first, "core:frequency": 1e8,
                 "core:datetime": START.isoformat(timespec="milliseconds") + "Z"}]
    kept, before, end = [], 0, 0
    for at, count in lost:
        kept += range(end, at)
        end, before = at + count, before + count
        captures.append({"core:sample_start": len(kept), "core:global_index": first + end})
    kept += range(end, LENGTH)
    with open(path(name + ".sigmf-data"), "wb") as file:
        file.write(ramp(kept).tobytes())
    with open(path(name + ".sigmf-meta"), "w") as file:
        json.dump({"global": {"core:datatype": "cf32_le", "core:sample_rate": RATE, "core:version": "1.2.0",
                              "core:hw": "a radio"}, "captures": captures, "annotations": []}, file)


plugins = os.environ.get("PENSTOCK_TEST_REPLAY")
radio = {"SOAPY_SDR_PLUGIN_PATH": plugins or "", "SOAPY_SDR_ROOT": path("no-other-modules")}
with open(path("ramp.cf32"), "wb") as file:
    file.write(ramp(range(LENGTH)).tobytes())
closing = lambda done: done.stdout.decode().splitlines()[-1]
png = run("spectrum", "--input", path("ramp.cf32"), "--format", "cf32", "--rate", "1e6",
          "--png", path("p.png")).returncode == 0

cases = 0
for pattern in range(40 if FULL else 6):
    lost = gaps(2500)
    first = chance.choice([0, chance.randrange(10**6)])
    decimation, hop = chance.choice([1, 2, 3, 5, 7, 16]), chance.choice(["1", "2", "4/3"])
    write_recording("in", lost, first)
    total = sum(count for _, count in lost)
    sources = [(path("in.sigmf-meta"), "a radio", {}, first)]
    if plugins:
        at, counts = ":".join(str(at) for at, _ in lost), ":".join(str(count) for _, count in lost)
        overflow = f",overflow_at={at},overflow={counts}" if lost else ""
        sources.append((f"soapy:driver=replay,path={path('ramp.cf32')},format=cf32,rate=1e6,pace=fast{overflow}",
                        "SoapySDR replay (recording)", radio, 0))
    for source, hardware, environment, base in sources:
        is_file = environment == {}
        told = [] if not total else [f"samples lost {total}"]
        done = check_run(0, "filter", "--input", source, "--output", path("f.sigmf-meta"),
                         "--taps", "lowpass:20e3:20e3", "--decimate", decimation, "--device", "cpu",
                         environment=environment)
        check(all(text in closing(done) for text in told), closing(done), "not", told)
        check_sums(done, is_file, lost, r": (\d+) samples from (\d+),", -(-(LENGTH - total) // decimation), "f")
        check_output("f", decimation, lost, base, 300, 1e8 if is_file else 0, hardware, is_file)
        done = check_run(0, "channelize", "--input", source, "--output", path("c"), "--channels", "12",
                         "--oversample", hop, "--keep", "0", "--device", "cpu", environment=environment)
        check(all(text in closing(done) for text in told), closing(done), "not", told)
        step = {"1": 12, "2": 6, "4/3": 9}[hop]
        check_sums(done, is_file, lost, r": (\d+) values each from (\d+) samples", -(-(LENGTH - total) // step), "c-0")
        check_output("c-0", step, lost, base, 300, 1e8 if is_file else 0, hardware, is_file)
        up, down = chance.choice([(3, 5), (5, 3), (160, 147), (1, 16)])
        done = check_run(0, "resample", "--input", source, "--output", path("r.sigmf-meta"), "--ratio", f"{up}/{down}",
                         "--attenuation", "120", "--device", "cpu", environment=environment)
        check(all(text in closing(done) for text in told), closing(done), "not", told)
        check_sums(done, is_file, lost, r": (\d+) samples from (\d+),", -(-(LENGTH - total) * up // down), "r")
        check_output("r", down / up, lost, base, 700, 1e8 if is_file else 0, hardware, is_file, 0.1)
        if png:
            done = check_run(0, "spectrum", "--input", source, "--png", path("p.png"), environment=environment)
            check_sums(done, is_file, lost, r": (\d+) spectra of", (LENGTH - total) // 1024)
            check(all(text in closing(done) for text in told), closing(done), "not", told)
        cases += 1
    # what was written is read: the gaps that are left of the input's
    done = check_run(0, "filter", "--input", path("f.sigmf-meta"), "--output", path("g.sigmf-meta"), "--taps",
                     f"lowpass:{0.1 * RATE / decimation}:{0.2 * RATE / decimation}", "--device", "cpu")
    with open(path("f.sigmf-meta")) as one, open(path("g.sigmf-meta")) as two:
        check(json.load(one)["captures"] == json.load(two)["captures"], "filtered twice, the captures differ")

# ---- frames: numbers of samples are those of the recording without gaps
arguments = ["--profile", "wifi", "--count", "40", "--length", "60", "--mbps", "all", "--snr", "30", "--gap", "150"]
check_run(0, "transmit", *arguments, "--output", path("whole.sigmf-meta"), "--format", "cs16")
whole = open(path("whole.sigmf-data"), "rb").read()


places = {}  # of the frames received last, in the file


def frames(*arguments, **options):
    done = check_run(0, "receive", "--profile", "wifi", "--device", "cpu", "--json", path("f.json"), *arguments,
                     **options)
    with open(path("f.json")) as file:
        rows, summary = read_frames(file.read())
    for name, key in (("samples lost", "lost"), ("losses of unknown size", "unknown_losses"),
                      ("overflows", "overflows")):
        check((f", {name} {summary[key]}" in closing(done)) == (summary[key] > 0), summary, closing(done))
    places["summary"] = summary
    lost = [row["lost"] for row in rows]
    check(lost == sorted(lost), "samples lost before frames must not become fewer:", lost)
    places.update({row["psdu"]: row["sample"] - row["lost"] for row in rows if row["fcs_ok"]})
    return {row["psdu"]: row["sample"] for row in rows if row["fcs_ok"]}, done


def check_all_there(unknown=0, missing=0, overflows=0):
    """What the summary of the frames received last says: nothing is lost but what is told, to the sample."""
    summary, whole_length = places["summary"], len(whole) // 4
    check(summary["taken"] + summary["lost"] + missing == whole_length, summary, "is not", whole_length, "less",
          missing)
    check(summary["unknown_losses"] == unknown and summary["overflows"] == overflows, summary, "not", unknown,
          overflows)


truth, done = frames("--input", path("whole.sigmf-meta"))
check_all_there()
check(len(truth) == 40, len(truth), "frames")
for pattern in range(40 if FULL else 6):
    lost, at = [], 0
    while at < len(whole) // 4:
        at += chance.randrange(1, 9) if chance.random() < 0.2 else chance.randrange(20000)
        lost.append((at, chance.randrange(1, 4000)))
        at += lost[-1][1]
    lost.pop()
    captures, data, end = [{"core:sample_start": 0, "core:global_index": 0}], b"", 0
    for at, count in lost:
        data += whole[4 * end : 4 * at]
        end = at + count
        captures.append({"core:sample_start": len(data) // 4, "core:global_index": end})
    data += whole[4 * end :]
    with open(path("part.sigmf-data"), "wb") as file:
        file.write(data)
    with open(path("part.sigmf-meta"), "w") as file:
        json.dump({"global": {"core:datatype": "ci16_le", "core:sample_rate": 20e6, "core:version": "1.2.0"},
                   "captures": captures, "annotations": []}, file)
    found, done = frames("--input", path("part.sigmf-meta"))
    check_all_there()
    check(f"samples lost {sum(count for _, count in lost)}" in closing(done), closing(done))
    check(0 < len(found) < 40, len(found), "of 40 frames are left by", lost)
    wrong = {key: (sample, truth.get(key)) for key, sample in found.items() if abs(sample - truth.get(key, -9)) > 1}
    for psdu, sample in found.items():  # what its header says of the file's samples: those behind the gaps before it
        behind = sum(count for at, count in lost if at <= sample + 192)
        check(places[psdu] == sample - behind, "frame", sample, "is at", places[psdu], "of the file, less", behind)
    check(not wrong, "frames elsewhere than in the whole recording:", wrong, lost)
    if plugins:
        source = (f"soapy:driver=replay,path={path('whole.sigmf-meta')},pace=fast,overflow_at="
                  + ":".join(str(at) for at, _ in lost) + ",overflow=" + ":".join(str(count) for _, count in lost))
        heard, done = frames("--input", source, environment=radio)
        check_all_there(overflows=len(lost))
        check(heard == found, "the radio's frames differ from the recording's:", heard, found)
        silent, done = frames("--input", source + ",stamps=0", environment=radio)
        check_all_there(len(lost), sum(count for _, count in lost), len(lost))
        check(set(silent) == set(found) and f"losses of unknown size {len(lost)}" in closing(done), closing(done))
        check("samples lost" not in closing(done), "without time stamps nobody knows:", closing(done))
    cases += 1
print(f"{cases} patterns of gaps" + ("" if plugins else "; SKIPPED: the replay module is not built"))
finish()
