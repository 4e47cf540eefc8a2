# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""penstock fec: files come back, streams and blocks, through pipes; the curve of bit errors beside theory; mistakes."""

import csv
import hashlib
import math
import random
import signal
import subprocess
import threading
import time

from cli import PENSTOCK, check, finish, path, run

DATA = b"".join(hashlib.sha256(bytes([i])).digest() for i in range(200))


def come_back():
    for code, soft, size in [("wifi:3/4", "s8", 6001), ("lte", "hard", 1280), ("dab", "f32", 777),
                             ("dvb:7/8", "s8", 6400), ("ccsds", "f32", 5000)]:
        data = DATA[:size]
        with open(path("in"), "wb") as file:
            file.write(data)
        for order in ("msb", "lsb"):
            words = ["--code", code, "--soft", soft, "--order", order]
            done = run("fec", "encode", *words, "--input", path("in"), "--output", path("soft"))
            check(done.returncode == 0, code, done.stderr)
            done = run("fec", "decode", *words, "--device", "cpu", "--input", path("soft"), "--output", path("out"))
            check(done.returncode == 0, code, done.stderr)
            with open(path("out"), "rb") as file:
                check(file.read() == data, code, soft, order, "other bytes")
            coded = run("fec", "encode", *words, "--input", "-", "--output", "-", stdin=data).stdout
            with open(path("soft"), "rb") as file:
                check(coded == file.read(), code, "pipes")
            done = run("fec", "decode", *words, "--device", "cpu", "-i", "-", "-o", "-", stdin=coded)
            check(done.stdout == data, code, "pipes", done.stderr)


def uncoded(ebn0_db):
    return 0.5 * math.erfc(math.sqrt(10 ** (ebn0_db / 10)))


def bound(ebn0_db, rate):
    """Of the code 133, 171: weights of information by J. Conan, IEEE Trans. Commun. 32(9), 1984."""
    weights = {10: 36, 12: 211, 14: 1404, 16: 11633, 18: 77433, 20: 502690, 22: 3322763, 24: 21292910}
    return sum(w * 0.5 * math.erfc(math.sqrt(d * rate * 10 ** (ebn0_db / 10))) for d, w in weights.items())


def streams():
    """Longer than one call of the encoder takes, whole and in pieces of any size."""
    given = bytes(random.Random(3).getrandbits(8) for _ in range(400000))
    for code in "dvb:1/2", "dvb:3/4", "dvb:7/8", "ccsds":
        coded = run("fec", "encode", "-c", code, "-i", "-", "-o", "-", stdin=given).stdout
        back = run("fec", "decode", "-c", code, "-d", "cpu", "-i", "-", "-o", "-", stdin=coded).stdout
        check(back[: len(given)] == given, code, "gives others back")
        check(len(back) <= len(given) + 2, code, len(back))
    pieces = subprocess.Popen([PENSTOCK, "fec", "encode", "-c", "dvb:5/6", "-i", "-", "-o", "-"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    writer = threading.Thread(target=lambda: feed(pieces.stdin, given[:50000]))
    writer.start()
    coded = pieces.stdout.read()
    writer.join()
    check(pieces.wait() == 0, "pieces")
    check(coded == run("fec", "encode", "-c", "dvb:5/6", "-i", "-", "-o", "-", stdin=given[:50000]).stdout,
          "pieces are coded otherwise")


def feed(pipe, data):
    sizes = random.Random(4)
    with pipe:
        while data:
            size = sizes.randint(1, 3000)
            pipe.write(data[:size])
            pipe.flush()
            data = data[size:]


def live_pipe():
    """What came is decoded though more may come, and kept by an interrupt."""
    given = bytes(random.Random(5).getrandbits(8) for _ in range(128 * 700))
    coded = run("fec", "encode", "-i", "-", "-o", "-", stdin=given).stdout
    process = subprocess.Popen([PENSTOCK, "fec", "decode", "-d", "cpu", "-i", "-", "-o", path("live")],
                               stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(coded)
    process.stdin.flush()
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=60)[1].decode()
    check(process.returncode == 0, told)
    with open(path("live"), "rb") as file:
        check(file.read() == given, "an interrupt keeps what came")


def curve():
    done = run("fec", "ber", "--from", 3, "--to", 4, "--step", 0.5, "--device", "cpu", "--count", 2e6,
               "--csv", path("curve.csv"), "--png", path("curve.png"))
    check(done.returncode == 0, done.stderr)
    with open(path("curve.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    check([row["ebn0_db"] for row in rows] == ["3", "3.5", "4"], rows)
    for row in rows:
        ebn0_db, ber = float(row["ebn0_db"]), float(row["ber"])
        check(abs(float(row["uncoded"]) / uncoded(ebn0_db) - 1) < 1e-4, row)
        want = bound(ebn0_db, 1024 / 2060)
        check(want < 1.02 * float(row["union_bound"]) < 1.4 * want, row, want) # it has heavier ways, too
        check(0.2 * want < ber < 2 * want, row, want)
        check(int(row["bits"]) >= 5e5 and int(row["errors"]) == round(ber * int(row["bits"])), row)
    with open(path("curve.png"), "rb") as file:
        check(file.read(8) == b"\x89PNG\r\n\x1a\n", "no picture")


def mistakes():
    for words, text in [
        ([], "encode, decode or ber"),
        (["encrypt"], "unknown fec action 'encrypt'"),
        (["encode", "more"], "too many"),
        (["encode", "--code", "turbo", "-i", "-", "-o", "-"], "'turbo' is no convolutional code"),
        (["decode"], "--input is missing"),
        (["decode", "-i", "-"], "--output is missing"),
        (["ber", "--from", "3", "--to", "2"], "--from 3 and --to 2"),
        (["ber", "--step", "0"], "--step"),
        (["encode", "--bits", "7", "-i", "-", "-o", "-"], "no multiple of 8"),
        (["decode", "--bits", "1023", "-i", "-", "-o", "-"], "no multiple of 8"),
    ]:
        done = run("fec", *words, stdin=b"")
        check(done.returncode == 2 and text in done.stderr and done.stderr.count("\n") == 1, words, done.stderr)
    done = run("fec", "decode", "-d", "cpu", "-i", "-", "-o", path("new"), stdin=b"\0" * 2061)
    check(done.returncode == 1 and "last 1 soft bits" in done.stderr, done.stderr)


come_back()
streams()
live_pipe()
curve()
mistakes()
finish()
