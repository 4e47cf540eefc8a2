/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A temporary folder for a test's files. */
#ifndef PENSTOCK_TEST_FOLDER_H
#define PENSTOCK_TEST_FOLDER_H

#include "test.h"

static char test_folder[200];

/* Makes the folder for this test's files; false where that is impossible. */
static inline int test_make_folder(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(test_folder, sizeof test_folder, "%s/penstock-test-XXXXXX", base ? base : P_tmpdir);
    return mkdtemp(test_folder) != NULL;
}

/* With all that is in it. */
static inline void test_remove_folder(void)
{
    char command[sizeof test_folder + 16];
    snprintf(command, sizeof command, "rm -r '%s'", test_folder);
    CHECK_EQ(system(command), 0);
}

/* Path of a file in the folder; good until the fourth next call. */
static inline const char *test_path(const char *name)
{
    static char paths[4][256 + sizeof test_folder];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", test_folder, name);
    return path;
}

#endif
