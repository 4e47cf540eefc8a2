# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# For tests in the shell, as test_drawn() of tests/test.h.

# drawn NUMBER EVERY: whether this case of a sweep is run, one of each EVERY in a row, another in each PENSTOCK_TEST_PART.
drawn() {
  [ -n "${PENSTOCK_TEST_FULL:-}" ] ||
    [ $(($1 % $2)) = $(($(echo "${PENSTOCK_TEST_PART:-0} $(($1 / $2))" | cksum | cut -d' ' -f1) % $2)) ]
}
