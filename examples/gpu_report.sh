#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Measures a GPU beside the libraries that it has, and leaves a folder of tables and pictures, as those of docs/performance.md.
#   examples/gpu_report.sh [DEVICE...]             cuda:0 if none is named; `penstock devices` lists them. About 8 minutes
#   PENSTOCK=path examples/gpu_report.sh ...       another command than build/release/apps/penstock or the installed one
#   OUT=folder examples/gpu_report.sh ...          where the results go (gpu-report)
# cuFFT is the peer of CUDA, VkFFT of both where it was built in (-DPENSTOCK_VKFFT=ON). Close what else uses the GPU first.
set -u
case "${1:-}" in -h | --help) sed -n '3,7s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
[ $# -gt 0 ] || set -- cuda:0

here=$(cd "$(dirname "$0")/.." && pwd)
penstock=${PENSTOCK:-$here/build/release/apps/penstock}
[ -x "$penstock" ] || penstock=$(command -v penstock) || {
  echo "gpu_report.sh: no command penstock; build it or name it: PENSTOCK=path" >&2
  exit 2
}
out=${OUT:-gpu-report}
mkdir -p "$out" || exit 2
failed=0

pictures=yes
"$penstock" bench cpu --case fft:64 --png "$out/cpu.png" >"$out/cpu.log" 2>&1 || {
  pictures=
  echo "gpu_report.sh: no pictures: $(tail -n 1 "$out/cpu.log")" >&2
}
rm -f "$out/cpu.png" "$out/cpu.log"

section() { # NAME COMMAND...: into NAME.csv and NAME.png, or NAME.txt for a check
  local name=$1 began=$SECONDS file=$out/$1.txt picture=
  shift
  [ "$1" = bench ] && file=$out/$name.csv
  [ "$1" = bench ] && [ -n "$pictures" ] && picture=--png=$out/$name.png
  if "$penstock" "$@" ${picture:+"$picture"} >"$file" 2>"$out/$name.log"; then
    echo "$name: $((SECONDS - began)) s, $file"
  else
    failed=$((failed + 1))
    echo "$name: FAILED after $((SECONDS - began)) s: $(cat "$file" "$out/$name.log" | tail -n 1)"
  fi
}

cases() { # PREFIX NAME...: --case PREFIXNAME for each
  local prefix=$1 name
  shift
  for name in "$@"; do printf -- '--case %s%s ' "$prefix" "$name"; done
}

powers=$(cases fft: 64 128 256 512 1024 2048 4096 8192 16384 32768 65536 131072 262144 524288 1048576 2097152 4194304)
others=$(cases fft: 600 1000 1200 1280 1536 3072 127 509 1021 4099 10007 65537)
batches=$(cases fft:512:x 1 16 256 4096 65536)
fused=$(cases '' fft:2048:cs16:hann:power:avg16 ofdm:512/64/336:qam64:cs16 ofdm:2048/144/1200:qam64:cs16 ofdm:64/16/48:qam64:cs16)
filters=$(cases filter:ccc: 129:n1024 1025:n4096 4097:n8192)
stream='--case filter:ccc:715:shift:stream'

"$penstock" devices --wait >"$out/devices.txt" 2>&1
for device in "$@"; do
  grep -q "^$device " "$out/devices.txt" || {
    echo "gpu_report.sh: no device '$device'; penstock devices lists them" >&2
    exit 2
  }
done
for device in "$@"; do
  name=${device//:/-}
  case $device in cuda*) against='--against cufft' ;; *) against= ;; esac
  # shellcheck disable=SC2086
  {
    section "$name-filters" bench "$device" --csv $against $filters
    section "$name-stream" bench "$device" --csv $stream
    section "$name-fused" bench "$device" --csv $against $fused
    section "$name-batches" bench "$device" --csv $against $batches
    section "$name-powers" bench "$device" --csv $against $powers
    section "$name-others" bench "$device" --csv $against $others
    section "$name-plans" bench "$device" --csv --study plans
    section "$name-check" check "$device"
    "$penstock" bench "$device" --csv --against vkfft --case fft:64 >"$out/$name-vkfft.csv" 2>/dev/null &&
      section "$name-vkfft" bench "$device" --csv --against vkfft $powers $others
  }
done
[ $failed = 0 ] || { echo "$failed sections failed" >&2; exit 1; }
