#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""The rules of docs/architecture.md that a machine can check. Usage: test_rules.py SOURCE_DIR LIBRARY NM"""

import collections
import json
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from checks import check, finish

SOURCE, LIBRARY, NM = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
CODE = {".c", ".h", ".cc", ".cpp", ".hpp", ".cl"}

def code_files(folder):
    top = SOURCE / folder
    return sorted(p for p in top.rglob("*") if p.suffix in CODE) if top.is_dir() else []

def own_includes(path):
    """Names in the file's #include "..." lines, relative to lib/ or to the file itself."""
    return re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.M)

def resolve(path, name):
    """The included file below the source tree, or None for a generated one."""
    for base in (path.parent, SOURCE / "lib", SOURCE, SOURCE / "tests/shared"):
        candidate = (base / name).resolve()
        if candidate.is_file():
            return candidate.relative_to(SOURCE.resolve())
    return None

def sees_only(folder, allowed):
    files_see_only(code_files(folder), folder, allowed)

def files_see_only(files, folder, allowed):
    for path in files:
        for name in own_includes(path):
            target = resolve(path, name)
            check(target is None or str(target).startswith(tuple(allowed)),
                  f"{path.relative_to(SOURCE)} includes {name}: {folder} sees {', '.join(allowed)}")

def backends_see_only_the_contract():
    shared = {"opencl": ["lib/gpu/"], "cuda": ["lib/gpu/"], "cpu": ["lib/vector/", "lib/fec/"], "qpu": ["qpu/"]}
    for folder in sorted(p.name for p in (SOURCE / "lib/backends").iterdir() if p.is_dir()):
        allowed = (["lib/backends/backend.h", "lib/backends/ldpc_rule.h", f"lib/backends/{folder}/"]
                   + shared.get(folder, []))
        sees_only(f"lib/backends/{folder}", allowed)

def folders_see_what_the_table_says():
    """The last column of docs/architecture.md's table of folders."""
    others = {"backends", "gnuradio"}  # by the rules for backends and doors
    rows = re.findall(r"^\| `lib/(\w+)/`.*\|(.*)\|$", (SOURCE / "docs/architecture.md").read_text(), re.M)
    folders = {p.name for p in (SOURCE / "lib").iterdir() if p.is_dir()}
    check({name for name, _ in rows} == folders, f"docs/architecture.md has {sorted(rows)}, lib/ has {sorted(folders)}")
    for name, cell in rows:
        everybody, _, helper = cell.partition("; the helper also")
        allowed = re.findall(r"`([^`]+)`", everybody) + [f"lib/{name}/"]
        for path in code_files(f"lib/{name}") if name not in others else []:
            more = re.findall(r"`([^`]+)`", helper) if path.name == "program.c" else []
            files_see_only([path], f"lib/{name}", allowed + more)

def doors_see_only_the_public_headers():
    for folder in ("lib/gnuradio", "python", "apps", "examples", "lib/radio/replay"):
        sees_only(folder, [f"{folder}/", "include/"])

def some_see_only_themselves():
    for folder in ("include", "kernels", "qpu"):
        sees_only(folder, [f"{folder}/"])

def every_source_is_built():
    lists = collections.defaultdict(str)
    for path in [*SOURCE.rglob("CMakeLists.txt"), *SOURCE.glob("tests/**/*.cmake")]:
        if "build" not in path.relative_to(SOURCE).parts[0]:
            lists[path.parent] += path.read_text()
    for folder in ("lib", "apps", "examples", "tests", "kernels", "qpu", "python"):
        for path in code_files(folder):
            if path.suffix in (".h", ".hpp"):
                continue
            stem = re.sub(r"^test_", "", path.stem) if folder == "tests" else path.stem
            named = any(path.name in text or re.search(rf"\b{re.escape(stem)}\b", text)
                        for where, text in lists.items() if where in path.parents)
            check(named, f"{path.relative_to(SOURCE)} is in no build list")

def headers_are_included():
    texts = [p.read_text() for f in ("lib", "apps", "examples", "tests", "include", "qpu", "kernels")
             for p in code_files(f)]
    for folder in ("lib", "apps", "tests"):
        for path in code_files(folder):
            if path.suffix == ".h":
                check(any(re.search(rf'#\s*include\s+[<"](?:[^">]*/)?{re.escape(path.name)}[">]', t) for t in texts),
                      f"{path.relative_to(SOURCE)} is included by nobody")

def exports_are_the_public_header():
    declared = set()
    for path in (SOURCE / "include/penstock").glob("*.h"):
        declared |= set(re.findall(r"PENSTOCK_API[^;{]*?\b(penstock_\w+)\s*\(", path.read_text()))
    listing = subprocess.run([NM, "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True).stdout
    exported = {line.split()[-1].split("@")[0] for line in listing.splitlines() if line.split()[-2] in "TDBRVW"}
    for name in sorted(declared - exported):
        check(False, f"{name} is declared in the public header but not exported")
    for name in sorted(exported - declared):
        check(False, f"{name} is exported but not in the public header")
    check(len(declared) > 40, f"only {len(declared)} public functions found in the headers")

def symbols_of_objects():
    """For each source of the library: functions that its object defines, and names that it takes from others."""
    build = next(p for p in pathlib.Path(LIBRARY).resolve().parents if (p / "CMakeCache.txt").is_file())
    kinds = {}
    for path in sorted((build / "lib").rglob("*.o")):
        folder, _, rest = str(path.relative_to(build)).partition("/CMakeFiles/")
        source = f"{folder}/{rest.partition('.dir/')[2].removesuffix('.o')}"
        if (SOURCE / source).is_file():
            kinds[str(path)] = source, []
    listing = subprocess.run([NM, "-P", "-A", *kinds], check=True, capture_output=True, text=True).stdout
    for path, _, symbol in (line.partition(": ") for line in listing.splitlines()):  # one NM: it takes long to start
        kinds[path][1].append(symbol.split()[:2])
    for source, symbols in kinds.values():
        yield source, {n for n, kind in symbols if kind == "T"}, {n for n, kind in symbols if kind == "U"}

def circles(edges):
    """Groups of files that reach one another (R. Tarjan, SIAM J. Comput. 1(2), 1972)."""
    number, low, stack, found = {}, {}, [], []

    def visit(file):
        number[file] = low[file] = len(number)
        stack.append(file)
        for other in sorted(edges.get(file, ())):
            if other not in number:
                visit(other)
            if other in stack:
                low[file] = min(low[file], low[other])
        if low[file] == number[file]:
            group = stack[stack.index(file):]
            del stack[stack.index(file):]
            if len(group) > 1:
                found.append(sorted(group))

    for file in sorted(edges):
        if file not in number:
            visit(file)
    return found

def no_circles_of_includes_or_calls():
    """A call is that of a function in another file; what a table of functions leads to is none."""
    includes = {str(path.relative_to(SOURCE)): {str(resolve(path, name)) for name in own_includes(path)}
                for path in code_files("lib")}
    objects = list(symbols_of_objects())
    owner = {name: source for source, defined, _ in objects for name in defined}
    calls = {source: {owner[name] for name in taken if name in owner} - {source} for source, _, taken in objects}
    check(len(objects) > 200, f"only {len(objects)} objects of the library found")
    check(circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]], "a circle is not seen")
    for what, edges in (("include", includes), ("call", calls)):
        found = circles(edges)
        check(not found, "; ".join(f"{what} one another: {', '.join(group)}" for group in found))

def files_carry_their_licence():
    for folder in ("include", "lib", "apps", "examples", "tests", "kernels", "cmake", "qpu", "python"):
        for path in (SOURCE / folder).rglob("*"):
            if path.suffix in CODE | {".sh", ".py", ".cmake"} or path.name == "CMakeLists.txt":
                check("SPDX-License-Identifier:" in path.read_text(errors="replace")[:400],
                      f"{path.relative_to(SOURCE)} has no SPDX line")

def members_of(struct, header):
    """Names of a struct's members, those of penstock_fft_options with its own name before them."""
    body = re.search(rf"struct {struct} {{(.*?)\n}}", (SOURCE / header).read_text(), re.S).group(1)
    body = re.sub(r"/\*.*?\*/|\[[^\]]*\]", "", body, flags=re.S)
    for declaration in body.split(";"):
        if declaration.strip():
            first, *others = declaration.split(",")
            yield from re.findall(r"\w+$", first.strip()) + [other.strip(" *\n") for other in others]

def keys_name_every_field():
    text = (SOURCE / "lib/core/plan/problem_bytes.c").read_text()
    for kind in ("fft", "ofdm", "filter", "viterbi", "ldpc", "resample"):
        members = list(members_of(f"penstock_{kind}_problem", f"lib/backends/problem_{kind}.h"))
        check(len(members) >= 4, f"penstock_{kind}_problem: only {members} found")
        if kind == "fft":
            members.remove("options")
            options = members_of("penstock_fft_options", "include/penstock/fft_options.h")
            members += [f"options.{name}" for name in options]
        for name in members:
            named = rf"\b{kind.upper()}\({re.escape(name)}\)|FIELD\({kind}, {re.escape(name)},|\b{kind}->{name}[,}}]"
            check(re.search(named, text), f"the key of measured answers forgets {kind}.{name}")
    shape = set(members_of("filter_shape", "lib/ops/filter/filter_engine.h"))
    # of the others and the length, or no matter of time
    by_length = {"taps", "advance", "high", "fold", "m", "history", "block", "frame", "first", "values", "step", "pair",
                 "taps_dft", "origin", "sample_bytes", "value_bytes"}
    check(by_length < shape, f"struct filter_shape has not {by_length - shape}")
    text = (SOURCE / "lib/ops/filter/filter_choose.c").read_text()
    text = text.partition("static void ask(")[2].partition("\n}\n")[0]
    for name in shape - by_length:
        check(re.search(rf"\b(shape->|there\.){name}\b", text), f"the question of a filter forgets {name}")

CLOCKS = re.compile(r"(?<![>.\w])(penstock__now_s|clock_gettime|clock|gettimeofday|time)\s*\(")

def one_function_times_candidates():
    """What chooses by measurement is timed by one function of lib/core/choice/timer.c, or by a device's own clock."""
    chooses = re.compile(r'#include "core/choice/(timer|wisdom|choice|candidates|measure|tune|choose)\.h"')
    choosing = [p for p in code_files("lib") if chooses.search(p.read_text()) or p.name == "timer.c"]
    check(len(choosing) > 8, f"only {len(choosing)} files that choose found")
    for path in choosing + code_files("lib/backends/cpu") + code_files("lib/vector"):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
        readers = [body.split("(")[0].split()[-1] for body in re.split(r"\n(?=[a-z])", text)
                   if re.search(r"\n\{", body) and CLOCKS.search(body)]
        wanted = ["time_burst"] if path.name == "timer.c" else []
        check(readers == wanted, f"{path.relative_to(SOURCE)}: {', '.join(readers) or 'nothing'} reads the clock")

def the_library_never_prints_or_exits():
    banned = re.compile(r"\b(printf|puts|putchar|perror|exit|_exit|abort|assert)\s*\(|\bstd::(cout|cerr)\b")
    helper_programs = {"compile_helper.c", "program.c"}
    for path in code_files("lib"):
        if path.name in helper_programs:
            continue
        text = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"", "", path.read_text(), flags=re.S)
        for hit in banned.finditer(text):
            check(False, f"{path.relative_to(SOURCE)} calls {hit.group(0)}...")
        check(True, "")

def no_compiler_fuses_products_with_sums():
    """Which ones are is in the source: any split of the input gives the same bits from every compiler."""
    commands = [p / "compile_commands.json" for p in pathlib.Path(LIBRARY).resolve().parents]
    for path in [p for p in commands if p.is_file()][:1]:
        for entry in json.loads(path.read_text()):
            options = re.findall(r"-ffp-contract=\S+|-ffast-math|-Ofast|-funsafe-math-optimizations", entry["command"])
            if not re.search(r"/(tests|examples)/", entry["file"].removeprefix(str(SOURCE.resolve()))):
                check(set(options) == {"-ffp-contract=off"}, f"{entry['file']} is compiled with {options}")

def tests_of_equal_bits_are_listed():
    """Those of one device's compiler alone, NVRTC, are not for ours to decide."""
    listed = set(re.search(r"set\(bits_tests\s([^)]*)\)", (SOURCE / "tests/bits.cmake").read_text()).group(1).split())
    for path in sorted((SOURCE / "tests").rglob("test_*.c")):
        name = path.stem.removeprefix("test_")
        if name != "cuda_apart_nvrtc" and re.search(r"(other|same) bits", path.read_text()):
            check(name in listed, f"{path.relative_to(SOURCE)} compares bits and is not listed in tests/bits.cmake")
    check(len(listed) > 40, f"only {len(listed)} tests of equal bits found")

def pages_and_scripts_keep_to_120_columns():
    """But for tables of pages, which have a row a line. clang-format sees to C and C++."""
    pages = [SOURCE / "README.md", SOURCE / "CHANGELOG.md", *sorted((SOURCE / "docs").glob("*.md"))]
    folders = [path for path in SOURCE.iterdir() if path.is_dir() and not path.name.startswith(("build", "."))]
    scripts = sorted(path for folder in folders for path in folder.rglob("*.py"))
    check(len(scripts) > 80, f"only {len(scripts)} scripts found")
    for path in [*pages, *scripts]:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            check(len(line) <= 120 or line.lstrip().startswith("|"),
                  f"{path.relative_to(SOURCE)}:{number} has {len(line)} columns")

def packet_errors_tell_recorded_from_made():
    """Each page's figures are those of docs/wifi.md, told to be of frames of the kind that tests/wifi/test_wifi_noise.c
    sends at that rate, and not above what that test promises."""
    page = {name: (SOURCE / name).read_text() for name in ("docs/wifi.md", "docs/performance.md", "README.md")}
    points = re.findall(r"\{(\d+), ([\d.]+), (true|false)\}", (SOURCE / "tests/wifi/test_wifi_noise.c").read_text())
    rates, limits, kinds = zip(*points)
    kind = dict(zip(rates, ("recorded" if known == "true" else "made" for known in kinds)))
    cells = [re.search(rf"^\| {start} \|(.*)\|$", page["docs/wifi.md"], re.M).group(1).replace(" ", "").split("|")
             for start in ("Mb/s", "10 % lost at, dB", "frames")]
    figure = dict(zip(cells[0], map(float, cells[1])))
    check(dict(zip(cells[0], cells[2])) == kind, f"docs/wifi.md has frames {cells[2]}, the test {kind}")
    for rate, limit in zip(rates, limits):
        check(figure.get(rate, 99) <= float(limit), f"docs/wifi.md: {rate} Mb/s at {figure.get(rate)} dB, not {limit}")
    starts = "10 % packet error|the same of frames that|signal-to-noise ratio at"
    rows = re.findall(rf"^\| ((?:{starts})[^|]*) \| ([^|]*) dB \|",
                      page["docs/performance.md"] + page["README.md"], re.M)
    check(len(rows) == 3, f"{len(rows)} rows of packet errors in docs/performance.md and README.md")
    for what, numbers in rows:
        named = re.search(r"at ([\d /and]+) Mb/s", what).group(1)
        named, numbers = re.findall(r"\d+", named), [float(number) for number in re.findall(r"[\d.]+", numbers)]
        is_kind = "recorded" if re.search(r"recorded (one )?frame", what) else "made"
        check([figure[rate] for rate in named] == numbers, f"{what}: {numbers}, docs/wifi.md {figure}")
        check({kind[rate] for rate in named} == {is_kind}, f"{what}: {is_kind}, the test has {kind}")

for rule in (backends_see_only_the_contract, folders_see_what_the_table_says, doors_see_only_the_public_headers,
             some_see_only_themselves, every_source_is_built, keys_name_every_field, one_function_times_candidates,
             headers_are_included,
             exports_are_the_public_header, files_carry_their_licence, the_library_never_prints_or_exits,
             no_compiler_fuses_products_with_sums, tests_of_equal_bits_are_listed,
             pages_and_scripts_keep_to_120_columns,
             packet_errors_tell_recorded_from_made, no_circles_of_includes_or_calls):
    rule()

finish()
