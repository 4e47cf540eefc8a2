#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds the packages and tries them on a clean Debian: installs them with apt in a fresh chroot, and runs what they have.
#   debian/check-in-chroot.sh [SUITE]     the packages of this tree; SUITE is bookworm unless given
# Needs root, mmdebstrap, a mirror (MIRROR=http://deb.debian.org/debian), and what the packages need to be built.
set -euo pipefail
suite=${1:-bookworm} mirror=${MIRROR:-http://deb.debian.org/debian}
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'umount "$work/root/proc" 2>/dev/null || true; rm -rf "$work"' EXIT

echo "== build"
mkdir "$work/source" "$work/root"
git ls-files -z | xargs -0 cp --parents -t "$work/source"
(cd "$work/source" && DEB_BUILD_OPTIONS="nocheck ${DEB_BUILD_OPTIONS:-}" dpkg-buildpackage -b -us -uc) > "$work/build.log" 2>&1 ||
  { tail -n 40 "$work/build.log"; exit 1; }
if command -v lintian >/dev/null; then
  lintian --allow-root "$work"/*.changes
fi

echo "== a clean $suite"
mmdebstrap --quiet --variant=apt --include=ca-certificates "$suite" "$work/root" "$mirror"
mkdir "$work/root/packages"
cp "$work"/*.deb "$work/root/packages"
mount -t proc proc "$work/root/proc"
inside() {
  chroot "$work/root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"
}
inside apt-get -qq update
inside sh -c 'apt-get -qq install -y --no-install-recommends $(ls /packages/*.deb | grep -v dbgsym) gcc libc6-dev pkg-config' > "$work/apt.log" 2>&1 ||
  { tail -n 40 "$work/apt.log"; exit 1; }

echo "== run"
inside penstock devices
inside penstock check cpu --case fft:64
inside penstock doctor
inside python3 -c "from gnuradio import penstock; print(penstock.wifi_receiver(device='cpu').device())"
inside penstock transmit --profile wifi --count 5 --output /r.sigmf-meta
inside penstock receive --profile wifi --input soapy:driver=replay,path=/r.sigmf-meta,pace=fast | grep ' 5 FCS ok'
inside sh -c 'cc /usr/share/doc/libpenstock-dev/examples/fft_batch.c $(pkg-config --cflags --libs penstock) -lm -o /fft_batch && /fft_batch cpu'
inside apt-get -qq purge -y libgnuradio-penstock-dev gr-penstock penstock libpenstock-dev libpenstock0.1 > "$work/apt.log" 2>&1
left=$(inside sh -c 'find /usr /etc /var/lib -name "*penstock*" -not -path "/var/lib/dpkg/*"')
[ -z "$left" ] || { echo "left behind: $left" >&2; exit 1; }
echo "The packages install, run and go away again."
