# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""What the tests of the command share: running it, checks that say what differs, and a reader of PNG files."""

import json
import os
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from checks import check, finish, skip  # the tests take them, and these, from here
from drawn import FULL, PART, draw, drawn

PENSTOCK = sys.argv[1]
folder = tempfile.TemporaryDirectory()


def path(name):
    """Of a file in a folder that goes away with the test."""
    return os.path.join(folder.name, name)


def run(*arguments, stdin=None, stdout=subprocess.PIPE, environment=None, timeout=600):
    """The finished process, with returncode, stdout (bytes) and stderr (text)."""
    done = subprocess.run(
        [PENSTOCK, *map(str, arguments)],
        input=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={**os.environ, **(environment or {})},
        timeout=timeout,
    )
    done.stderr = done.stderr.decode()
    return done


def check_run(code, *arguments, **options):
    """Runs, checks the exit code, and that trouble is told in lines that begin with the command's name."""
    done = run(*arguments, **options)
    check(done.returncode == code, arguments, "exit code", done.returncode, "not", code, done.stderr)
    for line in done.stderr.splitlines():
        check(line.startswith("penstock: "), arguments, "wrote", line)
    return done


def check_error(code, text, *arguments, **options):
    """A failure of one line that contains the text."""
    done = check_run(code, *arguments, **options)
    lines = [line for line in done.stderr.splitlines() if ": warning: " not in line]
    check(len(lines) == 1 and text in lines[0], arguments, "said", lines, "not", text)
    return done


def read_frames(text):
    """The frames and the summary that `receive --json` has written: the last line, and no other, is the summary."""
    rows = [json.loads(line) for line in text.splitlines()]
    check(rows and [set(row) == {"summary"} for row in rows] == [False] * (len(rows) - 1) + [True], "no summary:",
          rows[-1:])
    summary = rows.pop()["summary"] if rows and "summary" in rows[-1] else {}
    check(summary.get("frames") == len(rows), "the summary of", len(rows), "frames:", summary)
    return rows, summary


def install(prefix):
    """The build under test, installed below the prefix; its own list of installed files stays as it is."""
    subprocess.run([os.environ["PENSTOCK_TEST_CMAKE"], "--install", os.environ["PENSTOCK_TEST_BUILD"],
                    "--prefix", prefix, "--component", "Unspecified"], check=True, stdout=subprocess.DEVNULL,
                   timeout=600)
    return prefix


def read_png(name, wanted=()):
    """Width, height and the wanted rows of (red, green, blue), from a PNG of 8-bit RGB; raises ValueError if it is
    none."""
    with open(name, "rb") as file:
        data = file.read()
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("no PNG signature")
    at, packed, width, height = 8, b"", 0, 0
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        if struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] != zlib.crc32(kind + body):
            raise ValueError("wrong checksum")
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            if (depth, colour) != (8, 2):
                raise ValueError("not 8-bit RGB")
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    raw, stride = zlib.decompress(packed), 3 * width
    if len(raw) != height * (stride + 1):
        raise ValueError("not as many pixels as there should be")
    rows, before = {}, bytearray(stride)
    for y in range(max(wanted, default=-1) + 1):
        method, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
        for i in range(stride):
            left = line[i - 3] if i >= 3 else 0
            corner = before[i - 3] if i >= 3 else 0
            above = before[i]
            if method == 1:
                line[i] = (line[i] + left) & 255
            elif method == 2:
                line[i] = (line[i] + above) & 255
            elif method == 3:
                line[i] = (line[i] + (left + above) // 2) & 255
            elif method == 4:
                guess = left + above - corner
                nearest = min((abs(guess - left), 0, left), (abs(guess - above), 1, above),
                              (abs(guess - corner), 2, corner))
                line[i] = (line[i] + nearest[2]) & 255
        if y in wanted:
            rows[y] = [tuple(line[3 * x : 3 * x + 3]) for x in range(width)]
        before = line
    return width, height, rows
