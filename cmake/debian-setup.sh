# SPDX-License-Identifier: MIT
# Sourced by examples/demo.sh and tests/run.sh: install_packages PACKAGE... names what is missing, then installs it. Of
# NAME|NAME..., for what distributions and their releases call otherwise, one is wanted: the first that there is.
# It returns 75 (EX_TEMPFAIL of sysexits.h) where apt fails, as a mirror may be down.

BUILD_PACKAGES="gcc g++ cmake ninja-build pkg-config libfftw3-dev libvolk-dev|libvolk2-dev libliquid-dev libsoapysdr-dev
  opencl-c-headers ocl-icd-libopencl1 pocl-opencl-icd libjansson-dev libpng-dev libpopt-dev"

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# Whether one of NAME|NAME... is installed.
one_installed() {
  local name
  for name in ${1//|/ }; do installed "$name" && return; done
  return 1
}

# The first of NAME|NAME... that apt can install; the last one where none is, which apt will then complain about.
to_install() {
  local name
  for name in ${1//|/ }; do
    case $(LC_ALL=C apt-cache policy "$name" 2>/dev/null) in *'Candidate: (none)'* | '') ;; *) break ;; esac
  done
  echo "$name"
}

install_packages() {
  local wanted missing=() names=() as_root=(env DEBIAN_FRONTEND=noninteractive)
  if ! command -v dpkg-query >/dev/null; then
    echo "This is not Debian or Ubuntu (docs/install.md has Fedora's names): install the equivalents of: $*" >&2
    return 0
  fi
  for wanted in "$@"; do one_installed "$wanted" || missing+=("$wanted"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "These packages are missing and sudo is too; install them as root: ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo env DEBIAN_FRONTEND=noninteractive) # sudo drops what is set outside: tshark would ask a question
  fi
  echo "Missing: ${missing[*]}"
  "${as_root[@]}" apt-get -qq update || echo "apt-get update failed; trying with the lists at hand" >&2
  for wanted in "${missing[@]}"; do names+=("$(to_install "$wanted")"); done
  echo "Installing: ${names[*]}"
  "${as_root[@]}" apt-get -qq install -y --no-install-recommends "${names[@]}" >/dev/null || {
    echo "apt-get could not install: ${names[*]}" >&2
    return 75
  }
}
