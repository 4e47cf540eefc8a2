#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# OpenCL drivers for processors beside PoCL, in a folder of their own: one that is installed shows up in every program.
#   tests/opencl/driver.sh fetch NAME FOLDER            downloads it there; installs the libraries that it needs
#   tests/opencl/driver.sh check NAME FOLDER PENSTOCK [SHIM [PROFILE]]
#     cases of `penstock check` by hash, with PENSTOCK_TEST_FULL=1 all; and with SHIM, the driver for tests, the same as
#     for half of the GPUs of gpu_profiles.csv, with PENSTOCK_TEST_FULL=1 for all, or for PROFILE alone
# NAME: rusticl (Mesa's, on llvmpipe; a package of Debian) or intel (Intel's runtime for CPUs; from PyPI, 280 MB, under
# Intel's licence). fetch also: ocloc (Intel's compiler for its GPUs, of a package of Debian; and clang for AMD's).
set -euo pipefail
cd "$(dirname "$0")/../.."
. cmake/debian-setup.sh
. tests/drawn.sh
action=$1 name=$2 folder=$(realpath -m "$3")/$2

# A package, unpacked, and what it needs, installed. "Depends:" lines are the ones without alternatives.
unpack() {
  local needed
  needed=$(apt-cache depends "$1" | sed -n 's/^  Depends: \([a-z0-9].*\)/\1/p')
  # shellcheck disable=SC2086
  install_packages $needed
  mkdir -p "$folder"
  (cd "$folder" && apt-get -qq download "$1" && dpkg -x "$1"_*.deb . && rm "$1"_*.deb)
}

fetch_rusticl() { unpack mesa-opencl-icd; }

fetch_ocloc() {
  unpack intel-opencl-icd
  install_packages libigdfcl1 clang-15 clang-16 rocm-device-libs
}

# Its own loader would hide the system's, and does not load without the rest of Intel's software.
fetch_intel() {
  local wheel
  mkdir -p "$folder/wheels" "$folder/lib"
  python3 -m pip download -q --no-deps -d "$folder/wheels" intel-opencl-rt intel-cmplr-lib-rt tbb tcmlib
  for wheel in "$folder"/wheels/*.whl; do
    python3 -m zipfile -e "$wheel" "$folder"
    rm "$wheel"
  done
  find "$folder" -path '*.data/data/lib/*' -type f ! -name 'libOpenCL*' -exec mv -t "$folder/lib" {} +
}

# The driver's library, or nothing.
find_rusticl() {
  local library
  for library in "$folder"/usr/lib/*/libRusticlOpenCL.so.1 /usr/lib/*/libRusticlOpenCL.so.1; do
    [ ! -e "$library" ] || { echo "$library"; return; }
  done
}

find_intel() { [ ! -e "$folder/lib/libintelocl.so" ] || echo "$folder/lib/libintelocl.so"; }

# `penstock check` as for each GPU, or for one: of these cases a quarter each, so that every case has a GPU.
check_profiles() { # PENSTOCK SHIM [PROFILE]
  local penstock=$1 shim=$2 only=${3:-} profile limits device unified cases i at=0 status=0
  local number=0 all=(fft:1024 fft:4096:cs16:power fft:8192 fft:97:real filter:ccf:129:n1024:x5000 filter:ccf:129:n2048:x5000
    spectrum:256:hop64:hann:power ofdm:64/16/48:qpsk)
  while IFS=, read -r profile limits device unified; do
    [ "$profile" != profile ] || continue
    if [ -n "$only" ]; then [ "$only" = "$profile" ]; else drawn $((number++)) 2; fi || continue
    echo "== $profile"
    cases=()
    for ((i = at++ % 4; i < ${#all[@]}; i += 4)); do cases+=(--case "${all[i]}"); done
    [ -z "${PENSTOCK_TEST_FULL:-}" ] || cases=()
    PENSTOCK_OPENCL_LIBRARY=$shim PENSTOCK_SHIM_GPU=$limits PENSTOCK_SHIM_NAME=$device \
      env ${unified:+PENSTOCK_SHIM_UNIFIED=1} "$penstock" check opencl:0 "${cases[@]}" </dev/null || status=1
  done <tests/opencl/gpu_profiles.csv
  return $status
}

check() {
  local library penstock shim=${3:-} part=(--part 2/12) text status=0
  penstock=$(realpath "$1")
  shim=${shim:+$(realpath "$shim")}
  library=$(find_"$name")
  [ -n "$library" ] || { echo "SKIPPED: no driver (tests/opencl/driver.sh fetch $name ${folder%/*})"; exit 77; }
  mkdir "$work/vendors"
  echo "$library" > "$work/vendors/driver.icd"
  export OCL_ICD_VENDORS=$work/vendors PENSTOCK_CACHE_DIR=$work/cache XDG_CACHE_HOME=$work RUSTICL_ENABLE=llvmpipe
  [ "$name" != intel ] || export LD_LIBRARY_PATH=$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  text=$("$penstock" devices --wait)
  case $text in
    *opencl:0*"$2"*) ;;
    *) echo "$library has no device: $text"; exit 1 ;;
  esac
  if [ -n "${4:-}" ]; then
    check_profiles "$penstock" "$shim" "$4" || status=1
    exit "$status"
  fi
  [ -z "${PENSTOCK_TEST_FULL:-}" ] || part=()
  "$penstock" check opencl:0 "${part[@]}" || status=1
  # What the driver does not have is SKIPPED, and not an error.
  "$penstock" check opencl:0 --case fft:64 --case fft:64:images --case fft:64:fp16 --case ofdm:64/16/48:qpsk || status=1
  [ -z "$shim" ] || check_profiles "$penstock" "$shim" || status=1
  exit "$status"
}

case $action:$name in
  fetch:rusticl | fetch:intel | fetch:ocloc) fetch_"$name" ;;
  check:rusticl | check:intel)
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    if [ "$name" = rusticl ]; then wanted=rusticl; else wanted=Intel; fi
    check "$4" "$wanted" "${@:5}"
    ;;
  *) sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
