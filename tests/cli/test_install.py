# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""An installation in a prefix of its own works where it lies: the command, a C program by pkg-config and by CMake, the
GNU Radio module, the replay device."""

import glob
import os
import re
import shutil
import subprocess

from cli import check, finish, install, path

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GNURADIO = os.environ.get("PENSTOCK_TEST_GNURADIO")

prefix = install(path("prefix"))
environment = {name: value for name, value in os.environ.items()
               if name not in ("LD_LIBRARY_PATH", "PYTHONPATH", "SOAPY_SDR_PLUGIN_PATH")}


def check_program(text, *command, **more):
    """Ends with exit code 0, and its output contains the text."""
    done = subprocess.run(command, env={**environment, **more}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=600, cwd=path("."))
    check(done.returncode == 0 and text in done.stdout, command, done.returncode, done.stdout)


penstock = os.path.join(prefix, "bin/penstock")
check_program("1 held", penstock, "check", "cpu", "--case", "fft:64")
check_program("", penstock, "transmit", "--profile", "wifi", "--count", "3", "--output", path("r.sigmf-meta"))
modules = glob.glob(prefix + "/**/SoapySDR/modules*", recursive=True)
for folder in modules:
    check_program(" 3 FCS ok", penstock, "receive", "--profile", "wifi", "--input",
                  f"soapy:driver=replay,pace=fast,path={path('r.sigmf-meta')}", SOAPY_SDR_PLUGIN_PATH=folder)

for name in ("penstock", "gnuradio-penstock"):  # the loader's names are as many versions as find_package()'s below
    names = {os.path.basename(at) for at in glob.glob(f"{prefix}/**/lib{name}.so*", recursive=True)}
    check(not names and name != "penstock" or names == {f"lib{name}.so{end}" for end in ("", ".0.1", ".0.1.0")}, names)
found = glob.glob(prefix + "/**/penstock.pc", recursive=True)
check(len(found) == 1, found)
library = os.path.dirname(os.path.dirname(found[0]))
sanitized = any("-fsanitize" in line for line in open(os.path.join(os.environ["PENSTOCK_TEST_BUILD"], "build.ninja"))
                ) if os.path.exists(os.path.join(os.environ["PENSTOCK_TEST_BUILD"], "build.ninja")) else False
if sanitized:
    print("SKIPPED: a library with a sanitizer needs programs with it")
else:
    if shutil.which("pkg-config"):
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", found[0]], check=True, capture_output=True,
                               text=True).stdout.split()
        check_program("", os.environ["PENSTOCK_TEST_CC"], SOURCE + "/examples/fft_batch.c", "-o", path("fft_batch"),
                      *flags, "-lm")
        check_program("", path("fft_batch"), LD_LIBRARY_PATH=library)
    else:
        print("SKIPPED: no pkg-config")
    os.mkdir(path("project"))
    with open(path("project/CMakeLists.txt"), "w") as file:
        file.write("cmake_minimum_required(VERSION 3.20)\nproject(user C)\nfind_package(Penstock 0.0 QUIET)\n"
                   "message(STATUS \"0.0: ${Penstock_FOUND}\")\nfind_package(Penstock 0.1 REQUIRED)\n"
                   f"add_executable(user {SOURCE}/examples/fft_batch.c)\n"
                   "target_link_libraries(user PRIVATE Penstock::penstock m)\n")
    cmake = os.environ["PENSTOCK_TEST_CMAKE"]
    check_program("0.0: 0", cmake, "-S", path("project"), "-B", path("project/build"), f"-DCMAKE_PREFIX_PATH={prefix}",
                  f"-DCMAKE_C_COMPILER={os.environ['PENSTOCK_TEST_CC']}",
                  f"-DCMAKE_MAKE_PROGRAM={os.environ['PENSTOCK_TEST_MAKE_PROGRAM']}")
    check_program("", cmake, "--build", path("project/build"))
    check_program("", path("project/build/user"))  # CMake gives it the library's folder

for page in ("README.md", "docs/gnuradio.md", "docs/pictures/companion.png", "examples/fft_batch.c"):
    check(glob.glob(f"{prefix}/share/doc/**/{page}", recursive=True), page, "is not installed")
env = os.path.join(prefix, "bin/penstock-env")
check_program("1 held", env, "penstock", "check", "cpu", "--case", "fft:64")
check_program("1 held", "sh", "-c", f'eval "$({env})"; eval "$({env})"; penstock check cpu --case fft:64')

if GNURADIO:
    check_program("cpu", env, GNURADIO,
                  "-c", "from gnuradio import penstock; print(penstock.wifi_receiver(device='cpu').device())")
    flowgraphs = glob.glob(prefix + "/share/gnuradio/examples/penstock/*.grc")
    check(len(flowgraphs) >= 6, flowgraphs)
    if shutil.which("grcc"):
        check_program("", env, "grcc", "-o", path("."), os.path.join(os.path.dirname(flowgraphs[0]), "fft_filter.grc"))
        check_program("", env, GNURADIO, path("fft_filter.py"), "--device", "cpu", "--count", "20000",
                      "--path", path("channel"))
        check(os.path.getsize(path("channel")) == 8 * 1000, "the flowgraph gave", os.path.getsize(path("channel")),
              "bytes")
    else:
        print("SKIPPED: no grcc")
    module = [at for at in glob.glob(prefix + "/lib/**/gnuradio/penstock", recursive=True)]
    check(len(module) == 1, module)
    check_program("cpu", GNURADIO,
                  "-c", "from gnuradio import penstock; print(penstock.wifi_receiver(device='cpu').device())",
                  PYTHONPATH=os.path.dirname(os.path.dirname(module[0])))
else:
    print("SKIPPED: this build has no GNU Radio module")

# ---- away again: by the build's script, with a list of what is there
with open(path("manifest"), "w") as file:
    file.writelines(os.path.join(at, name) + "\n" for at, _, names in os.walk(prefix) for name in names)
with open(os.path.join(os.environ["PENSTOCK_TEST_BUILD"], "uninstall.cmake")) as script:
    text = re.sub(r"set\(manifest .*\)", lambda _: f'set(manifest "{path("manifest")}")', script.read())
with open(path("uninstall.cmake"), "w") as file:
    file.write(text)
check_program("Removing", os.environ["PENSTOCK_TEST_CMAKE"], "-P", path("uninstall.cmake"))
left = [os.path.join(at, name) for at, folders, names in os.walk(prefix) for name in folders + names
        if name in names or "penstock" in os.path.join(at, name).lower()]
check(not left, "uninstalling leaves", left)
check(os.path.isdir(os.path.join(prefix, "bin")), "uninstalling takes folders that may be others'")
finish()
