/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A shell script in the place of a helper program, in the test's folder (folder.h). */
#ifndef PENSTOCK_TEST_HELPER_SCRIPT_H
#define PENSTOCK_TEST_HELPER_SCRIPT_H

#include "folder.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static const char *helper_variable; /* names the helper to the library */
static char script[256], counter[256];

/* After the folder is made. */
static inline void helper_script_init(const char *variable)
{
    helper_variable = variable;
    snprintf(script, sizeof script, "%s/helper", test_folder);
    snprintf(counter, sizeof counter, "%s/runs", test_folder);
}

/* Makes the helper a shell script of one line, which also counts its runs. */
static inline void set_helper(const char *line)
{
    FILE *file = fopen(script, "w");
    CHECK(file != NULL, "cannot write %s", script);
    if (!file)
        return;
    fprintf(file, "#!/bin/sh\necho run >> '%s'\n%s\n", counter, line);
    fclose(file);
    chmod(script, 0700);
    setenv(helper_variable, script, 1);
}

/* Since it was asked last. */
static inline int runs(void)
{
    FILE *file = fopen(counter, "r");
    int count = 0;
    for (int c; file && (c = fgetc(file)) != EOF;)
        count += c == '\n';
    if (file)
        fclose(file);
    remove(counter);
    return count;
}

#endif
