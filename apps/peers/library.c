/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "library.h"
#include "shared/command.h"
#include "shared/loading.h"

#include <dlfcn.h>
#include <string.h>

void *library_load(const char *const *names, const char *advice, const struct library_function *functions, void *table)
{
    void *library = NULL;
    size_t i = 0;
    char reason[256] = "";
    for (; names[i] && !library; i++)
        if (!(library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL)) && !*reason && loading_tell(reason, names[i]))
            *reason = '\0';
    if (!library && *reason)
        fail(EXIT_DATA, "%s", reason);
    else if (!library)
        fail(EXIT_DATA, "%s was not found (%s)", names[0], advice);
    return library && library_look_up(library, names[i - 1], functions, table) ? library : NULL;
}

bool library_look_up(void *library, const char *name, const struct library_function *functions, void *table)
{
    for (const struct library_function *function = functions; function->name; function++) {
        void *symbol = dlsym(library, function->name);
        if (!symbol)
            return !fail(EXIT_DATA, "%s has no %s", name, function->name);
        memcpy((char *)table + function->offset, &symbol, sizeof symbol);
    }
    return true;
}
