# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.

"""For tests in Python, as test_drawn() of tests/test.h."""

import os
import zlib

FULL = os.environ.get("PENSTOCK_TEST_FULL") == "1"
PART = os.environ.get("PENSTOCK_TEST_PART", "0")
cases = cases_drawn = 0  # of sweeps that are sampled


def drawn(number, every, of=""):
    """Whether this case of a sweep is run: one of each `every` in a row, another in each part."""
    global cases, cases_drawn
    run_it = FULL or number % every == zlib.crc32(f"{PART} {of} {number // every}".encode()) % every
    cases, cases_drawn = cases + 1, cases_drawn + run_it
    return run_it


def draw(work, every, of=""):
    """Of a list of cases those that are run."""
    return [case for number, case in enumerate(work) if drawn(number, every, of)]


def tell_drawn():
    """At a test's end: how many of how many."""
    if cases_drawn < cases:
        print(f"of {cases} cases that are sampled {cases_drawn} were run, part {PART}; PENSTOCK_TEST_FULL=1 runs all")
