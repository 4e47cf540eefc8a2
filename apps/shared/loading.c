/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The words of the system's loader. */
#include "loading.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* It says that there is no such file also of a library that the file needs, which it names then. */
bool loading_tell(char text[256], const char *name)
{
    const char *said = dlerror(), *absent = strerror(ENOENT);
    size_t length = strlen(name), whole = said ? strlen(said) : 0, end = strlen(absent);
    bool missing = !said || (!strncmp(said, name, length) && said[length] == ':' && whole >= end &&
                             !strcmp(said + whole - end, absent));
    if (missing)
        snprintf(text, 256, "%.200s not found", name);
    else
        snprintf(text, 256, "%.80s cannot be loaded: %s", name, said);
    return missing;
}
