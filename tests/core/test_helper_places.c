/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Helper programs are found in a prefix that was moved: by a program that the library is linked into, called by its
 * name alone, and by a library in a folder of its architecture. The copy of this program says what its helper says.
 */
#include "backends/backend.h"
#include "folder.h"
#include "test.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int helper_start(struct penstock_helper *, const char *, const char *, const char *const *, int);

/* By this program's own code, or by that of a library. */
static int say_answer(const char *library)
{
    helper_start *start = penstock__helper_start;
    struct penstock_helper helper;
    char answer[64];
    ssize_t count;
    void *loaded = library ? dlopen(library, RTLD_NOW) : NULL;
    if (library && !loaded)
        return 2;
    if (loaded)
        *(void **)&start = dlsym(loaded, "penstock__helper_start");
    if (!start || start(&helper, "penstock-probe", "PENSTOCK_PROBE", (const char *const[]){NULL}, -1))
        return 1;
    while ((count = read(helper.answer, answer, sizeof answer)) > 0)
        fwrite(answer, 1, (size_t)count, stdout);
    return penstock__helper_end(&helper, false);
}

/* What a command of the shell says and ends with. */
static void check_answer(const char *what, const char *command, const char *expected)
{
    char answer[64] = "";
    FILE *pipe = popen(command, "r");
    size_t count = pipe ? fread(answer, 1, sizeof answer - 1, pipe) : 0;
    int status = pipe ? pclose(pipe) : -1;
    answer[count] = '\0';
    CHECK(!status && !strcmp(answer, expected), "%s: status %d, '%s' from %s", what, status, answer, command);
}

static void lay_out(const char *library)
{
    char program[PATH_MAX], command[4 * PATH_MAX];
    CHECK(realpath("/proc/self/exe", program) != NULL, "this program is not found");
    snprintf(
        command, sizeof command,
        "cd '%s' && mkdir -p bin lib/machine libexec/penstock && cp '%s' bin/places && cp '%s' lib/machine/places.so &&"
        " printf '#!/bin/sh\\necho of this prefix\\n' > libexec/penstock/penstock-probe &&"
        " chmod 700 libexec/penstock/penstock-probe",
        test_folder, program, library);
    CHECK_EQ(system(command), 0);
}

int main(int argc, char **argv)
{
    char command[2 * PATH_MAX];
    if (argc > 1 && !strcmp(argv[1], "ask"))
        return say_answer(argv[2]);
    CHECK(argc > 1 && test_make_folder(), "no library is named, or no temporary folder");
    unsetenv("PENSTOCK_PROBE");
    lay_out(argv[1]);
    snprintf(command, sizeof command, "cd / && PATH='%s/bin':$PATH places ask", test_folder);
    check_answer("within a program", command, "of this prefix\n");
    snprintf(command, sizeof command, "'%s/bin/places' ask '%s/lib/machine/places.so'", test_folder, test_folder);
    check_answer("in a library", command, "of this prefix\n");
    test_remove_folder();
    return test_finish();
}
