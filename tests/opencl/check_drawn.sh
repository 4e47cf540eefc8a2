#!/bin/sh
# SPDX-License-Identifier: MIT
# check_drawn.sh FIRST EVERY PENSTOCK DEVICE CASE...: `penstock check` with one of each EVERY cases in a row, which are
# numbered from FIRST on; with PENSTOCK_TEST_FULL=1 all.
. "$(dirname "$0")/../drawn.sh"
number=$1 every=$2 command=$3 device=$4 asked=$(($# - 4)) cases=''
shift 4
for case; do
  drawn "$number" "$every" && cases="$cases --case $case"
  number=$((number + 1))
done
echo "of $asked cases, part ${PENSTOCK_TEST_PART:-0}:$cases"
# shellcheck disable=SC2086
exec "$command" check "$device" $cases
