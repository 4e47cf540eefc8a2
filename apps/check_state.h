/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What `check --full` has already verified, so that it can go on after an interruption: a file in the
 * cache folder with a line for each case in the order of the list, thrown away when all is done.
 */
#ifndef PENSTOCK_APPS_CHECK_STATE_H
#define PENSTOCK_APPS_CHECK_STATE_H

#include <stdbool.h>
#include <stdio.h>

struct check_state {
    FILE *file; /* NULL: nothing is kept */
    char path[600];
    bool replaying; /* lines of an earlier run are still to come */
};

/* `identity` names the device and its driver: lines of another one do not count. */
void check_state_open(struct check_state *state, const char *device, const char *identity);

/* Was this case verified before? Ask for each case once, in order; then note the outcome of those that were not. */
bool check_state_done(struct check_state *state, const char *text);
void check_state_note(struct check_state *state, const char *text);

/* `complete`: the file is not needed any more. */
void check_state_close(struct check_state *state, bool complete);

#endif
