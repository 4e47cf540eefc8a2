#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""Penstock within another project by add_subdirectory(), static as it is there unless that project says otherwise; and
the static library that such a project installs, in a folder of its architecture and a prefix that is moved. It is built
in one part of four: another one has what configuring shows. Usage: test_embedded.py SOURCE CMAKE GENERATOR MAKE CC"""

import os
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from checks import check, finish
from drawn import drawn

SOURCE, CMAKE, GENERATOR, MAKE, CC = sys.argv[1:]
LIBRARIES = "lib/x86_64-any"  # as Debian has them
PROGRAMS = "penstock_command qpu-emu example_fft_batch"
DUTIES = "uninstall Experimental test_plan"
folder = tempfile.mkdtemp()

EMBEDDING = f"""cmake_minimum_required(VERSION 3.21)
project(user C)
add_subdirectory({SOURCE} penstock)
add_executable(user {SOURCE}/examples/fft_batch.c)
target_link_libraries(user PRIVATE Penstock::penstock m)
install(TARGETS user)
foreach(target IN ITEMS {PROGRAMS} {DUTIES})
  set(left_out NO)
  if(TARGET ${{target}} AND NOT "{DUTIES}" MATCHES "${{target}}")
    get_target_property(left_out ${{target}} EXCLUDE_FROM_ALL)
  endif()
  if(TARGET ${{target}} AND NOT left_out)
    message(SEND_ERROR "the project gets the target ${{target}}")
  endif()
endforeach()
foreach(name IN ITEMS BUILD_SHARED_LIBS BUILD_TESTING FFTW_FOUND LIQUID_LIBRARY)
  if(DEFINED CACHE{{${{name}}}})
    message(SEND_ERROR "the project gets ${{name}} in its cache")
  endif()
endforeach()
if(CMAKE_BUILD_TYPE)
  message(SEND_ERROR "the project gets the build type ${{CMAKE_BUILD_TYPE}}")
endif()
"""
FINDING = f"""cmake_minimum_required(VERSION 3.21)
project(user C)
foreach(time RANGE 1)
  find_package(Penstock 0.1 REQUIRED)
endforeach()
add_executable(user {SOURCE}/examples/fft_batch.c)
target_link_libraries(user PRIVATE Penstock::penstock m)
"""


def at(name):
    return os.path.join(folder, name)


def run(*command, **more):
    """Whether it ends with exit code 0, and its output."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1500,
                          env={**os.environ, "PENSTOCK_CACHE_DIR": "", **more})
    check(done.returncode == 0, command, done.returncode, done.stdout[-4000:])
    return done.returncode == 0, done.stdout


def configure(name, text, *options):
    os.makedirs(at(name), exist_ok=True)
    with open(at(name + "/CMakeLists.txt"), "w") as file:
        file.write(text)
    return run(CMAKE, "-S", at(name), "-B", at(name + "/build"), "-G", GENERATOR, f"-DCMAKE_MAKE_PROGRAM={MAKE}",
               f"-DCMAKE_C_COMPILER={CC}", *options)


def check_runs(command, **more):
    """The example shows a peak at bin 192."""
    good, said = run(*command, **more)
    check(not good or "bin 192" in said, command, "wrote", said)


def installed(prefix):
    return {os.path.relpath(os.path.join(top, name), at(prefix)) for top, _, names in os.walk(at(prefix))
            for name in names}


def check_static_library():
    """Built, used where it lies, installed, moved, and found by pkg-config and CMake."""
    if not run(CMAKE, "--build", at("embedding/build"), "--target", "user", "--parallel", str(os.cpu_count()))[0]:
        return
    check_runs([at("embedding/build/user")])
    for helper in ("penstock-probe", "penstock-compile"):
        check(os.path.exists(at("embedding/build/penstock/libexec/penstock/" + helper)), helper, "is not built along")
    run(CMAKE, "--install", at("embedding/build"), "--prefix", at("alone"))
    check(installed("alone") == {"bin/user"}, "the project installs", installed("alone"))
    configure("embedding", EMBEDDING, "-DPENSTOCK_INSTALL=ON", f"-DCMAKE_INSTALL_LIBDIR={LIBRARIES}")
    run(CMAKE, "--build", at("embedding/build"), "--parallel", str(os.cpu_count()))
    run(CMAKE, "--install", at("embedding/build"), "--prefix", at("first"))
    os.rename(at("first"), at("moved"))
    files = installed("moved")
    check(LIBRARIES + "/libpenstock.a" in files and "libexec/penstock/penstock-probe" in files, files)
    pkg_config = {"PKG_CONFIG_PATH": at(f"moved/{LIBRARIES}/pkgconfig")}
    if shutil.which("pkg-config"):
        for how in ([], ["--static"]):
            good, flags = run("pkg-config", "--cflags", "--libs", *how, "penstock", **pkg_config)
            if good and run(CC, SOURCE + "/examples/fft_batch.c", "-o", at("by_pkg_config"), *flags.split(), "-lm")[0]:
                check_runs([at("by_pkg_config")])
    else:
        print("SKIPPED: no pkg-config")
    if configure("finding", FINDING, f"-DPenstock_DIR={at(f'moved/{LIBRARIES}/cmake/Penstock')}")[0]:
        if run(CMAKE, "--build", at("finding/build"))[0]:
            check_runs([at("finding/build/user")])


try:
    if configure("embedding", EMBEDDING)[0] and drawn(0, 4, "embedding"):
        check_static_library()
finally:
    shutil.rmtree(folder)
finish()
