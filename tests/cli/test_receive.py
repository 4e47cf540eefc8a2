# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""receive: every output, and everything that may be wrong with its input."""

import fcntl
import os
import shutil
import signal
import struct
import subprocess
import termios
import threading
import time

from cli import PENSTOCK, check, check_error, check_run, finish, path, read_frames, read_png, run

RAW = ["--profile", "wifi", "--format", "cf32", "--rate", "20e6"]
signal_bytes = run("transmit", "--profile", "wifi", "--output", "-", "--mbps", "all", "--count", "8",
                   "--snr", "35").stdout
with open(path("good.cf32"), "wb") as file:
    file.write(signal_bytes)
good = ["--input", path("good.cf32")]
has_json = run("devices", "--json").returncode == 0


def frames_with(count, *arguments, code=0, **options):
    """A reception that must end with `count` good frames in its closing line."""
    done = check_run(code, "receive", *arguments, **options)
    closing = (done.stdout or b"").decode().splitlines()
    check(closing and f" {count} FCS ok" in closing[-1], arguments, "gave", closing[-1:])
    return done


frames_with(8, *RAW, *good)
frames_with(8, *RAW, *good, "--device", "cpu")
frames_with(8, *RAW, *good, "--device", "prefer:absent-device")
check_error(1, "absent-device", "receive", *RAW, *good, "--device", "absent-device")

# ---- outputs
done = run("receive", *RAW, *good, "--constellation", path("c.png"))
if done.returncode == 0:
    width, height, rows = read_png(path("c.png"), [264])
    check(width > 800 and height > 800, "four panels, not", width, height)
    yellow = [x for x, pixel in enumerate(rows[264]) if pixel[0] > 200 and pixel[1] > 200 and pixel[2] < 100]
    # BPSK, the first panel: 440 pixels from 80 on are -1.5 .. 1.5, and line 264 is the real axis.
    places = {round((x - 80) / 440 * 3 - 1.5, 1) for x in yellow}
    check(places == {-1.0, 1.0}, "the points of BPSK stand at", places)
else:
    check(done.returncode == 2 and "libpng" in done.stderr, done.stderr)
if has_json:
    check_run(0, "receive", *RAW, *good, "--json", path("f.json"))
    with open(path("f.json")) as file:
        frames, summary = read_frames(file.read())
    for frame in frames:
        if not frame["psdu"]:  # noise that looked like a frame
            check(frame["reason"], frame)
            continue
        check(set(frame) >= {"sample", "format", "bandwidth_hz", "rate_mbps", "mcs", "length", "fcs_ok", "snr_db",
                             "evm_db", "cfo_hz", "sfo_ppm", "raw_ber", "psdu"}, frame)
        check(frame["fcs_ok"] and "reason" not in frame and frame["format"] == "legacy" and frame["mcs"] is None, frame)
    check(sum(frame["fcs_ok"] for frame in frames) == 8 == summary["fcs_ok"], frames, summary)
check_run(0, "receive", *RAW, *good, "--pcap", path("f.pcap"))
pcap = open(path("f.pcap"), "rb").read()
check(struct.unpack("<IHHiIII", pcap[:24]) == (0xA1B23C4D, 2, 4, 0, 0, 65535, 127), pcap[:24])
if shutil.which("tshark"):
    fields = ["radiotap.datarate", "radiotap.mactime", "wlan.fc.type_subtype", "wlan.sa", "wlan.da", "wlan.fcs.status",
              "wlan.seq", "radiotap.flags.fcs"]
    # The FCS is checked only where the preference asks for it.
    text = subprocess.run(["tshark", "-r", path("f.pcap"), "-o", "wlan.check_checksum:TRUE", "-T", "fields",
                           *sum((["-e", field] for field in fields), [])], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, timeout=600).stdout.decode()
    packets = [line.split("\t") for line in text.splitlines()]
    check([float(p[0]) for p in packets] == [6, 9, 12, 18, 24, 36, 48, 54], "rates in tshark:", packets)
    for number, packet in enumerate(packets):
        check(packet[2] in ("32", "0x0020"), "a data frame in tshark:", packet)
        check(packet[3:5] == ["02:50:65:6e:73:74", "ff:ff:ff:ff:ff:ff"], packet)
        check(packet[5] in ("1", "Good") and packet[6] == str(number), "FCS and sequence in tshark:", packet)
    check(packets and packets[0][1] == "50", "the first frame starts after 50 us:", packets[:1])
else:
    print("SKIPPED: tshark is absent, the pcap file is read by nobody else")

# ---- input
check_error(1, "none.cf32", "receive", *RAW, "--input", path("none.cf32"))
check_error(1 if has_json else 2, "none.sigmf-meta" if has_json else "jansson", "receive", "--profile", "wifi",
            "--input", path("none.sigmf-meta"))
open(path("empty.cf32"), "w").close()
check_error(1, "empty.cf32", "receive", *RAW, "--input", path("empty.cf32"))
with open(path("bad.sigmf-meta"), "w") as file:
    file.write("{ this is no JSON")
check_error(1 if has_json else 2, "bad.sigmf" if has_json else "jansson", "receive", "--profile", "wifi", "--input",
            path("bad.sigmf-meta"))
done = run("receive", "--profile", "wifi", "--input", "soapy:driver=absent-driver")
check(done.returncode == (2 if "no SoapySDR" in done.stderr else 1), done.returncode, done.stderr)

check_error(1, "no whole sample", "receive", *RAW, "--input", "-", stdin=b"123")
done = frames_with(8, *RAW, "--input", "-", stdin=signal_bytes + b"\0\0\0", code=1)
check("3 bytes that make no whole sample" in done.stderr, done.stderr)
cut = len(signal_bytes) - 8 * (1000 + 500)  # within the last frame
done = frames_with(7, *RAW, "--input", "-", stdin=signal_bytes[:cut], code=1)
check("ends within a frame" in done.stderr, done.stderr)
done = frames_with(7, *RAW, "--input", "-", "--count", str(cut // 8), stdin=signal_bytes)
check(done.stderr == "", "an end that was asked for is no trouble:", done.stderr)
frames_with(1, *RAW, "--input", "-", "--seconds", "0.0003", stdin=signal_bytes)

# Twice the profile's rate, each sample two times, through a pipe, which can be opened only once.
slow = run("transmit", "--profile", "wifi-10mhz", "--output", "-").stdout
os.mkfifo(path("pipe"))
writer = threading.Thread(target=lambda: open(path("pipe"), "wb").write(
    b"".join(2 * slow[i : i + 8] for i in range(0, len(slow), 8))))
writer.start()
frames_with(8, "--profile", "wifi-10mhz", "--format", "cf32", "--rate", "20e6", "--input", path("pipe"))
writer.join()

values = list(struct.unpack(f"<{len(signal_bytes) // 4}f", signal_bytes))
for i in range(0, 200, 7):
    values[2 * 400 + i] = float("nan")
values[100] = float("inf")
done = frames_with(8, *RAW, "--input", "-", stdin=struct.pack(f"<{len(values)}f", *values))
check(done.stderr.count("NaN or infinity") == 1, "told once:", done.stderr)
check(b" not finite" in done.stdout, done.stdout)

loud = run("transmit", "--profile", "wifi", "--output", "-", "--format", "cs16", "--level", "-4", "--mbps", "6").stdout
done = frames_with(8, "--profile", "wifi", "--format", "cs16", "--rate", "20e6", "--input", "-", stdin=loud)
check(done.stderr.count("clipped") == 1 and b" clipped" in done.stdout, done.stderr)

# ---- full disk
if os.path.exists("/dev/full"):
    options = [["--pcap", "/dev/full"]] + ([["--json", "/dev/full"]] if has_json else [])
    for option in options:
        check_error(1, "No space left on device", "receive", *RAW, *good, *option)
    with open("/dev/full", "wb") as full:
        check_error(1, "No space left on device", "receive", *RAW, *good, stdout=full)
        check_error(1, "No space left on device", "devices", stdout=full)
        check_error(1, "", "transmit", "--profile", "wifi", "--output", "-", stdout=full)
    check_error(1, "/dev/full", "transmit", "--profile", "wifi", "--output", "/dev/full")
check_error(1, "No such file", "receive", *RAW, *good, "--pcap", path("absent/f.pcap"))

# ---- interrupt: what came is delivered, exit code 0
def wait_until_read(pipe):
    """Until the other side has taken all that is in the pipe."""
    end = time.monotonic() + 600
    while struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]:
        check(time.monotonic() < end, "the input is not read")
        if time.monotonic() >= end:
            return
        time.sleep(0.01)


for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    to_json = ["--json", path(f"{number}.json")] * has_json
    process = subprocess.Popen([PENSTOCK, "receive", *RAW, "--input", "-", "--pcap", path("i.pcap"), *to_json],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(signal_bytes * 4)
    process.stdin.flush()
    wait_until_read(process.stdin)
    process.send_signal(number)
    out, err = process.communicate(timeout=600)
    check(process.returncode == 0, "interrupted:", process.returncode, err.decode())
    check(b" FCS ok" in out.splitlines()[-1] and out.count(b"  ok  data") >= 8, out.decode())
    check(os.path.getsize(path("i.pcap")) > 1000, "the pcap file was not flushed")
    if has_json:
        with open(path(f"{number}.json")) as file:
            frames, summary = read_frames(file.read())
        decoded = sum(bool(frame["psdu"]) for frame in frames)
        check(out.splitlines()[-1].startswith(f"{summary['samples']} samples on {summary['device']}: ".encode()), out,
              summary)
        check(f" {summary['fcs_ok']} FCS ok".encode() in out.splitlines()[-1] and summary["fcs_ok"] >= 8, out, summary)
        check(decoded == summary["decoded"], number, decoded, "frames are written of", summary)

# ---- a radio that goes away
plugins = os.environ.get("PENSTOCK_TEST_REPLAY")
if plugins:
    check_run(0, "transmit", "--profile", "wifi", "--output", path("r.sigmf-meta"), "--mbps", "all", "--count", "64")
    radio = {"SOAPY_SDR_PLUGIN_PATH": plugins, "SOAPY_SDR_ROOT": path("no-other-modules")}
    source = f"soapy:driver=replay,path={path('r.sigmf-meta')},pace=fast"
    done = check_run(0, "receive", "--profile", "wifi", "--input", source, environment=radio)
    check(b" 64 FCS ok" in done.stdout, done.stdout[-400:], done.stderr)
    done = check_error(1, "was lost after 60000 samples", "receive", "--profile", "wifi", "--input",
                       source + ",disappear_at=60000", *["--json", path("lost.json")] * has_json, environment=radio)
    closing = done.stdout.decode().splitlines()[-1]
    good = int(closing.split(" FCS ok")[0].split()[-1])
    check(5 < good < 64, closing, done.stderr)
    if has_json:
        with open(path("lost.json")) as file:
            frames, summary = read_frames(file.read())
        check(summary["samples"] == 60000 and summary["fcs_ok"] == good == sum(f["fcs_ok"] for f in frames), summary)
    done = check_run(0, "receive", "--profile", "wifi", "--input", source + ",overflow_at=60000", environment=radio)
    check("lost samples" in done.stderr and b" overflows" in done.stdout, done.stderr)
else:
    print("SKIPPED: the replay module is not built, no radio goes away")
finish()
