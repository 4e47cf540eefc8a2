/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Libraries that outlive ours. */
#include "backends/cpu/arrays.h"

#include <dlfcn.h>

void penstock__cpu_keep_library(const void *function)
{
    Dl_info info;
    if (dladdr(function, &info) && info.dli_fname)
        dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}
