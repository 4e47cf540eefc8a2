#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs a test with one of PoCL's ways to run a work-group, or skips it where this PoCL says that it knows no such one.
#   tests/opencl/pocl_method.sh METHOD PENSTOCK TEST [ARGUMENT...]
set -euo pipefail
method=$1 penstock=$2
shift 2
kept=${POCL_CACHE_DIR:+$POCL_CACHE_DIR-$method}
caches=$(mktemp -d) # kernels of another method are none of this one, and one that is kept asks nothing of PoCL
trap 'rm -rf "$caches"' EXIT
mkdir "$caches/pocl" "$caches/penstock"
export POCL_CACHE_DIR=$caches/pocl POCL_WORK_GROUP_METHOD=$method
said=$(PENSTOCK_CACHE_DIR=$caches/penstock POCL_MAX_WORK_GROUP_SIZE=8 "$penstock" check opencl:0 --case fft:64 2>&1) || {
  status=$?
  echo "$said"
  exit "$status"
}
case "$said" in
  *"Unknown work group"*) echo "SKIPPED: this PoCL has no work-group method '$method'"; exit 77 ;;
esac
POCL_CACHE_DIR=${kept:-$POCL_CACHE_DIR} "$@"
