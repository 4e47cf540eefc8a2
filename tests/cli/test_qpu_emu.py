#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""qpu-emu as a command: files in, files out, exit codes, messages. Usage: test_qpu_emu.py QPU_EMU QPU_AS"""

import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from checks import check, finish

EMU, AS = sys.argv[1], sys.argv[2]
END = "nop; thrend\nnop\nnop\n"
# Doubles 16 words from one address to another.
DOUBLE = """mov r0, elem_num
shl r0, r0, 2
add t0s, unif, r0
ldtmu0
ldi vw_setup, 0x1a00
add vpm, r4, r4
ldi vw_setup, 0xc0000000
ldi vw_setup, 0x80904000
mov vw_addr, unif
mov -, vw_wait
""" + END


def main(folder):
    def program(name, source):
        (folder / "p.qasm").write_text(source)
        subprocess.run([AS, "--no-check", str(folder / "p.qasm"), "-o", str(folder / name)], check=True)
        return f"{folder / name}@0x1000"

    def run(want, *arguments, code=None, qpus="1", uniforms="0x2000"):
        given = ["--code", code, "--qpus", qpus, "--pc", "0x1000", "--uniforms", uniforms] if code else []
        result = subprocess.run([EMU, *given, *arguments], capture_output=True, text=True, timeout=600)
        check(result.returncode == want, f"{arguments}: exit {result.returncode}, expected {want}: {result.stderr}")
        check(bool(result.stderr) == (want != 0), f"{arguments}: standard error is {result.stderr!r}")
        check(result.stderr.count("\n") <= 2, f"{arguments}: {result.stderr!r}")
        return result

    (folder / "uniforms.hex").write_text("0x3000, 0x3100 // from, to\n")
    (folder / "data.bin").write_bytes(struct.pack("<16I", *range(100, 116)))
    memory = ["--mem", f"{folder / 'uniforms.hex'}@0x2000", "--mem", f"{folder / 'data.bin'}@0x3000",
              "--mem", "0x3100:64"]
    doubled = list(range(200, 232, 2))
    for name in ("double.hex", "double.bin"):
        run(0, *memory, "--dump", f"0x3100:64:{folder / 'out.bin'}", "--dump", f"0x3100:64:{folder / 'out.hex'}",
            code=program(name, DOUBLE))
        check(list(struct.unpack("<16I", (folder / "out.bin").read_bytes())) == doubled, f"{name}: wrong words")
        words = [int(word, 16) for word in (folder / "out.hex").read_text().replace(",", " ").split()]
        check(words == doubled, f"{name}: wrong words as text")
    double = program("double.bin", DOUBLE)
    for mode in (["--interleave", "random", "--seed", "5"], ["--vdw", "late"], ["--vpm", "hold"], ["--poison"],
                 ["--cache", "off"], ["--cache", "never-evict"], ["--lenient"], ["--strict"]):
        (folder / "out.bin").unlink()
        run(0, *memory, *mode, "--dump", f"0x3100:64:{folder / 'out.bin'}", code=double)
        check(list(struct.unpack("<16I", (folder / "out.bin").read_bytes())) == doubled, f"{mode}: wrong words")
    stats = run(0, *memory, "--stats", "--trace", str(folder / "trace"), code=double).stdout
    check("instructions: 13 in all, 13 on the busiest QPU" in stats, f"--stats: {stats}")
    trace = (folder / "trace").read_text().split("\n")
    check(len(trace) == 14 and trace[0].split()[1:3] == ["0", "00001000"], f"--trace: {trace[:2]}")

    trap = run(3, code=program("trap.bin", "nop\nmov ra1, r0\nmov r1, ra1\n" + END)).stderr
    check("QPU 0 at 0x00001010" in trap and "instruction before wrote" in trap, f"trap: {trap}")
    lenient = subprocess.run([EMU, "--code", f"{folder / 'trap.bin'}@0x1000", "--qpus", "1", "--pc", "0x1000",
                              "--uniforms", "0", "--lenient", "--stats"], capture_output=True, text=True, timeout=600)
    check(lenient.returncode == 0 and "instruction before wrote: 1" in lenient.stdout, f"lenient: {lenient}")
    check("deadlock" in run(4, code=program("wait.bin", "sacq -, 1\n" + END)).stderr, "no deadlock told")
    loop = program("loop.bin", ":1\nbrr -, r:1b\nnop\nnop\nnop\n")
    check("too many clocks" in run(4, "--max-cycles", "10000", code=loop).stderr, "no limit told")

    run(1, code=f"{folder / 'absent.bin'}@0x1000")
    (folder / "bad.hex").write_text("0x100009e7 zebra\n")
    check("bad.hex:1" in run(1, code=f"{folder / 'bad.hex'}@0x1000").stderr, "no place of the bad word told")
    run(1, *memory, "--dump", f"0x3100:64:{folder / 'no' / 'out'}", code=double)
    for wrong in (["--frobnicate"], ["--qpus", "13"], ["--pc", "0x1001"], ["--cache", "big"], ["--seed"],
                  ["--seed", "x"], ["--mem", "12"], ["--mem", "0x1000:16"], ["--dump", "0x9000:4:" + str(folder / "x")],
                  ["--uniforms", "1,2"], ["--max-cycles", "0"]):
        run(2, *wrong, code=double)
    run(2)
    check(subprocess.run([EMU, "--help"], capture_output=True).returncode == 0, "--help")


with tempfile.TemporaryDirectory() as name:
    main(pathlib.Path(name))
finish()
