#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the two commands of README.md on a bare Debian, in a chroot made for it: examples/demo.sh and tests/run.sh.
#   tests/debian.sh SUITE [ARGUMENT...]         bookworm, trixie, sid, ...; ARGUMENTs go to tests/run.sh;
#                                               where the first is --bits the demo is left out
#   ROOT=folder tests/debian.sh SUITE ...       a chroot that is made if it is not there, and stays
#   MIRROR=http://... tests/debian.sh SUITE     another mirror than that of this machine's apt
# Needs root, debootstrap and a mirror. Exits with 77 and says SKIPPED where a chroot cannot be made here.
set -euo pipefail

skip() {
  echo "SKIPPED: tests/debian.sh ${suite:-}: $*"
  exit 77
}

# The mirror that apt has Debian itself from, not its security updates.
# shellcheck disable=SC2016
own_mirror() {
  apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' 2>/dev/null |
    awk -F'|' '$1 == "Debian" && $2 == "Debian" { print $3; exit }'
}

# Proxies and patience of this machine's apt, as a file for the other one's.
apt_settings() {
  apt-config dump | grep -E '^Acquire::(https?|ftp)::(Proxy|Timeout|Verify|CaInfo)|^Acquire::Retries' || true
  echo 'Acquire::Check-Valid-Until "false";' # a mirror may stand still; who signed its lists is looked at all the same
  echo 'APT::Install-Recommends "false";'
}

# In namespaces of its own, so that no mount and no process outlives it; and in the background, as Bash hears an
# interrupt only when what it waits for in the foreground is over.
apart() {
  local status=0
  set -m # a group of its own, which hears interrupts
  unshare --mount --pid --fork --kill-child --mount-proc -- "$@" &
  child=$!
  set +m
  wait "$child" || status=$?
  child=
  return "$status"
}

# What needs the mirror, which fails at times.
twice() {
  "$@" || {
    echo "== once more: $1 failed"
    sleep 20
    "$@"
  }
}

# shellcheck disable=SC2317
bootstrap() {
  [ -n "$keep" ] || rm -rf --one-file-system "${root:?}"/* # of a try before
  apart debootstrap --variant=minbase "$suite" "$root" "$mirror" "$1" >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    return 1
  }
}

make_root() {
  local script=/usr/share/debootstrap/scripts/$suite proxy
  [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid # a suite younger than debootstrap
  eval "$(apt-config shell proxy Acquire::http::Proxy)"
  echo "== a bare $suite"
  export http_proxy=${http_proxy:-${proxy:-}}
  twice bootstrap "$script"
  chmod 755 "$root" # mktemp's is its owner's alone, and some tests become another user
  apt_settings >"$root/etc/apt/apt.conf.d/90penstock"
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # no services
  chmod 755 "$root/usr/sbin/policy-rc.d"
}

# In the chroot.
# shellcheck disable=SC2016
inside() {
  apart bash -euc '
    root=$1 recordings=$2
    shift 2
    mount --bind "$root" "$root" # a mount point of its own: namespaces can be made in a chroot only where it is one
    mount --rbind /dev "$root/dev"
    mount -t tmpfs shm "$root/dev/shm"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    if [ -d "$recordings" ]; then mount --bind -o ro "$recordings" "$root/penstock/shared/recordings"; fi
    exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
      ${PENSTOCK_TEST_FULL:+PENSTOCK_TEST_FULL=1} "PENSTOCK_TEST_PART=$PENSTOCK_TEST_PART" \
      bash -c "cd /penstock/penstock && exec \"\$@\"" command "$@"
    ' inside "$root" "$recordings" "$@"
}

# shellcheck disable=SC2317
clean_up() {
  trap - EXIT
  if [ -n "$child" ]; then
    kill -KILL -- "-$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
  fi
  rm -f "$log"
  [ -n "$keep" ] || rm -rf --one-file-system "$root"
}

suite=${1:-}
case "$suite" in
  -h | --help) sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
  '' | -*) echo "tests/debian.sh: a suite is wanted (bookworm, trixie, sid; --help)" >&2; exit 2 ;;
esac
shift
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || skip "a chroot needs root"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
unshare --mount --pid --fork --kill-child -- mount -t tmpfs none /mnt 2>/dev/null ||
  skip "mounts are not permitted here"
mirror=${MIRROR:-$(own_mirror)}
[ -n "$mirror" ] || skip "apt knows no mirror of Debian here, and MIRROR is not set"

keep=${ROOT:-} log=$(mktemp) child=
root=${ROOT:-$(mktemp -d)}
recordings=$(realpath -q "${PENSTOCK_RECORDINGS:-../shared/recordings}" || true)
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
/usr/lib/apt/apt-helper download-file "${mirror%/}/dists/$suite/Release" "$log" >/dev/null 2>&1 ||
  skip "$mirror has no $suite, or cannot be reached"
[ -x "$root/usr/bin/apt-get" ] || make_root
# The tree there is no repository, of whose commit tests/run.sh makes the part of the sampled sweeps.
export PENSTOCK_TEST_PART=${PENSTOCK_TEST_PART:-$(git rev-parse HEAD | cksum | cut -d' ' -f1)}
tree=$root/penstock/penstock
mkdir -p "$tree" "$root/penstock/shared/recordings"
find "$tree" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --preserve=mode,timestamps -t "$tree"

start=$SECONDS failed=0
pass() {
  local status=0
  echo "== $suite: $*"
  inside "$@" || status=$?
  if [ "$status" = 75 ]; then # apt failed (cmake/debian-setup.sh), no test did
    echo "== $suite: $* once more, as apt failed"
    sleep 20
    status=0
    inside "$@" || status=$?
  fi
  if [ "$status" != 0 ]; then
    echo "== $suite: $* FAILED"
    failed=1
  fi
  echo "== $suite: $((SECONDS - start)) s so far"
}
[ "${1:-}" = --bits ] || pass examples/demo.sh
pass tests/run.sh "$@"
exit $failed
