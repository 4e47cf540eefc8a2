# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""devices, doctor, check and bench: what they print, and when they fail."""

import collections
import csv
import io
import json
import os
import re
import signal
import subprocess
import time

from cli import PENSTOCK, check, check_error, check_run, finish, path, read_png, run

# ---- devices
text = check_run(0, "devices", "--wait").stdout.decode().splitlines()
rows = {line.split()[0]: line for line in text[1:-1]}
check(" ready " in rows.get("cpu", ""), "the CPU is not ready:", text)
check(text[-1].startswith("This binary is under "), "no licence line:", text[-1])
gpl = any("GPL" in line for line in rows.values())
check(("GPL" in text[-1]) == gpl, "the licence line does not fit the table:", text)

done = run("devices", "--json", "--wait")
has_json = done.returncode == 0
if has_json:
    listed = [json.loads(line) for line in done.stdout.splitlines()]
    check([row["name"] for row in listed] == [line.split()[0] for line in text[1:-1]], "JSON and table differ")
    for row in listed:
        check(row["present"] != ("reason" in row), "a device is absent exactly if there is a reason:", row)
else:
    check(done.returncode == 2 and "jansson" in done.stderr, done.stderr)

# ---- devices --why: the CPU alone, where OpenCL has it too, and beside a GPU
def why(case, environment):
    done = check_run(0, "devices", "--wait", "--json", "--why", case, environment=environment)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    check(all(row["why"] and row["chosen"] <= row["candidate"] for row in rows), "a row makes no sense:", rows)
    check(all(("seconds" in row) <= row["candidate"] for row in rows), "what took no part was timed:", rows)
    return rows, {row["device"]: row for row in rows}


os.mkdir(path("none"))
alone = {"PENSTOCK_CACHE_DIR": path("why"), "OCL_ICD_VENDORS": path("none"), "OCL_ICD_FILENAMES": "",
         "PENSTOCK_CUDA_LIBRARY": path("absent")}
if has_json:
    for case in ("fft:256:x16", "spectrum:256", "filter:ccf:33:d2"):
        rows, by_name = why(case, alone)
        check([row["device"] for row in rows if row["chosen"]] == ["cpu"], "the CPU is not chosen:", rows)
        check(by_name["cpu"]["why"] == "the only candidate", rows)
        check(by_name["reference"]["why"] == "only when asked for by name" and not by_name["reference"]["candidate"],
              rows)
    opencl = [row["name"] for row in listed if row["name"].startswith("opencl:") and row["present"]
              and ("pocl" in row["driver"].lower() or "Portable" in row["driver"])]
    if opencl:
        rows, by_name = why("fft:256:x16", {"PENSTOCK_CUDA_LIBRARY": path("absent")})
        check(by_name[opencl[0]]["why"] == "works on the same cores as cpu", rows)
    shim = os.environ.get("PENSTOCK_TEST_CUDA_SHIM")
    if shim:
        gpu = {**alone, "PENSTOCK_CUDA_LIBRARY": shim, "PENSTOCK_NVRTC_LIBRARY": shim}
        for remembered in (False, True):
            rows, by_name = why("fft:256:x16", gpu)
            tried = [row for row in rows if row["candidate"]]
            check({"cpu", "cuda:0"} <= {row["device"] for row in tried}, "not tried:", rows)
            check(all(row.get("seconds", 0) > 0 for row in tried), "not timed:", rows)
            best = min(tried, key=lambda row: row["seconds"])
            check(best["chosen"] and best["why"] == "the fastest", "another one is faster:", rows)
            check(all(row["why"].endswith(f"times the time of {best['device']}") for row in tried if row is not best),
                  rows)
            check(all(row["remembered"] == remembered for row in rows), "remembered:", rows)
text = check_run(0, "devices", "--why", "fft:256:x16", environment=alone).stdout.decode()
check(re.search(r"fft, batch 16, .*\bn 256\b.*\ndevice +auto +a frame +why\ncpu +takes +- +the only candidate$",
                "\n".join(text.splitlines()[:3]), re.M), text)
check_error(2, "kind of case", "devices", "--why", "nix:64")
check_error(1, "nothing to choose", "devices", "--why", "resampler:3/2", environment=alone)

# ---- doctor
done = check_run(0, "doctor")
check(b"ok      library" in done.stdout and b"ok      cpu" in done.stdout, done.stdout.decode())
done = check_run(1, "doctor", environment={"PENSTOCK_KERNEL_PATH": path("absent")})
check(b"BROKEN  kernels" in done.stdout and b"cure: " in done.stdout, done.stdout.decode())
os.mkdir(path("vendors"))
done = check_run(0, "doctor", environment={"OCL_ICD_VENDORS": path("vendors"), "OCL_ICD_FILENAMES": ""})
check(b"has no .icd file" in done.stdout or b"not found" in done.stdout, done.stdout.decode())
done = check_run(0, "doctor", environment={"PENSTOCK_CACHE_DIR": "/proc/absent"})
check(b"note    cache" in done.stdout, done.stdout.decode())
os.mkdir(path("kept"))
for name, text in (("tuned-0123456789abcdef", "penstock cache 0 "), ("mine.txt", "not of the library")):
    with open(path("kept/" + name), "w") as file:
        file.write(text)
quiet = {"PENSTOCK_CACHE_DIR": path("kept"), "OCL_ICD_VENDORS": path("vendors"), "OCL_ICD_FILENAMES": ""}
done = check_run(0, "doctor", environment=quiet)
check(re.search(rb"ok +cache +1 files, 0\.0 MiB of at most 64\n", done.stdout), done.stdout.decode())
done = check_run(0, "doctor", "--clear-cache", environment=quiet)
check(re.search(rb"ok +cache +cleared: \d+ files, 0\.\d MiB\n", done.stdout), done.stdout.decode())
check(not os.path.exists(path("kept/tuned-0123456789abcdef")) and os.path.exists(path("kept/mine.txt")),
      os.listdir(path("kept")))

# ---- check
done = check_run(0, "check", "cpu")
lines = done.stdout.decode().splitlines()
executed = [line for line in lines[:-1] if line.split()[0] in ("held", "FAILED")]
skipped = [line for line in lines[:-1] if line.split()[0] == "SKIPPED"]
kinds = collections.Counter(line.split()[2].split(":")[0] for line in executed + skipped)
check(kinds == {"fft": 62, "spectrum": 8, "filter": 12, "channelizer": 10, "synthesizer": 7, "resampler": 7, "ofdm": 11,
                "receive": 14, "viterbi": 9, "ldpc": 7, "chain": 8},
      "cases in the list:", kinds)
check(len(executed) >= 64, "only options of GPUs and the recordings may be absent on the CPU:", skipped)
check(lines[-1] == f"cpu: {len(executed)} cases executed, {len(executed)} held, 0 failed, {len(skipped)} SKIPPED",
      lines[-1])
done = check_run(0, "check", "cpu", "--case", "fft:64", "--case", "fft:100:power")
check(b"cpu: 2 cases executed, 2 held" in done.stdout, done.stdout)
check_error(2, "kind of case", "check", "cpu", "--case", "fft:64", "--case", "nix:64")
parts = [check_run(0, "check", "cpu", "--part", f"{k}/3",
                   *[word for n in range(2, 14) for word in ("--case", f"fft:{n}")])
         for k in (1, 2, 3)]
texts = [re.findall(rb"^held .*(fft:\d+) ", part.stdout, re.M) for part in parts]
check(all(texts) and sorted(sum(texts, [])) == sorted(b"fft:%d" % n for n in range(2, 14)), "each case in one part:",
      texts)
for part in ("0/3", "4/3", "1/0", "-1/3", "1", "1/3x", "x"):
    check_error(2, "--part", "check", "cpu", "--part", part)
done = check_run(0, "check", "cpu", "--case", "fft:1024:hann:x64")
error, bound = map(float, re.search(r"error (\S+), bound (\S+),", done.stdout.decode()).groups())
check(0 < error <= bound and abs(bound - 3.16e-7) < 1e-9, "the bound is 1e-7 sqrt(10):", bound)
check_error(1, "no device 'tpu'", "check", "tpu")
if "reference" in rows and " ready " in rows["reference"]:
    done = check_run(0, "check", "LIQUID-dsp", "--case", "fft:64")
    check(b"reference: 1 cases executed, 1 held" in done.stdout, "a piece of a product's name:", done.stdout)
check_error(1, "no case ran", "check", "cpu", "--case", "receive:wifi:recordings",
            environment={"PENSTOCK_RECORDINGS": path("absent")})

# A full check that is interrupted goes on where it was.
cache = {"PENSTOCK_CACHE_DIR": path("cache")}
process = subprocess.Popen([PENSTOCK, "check", "cpu", "--full"], stdout=subprocess.PIPE, env={**os.environ, **cache})
for _ in range(30):
    process.stdout.readline()
process.send_signal(signal.SIGINT)
rest = process.stdout.read().decode().splitlines()
check(process.wait() == 0 and rest[-1].endswith(", interrupted"), process.returncode, rest[-1])
before = sum(map(int, re.search(r"cpu: (\d+) cases executed, .* (\d+) SKIPPED", rest[-1]).groups()))
process = subprocess.Popen([PENSTOCK, "check", "cpu", "--full"], stdout=subprocess.PIPE, env={**os.environ, **cache})
process.stdout.readline()
process.send_signal(signal.SIGTERM)
rest = process.stdout.read().decode().splitlines()
check(process.wait() == 0, process.returncode)
earlier = int(re.search(r"(\d+) done before", rest[-1]).group(1))
check(before <= earlier <= before + 1, "resumed after", earlier, "cases, not", before)

# One device that does nothing says nothing of the next one.
check_error(1, "no case ran on null", "check", "null", "cpu", "--case", "fft:16")

# Whoever reads no more ends the work.
for command in ("check", "bench"):
    process = subprocess.Popen([PENSTOCK, command, "cpu"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    told = process.stderr.read().decode().splitlines()
    check(process.wait() == 1 and told == ["penstock: cannot write to standard output: Broken pipe"], command, told)

# ---- bench
header = ("case,device,batch,threads,runs,median_ns,min_ns,max_ns,p99_ns,rate_msps,rate_with_transfers_msps,"
          "bytes_per_sample,copy_gbps,share_of_copy,peer,peer_version,peer_rate_msps,ratio,plan_cold_ms,plan_warm_ms,"
          "energy_nj,cycles,instructions,peer_parts,bus_msps,share_of_bus,copies_msps,share_of_copies,one_thread_msps,"
          "share_of_threads")
against = ["--against", "fftw"] if run("bench", "--against", "fftw", "--case", "ftt").stderr.find("build") < 0 else []
done = check_run(0, "bench", "cpu", "--case", "fft:1024:x100", "--csv", *against)
lines = done.stdout.decode().splitlines()
check(lines[0] == header, "columns:", lines[0])
for row in csv.DictReader(io.StringIO(done.stdout.decode())):
    check(row["case"] == "fft:1024:x100" and row["device"] == "cpu" and row["batch"] == "100", row)
    check(int(row["runs"]) >= 5, row)
    check(float(row["min_ns"]) <= float(row["median_ns"]) <= float(row["p99_ns"]) <= float(row["max_ns"]), row)
    rate = 1e3 * 102400 / float(row["median_ns"])
    check(abs(float(row["rate_msps"]) / rate - 1) < 1e-3, "rate and time differ:", row)
    check(float(row["bytes_per_sample"]) == 16, row)
    share = 1e-3 * rate * 16 / float(row["copy_gbps"])
    check(abs(float(row["share_of_copy"]) - share) < 1e-3, row)
    check(not against or (row["peer"] == "fftw" and float(row["ratio"]) > 0), row)
check_error(1, "no device 'tpu'", "bench", "tpu")
done = run("bench", "cpu", "--case", "fft:64", "--png", path("bench.png"))
if done.returncode == 0:
    width, height, _ = read_png(path("bench.png"))
    check(width > 500 and height > 100, width, height)
else:
    check(done.returncode == 2 and "libpng" in done.stderr, done.stderr)
check_error(1, "cufft does none of these cases", "bench", "cpu", "--against", "cufft", "--case", "fft:16")
if done.returncode == 0:
    check_error(1, "No such file", "bench", "cpu", "--case", "fft:16", "--png", path("absent/bench.png"))
    check_error(2, "standard output has the table", "bench", "cpu", "--png", "-")
    # Of a picture that has no room nothing is left.
    limited = ["bash", "-c", "ulimit -f 1; trap '' XFSZ; exec \"$0\" \"$@\"", PENSTOCK, "bench", "cpu",
               "--case", "fft:16", "--png", path("large.png")]
    cut = subprocess.run(limited, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    check(cut.returncode == 1 and cut.stderr.decode().endswith("large.png': File too large\n"), cut)
    check(not os.path.exists(path("large.png")), "a piece of a picture is left")
check(not os.path.exists(path("absent")), "a folder was made for a picture")

# Studies: on the CPU a transform has one form. What is not done has a line of its own, and not one for each length.
done = check_run(0, "bench", "cpu", "--study", "radix", "--most", "16", "--csv")
rows = list(csv.reader(io.StringIO(done.stdout.decode())))
check(rows[0] == ["points", "form", "device", "microseconds", "gflops", "microjoules"], rows[0])
check(len(rows) > 1 and all(len(row) == len(rows[0]) and float(row[4]) > 0 for row in rows[1:]), rows)
check("own, 16 bits" in [row[1] for row in rows], "names with a comma are one column:", rows)
check(done.stderr.count("radix 2, from 8 points on: ") == 1, done.stderr)
check(check_run(0, "bench", "cpu", "--study", "2d", "--most", "16", "--csv").stdout.startswith(b"side,form,"), "2d")
for study, least in {"radix": "8 points", "2d": "16 points of a side", "plans": "64 points"}.items():
    check_error(2, f"the study begins at {least}", "bench", "cpu", "--study", study, "--most", "7")
picture = run("bench", "cpu", "--study", "radix", "--most", "16", "--png", path("radix.png"))
check(picture.returncode == done.returncode or "libpng" in picture.stderr, picture.stderr)

rows = list(csv.reader(io.StringIO(check_run(0, "bench", "cpu", "--study", "enqueue", "--csv").stdout.decode())))
check(rows[0] == ["n", "frames", "enqueue_us", "cufft_us"] and len(rows) == 4, rows)
check(all(float(row[2]) > 0 and row[3] == "" for row in rows[1:]), rows)

# A peer on the same device: its output is compared with ours before both are timed.
for peer in ["clfft", "vkfft"] if "opencl:0" in run("devices", "--wait").stdout.decode() else []:
    done = run("bench", "opencl", "--against", peer, "--case", "fft:16:x64", "--csv",
               # clFFT's own
               environment={"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":new_delete_type_mismatch=0"})
    if done.returncode == 0:
        row = dict(zip(*[line.split(",") for line in done.stdout.decode().splitlines()]))
        check(row["peer"] == peer and row["peer_version"].count(".") == 2 and float(row["ratio"]) > 0, row)
    else:
        check("not in this build" in done.stderr or "libclFFT.so.2 was not found" in done.stderr, done.stderr)

# The device may be left to the library in check and bench too.
check("auto" in check_run(0, "check", "auto", "--case", "fft:16").stdout.decode(), "check auto")
check("fft:16" in check_run(0, "bench", "auto", "--case", "fft:16").stdout.decode(), "bench auto")
finish()
