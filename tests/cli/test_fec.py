# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""penstock fec: files come back, streams and blocks, through pipes; the curve of bit errors beside theory; mistakes."""

import csv
import hashlib
import math

from cli import check, finish, path, run

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
    ]:
        done = run("fec", *words, stdin=b"")
        check(done.returncode == 2 and text in done.stderr and done.stderr.count("\n") == 1, words, done.stderr)
    done = run("fec", "decode", "-d", "cpu", "-i", "-", "-o", path("new"), stdin=b"\0" * 2061)
    check(done.returncode == 1 and "last 1 soft bits" in done.stderr, done.stderr)


come_back()
curve()
mistakes()
finish()
