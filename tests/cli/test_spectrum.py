# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""spectrum: a tone of known frequency and time must shine where the axes say."""

import array
import cmath
import json
import math
import os

from cli import check, check_error, check_run, finish, path, read_png, run, skip

if run("spectrum", "--png", path("x.png")).stderr.find("libpng") >= 0:
    skip("this build has no libpng")

RAW = ["--format", "cf32", "--rate", "1e6"]
LEFT, TOP, WIDTH = 86, 46, 1024  # of the box, as apps/waterfall.c draws it


def samples(count, tones):
    """Tones (hertz, from sample, to sample) at 1 Msample/s, on faint noise."""
    values = array.array("f")
    state = 1
    for i in range(count):
        state = (state * 1103515245 + 12345) % 2**31
        value = complex(state / 2**31 - 0.5, (state >> 8) % 1000 / 1000 - 0.5) * 1e-3
        value += sum(cmath.exp(2j * cmath.pi * hertz / 1e6 * i) for hertz, start, end in tones if start <= i < end)
        values.extend((value.real, value.imag))
    return values.tobytes()


def brightness(pixel):
    """Place on the colour map: red plus green rises along viridis but for its first steps."""
    return pixel[0] + 2 * pixel[1]


# 200 kHz during the first half, -300 kHz during the second: 131072 samples are 128 rows of 1024.
data = samples(131072, [(200e3, 0, 65536), (-300e3, 65536, 131072)])
check_run(0, "spectrum", *RAW, "--input", "-", "--png", path("w.png"), "--fft", "1024", stdin=data)
width, height, _ = read_png(path("w.png"))
box = height - TOP - 56
places = [(TOP + box // 8, 200e3), (TOP + box * 7 // 8, -300e3)]
rows = read_png(path("w.png"), [y for y, _ in places])[2]
for y, hertz in places:
    row = rows[y][LEFT : LEFT + WIDTH]
    brightest = max(range(WIDTH), key=lambda x: brightness(row[x]))
    expected = (hertz / 1e6 + 0.5) * WIDTH
    check(abs(brightest - expected) <= 2, "the tone of", hertz, "Hz stands at", brightest, "not", expected)
    check(brightness(row[brightest]) > 650, "the loudest is not near the map's last colour:", row[brightest])
    check(brightness(row[10]) < 300, "the noise is bright:", row[10])

# All options together, a long signal reduced, and another device's name.
check_run(0, "spectrum", *RAW, "--input", "-", "--png", path("o.png"), "--fft", "64", "--hop", "16", "--average", "2",
          "--window", "blackman-harris", "--peak", "--low", "-90", "--high", "0", "--device", "cpu", stdin=data)
width, height, _ = read_png(path("o.png"))
check(width > 1000 and 300 < height <= 1600, "a sensible size, not", width, height)
check_run(0, "spectrum", *RAW, "--input", "-", "--png", path("b.png"), "--fft", "8192", stdin=data)
check(read_png(path("b.png"))[0] == LEFT + WIDTH + 110, "8192 bins are reduced to the picture's width")

# Real samples, which only SigMF can announce, have the frequencies from 0 to half the rate.
if run("devices", "--json").returncode == 0:
    with open(path("real.sigmf-data"), "wb") as file:
        array.array("f", [math.cos(2 * math.pi * 0.125 * i) for i in range(65536)]).tofile(file)
    with open(path("real.sigmf-meta"), "w") as file:
        json.dump({"global": {"core:datatype": "rf32_le", "core:sample_rate": 48000, "core:version": "1.0.0"},
                   "captures": [{"core:sample_start": 0}], "annotations": []}, file)
    check_run(0, "spectrum", "--input", path("real.sigmf-meta"), "--png", path("r.png"), "--fft", "1024")
    row = read_png(path("r.png"), [TOP + 100])[2][TOP + 100][LEFT : LEFT + WIDTH]
    # 513 columns: a quarter of the way for an eighth of the rate
    brightest = max(range(513), key=lambda x: brightness(row[x]))
    check(abs(brightest - 128) <= 2, "the real tone stands at", brightest, "not 128")

check_error(1, "none", "spectrum", *RAW, "--input", path("none"), "--png", path("n.png"))
check_error(1, "too short", "spectrum", *RAW, "--input", "-", "--png", path("s.png"), stdin=data[:800])
check(not os.path.exists(path("s.png")), "a picture of nothing was left")
check_error(1, "is empty", "spectrum", *RAW, "--input", "-", "--png", path("e.png"), stdin=b"")
check(not os.path.exists(path("e.png")), "a picture of no input was left")
done = check_run(1, "spectrum", *RAW, "--input", "-", "--png", path("t.png"), stdin=data + b"12")
check("2 bytes that make no whole sample" in done.stderr and os.path.getsize(path("t.png")) > 1000, done.stderr)
check_error(1, "absent", "spectrum", *RAW, "--input", "-", "--png", path("absent/x.png"), stdin=data)
if os.path.exists("/dev/full"):
    check_error(1, "/dev/full", "spectrum", *RAW, "--input", "-", "--png", "/dev/full", stdin=data)
finish()
