# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""The commands qpu-as and qpu-dis: files, formats, exit codes. Usage: test_qpu_tools.py QPU_AS QPU_DIS"""

import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from checks import check, finish

AS, DIS = sys.argv[1:3]


def run(status, *arguments, stdin=b""):
    done = subprocess.run(arguments, input=stdin, capture_output=True, check=False)
    check(done.returncode == status, arguments, "exit code", done.returncode, "expected", status, done.stderr)
    return done


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    source, binary, text = folder / "a.qasm", folder / "a.bin", folder / "a.hex"
    (folder / "more").mkdir()
    (folder / "more" / "c.qinc").write_text(".set c, 0x40\n")
    source.write_text('.include "c.qinc"\nldi rb30, c\nldi r0, value\nnop; thrend\nnop\nnop\n')
    more = ["-I", str(folder / "more"), "-Dvalue=7"]

    run(0, AS, *more, str(source), "-o", str(binary))
    words = bytes.fromhex("40000000a71702e0" "07000000270802e0" "00709e00e7090030" + "00709e00e7090010" * 2)
    check(binary.read_bytes() == words, binary.read_bytes().hex())
    run(0, AS, *more, str(source), "-o", str(text))
    numbers = [int(word, 16) for word in text.read_text().replace(",", " ").split()]
    check(b"".join(n.to_bytes(4, "little") for n in numbers) == words, text.read_text())
    for program in (binary, text):
        back = run(0, DIS, str(program)).stdout
        check(b"ldi rb30, 0x40\n" in back and b"nop; thrend\n" in back, back)
        run(0, DIS, str(program), "-o", str(folder / "back.qasm"))
        check((folder / "back.qasm").read_bytes() == back)
        check(run(0, AS, "-", "-o", "-", stdin=back).stdout.decode() == text.read_text())
    check(b"sacq -, 9" in run(0, DIS, "-", stdin=b"0x19 // low\n 0xe80009e7").stdout)

    wrong = folder / "wrong.qasm"
    wrong.write_text("nop\nmov r0, ra1, 3\nmov nothing, r0\n")
    errors = run(2, AS, str(wrong), "-o", str(folder / "none")).stderr.decode().splitlines()
    check(len(errors) == 2 and errors[0].startswith(f"{wrong}:2:12: error: ") and
          errors[1].startswith(f"{wrong}:3:5: error: "), errors)
    check(not (folder / "none").exists(), "a program was written in spite of errors")
    hazard = folder / "hazard.qasm"
    hazard.write_text("mov ra0, r0\nmov r0, ra0\nnop; thrend\nnop\nnop\n")
    check(b"[register-latency]" in run(2, AS, str(hazard), "-o", str(binary)).stderr)
    run(0, AS, "-Wno-register-latency", str(hazard), "-o", str(binary))
    run(0, AS, "--no-check", str(hazard), "-o", str(binary))
    hazard.write_text("mov r0, ra0 << 1\nnop; thrend\nnop\nnop\n")
    check(b": warning: " in run(0, AS, str(hazard), "-o", str(binary)).stderr)
    check(b": error: " in run(2, AS, "-Werror", str(hazard), "-o", str(binary)).stderr)

    for tool in (AS, DIS):
        check(b"Usage: " in run(0, tool, "--help").stdout)
        check(run(0, tool, "--version").stdout.split()[0].decode() in tool)
        run(2, tool)
        run(2, tool, "--nonsense")
        run(2, tool, str(source), "-o")
        run(2, tool, str(source), str(source), "-o", "-")
        check(b"absent" in run(1, tool, str(folder / "absent"), "-o", "-").stderr)
    run(2, AS, str(source))
    run(2, AS, "-Wno-nonsense", str(source), "-o", "-")
    run(1, AS, *more, str(source), "-o", str(folder / "absent" / "x"))
    run(1, DIS, str(binary), "-o", str(folder / "absent" / "x"))
    text.write_text("0x12 0xyz\n")
    check(b":1: expected a hexadecimal word" in run(1, DIS, str(text)).stderr)
    check(len(run(0, AS, "--list-rules").stdout.splitlines()) > 15)

finish()
