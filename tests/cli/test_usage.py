# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""Help texts, and every mistake that exit code 2 stands for."""

from cli import check, check_error, check_run, finish, path, run

COMMANDS = ["devices", "doctor", "check", "bench", "spectrum", "filter", "resample", "channelize", "receive",
            "transmit", "fec"]

help_text = check_run(0, "--help").stdout.decode()
for command in COMMANDS:
    check(f"  {command} " in help_text, command, "is not in the help text")
    own = check_run(0, command, "--help").stdout.decode()
    check(f"Usage: penstock {command}" in own, command, "has no usage line:", own)
    check("--help" in own, command, "does not list --help")
    check(max(map(len, own.splitlines())) <= 120, command, "has a line of help that is too long")

version = check_run(0, "--version").stdout.decode().split()
check(version[0] == "penstock" and version[1].count(".") == 2, version)

# The contract's options are all there.
for command, options in {
    "check": ["--case", "--full"],
    "bench": ["--case", "--csv", "--png", "--against", "--study", "--most", "--length", "--cfo", "--sfo"],
    "spectrum": ["--input", "--png", "--fft", "--hop", "--window", "--average", "--device"],
    "filter": ["--input", "--output", "--taps", "--decimate", "--device"],
    "receive": ["--profile", "--input", "--device", "--json", "--pcap", "--constellation"],
    "transmit": ["--profile", "--output", "--mbps", "--length", "--count", "--gap", "--snr", "--cfo", "--sfo",
                 "--multipath"],
}.items():
    own = run(command, "--help").stdout.decode()
    for option in options:
        check(option in own, command, "lacks", option)
for command in ["spectrum", "filter", "resample", "receive"]:
    own = run(command, "--help").stdout.decode()
    for option in ["format", "rate", "frequency", "gain", "antenna", "bandwidth", "channel", "seconds", "count"]:
        check("--" + option in own, command, "lacks --" + option)

check_error(2, "a command is missing")
check_error(2, "did you mean 'receive'?", "recieve")
check_error(2, "unknown command 'frobnicate'", "frobnicate")
check_error(2, "unknown option", "--verzion")
for command in COMMANDS:
    check_error(2, "unknown option --frobnicate", command, "--frobnicate")
check_error(2, "did you mean --profile?", "receive", "--profle", "wifi")
check_error(2, "missing argument", "receive", "--profile")
check_error(2, "devices: 'cpu' is not an option", "devices", "cpu")

source = ["--input", path("none"), "--format", "cs16", "--rate", "20e6"]
check_error(2, "--profile is missing", "receive", *source)
check_error(2, "did you mean 'wifi'?", "receive", "--profile", "wify", *source)
check_error(2, "unknown profile 'lora'; known: wifi, wifi-10mhz, wifi-5mhz", "receive", "--profile", "lora", *source)
check_error(2, "--input is missing", "receive", "--profile", "wifi")
check_error(2, "did you mean 'cs16'?", "receive", "--profile", "wifi", "--input", "x", "--format", "cs17",
            "--rate", "2e7")
check_error(2, "need --format", "receive", "--profile", "wifi", "--input", path("none"))
check_error(2, "need --rate", "receive", "--profile", "wifi", "--input", path("none"), "--format", "cs16")
check_error(2, "--rate", "receive", "--profile", "wifi", "--input", path("none"), "--format", "cs16", "--rate", "x")
check_error(2, "--rate -1", "receive", "--profile", "wifi", "--input", path("none"), "--format", "cs16", "--rate", "-1")
check_error(2, "--rate 'nan' is impossible: it must be a number from 0.001 to 1e+10 Hz", "receive", "--profile", "wifi",
            "--input", path("none"), "--format", "cs16", "--rate", "nan")
check_error(2, "--count 1.5", "receive", "--profile", "wifi", *source, "--count", "1.5")
check_error(2, "--count 0 is impossible", "receive", "--profile", "wifi", *source, "--count", "0")
check_error(2, "--seconds 0 is impossible", "receive", "--profile", "wifi", *source, "--seconds", "0")
check_error(2, "--seconds 0 is impossible", "spectrum", *source, "--png", path("x.png"), "--seconds", "0")
check_error(2, "only one of --json, --pcap and --constellation", "receive", "--profile", "wifi", *source, "--json", "-",
            "--pcap", "-")
check_error(2, "--channel -1", "receive", "--profile", "wifi", *source, "--channel", "-1")

out = ["--output", path("out")]
check_error(2, "--output is missing", "transmit", "--profile", "wifi")
check_error(2, "--mbps '7' is impossible", "transmit", "--profile", "wifi", *out, "--mbps", "7")
check_error(2, "--mbps '54' is impossible", "transmit", "--profile", "wifi-10mhz", *out, "--mbps", "54")
check_error(2, "--length 20 is impossible", "transmit", "--profile", "wifi", *out, "--length", "20")
check_error(2, "--length 4096 is impossible", "transmit", "--profile", "wifi", *out, "--length", "4096")
check_error(2, "--count 0 is impossible", "transmit", "--profile", "wifi", *out, "--count", "0")
check_error(2, "--gap -1 is impossible", "transmit", "--profile", "wifi", *out, "--gap", "-1")
check_error(2, "--snr 1e300 is impossible", "transmit", "--profile", "wifi", *out, "--snr", "1e300")
check_error(2, "--sfo 5000 is impossible", "transmit", "--profile", "wifi", *out, "--sfo", "5000")
check_error(2, "--multipath '50' is impossible", "transmit", "--profile", "wifi", *out, "--multipath", "50")
check_error(2, "--multipath '50:x' is impossible", "transmit", "--profile", "wifi", *out, "--multipath", "50:x")
check_error(2, "unknown format", "transmit", "--profile", "wifi", *out, "--format", "f64")

check_error(2, "--png is missing", "spectrum", *source)
check_error(2, "--fft 1 is impossible", "spectrum", *source, "--png", path("x.png"), "--fft", "1")
check_error(2, "--hop 1e+06 is impossible", "spectrum", *source, "--png", path("x.png"), "--fft", "16", "--hop", "1e6")
check_error(2, "window", "spectrum", *source, "--png", path("x.png"), "--window", "square")
check_error(2, "--low 0 and --high -5", "spectrum", *source, "--png", path("x.png"), "--low", "0", "--high", "-5")

check_error(2, "unknown kind of case 'ftt'; did you mean 'fft'?", "check", "--case", "ftt:64")
for case in ["fft", "fft:0", "fft:64:square", "fft:64:avg4", "spectrum:64:hop0", "ofdm:dab", "ofdm:wifi:qam32",
             "receive:wifi:7", "receive:wifi-10mhz:recordings", "receive:wifi", "chain", "chain:filter:ccf:9",
             "chain:filter+spectrum:64", "chain:ofdm:wifi+spectrum:64", "chain:ofdm:wifi:qam32+viterbi:wifi",
             "chain:filter:ccf:9+fft:64", "chain:filter:ccf:9+spectrum:0"]:
    check_error(2, "is impossible", "check", "--case", case)
    check_error(2, "is impossible", "bench", "--case", case)
for case, why in {
    "fft:8388609": "1 to 8388608 points", "fft:8388608:columns2": "1 to 8388608 points",
    "fft:64:radix3": "2, 4, 8 or 16", "fft:64:items4096": "1 to 1024", "fft:64:tunned": "did you mean 'tuned'?",
    "fft:64:cs12": "did you mean 'cs16'?", "fft:64:Hann": "it must be fft:N|",
    "fft:64:hann:hamming": "set the same thing", "fft:64:x3:x4": "set the same thing",
    "fft:64:local:global": "set the same thing", "fft:64:real:cs16": "samples of real transforms are f32",
    "fft:8388608:skip1073741824:power:avg1073741823:x1073741824": "more than 2^40 samples",
    "spectrum:64:power:hop1073741824:x1073741824:avg1073741824": "more than 2^40 samples",
    "fft:64x32:columns4": "rows and columns", "fft:64x64:power:avg2": "rows do not go with avg",
    "fft:64x64:real": "do not go with real", "fft:64:columns2:real": "do not go with real",
    "fft:64:real:centered": "centered does not", "fft:64:reverse:real:power": "gives samples",
    "fft:64:reverse:real:hann": "gives samples", "spectrum:64:hop9999": "1 to 64 times",
    "filter:ccf:64:n8": "at the least", "filter:ccf:64:d4:n71": "at the least",
    "filter:ccf:64:i2:n33": "at the least", "filter:ccf:64:i2:n8388608": "at the most",
    "receive:wifi:idel": "did you mean 'idle'?", "chain:spectrum:64+filter:ccf:9": "a chain is filter:...+spectrum:...",
    "chain:filter:ccf:9:enqueue:acquire+spectrum:64": "do not go with one another",
    "chain:ofdm:wifi:acquire:enqueue+viterbi:wifi": "enqueued, or acquired",
    "chain:ofdm:wifi+viterbi:wifi:f32": "in bytes",
    "chain:filter:fff:9+spectrum:64": "one channel of complex values",
    "chain:filter:ccf:9+spectrum:64:cs16": "told by the first one's words",
    "chain:filter:ccf:9+spectrum:64:decibel": "no bound",
    "chain:channelizer:8:keep2+spectrum:64": "all channels, in frames",
    "chain:channelizer:8+spectrum:64:vectors": "no vectors", "channelizer:8:acquire:enqueue": "one of streams",
    "channelizer:65536:t65": "more than 2^22 taps", "channelizer:65536:hop1:x1073741824": "more than 2^40 values",
    "synthesizer": "no number of channels", "synthesizer:1": "it must be synthesizer:M[",
    "synthesizer:8:hop9": "'hop9'", "synthesizer:8:run": "it must be synthesizer:M[",
    "synthesizer:8:cs16": "it must be synthesizer:M[",
    "synthesizer:8:stream": "did you mean 'streams'?", "synthesizer:8:streams:acquire": "one of streams and acquire",
    "synthesizer:8:hop8": "give others by :tDEPTH", "synthesizer:4096:hop1": "the hop is too small",
    "synthesizer:65536:t65": "more than 2^22 taps"}.items():
    check_error(2, why, "check", "cpu", "--case", case)
for case in ("spectrum:64:hop4096", "filter:ccf:64:n66", "filter:ccf:64:n32", "filter:ccf:64:i2:n34",
             "fft:1x64:power:avg2"):
    check_run(0, "check", "cpu", "--case", case)  # just possible
check_error(2, "unknown study 'radices'", "bench", "--study", "radices")
check_error(2, "unknown peer 'fftv'; did you mean 'fftw'?", "bench", "--against", "fftv")
for option in (["--case", "fft:16"], ["--against", "cufft"], ["--count", "20"]):
    check_error(2, f"{option[0]} has no place with --study radix", "bench", "--study", "radix", *option)
check_error(2, "--csv has no place with --study per", "bench", "--study", "per", "--csv")
check_error(2, "--most has no place without --study", "bench", "--most", "64")
check_error(2, "--count 1 is impossible", "bench", "--study", "per", "--count", "1")
check_error(2, "--length 5 is impossible", "bench", "--study", "per", "--length", "5")
check_error(2, "--cfo 3e6 is impossible", "bench", "--study", "per", "--cfo", "3e6")

# What only a radio has is no error with a file, as a radio may take its place, but is not passed over in silence.
with open(path("raw.cf32"), "wb") as file:
    file.write(bytes(8 * 4096))
raw = ["--input", path("raw.cf32"), "--format", "cf32", "--rate", "1e6", "--taps", "lowpass:1e5:1e5", "-d", "cpu"]
for option in ("--gain", "20"), ("--antenna", "RX2"), ("--bandwidth", "1e6"), ("--channel", "1"):
    done = check_run(0, "filter", *raw, "--output", path("f.cf32"), *option)
    told = f"penstock: warning: {option[0]} is for a radio, and '{path('raw.cf32')}' is none\n"
    check(told in done.stderr, "not told that", option[0], "is of no use:", done.stderr)
check("radio" not in check_run(0, "filter", *raw, "--output", path("f.cf32")).stderr, "told without an option")

finish()
