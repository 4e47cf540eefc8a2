#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Builds the kernels of `penstock check`, as they are for each kind of GPU, by the compilers that exist without the GPU:
clang's amdgcn with ROCm's device libraries, and Intel's ocloc. A budget (farm.csv) says which waves or lanes
default configurations have at least, what share of Intel's kernels has 16 lanes, and whether there are numbers of 64
bits. No kernel spills a register. Waves are those that registers leave and, where the budget says how much local memory
four units of a GPU share, those that it leaves: counted here, since releases of clang differ in how they do so.
  tests/opencl/farm.py PENSTOCK SHIM OCLOC [CSV]   a sample by hash; with PENSTOCK_TEST_FULL=1 every kernel
OCLOC: a folder that `tests/opencl/driver.sh fetch ocloc FOLDER` has filled. CSV:
a file for one row a kernel and target.
"""
import collections
import concurrent.futures
import csv
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
OPTIONS = ["-cl-std=CL1.2", "-cl-mad-enable"]
ROCM = pathlib.Path("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode")

# Kernels that a plan asks for when others have run and were right: they run on the device behind the driver for tests.
FUSED = ["filter:ccf:65:n512:x2000", "filter:ccf:129:n1024:x3000", "filter:ccf:257:n2048:x5000", "ofdm:64/16/48:qpsk"]
RDNA3 = 1536  # registers of a lane of a SIMD, in pieces of 24
LOCAL_PIECE = 512  # bytes in which a group gets local memory
DEFAULT = [f"fft:{2**k}" for k in range(6, 14)]
# Whose work-items have most to hold: in a sample too.
LARGE = ["ldpc:wifi:1944:1/2", "ldpc:nr:bg1:384:9", "fft:8192:radix2"]


def sources(penstock, shim, limits, name, which, folder, run=False):
    """The sources of the cases that options name, in the order in which plans want them; with `run` they run."""
    folder.mkdir()
    environment = dict(os.environ, PENSTOCK_OPENCL_LIBRARY=shim, PENSTOCK_SHIM_GPU=limits, PENSTOCK_SHIM_NAME=name,
                       PENSTOCK_SHIM_SOURCES=str(folder), PENSTOCK_PROBE="/none", PENSTOCK_CACHE_DIR="",
                       PENSTOCK_RECORDINGS="", **({"PENSTOCK_SHIM_RUNS": "1"} if run else {}))
    subprocess.run([penstock, "check", "opencl:0", *which], env=environment, capture_output=True, check=False)
    return [path.read_text() for path in sorted(folder.glob("*.cl"))]


def waves_by_local_memory(numbers, local):
    """Of each of the four units that share so many bytes: as many as the groups have that fit."""
    piece = -(-max(numbers(r"\.group_segment_fixed_size: +(\d+)")) // LOCAL_PIECE) * LOCAL_PIECE
    items, wave = max(numbers(r"\.max_flat_workgroup_size: +(\d+)")), max(numbers(r"\.wavefront_size: +(\d+)"))
    return local // piece * -(-items // wave) // 4 if piece else 16


def amd(source, target, folder, row, _ocloc):
    known = (ROCM / f"oclc_isa_version_{target[3:]}.bc").exists()
    command = ["clang-15" if known else "clang-16", "-x", "cl", *OPTIONS, "-D__OPENCL_VERSION__=120", "-target",
               "amdgcn-amd-amdhsa", f"-mcpu={target}", "-Xclang", "-finclude-default-header", "-O3", "-S", "-o",
               folder / "x.s", source]
    if known:
        command.append(f"--rocm-device-lib-path={ROCM}")
    else:  # newer than these libraries: those of the one before; and than clang 15, which takes half of its registers
        command.append("-nogpulib")
        for name in ["opencl", "ocml", "ockl", "oclc_isa_version_1030", "oclc_wavefrontsize64_off", "oclc_daz_opt_off",
                     "oclc_correctly_rounded_sqrt_off", "oclc_finite_only_off", "oclc_unsafe_math_off"]:
            command += ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(ROCM / f"{name}.bc")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return None, done.stderr
    text = (folder / "x.s").read_text()
    numbers = lambda pattern: [int(value) for value in re.findall(pattern, text)]
    registers = max(numbers(r"\.vgpr_count: +(\d+)"))
    waves = min(numbers(r"; Occupancy: (\d+)")) if known else min(16, RDNA3 // (-(-registers // 24) * 24))
    if row["local"]:
        waves = min(waves, waves_by_local_memory(numbers, int(row["local"])))
    return {"registers": registers, "waves": waves,
            "spilled": max(numbers(r"\.vgpr_spill_count: +(\d+)") + numbers(r"; ScratchSize: (\d+)"))}, ""


def intel(source, target, folder, _row, ocloc):
    lib = ocloc / "usr/lib/x86_64-linux-gnu"
    done = subprocess.run([ocloc / "usr/bin/ocloc", "compile", "-file", source, "-device", target, "-out_dir", folder,
                           "-options", " ".join(OPTIONS), "-internal_options", "-ze-allow-zebin"],
                          env=dict(os.environ, LD_LIBRARY_PATH=str(lib)), capture_output=True, text=True, check=False)
    binaries = list(folder.glob("*.bin"))
    if done.returncode or not binaries:
        return None, done.stdout + done.stderr
    text = binaries[0].read_bytes().decode("latin-1")
    lanes = [int(value) for value in re.findall(r"simd_size: +(\d+)", text)]
    spilled = [int(value) for value in re.findall(r"spilled around (\d+)", done.stdout + done.stderr)]
    if not lanes:
        return None, "no simd_size is told"
    return {"registers": 128, "waves": min(lanes), "spilled": max(spilled + [0])}, ""


def build(job):
    text, target, compiler, row, ocloc = job
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        source = folder / "x.cl"
        source.write_text(text)
        return compiler(source, target, folder, row, ocloc)
    finally:
        shutil.rmtree(folder)


def profiles(budget):
    """{profile: limits (local bytes, work-items of a group, of a wave) and name}, of those that have a compiler."""
    wanted = {row["profile"] for row in budget.values()}
    with open(pathlib.Path(__file__).with_name("gpu_profiles.csv"), encoding="ascii", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["profile"] in wanted]
    return {row["profile"]: (row["limits"], row["device"]) for row in rows}


def passes_of(texts):
    """Of the sources that plans wanted one after the other, those of the first: one, or several passes."""
    count = 1
    while count < len(texts) and "#define LAST 0\n" in texts[count - 1]:
        count += 1
    return texts[:count]


def collect(penstock, shim, work, known):
    """{profile: {hash: (text, case)}}: case is that of a default configuration, or empty."""
    full = os.environ.get("PENSTOCK_TEST_FULL")
    kernels = {}
    for part, (profile, (limits, name)) in enumerate(known.items(), 1):
        found = kernels[profile] = {}
        place = work / profile.replace(" ", "-")
        place.mkdir()
        for case in DEFAULT:
            texts = sources(penstock, shim, limits, name, ["--case", case], place / case.replace(":", "-"))
            for text in passes_of(texts):
                found[hashlib.sha256(text.encode()).hexdigest()] = (text, case)
        for case in FUSED:
            folder = place / re.sub("[:/]", "-", case)
            for text in sources(penstock, shim, limits, name, ["--case", case], folder, True):
                if any(f'"{kernel}.cl"' in text for kernel in ("filter", "ofdm", "symbols")):
                    found[hashlib.sha256(text.encode()).hexdigest()] = (text, case)
        for case in LARGE:
            for text in sources(penstock, shim, limits, name, ["--case", case], place / re.sub("[:/]", "-", case)):
                found.setdefault(hashlib.sha256(text.encode()).hexdigest(), (text, ""))
        rest = [] if full else ["--part", f"{part}/12"]
        for text in sources(penstock, shim, limits, name, rest, place / "rest", bool(full)):
            key = hashlib.sha256(text.encode()).hexdigest()
            if full or int(key[:8], 16) % 8 == 0:
                found.setdefault(key, (text, ""))
    return kernels


def run_all(kernels, ocloc, budget):
    """In a sample each kernel but those of transforms' default configurations meets every second of AMD's targets; of
    Intel's a share of all kernels is judged."""
    jobs = []
    for profile, found in kernels.items():
        compiler = intel if profile.startswith("Intel") else amd
        step = 2 if compiler is amd and not os.environ.get("PENSTOCK_TEST_FULL") else 1
        targets = [target for target, row in budget.items() if row["profile"] == profile]
        for at, (key, (text, case)) in enumerate(sorted(found.items())):
            jobs += [(profile, target, key, case, (text, target, compiler, budget[target], ocloc))
                     for target in (targets if case in DEFAULT else targets[at % step::step])]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        results = pool.map(build, [job[-1] for job in jobs])
        for (profile, target, key, case, _), (result, message) in zip(jobs, results):
            yield profile, target, key[:16], case, result, message


def judge(rows, budget):
    failures = []
    simd = collections.defaultdict(list)
    double = collections.Counter()
    for _, target, key, case, result, message in rows:
        limit = budget[target]
        what = f"{target}: kernel {key} ({case or 'of all cases'})"
        if not result and limit["double"] == "0" and "requires cl_khr_fp64" in message:
            double[target] += 1
            continue
        if not result:
            failures.append(f"{what} is not built: {message.strip()[:300]}")
            continue
        if case not in FUSED:  # filters have 8 lanes on Intel, with 8, 16 or 32 points a work-item
            simd[target].append(result["waves"])
        if result["spilled"]:
            failures.append(f"{what} spills {result['spilled']}")
        if case and result["waves"] < int(limit["waves"]):
            failures.append(f"{what} has {result['waves']} waves or lanes, the budget is {limit['waves']}")
    for target, count in double.items():
        print(f"{target}: {count} kernels with numbers of 64 bits, which the library does not ask for there")
    for target, lanes in simd.items():
        if not budget[target]["profile"].startswith("Intel"):
            continue
        share = sum(value >= 16 for value in lanes) / len(lanes)
        print(f"{target}: {share:.2f} of {len(lanes)} kernels have 16 lanes or more")
        if share < float(budget[target]["wide"]):
            failures.append(
                f"{target}: {share:.2f} of the kernels have 16 lanes, the budget is {budget[target]['wide']}")
    return failures


def main():
    penstock, shim, ocloc = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]).resolve()
    compilers = [shutil.which("clang-15"), shutil.which("clang-16"), (ocloc / "usr/bin/ocloc").exists()]
    if not all(compilers) or not ROCM.exists():
        print("SKIPPED: a compiler or rocm-device-libs is absent (tests/opencl/driver.sh fetch ocloc FOLDER)")
        return SKIPPED
    with open(pathlib.Path(__file__).with_suffix(".csv"), encoding="ascii", newline="") as file:
        budget = {row["target"]: row for row in csv.DictReader(file)}
    with tempfile.TemporaryDirectory() as work:
        kernels = collect(penstock, shim, pathlib.Path(work), profiles(budget))
    for profile, found in kernels.items():
        defaults = {case for _, case in found.values() if case}
        print(f"{profile}: {len(found)} kernels, those of {len(defaults)} cases by default configurations")
        if len(defaults) < len(DEFAULT) + len(FUSED):
            print(f"{profile}: a case has no kernel of its own")
            return 1
    rows = list(run_all(kernels, ocloc, budget))
    if len(sys.argv) > 4:
        with open(sys.argv[4], "w", encoding="ascii", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["profile", "target", "kernel", "case", "registers", "waves or lanes", "spilled"])
            writer.writerows([*row[:4], *(row[4].values() if row[4] else ["", "", "not built"])] for row in rows)
    failures = judge(rows, budget)
    print("".join(f"FAILED: {line}\n" for line in failures), end="")
    print(f"{len(rows)} builds for {len(budget)} targets, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
