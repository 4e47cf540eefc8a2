/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Drivers' libraries. */
#include "gpu/library.h"

#include <dlfcn.h>
#include <string.h>

void *penstock__gpu_library_open(const char *const *names)
{
    void *library = NULL;
    for (; *names && !library; names++)
        library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
    return library;
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
    bool loaded;
    pthread_mutex_lock(&once->lock);
    if (!once->loaded)
        once->loaded = load(reason);
    loaded = once->loaded;
    pthread_mutex_unlock(&once->lock);
    return loaded;
}
