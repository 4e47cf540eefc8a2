# SPDX-License-Identifier: MIT
# Sourced by examples/demo.sh and tests/run.sh: install_packages PACKAGE... names what is missing, then installs it.

BUILD_PACKAGES="gcc g++ cmake ninja-build pkg-config libfftw3-dev libvolk2-dev libliquid-dev libsoapysdr-dev
  opencl-c-headers ocl-icd-libopencl1 pocl-opencl-icd libjansson-dev libpng-dev libpopt-dev"

install_packages() {
  local package missing=() as_root=(env DEBIAN_FRONTEND=noninteractive)
  if ! command -v dpkg-query >/dev/null; then
    echo "This is not Debian or Ubuntu: install the equivalents of: $*" >&2
    return 0
  fi
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "These packages are missing and sudo is too; install them as root: ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo env DEBIAN_FRONTEND=noninteractive) # sudo drops what is set outside: tshark would ask a question
  fi
  echo "Installing: ${missing[*]}"
  "${as_root[@]}" apt-get -qq update || echo "apt-get update failed; trying with the lists at hand" >&2
  "${as_root[@]}" apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null || {
    echo "apt-get could not install: ${missing[*]}" >&2
    return 1
  }
}
