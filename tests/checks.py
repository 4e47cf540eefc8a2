# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""For tests in Python, as CHECK() and test_finish() of tests/shared/test.h."""

import sys

from drawn import tell_drawn

checks = failures = 0


def check(condition, *what):
    global checks, failures
    checks += 1
    if not condition:
        failures += 1
        print("FAILED:", *what, file=sys.stderr)


def finish():
    tell_drawn()
    print(f"{checks} checks, {failures} failed")
    sys.exit(1 if failures or not checks else 0)


def skip(reason):
    print("SKIPPED:", reason)
    sys.exit(77)
