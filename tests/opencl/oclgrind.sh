#!/bin/sh
# SPDX-License-Identifier: MIT
# oclgrind.sh COMMAND SHIM KERNELS: cases of `penstock check` in Oclgrind, which tells of data races between work-items and of accesses outside of memory: the
# kernels as for a CPU and, with the driver for tests, as for a GPU, and as for each GPU of gpu_profiles.csv. One more run with barriers taken out must be told of.
# PENSTOCK_TEST_FULL=1: every length to 512, forward and reverse, and all stages on both, and on each GPU powers of two to 8192; else lengths by hash, each third
# stage, on each GPU one of six cases, and on a CPU few.
. "$(dirname "$0")/../drawn.sh"
command=$1 shim=$2 kernels=$3 profiles=$(dirname "$0")/gpu_profiles.csv
program=$(command -v oclgrind) || { echo "SKIPPED: oclgrind is not installed"; exit 77; }
library=$(dirname "$(dirname "$program")")/lib/oclgrind/liboclgrind-rt-icd.so
[ -e "$library" ] || { echo "SKIPPED: $library is absent"; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/vendors" "$folder/kernels"
echo "$library" > "$folder/vendors/oclgrind.icd"
export PENSTOCK_PROBE="$folder/none" # each kernel once is enough
export OCLGRIND_LOCAL_MEM_SIZE=65536 # as the largest profile; else 32768
export OCL_ICD_VENDORS="$folder/vendors" OCL_ICD_FILENAMES="$library" OCLGRIND_DATA_RACES=1 OCLGRIND_LOG="$folder/log" PENSTOCK_CACHE_DIR="$folder/cache"
failed=0 held=0 number=0
# It runs one kernel at a time, and on one processor no two are checked at once.
processor=$(taskset -pc $$ | sed 's/.*: //; s/[,-].*//')
check() { check_each 1 "$@"; } # CASE...
check_each() { # EVERY CASE...
  every=$1
  shift
  for case; do
    number=$((number + 1))
    drawn $((number - 1)) "$every" || continue
    text=$(taskset -c "$processor" "$command" check opencl:0 --case "$case" 2>&1)
    case $text in
      *"1 cases executed, 1 held"*) held=$((held + 1)) ;;
      *) echo "$case: $text"; failed=1 ;;
    esac
    if [ -s "$folder/log" ]; then
      echo "$case: told by Oclgrind:"; head -20 "$folder/log"; rm "$folder/log"; failed=1
    fi
  done
}
lengths() { # Lengths by hash, or all
  if [ "$PENSTOCK_TEST_FULL" ]; then seq 1 512 | sed 's/.*/fft:& fft:&:reverse/'
  else awk 'BEGIN { for (n = 2; n <= 110; n++) if (n * 2654435761 % 4294967296 < 200000000) print "fft:" n (n % 2 ? ":reverse" : "") }'; fi
}
# What a kernel loads and stores, ways to do it, and kernels that do more than a transform.
stages="fft:33:cs8:reverse fft:64:cu8:centered fft:60:cf16:half:reverse fft:64:planar:decibel fft:64:real fft:64:real:reverse fft:45:real
  fft:32:skip5:hann:decibel fft:128:cs16:hann:power:avg4 fft:64:images fft:100:global fft:64:items4:group3 fft:12:columns5 fft:5x6
  spectrum:64:hann:hop16:power filter:fff:20:n64:x2000 filter:ccf:20:n64:d4:shift:cs16:x2000"
"$command" devices --wait | grep "^opencl:0.*Oclgrind" || { echo "the device is another one"; exit 1; }
check fft:60 fft:127 fft:64:real fft:45:reverse fft:32:cs16:hann:power:avg2
[ -z "$PENSTOCK_TEST_FULL" ] || check $stages $(lengths)
export PENSTOCK_OPENCL_LIBRARY="$shim" PENSTOCK_SHIM_GPU=32768:256
check fft:60 fft:128 fft:127 fft:16x8 ofdm:64/16/48:qam64:cs16 ofdm:60/12/40:qpsk:cs16 filter:ccc:33:n64:x2000 $(lengths)
check_each 3 $stages
number=600 # a multiple of six: one case of each GPU
while IFS=, read -r profile limits name unified; do
  [ "$profile" != profile ] || continue
  export PENSTOCK_SHIM_GPU="$limits" PENSTOCK_SHIM_NAME="$name"
  if [ "$unified" ]; then export PENSTOCK_SHIM_UNIFIED=1; else unset PENSTOCK_SHIM_UNIFIED; fi
  before=$held
  check_each 6 fft:60 fft:1024 fft:128:real filter:ccc:33:n64:x1000 spectrum:64:hann:hop16:power ofdm:64/16/48:qpsk:cs16
  [ -z "$PENSTOCK_TEST_FULL" ] || check fft:64 fft:128 fft:256 fft:512 fft:2048 fft:4096 fft:8192 filter:ccf:129:n1024:x2000
  echo "$profile: $((held - before)) cases held of part ${PENSTOCK_TEST_PART:-0}"
done < "$profiles"
unset PENSTOCK_SHIM_NAME PENSTOCK_SHIM_UNIFIED
export PENSTOCK_SHIM_GPU=32768:256
cp "$kernels"/*.cl "$kernels"/*.h "$folder/kernels"
sed 's/^\(#define K_BARRIER() *\)barrier(CLK_LOCAL_MEM_FENCE)$/\1/' "$kernels/portability.h" > "$folder/kernels/portability.h"
PENSTOCK_KERNEL_PATH="$folder/kernels" "$command" check opencl:0 --case fft:60 > /dev/null 2>&1
grep -q "data race" "$folder/log" || { echo "Oclgrind says nothing of kernels without barriers"; failed=1; }
echo "$held cases held"
[ $held -ge 28 ] || failed=1
exit $failed
