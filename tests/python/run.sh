#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh PYTHON REASON [MODULE...] -- [PYTEST ARGUMENT...]: tests of the Python package by an interpreter that has these
# modules, or why they cannot run.
python=$1 reason=$2
shift 2
[ -z "$reason" ] || { echo "SKIPPED: $reason"; exit 77; }
set -- pytest "$@"
while [ "$1" != -- ]; do
  "$python" -c "import $1" 2>/dev/null || { echo "SKIPPED: $python has no $1"; exit 77; }
  shift
done
shift
exec "$python" -m pytest -q -rs "$@"
