#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
# Which packages cmake/debian-setup.sh asks apt for, where distributions call them otherwise: apt and dpkg are played here.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
. "$source/cmake/debian-setup.sh"
eval "$(sed -n '/^TEST_PACKAGES="/,/"$/p' "$source/tests/run.sh")"
checks=0 failures=0

installed_names='' absent_names='' asked=$(mktemp)
trap 'rm -f "$asked"' EXIT
dpkg-query() {
  local name=${*: -1}
  case " $installed_names " in *" $name "*) echo -n installed ;; *) return 1 ;; esac
}
apt-cache() { # policy NAME; no line of a name that no list has
  case " $absent_names " in *" $2 "*) ;; *" $2: "*) echo "  Candidate: (none)" ;; *) echo "  Candidate: 1" ;; esac
}
apt_status=0
env() { # DEBIAN_FRONTEND=noninteractive apt-get ...
  [ "$2 $4" != "apt-get install" ] || echo " ${*:7} " >"$asked"
  return $apt_status
}
id() { echo 0; }

# check ABSENT INSTALLED WANTED REFUSED: what apt is asked for has WANTED names, and no REFUSED ones
check() {
  absent_names=$1 installed_names=$2
  : >"$asked"
  # shellcheck disable=SC2086
  install_packages $BUILD_PACKAGES $TEST_PACKAGES >/dev/null
  local got name
  got=$(<"$asked")
  for name in $3; do
    checks=$((checks + 1))
    case "$got" in *" $name "*) ;; *) failures=$((failures + 1)) && echo "absent: '$1': $name is not asked for:$got" ;; esac
  done
  for name in $4 '|'; do
    checks=$((checks + 1))
    case "$got" in *" $name "* | *"|"*) failures=$((failures + 1)) && echo "absent: '$1': $name is asked for:$got" ;; esac
  done
}

all="gcc cmake libfftw3-dev gnuradio"
check "libvolk-dev" "" "$all libvolk2-dev python3-sip" "libvolk-dev python3-pyqt5.sip"          # Debian 12
check "libvolk2-dev python3-sip" "" "$all libvolk-dev python3-pyqt5.sip" "libvolk2-dev python3-sip" # Debian 13
check "libvolk2-dev: python3-sip:" "" "libvolk-dev python3-pyqt5.sip" "libvolk2-dev python3-sip" # named, and not to be had
check "libvolk2-dev" "" "libvolk-dev python3-sip" "libvolk2-dev python3-pyqt5.sip"              # Ubuntu 24.04
check "" "libvolk2-dev python3-pyqt5.sip gcc" "cmake" "libvolk-dev libvolk2-dev python3-sip python3-pyqt5.sip gcc"
check "libvolk-dev libvolk2-dev" "" "libvolk2-dev" "libvolk-dev" # the last one, for apt to tell of

# A mirror that is down has a status of its own, for who tries once more.
installed_names='' absent_names='' apt_status=100 status=0
install_packages gcc >/dev/null 2>&1 || status=$?
checks=$((checks + 1))
[ "$status" = 75 ] || { failures=$((failures + 1)) && echo "status $status, not 75, where apt fails"; }
echo "$checks checks, $failures failed"
[ "$failures" = 0 ]
