/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Loads every SoapySDR module as the library would, and notes those that fail. */
#include "doctor_radio.h"

#include <SoapySDR/Modules.h>
#include <SoapySDR/Types.h>
#include <SoapySDR/Version.h>
#include <stdio.h>
#include <string.h>

static void load(struct radio_modules *modules, const char *path)
{
    char *error = SoapySDR_loadModule(path);
    if (!error || !*error) {
        const char *name = strrchr(path, '/');
        modules->loaded++;
        modules->replay |= strstr(name ? name : path, "ReplaySupport") != NULL;
    } else if (!*modules->broken) {
        snprintf(modules->broken, sizeof modules->broken, "%s", path);
        snprintf(modules->broken_text, sizeof modules->broken_text, "%s", error);
    }
    SoapySDR_free(error);
}

void radio_modules_find(struct radio_modules *modules)
{
    size_t count = 0;
    *modules = (struct radio_modules){.reason = ""};
    snprintf(modules->version, sizeof modules->version, "%s", SoapySDR_getLibVersion());
    snprintf(modules->root, sizeof modules->root, "%s", SoapySDR_getRootPath());
    char **paths = SoapySDR_listModules(&count);
    for (size_t i = 0; i < count; i++)
        load(modules, paths[i]);
    SoapySDRStrings_clear(&paths, count);
}
