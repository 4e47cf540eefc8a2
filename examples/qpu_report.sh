#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tries the QPUs of a Raspberry Pi 0, 1, 2, 3 or Zero 2 and prints a report to send in. Run it as root:
#   sudo examples/qpu_report.sh [PATH OF penstock] > report.txt
# It changes nothing. A program that hangs leaves the QPUs lost until the next restart, and the report says so.
set -u
penstock=${1:-penstock}
command -v -- "$penstock" >/dev/null || { echo "qpu_report.sh: no command '$penstock'; give its path" >&2; exit 2; }

show() { # TITLE COMMAND...: what it prints, or why it cannot
  echo "== $1"
  shift
  timeout 600 "$@" 2>&1 || echo "(exit code $?)"
}

echo "Penstock QPU report, $(date -u +%Y-%m-%d)"
show "model" sh -c 'tr -d "\000" </proc/device-tree/model; echo'
show "kernel" uname -a
show "user" id -un
show "mailbox" ls -l /dev/vcio /dev/mem
show "display driver" sh -c 'lsmod | grep -E "^(vc4|v3d)" || echo "neither vc4 nor v3d is loaded"'
show "firmware's memory" sh -c 'vcgencmd get_mem gpu; vcgencmd version'
show "config.txt" sh -c 'grep -hE "^(gpu_mem|dtoverlay=vc4)" /boot/config.txt /boot/firmware/config.txt'
show "version" "$penstock" --version
show "devices" "$penstock" devices --wait
for n in 64 256 1024 4096 65536; do
  show "check $n" "$penstock" check qpu --case "fft:$n"
done
show "check OFDM" "$penstock" check qpu --case ofdm:wifi:qam64:x100
for device in qpu cpu; do
  for n in 64 256 1024 4096; do
    show "bench $n on $device" "$penstock" bench "$device" --csv --case "fft:$n"
  done
done
