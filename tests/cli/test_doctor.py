# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""doctor: an installation with one fault at a time. Each is found and told with its cure, and a cure that is a command
for the shell is applied and must help. A test has half of the faults, another half in each part."""

import itertools
import json
import os
import re
import shutil
import subprocess

from cli import check, drawn, finish, install, path

GNURADIO = os.environ.get("PENSTOCK_TEST_GNURADIO")  # the Python that has it
CUDA_SHIM = os.environ.get("PENSTOCK_TEST_CUDA_SHIM")
CRASH_DRIVER = os.environ.get("PENSTOCK_TEST_CRASH_DRIVER")
OPENCL_SHIM = os.environ.get("PENSTOCK_TEST_OPENCL_SHIM")  # breaks the driver that is there
LONG = "penstock: asking the drivers for their devices, for more than 2 s now\n"  # which compile for what is tried
STRANGE = ("LD_LIBRARY_PATH", "PYTHONPATH", "GRC_BLOCKS_PATH", "OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "PENSTOCK_PROBE",
           "PENSTOCK_COMPILE", "PENSTOCK_OPENCL_LIBRARY", "PENSTOCK_CUDA_LIBRARY", "PENSTOCK_NVRTC_LIBRARY",
           "PENSTOCK_KERNEL_PATH")

prefix = os.path.realpath(install(path("it's a prefix")))
library = os.path.dirname(next(os.path.join(at, name) for at, _, names in os.walk(prefix) for name in names
                               if name.startswith("libpenstock.so")))
build = os.environ["PENSTOCK_TEST_BUILD"]
bare = {name: value for name, value in os.environ.items() if name not in STRANGE}
bare["PENSTOCK_CACHE_DIR"] = path("cache")
healthy = dict(bare, LD_LIBRARY_PATH=library)
modules = next((at for at, _, names in os.walk(prefix) for name in names if "ReplaySupport" in name), None)
if modules:
    healthy["SOAPY_SDR_PLUGIN_PATH"] = modules
if GNURADIO:
    os.mkdir(path("bin"))
    os.symlink(GNURADIO, path("bin/python3"))
    healthy["PATH"] = path("bin") + ":" + bare["PATH"]
    module = next(at for at, _, _ in os.walk(prefix) if at.endswith("/gnuradio/penstock") and "include" not in at)
    healthy["PYTHONPATH"] = os.path.dirname(os.path.dirname(module))
    blocks = healthy["GRC_BLOCKS_PATH"] = os.path.join(prefix, "share/gnuradio/grc/blocks")
    check(os.listdir(blocks), "no blocks were installed")


faults = itertools.count()


def doctor(environment, *before):
    """What it tells, as (judgement, what, state, cure). A machine that is busy may not load a library, nor try a
    driver, in the time that it has: then once more, ten times in all."""
    for _ in range(10):
        rows = ask_doctor(environment, *before)
        if not any("is not loaded within" in row[2] or "has not answered yet" in row[2] for row in rows):
            break
    return rows


def ask_doctor(environment, *before):
    done = subprocess.run([*before, os.path.join(prefix, "bin/penstock"), "doctor"], env=environment,
                          capture_output=True, text=True, timeout=600)
    check(done.returncode == (1 if "BROKEN" in done.stdout else 0) and done.stderr in ("", LONG), done.returncode,
          done.stderr)
    rows = []
    for line in done.stdout.splitlines()[:-1]:
        if "cure: " in line:
            rows[-1] = (*rows[-1][:3], line.split("cure: ", 1)[1])
        else:
            rows.append((*re.split(r"  +", line, maxsplit=2), None))
    return rows


def find(rows, what, chunk):
    return [row for row in rows if row[0] != "ok" and row[1] == what and chunk in row[2]]


def quoted(text):
    """For the shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def check_fault(environment, what, chunk, cure, *before):
    """One finding about `what` that contains the chunk; it and no other trouble of the kind appears."""
    if not drawn(next(faults), 2, "fault"):
        return
    rows = doctor(environment, *before)
    found = find(rows, what, chunk)
    check(len(found) == 1 and cure in (found[0][3] or ""), what, chunk, cure, rows)
    exported = re.search(r"export (\w+)=.*$", (found or [[""] * 4])[0][3] or "")
    if exported:  # the cure helps, and keeps what the variable had
        said = subprocess.run(["sh", "-c", f'{exported[0]}; printf %s "${exported[1]}"'], env=environment,
                              capture_output=True, text=True)
        check(said.returncode == 0 and said.stdout.endswith(environment.get(exported[1], "")), exported[0], said)
        rows = doctor({**environment, exported[1]: said.stdout}, *before)
        check(not find(rows, what, chunk), "in vain:", exported[0], rows)


# ---- no fault
rows = doctor(healthy)
for what in ("library", "loader", "prefix", "probe helper", "compiler", "python", "gnuradio", "companion"):
    check(GNURADIO or what == "gnuradio" or not find(rows, what, ""), what, rows)
check(("ok", "library") in [row[:2] for row in rows], rows)
if modules:
    check(("ok", "radios", "the replay module is found") in [row[:3] for row in rows], rows)
    check_fault(dict(healthy, SOAPY_SDR_PLUGIN_PATH=path("absent"), SOAPY_SDR_ROOT=path("absent")), "radios",
                "the replay module (driver=replay) is not found", "install penstock")

# ---- the loader: a prefix that it does not know, and one that ldconfig has been run for
check_fault(bare, "loader", f"do not find libpenstock.so.0.1 in {library}", "sudo ldconfig")
with open(path("ld.conf"), "w") as file:
    file.write(library + "\n")
namespace = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
run_ldconfig = (f"/sbin/ldconfig -X -f {path('ld.conf')} -C {path('ld.cache')} && "
                f"mount --bind {path('ld.cache')} /etc/ld.so.cache && \"$@\"")
ready = shutil.which("unshare") and subprocess.run([*namespace, "sh", "-c", run_ldconfig, "sh", "true"],
                                                   capture_output=True).returncode == 0
if ready:
    rows = doctor(bare, *namespace, "sh", "-c", run_ldconfig, "sh")
    check(not find(rows, "loader", ""), "ldconfig has been run:", rows)
else:
    print("SKIPPED: no mount namespace here for a loader's cache of its own")

# ---- a wrong prefix, helpers that are missing or that nobody may run
check_fault(dict(healthy, LD_LIBRARY_PATH=os.path.join(build, "lib")), "prefix", "the library of another prefix",
            "LD_LIBRARY_PATH")
check_fault(dict(healthy, PENSTOCK_PROBE="/none/probe"), "probe helper", "/none/probe cannot be run", "PENSTOCK_PROBE")
with open(path("helper"), "w") as file:
    file.write("no program\n")
# a folder, and no right to run it
helpers = dict(healthy, PENSTOCK_PROBE=path("prefix"), PENSTOCK_COMPILE=path("helper"))
rows = doctor(helpers)
for what, wrong, cure in (("compiler", path("helper"), "let PENSTOCK_COMPILE name the program penstock-compile"),
                          ("probe helper", path("prefix"), "let PENSTOCK_PROBE name the program penstock-probe")):
    found = find(rows, what, f"{wrong} cannot be run")
    check(len(found) == 1 and cure in found[0][3], what, rows)

# ---- OpenCL: loader, registered drivers
for name, text in (("empty", None), ("gone", "/none/libdriver.so\n"), ("unknown", "libnone-such.so.9\n"),
                   ("blank", "\n"), ("crash", CRASH_DRIVER)):
    os.mkdir(path(name))
    if text:
        with open(path(name + "/driver.icd"), "w") as file:
            file.write(text)
with open(path("libOpenCL.so.1"), "w") as file:
    file.write("no library\n")
if os.environ.get("PENSTOCK_TEST_SANITIZED") == "1":
    print("SKIPPED: a process of this build does not start within the 0.1 s that a loader has")
else:
    check_fault(dict(healthy, PENSTOCK_OPENCL_LIBRARY="/none/libOpenCL.so.1"), "opencl",
                "loader /none/libOpenCL.so.1 not found", "ocl-icd-libopencl1")
    check_fault(dict(healthy, PENSTOCK_OPENCL_LIBRARY=path("libOpenCL.so.1")), "opencl",
                f"loader {path('libOpenCL.so.1')} cannot be loaded: ", "reinstall the package")
has_loader = any(row[:3] == ("ok", "opencl", "loader libOpenCL.so.1 found") for row in doctor(healthy))
if has_loader:
    check_fault(dict(healthy, OCL_ICD_VENDORS=path("empty")), "opencl", "has no .icd file", "pocl-opencl-icd")
    for name, chunk in (("gone", "names /none/libdriver.so, which is not there"),
                        ("unknown", "names libnone-such.so.9, which is not there"), ("blank", "names nothing")):
        check_fault(dict(healthy, OCL_ICD_VENDORS=path(name)), "opencl", chunk, "reinstall the driver's package")
    absent = dict(healthy, OCL_ICD_VENDORS=path("empty"), OCL_ICD_FILENAMES="libc.so.6:/none/libdriver.so")
    check_fault(absent, "opencl", "OCL_ICD_FILENAMES names /none/libdriver.so, which is not there", "take it out of")
    rows = doctor(absent)
    check(not find(rows, "opencl", "has no .icd file"), "a file is named that is there:", rows)
else:
    print("SKIPPED: no OpenCL loader on this machine, nothing registers with it")
if has_loader and CRASH_DRIVER:
    # a crash looks like one
    plain = dict(ASAN_OPTIONS="use_sigaltstack=0:handle_segv=0", UBSAN_OPTIONS="handle_segv=0")
    check_fault(dict(healthy, OCL_ICD_VENDORS=path("crash"), OCL_ICD_FILENAMES=CRASH_DRIVER, **plain), "opencl",
                "crashed while it was probed", "update or remove")
    # where no helper can probe it, it comes into the process that tries the devices, and ends that
    unprobed = dict(healthy, OCL_ICD_VENDORS=path("crash"), OCL_ICD_FILENAMES=CRASH_DRIVER, PENSTOCK_PROBE="/none",
                    PENSTOCK_CACHE_DIR=path("unprobed"), **plain)
    check_fault(unprobed, "devices", "the process that tries them was ended", "update or remove")


def wait_for_drivers(environment):
    """Nobody who does not name a driver waits for it long, which may be too short on a busy machine: what came of it is
    kept."""
    subprocess.run([os.path.join(prefix, "bin/penstock"), "devices", "--wait"], env=environment, capture_output=True)


wait_for_drivers(healthy)
if OPENCL_SHIM and any(row[:2] == ("ok", "opencl:0") for row in doctor(healthy)):
    for fault, state, cure in (("build-crash", "the driver crashed while it compiled a first kernel (signal 11)",
                                "update or remove"),
                               ("build-error", "the driver fails with a first kernel: clBuildProgram: ",
                                "reinstall that driver")):
        broken = dict(healthy, PENSTOCK_OPENCL_LIBRARY=OPENCL_SHIM, PENSTOCK_SHIM_FAULT=fault,
                      PENSTOCK_CACHE_DIR=path(fault))
        wait_for_drivers(broken)
        check_fault(broken, "opencl:0", "absent: " + state, cure)
        listed = subprocess.run([os.path.join(prefix, "bin/penstock"), "devices", "--wait"], env=broken,
                                capture_output=True, text=True)
        check(listed.returncode == 0 and re.search(r"opencl:0 +absent +MIT +" + re.escape(state), listed.stdout), fault,
              listed)
else:
    print("SKIPPED: no OpenCL device on this machine that could be broken")

# ---- CUDA: driver, NVRTC
check_fault(dict(healthy, PENSTOCK_CUDA_LIBRARY="/none/libcuda.so.1"), "cuda", "no NVIDIA driver", "install its driver")
if CUDA_SHIM:
    check_fault(dict(healthy, PENSTOCK_CUDA_LIBRARY=CUDA_SHIM, PENSTOCK_NVRTC_LIBRARY="/none/libnvrtc.so"), "cuda",
                "/none/libnvrtc.so not found", "install NVRTC")
    listed = subprocess.run([os.path.join(prefix, "bin/penstock"), "devices", "--json", "--wait"], capture_output=True,
                            text=True,
                            env=dict(healthy, PENSTOCK_CUDA_LIBRARY=CUDA_SHIM, PENSTOCK_CACHE_DIR=path("profile")))
    gpus = [json.loads(line) for line in listed.stdout.splitlines() if '"cuda:0"' in line]
    if not gpus:
        print("SKIPPED: the profile of a GPU of CUDA's, as there is no NVRTC")
    for gpu in gpus:
        check(gpu["profile"] == "NVIDIA: waves of 32, 227 KiB and 1024 work-items a group, "
                                "memory of its own, half precision",
              "profile", gpu)

# ---- Python and GNU Radio Companion
if GNURADIO:
    os.mkdir(path("second"))
    with open(path("second/python3"), "w") as file:
        file.write(f'#!/bin/sh\nexec {GNURADIO} -I -S "$@"\n')  # without its packages
    os.chmod(path("second/python3"), 0o755)
    check_fault(dict(healthy, PATH=path("second") + ":" + bare["PATH"]), "python", "has no GNU Radio",
                f"run flowgraphs with {GNURADIO}")
    without = {name: value for name, value in healthy.items() if name != "PYTHONPATH"}
    chunk = "is in" if subprocess.run([GNURADIO, "-c", "from gnuradio import penstock"], env=without,
                                      capture_output=True).returncode == 0 else "fails"
    check_fault(without, "python", chunk, "export PYTHONPATH=" + quoted(healthy["PYTHONPATH"]))
    check_fault(dict(healthy, PYTHONPATH=os.path.join(build, "test_modules")), "python", "another installation",
                "export PYTHONPATH=" + quoted(healthy["PYTHONPATH"]))

    without = {name: value for name, value in healthy.items() if name != "GRC_BLOCKS_PATH"}
    check_fault(without, "companion", "does not find the blocks of this installation",
                "export GRC_BLOCKS_PATH=" + quoted(blocks))
    check_fault(dict(healthy, GRC_BLOCKS_PATH=f"/none/blocks:{blocks}"), "companion",
                "/none/blocks, which is not there", "take it out of GRC_BLOCKS_PATH")
    shutil.copytree(blocks, path("stale"))
    check_fault(dict(healthy, GRC_BLOCKS_PATH=f"{path('stale')}:{blocks}"), "companion",
                f"blocks of another installation, in {os.path.realpath(path('stale'))}", "uninstall that one")
else:
    print("SKIPPED: this build has no GNU Radio module")
finish()
