# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""The public headers for C and C++ callers: each compiles alone, no circle of includes, every macro of a description in
every language, and the C++ example. Usage: test_headers.py SOURCE LIBRARY|- [COMPILER ...]

With LIBRARY the example is linked with it and run, by each C++ compiler. Of gcc, g++, clang and clang++ those are used
that are there, besides the compilers named."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from checks import check, finish

SOURCE, LIBRARY, *NAMED = sys.argv[1:]
HEADERS = sorted(pathlib.Path(SOURCE, "include/penstock").glob("*.h"))
FLAGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{SOURCE}/include"]
C, CXX = ("c11", "c17"), ("c++17", "c++20")


def is_cxx(compiler):
    return "++" in pathlib.Path(compiler).name


def compilers():
    there = filter(None, map(shutil.which, ["gcc", "g++", "clang", "clang++", *NAMED]))
    found = {(os.path.realpath(path), is_cxx(path)): path for path in there}
    return [(path, standard) for path in found.values() for standard in (CXX if is_cxx(path) else C)]


def compiles(compiler, standard, text):
    language = "c++" if is_cxx(compiler) else "c"
    done = subprocess.run([compiler, f"-std={standard}", *FLAGS, "-x", language, "-fsyntax-only", "-"], input=text,
                          capture_output=True, text=True, check=False)
    return not done.returncode, done.stderr[:800]


def macros():
    """Name, whether it takes fields, and the struct, of every description."""
    found = []
    for path in HEADERS:
        found += re.findall(r"#define (PENSTOCK_\w+)(\(\.\.\.\))?\s+\\?\s*PENSTOCK_DESCRIPTION\((penstock_\w+),",
                            path.read_text())
    return found


def fields(struct):
    """The names of a struct's fields in their order, without `size`."""
    text = "".join(path.read_text() for path in HEADERS)
    body = re.search(rf"typedef struct {struct} {{(.*?)\n}} {struct};", text, re.S).group(1)
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    return [name for declaration in body.split(";") for name in re.findall(r"(\w+)\s*(?=,|$)", declaration.strip())][1:]


def as_written(language):
    """A caller that uses every macro in the ways that the language has."""
    lines = [*(f"#include <penstock/{path.name}>" for path in HEADERS),
             "template <typename T> bool takes(const T *d) { return d->size == sizeof(T); }" if language in CXX
             else "static int takes(const void *d) { return d != 0; }",
             "int main(void)", "{", "    int good = 1;"]
    for i, (macro, takes_fields, struct) in enumerate(macros()):
        empty = macro + ("()" if takes_fields else "")
        lines.append(f"    {struct} object{i} = {empty};")
        lines.append(f"    good &= takes(&object{i}) && object{i}.size == sizeof({struct});")
        if not takes_fields:
            continue
        lines.append(f"    good &= takes(&{empty});")
        if language != "c++17":
            name = fields(struct)
            lines.append(f"    good &= takes(&{macro}(.{name[0]} = {{}}));" if language in CXX else
                         f"    good &= takes(&{macro}(.{name[0]} = object{i}.{name[0]}));")
            lines.append(
                f"    good &= takes(&{macro}(.{name[0]} = object{i}.{name[0]}, .{name[-1]} = object{i}.{name[-1]}));")
    return "\n".join([*lines, "    return !good;", "}", ""])


def each_compiles_alone(pool):
    jobs = [(path, compiler, standard) for path in HEADERS for compiler, standard in compilers()]
    text = "#include <penstock/{0}>\n#include <penstock/{0}>\nextern int unused;\n"
    results = pool.map(lambda job: compiles(job[1], job[2], text.format(job[0].name)), jobs)
    for (path, compiler, standard), (good, why) in zip(jobs, results):
        check(good, path.name, "alone with", compiler, standard, why)
    return len(jobs)


def no_circles():
    includes = {path.name: re.findall(r"#include <penstock/(\w+\.h)>", path.read_text().split("#ifndef", 1)[1])
                for path in HEADERS}

    def walk(name, above):
        check(name not in above, "a circle of includes:", " -> ".join([*above, name]))
        if name not in above:
            for other in includes[name]:
                walk(other, [*above, name])
    for name in includes:
        walk(name, [])


def every_macro(pool):
    check(len(macros()) > 25, "descriptions found in the headers:", len(macros()))
    results = pool.map(lambda job: (job, compiles(job[0], job[1], as_written(job[1]))), compilers())
    for (compiler, standard), (good, why) in results:
        check(good, "macros with", compiler, standard, why)


def link(compiler, standard, source, program):
    folder = pathlib.Path(LIBRARY).parent
    done = subprocess.run([compiler, f"-std={standard}", *FLAGS, source, "-o", program, LIBRARY,
                           f"-Wl,-rpath,{folder}"],
                          capture_output=True, text=True, check=False)
    check(not done.returncode, source, compiler, standard, done.stderr[:800])
    return not done.returncode


def the_programs(pool):
    """The example and the caller of every macro, linked and run."""
    with tempfile.TemporaryDirectory() as folder:
        jobs = []
        for i, (compiler, standard) in enumerate(compilers()):
            if is_cxx(compiler):
                source = pathlib.Path(folder, f"macros{i}.cc")
                source.write_text(as_written(standard))
                jobs += [(compiler, standard, str(source), f"{folder}/macros{i}", []),
                         (compiler, standard, f"{SOURCE}/examples/filter_stream.cc", f"{folder}/example{i}", ["cpu"])]
        for job, linked in zip(jobs, pool.map(lambda job: link(*job[:4]), jobs)):
            if linked:
                done = subprocess.run([job[3], *job[4]], capture_output=True, text=True, check=False)
                check(not done.returncode, job[:3], "exit code", done.returncode, done.stdout, done.stderr)
        return len(jobs)


with ThreadPoolExecutor(os.cpu_count()) as pool:
    alone = each_compiles_alone(pool)
    no_circles()
    every_macro(pool)
    programs = the_programs(pool) if LIBRARY != "-" else 0
print("compilers:", ", ".join(f"{pathlib.Path(path).name} {standard}" for path, standard in compilers()))
print(f"{alone} headers alone, {len(macros())} macros, {programs} programs")
finish()
