#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Receives Wi-Fi frames from a SoapySDR replay device on every device that this machine has.
# Installs what is missing (and says so first), builds, and leaves tables and pictures in a folder.
#   examples/demo.sh                                       a recording of ../shared/recordings, or a signal made here
#   examples/demo.sh RECORDING.sigmf-meta                  a SigMF recording at 20 Msamples/s
#   examples/demo.sh RECORDING --format cs16 --rate 20e6   a raw one
#   OUT=folder examples/demo.sh                            where the results go (demo-out)
set -euo pipefail
calling_folder=$PWD
cd "$(dirname "$0")/.."
. cmake/debian-setup.sh

case "${1:-}" in -h | --help) sed -n '3,8s/^# \{0,1\}//p' "examples/${0##*/}"; exit 0 ;;
  -*) echo "demo.sh: unknown option $1 (--help, or a recording)" >&2; exit 2 ;;
esac

# shellcheck disable=SC2086
install_packages $BUILD_PACKAGES python3

echo "Building (build/release)"
cmake --preset release >build-demo.log 2>&1 && cmake --build --preset release -j "$(nproc)" >>build-demo.log 2>&1 || {
  cat build-demo.log >&2
  exit 1
}
rm build-demo.log
penstock=$PWD/build/release/apps/penstock
export SOAPY_SDR_PLUGIN_PATH=$PWD/build/release/lib/radio/replay
out=${OUT:-$PWD/demo-out}
mkdir -p "$out"

recordings=${PENSTOCK_RECORDINGS:-../shared/recordings}
replay=()
if [ $# -gt 0 ]; then
  recording=$(cd "$calling_folder" && realpath -- "$1")
  shift
  while [ $# -gt 0 ]; do
    case "$1" in
      --format | --rate) [ $# -gt 1 ] || { echo "demo.sh: $1 needs a value" >&2; exit 2; }; replay+=("${1#--}=$2"); shift 2 ;;
      *) echo "demo.sh: unknown option $1 (--format, --rate)" >&2; exit 2 ;;
    esac
  done
  echo "Receiving $recording"
elif [ -r "$recordings/wifi/truth.tsv" ]; then
  recording=$(realpath "$recordings"/wifi/conducted/dot11a_48mbps_*.dat)
  replay=(format=cs16 rate=20e6)
  echo "Receiving a real recording: $recording"
else
  recording=$out/made.sigmf-meta
  echo "No recording at hand: making a signal with 'penstock transmit' (all eight rates, noise, carrier and clock offset, two paths)"
  "$penstock" transmit --profile wifi --mbps all --length 500 --count 80 --gap 30 --snr 30 --cfo 45000 --sfo 12 \
    --multipath 150:-6 --output "$recording"
fi
source="soapy:driver=replay,pace=fast,path=$recording$(printf ',%s' "${replay[@]}")"
source=${source%,}

"$penstock" devices --wait
failed=0
devices=$("$penstock" devices --json --wait | python3 -c '
import json, sys
for line in sys.stdin:
    device = json.loads(line)
    if device["present"] and device["automatic"]:
        print(device["name"])')
for device in $devices; do
  name=${device//:/-}
  echo
  echo "== $device"
  "$penstock" receive --profile wifi --input "$source" --rate 20e6 --device "$device" --json "$out/frames-$name.json" \
    --constellation "$out/constellation-$name.png" || failed=1
  "$penstock" spectrum --input "$source" --rate 20e6 --fft 512 --device "$device" --png "$out/waterfall-$name.png" || failed=1
done
echo
echo "In $out:"
ls "$out"
exit $failed
