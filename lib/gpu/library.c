/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Drivers' libraries. */
#include "gpu/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Whether the loader's text is about the file itself, and says that there is none: where a library is missing that the
 * file needs, it names that one. */
static bool tells_absence(const char *text, const char *name)
{
    const char *absent = strerror(ENOENT);
    size_t length = strlen(name), whole = strlen(text), end = strlen(absent);
    return !strncmp(text, name, length) && text[length] == ':' && whole >= end && !strcmp(text + whole - end, absent);
}

void *penstock__gpu_library_open(const char *const *names, char reason[256])
{
    void *library = NULL;
    bool told = false;
    snprintf(reason, 256, "%.100s not found", *names);
    for (; *names && !library; names++) {
        if ((library = dlopen(*names, RTLD_NOW | RTLD_LOCAL)) || told)
            continue;
        const char *text = dlerror();
        if ((told = text && !tells_absence(text, *names)))
            snprintf(reason, 256, "%.80s cannot be loaded: %s", *names, text);
    }
    return library;
}

void penstock__gpu_library_advise(char reason[256], const char *advice)
{
    static const char absent[] = " not found";
    size_t used = strlen(reason);
    if (used >= sizeof absent - 1 && !strcmp(reason + used - (sizeof absent - 1), absent))
        snprintf(reason + used, 256 - used, "%s", advice);
}

const char *penstock__gpu_library_find(void *api, void *library, const struct gpu_function *functions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *symbol = dlsym(library, functions[i].name);
        if (!symbol)
            return functions[i].name;
        memcpy((char *)api + functions[i].offset, &symbol, sizeof symbol);
    }
    return NULL;
}

bool penstock__gpu_once(struct gpu_once *once, bool (*load)(char reason[256]), char reason[256])
{
    static const char forked[] =
        "the driver was loaded before this process was forked, and works in that process alone";
    bool loaded, here;
    if (!penstock__guard(&once->guard)) {
        snprintf(reason, 256, "%s", forked);
        return false;
    }
    if (!once->loaded) {
        once->loaded = load(reason);
        once->forks = penstock__forks();
    }
    loaded = once->loaded;
    here = once->forks == penstock__forks();
    penstock__unguard(&once->guard);
    if (loaded && !here)
        snprintf(reason, 256, "%s", forked);
    return loaded && here;
}
