#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is missing (and says so first), builds, and passes the tests.
#   tests/run.sh                 the dev build; long sweeps are sampled, another part with each commit
#   tests/run.sh PRESET...       builds of CMakePresets.json: dev clang asan tsan ubsan core-only release armhf arm64
#   tests/run.sh --only REGEX    the tests whose names match
#   tests/run.sh --bits          the tests of equal bits (tests/bits.cmake), as users build, by gcc and by clang
#   tests/run.sh --ci            what continuous integration runs: formatting, clang and ARM builds, dev, the demo
#                                and a sample of the tests on a bare Debian 13, and a third of the tests of asan, tsan
#                                and core-only by hash, another with each commit; each build is removed after it
#   tests/run.sh --full          the dev build with every sampled sweep run in full (hours)
# PENSTOCK_TEST_PART is the part of the sampled sweeps that is run: a number, else one made of the commit. Tests tell it.
set -euo pipefail
cd "$(dirname "$0")/.."
. cmake/debian-setup.sh

TEST_PACKAGES="python3 python3-dev python3-numpy python3-venv python3-pytest python3-nanobind|python3-pytest libfec-dev tshark soapysdr-tools soapysdr-module-remote soapyremote-server dbus avahi-daemon iproute2 clinfo
  gnuradio gnuradio-dev pybind11-dev python3-pybind11 python3-pyqt5 python3-sip|python3-pyqt5.sip"
CI_PACKAGES="ccache debootstrap clang libclang-rt-dev clang-format oclgrind
  g++-arm-linux-gnueabihf libc6-dev-armhf-cross g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"

presets=() ci=no bits=no only=()
while [ $# -gt 0 ]; do
  case "$1" in
    --only)
      [ $# -gt 1 ] || { echo "tests/run.sh: --only needs a regular expression" >&2; exit 2; }
      only=(-R "$2" --no-tests=error)
      shift
      ;;
    --ci) ci=yes presets=(dev asan tsan core-only) ;;
    --bits) bits=yes ;;
    --full) export PENSTOCK_TEST_FULL=1 ;;
    -h | --help) sed -n '3,12s/^# \{0,1\}//p' "tests/${0##*/}"; exit 0 ;;
    -*) echo "tests/run.sh: unknown option $1 (--bits, --ci, --full, --only, or a preset's name)" >&2; exit 2 ;;
    *) presets+=("$1") ;;
  esac
  shift
done
[ ${#presets[@]} -gt 0 ] || [ "$bits" = yes ] || presets=(dev)

packages="$BUILD_PACKAGES $TEST_PACKAGES"
case " $ci ${presets[*]} " in *yes* | *clang*) packages="$packages $CI_PACKAGES" ;; esac
[ "$bits" = no ] || packages="$packages clang"
# shellcheck disable=SC2086
install_packages $packages

# Debian 12 has no nanobind. Where it cannot be had the Python package is left out, and its test says so.
if [ "$bits" = no ] && [ ! -x build/python/bin/python ] && ! /usr/bin/python3 -c "import nanobind, pytest" 2>/dev/null; then
  echo "== nanobind, pytest and mypy from PyPI into build/python"
  /usr/bin/python3 -m venv --system-site-packages build/python &&
    build/python/bin/pip install -q --timeout 10 --retries 1 nanobind pytest mypy || rm -rf build/python
fi

# Each commit has another part of what is sampled: of the sweeps (tests/shared/test.h) and of the tests below.
commit=$(git rev-parse HEAD 2>/dev/null || echo none)
PENSTOCK_TEST_PART=${PENSTOCK_TEST_PART:-$(cksum <<<"$commit" | cut -d' ' -f1)}
export PENSTOCK_TEST_PART
echo "== part $PENSTOCK_TEST_PART of the sweeps that are sampled"

jobs=$(nproc)
if [ "$ci" = yes ]; then
  # What the builds have in common is compiled once: their objects, and PoCL's kernels, which most of the time goes to.
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
  export CCACHE_MAXSIZE=2G
  export POCL_CACHE_DIR=$PWD/build/pocl
  tests/opencl/driver.sh fetch rusticl build/drivers
  tests/opencl/driver.sh fetch ocloc build/drivers
  echo "== formatting"
  git ls-files '*.c' '*.h' '*.cpp' '*.hpp' '*.cc' '*.cl' | xargs clang-format --dry-run --Werror
  echo "== clang: build"
  cmake --preset clang -DCMAKE_BUILD_TYPE=Debug >/dev/null # for its warnings, which do not depend on optimisation
  cmake --build --preset clang -j "$jobs"
  arm_tests=(fec_wifi qpu_host qpu_isa window)
  for preset in armhf arm64; do
    echo "== $preset: build, and a few tests under emulation"
    case "$preset" in # where a size has 32 bits everything is built
      armhf) targets=(all) ;;
      *) targets=(lib/all qpu/all examples/all "${arm_tests[@]/#/test_}") ;;
    esac
    cmake --preset "$preset" >/dev/null
    cmake --build --preset "$preset" -j "$jobs" --target "${targets[@]}"
    ctest --preset "$preset" -R "^($(IFS='|' && echo "${arm_tests[*]}"))\$" --no-tests=error
  done
  rm -rf build/clang build/armhf build/arm64
fi

# LeakSanitizer's own thread sometimes crashes at the end of a process with an OpenCL driver's threads, after the test
# itself has ended well. True where no test of a preset failed otherwise.
leak_check_crashed() {
  local logs="build/$1/Testing/Temporary"
  [ "$(awk '/^[0-9]+\/[0-9]+ Testing: / { crashed = 0 }
            /Tracer caught signal/ { crashed = 1 }
            /^Test Failed\./ && crashed { count++ }
            END { print count + 0 }' "$logs/LastTest.log")" -eq "$(wc -l <"$logs/LastTestsFailed.log")" ]
}

# The lines that say why, of each test that failed in the last run of a preset; told at the very end.
tell_failures() {
  echo "== $1: what failed"
  awk '/^[0-9]+\/[0-9]+ Testing: / { name = $3; count = 0; text = "" }
       /FAILED|ERROR|^[^ ]+\.[a-z]+:[0-9]+: / && count++ < 10 { text = text name ": " $0 "\n" }
       /^Test (Failed|Timeout)\./ { printf "%s", text ? text : name "\n" }' \
    "build/$1/Testing/Temporary/LastTest.log" || true # there is none where CTest was killed
}

# Names of a third of a preset's tests, with '|' between; no two of these presets have the same third.
third() {
  local name which=0
  case "$1" in tsan) which=1 ;; core-only) which=2 ;; esac
  ctest --preset "$1" -N | sed -n 's/^ *Test *#[0-9]*: //p' | while read -r name; do
    [ $(($(cksum <<<"$PENSTOCK_TEST_PART $name" | cut -d' ' -f1) % 3)) != "$which" ] || echo "$name"
  done | paste -sd '|'
}

# One test more than processors: some wait for a clock or for another process.
pass_tests() {
  local chosen=("${only[@]}")
  [ "$ci" = no ] || [ "$1" = dev ] || chosen=(-R "^($(third "$1"))\$" --no-tests=error)
  ctest --preset "$1" -j "$((jobs + 1))" --progress "${chosen[@]}" && return
  for _ in 1 2 3; do
    leak_check_crashed "$1" || return
    echo "== $1: LeakSanitizer crashed (above); those tests run again"
    ctest --preset "$1" --rerun-failed && return
  done
  return 1
}

# Names of packages, compilers and libraries that are newer than here: what depends on them.
DEBIAN_SAMPLE='^(channelizer.*|cpu_(interleaved|natural_order|power)|fft_(bits|stages)|filter_pair|spectrum|wifi_annex_g|rules)$
|^(fork_first|opencl_stages_repl|packages|cli_(channelize|install|receive)|gnuradio_(fft|grc|stock|wifi_receiver))$'
pass_debian() {
  local status=0
  tests/debian.sh trixie release --only "${DEBIAN_SAMPLE//$'\n'/}" 2>&1 | tee build/debian.log || status=$?
  [ "$status" = 0 ] || [ "$status" = 77 ]
}

# The last lines of each command that failed there, where tests/run.sh says why; else where it stopped.
tell_debian() {
  echo "== Debian 13: what failed"
  grep -B 20 '^== .* FAILED$' build/debian.log || tail -n 20 build/debian.log
}

CI_BEGIN_S=3600 # whatever has not begun by then is left out: on a slow machine the rest would not come to its end
failed=() left_out=() why=
for preset in "${presets[@]}"; do
  if [ "$ci" = yes ] && [ $SECONDS -gt $CI_BEGIN_S ]; then
    left_out+=("$preset")
    continue
  fi
  echo "== $preset"
  cmake --preset "$preset"
  cmake --build --preset "$preset" -j "$jobs"
  pass_tests "$preset" || {
    why+=$(tell_failures "$preset")$'\n'
    failed+=("$preset")
  }
  [ "$ci" = yes ] || continue
  rm -rf "build/$preset" # a build has gigabytes, and a disk may not have room for all of them
  [ "$preset" != dev ] || pass_debian || {
    why+=$(tell_debian)$'\n'
    failed+=("Debian 13")
  }
done

if [ "$bits" = yes ]; then
  for compiler in gcc clang; do
    echo "== equal bits by $("$compiler" --version | sed 1q)"
    cmake --preset release -B "build/bits-$compiler" -DCMAKE_C_COMPILER="$compiler" -DPENSTOCK_GNURADIO=OFF >/dev/null
    cmake --build "build/bits-$compiler" -j "$jobs" --target bits
    ctest --test-dir "build/bits-$compiler" -L '^bits$' --no-tests=error --output-on-failure -j "$((jobs + 1))" ||
      failed+=("equal bits by $compiler")
  done
fi

[ ${#left_out[@]} = 0 ] || echo "== left out, as $CI_BEGIN_S s were over: ${left_out[*]}"
if [ ${#failed[@]} -gt 0 ]; then
  printf '%s' "$why" >&2
  echo "tests/run.sh: failed: ${failed[*]}" >&2
  exit 1
fi
