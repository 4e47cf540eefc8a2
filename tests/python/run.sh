#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh PYTHON REASON [PYTEST ARGUMENT...]: the tests of the Python package by an interpreter, or why they cannot run.
python=$1 reason=$2
shift 2
[ -z "$reason" ] || { echo "SKIPPED: $reason"; exit 77; }
"$python" -c "import pytest" 2>/dev/null || { echo "SKIPPED: $python has no pytest"; exit 77; }
exec "$python" -m pytest -q "$@" "$(dirname "$0")"
