#!/bin/sh
# SPDX-License-Identifier: MIT
# oclgrind.sh COMMAND SHIM KERNELS: cases of `penstock check` in Oclgrind, which tells of data races between work-items and of accesses outside of memory: the
# kernels as for a CPU and, with the driver for tests, as for a GPU. One more run with barriers taken out must be told of.
command=$1 shim=$2 kernels=$3
program=$(command -v oclgrind) || { echo "SKIPPED: oclgrind is not installed"; exit 77; }
library=$(dirname "$(dirname "$program")")/lib/oclgrind/liboclgrind-rt-icd.so
[ -e "$library" ] || { echo "SKIPPED: $library is absent"; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/vendors" "$folder/kernels"
echo "$library" > "$folder/vendors/oclgrind.icd"
export OCL_ICD_VENDORS="$folder/vendors" OCLGRIND_DATA_RACES=1 OCLGRIND_LOG="$folder/log" PENSTOCK_CACHE_DIR="$folder/cache"
failed=0 held=0
check() { # CASE
  text=$("$command" check opencl:0 --case "$1" 2>&1)
  case $text in
    *"1 cases executed, 1 held"*) held=$((held + 1)) ;;
    *) echo "$1: $text"; failed=1 ;;
  esac
  if [ -s "$folder/log" ]; then
    echo "$1: told by Oclgrind:"; head -20 "$folder/log"; rm "$folder/log"; failed=1
  fi
}
"$command" devices | grep "^opencl:0.*Oclgrind" || { echo "the device is another one"; exit 1; }
for case in fft:60 fft:127; do check $case; done
export PENSTOCK_OPENCL_LIBRARY="$shim" PENSTOCK_SHIM_GPU=32768:256
for case in fft:60 fft:128 fft:127 fft:17x24 fft:32x64 fft:128:cs16:hann:power:avg4 ofdm:64/16/48:qam64:cs16 ofdm:60/12/40:qpsk:cs16; do check $case; done
cp "$kernels"/*.cl "$kernels"/*.h "$folder/kernels"
sed 's/^\(#define K_BARRIER() *\)barrier(CLK_LOCAL_MEM_FENCE)$/\1/' "$kernels/portability.h" > "$folder/kernels/portability.h"
PENSTOCK_KERNEL_PATH="$folder/kernels" "$command" check opencl:0 --case fft:60 > /dev/null 2>&1
grep -q "data race" "$folder/log" || { echo "Oclgrind says nothing of kernels without barriers"; failed=1; }
echo "$held cases held"
[ $held -eq 10 ] || failed=1
exit $failed
