#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
#
# The replay device through SoapySDRServer. The server needs avahi-daemon, which needs D-Bus: all three run in a network
# namespace that has only a loopback interface, with a bus of their own, and end with it.
# Usage: soapy_remote.sh MODULE_FOLDER CLIENT [ARGUMENT...]: the client gets the server's address as its last argument.
# Exits 77 with the reason where that is refused.
set -u

skip() {
    echo "SKIPPED: $1"
    exit 77
}

wait_for() { # DESCRIPTION COMMAND...: up to a minute
    local what=$1
    shift
    for _ in $(seq 600); do
        "$@" 2>/dev/null && return 0
        sleep 0.1
    done
    echo "$what did not start:"
    cat "$work"/*.log
    return 1
}

# ---- inside the namespace
if [ "${1:-}" = inside ]; then
    work=$2 port=55132
    shift 2
    mount -t tmpfs tmpfs /run && ip link set lo up || exit 1
    cat > "$work/bus.conf" <<END
<busconfig>
  <type>session</type>
  <listen>unix:path=$work/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy>
</busconfig>
END
    export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$work/bus
    dbus-daemon --config-file="$work/bus.conf" --nofork --nopidfile > "$work/dbus.log" 2>&1 &
    wait_for dbus-daemon test -S "$work/bus" || exit 1
    printf '[server]\nuse-ipv6=no\n' > "$work/avahi.conf"
    avahi-daemon --no-drop-root --no-chroot --no-rlimits -f "$work/avahi.conf" > "$work/avahi.log" 2>&1 &
    wait_for avahi-daemon grep -q 'startup complete' "$work/avahi.log" || exit 1
    SoapySDRServer --bind="tcp://127.0.0.1:$port" > "$work/server.log" 2>&1 &
    wait_for SoapySDRServer bash -c "exec 3<>/dev/tcp/127.0.0.1/$port" || exit 1
    "$@" "tcp://127.0.0.1:$port"
    status=$?
    [ $status = 0 ] || cat "$work/server.log"
    exit $status
fi

# ---- outside
modules=$1
shift
PATH=$PATH:/usr/sbin:/sbin
for tool in SoapySDRServer SoapySDRUtil avahi-daemon dbus-daemon unshare ip; do
    command -v $tool > /dev/null || skip "$tool is not installed"
done
remote=$(SoapySDRUtil --info 2>/dev/null | sed -n 's/^Module found: \(.*libremoteSupport\.so\).*/\1/p' | head -n 1)
[ -n "$remote" ] || skip "SoapySDR's remote module is not installed"
[ "$(id -u)" = 0 ] || skip "a network namespace with an avahi-daemon needs root"
namespace=(unshare --net --mount --pid --fork --kill-child)
reason=$("${namespace[@]}" sh -c 'mount -t tmpfs tmpfs /run && ip link set lo up' 2>&1) ||
    skip "no network namespace here: $reason"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/modules" && ln -s "$remote" "$modules"/*.so "$work/modules" || exit 1
export SOAPY_SDR_ROOT=$work SOAPY_SDR_PLUGIN_PATH=$work/modules # these two modules and no others
timeout --kill-after=5 400 "${namespace[@]}" bash "$0" inside "$work" "$@"
