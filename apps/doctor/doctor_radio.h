/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the doctor knows of SoapySDR: the one place where the command talks to it directly. */
#ifndef PENSTOCK_APPS_DOCTOR_RADIO_H
#define PENSTOCK_APPS_DOCTOR_RADIO_H

#include <stdbool.h>
#include <stddef.h>

struct radio_modules {
    char reason[160]; /* why nothing could be looked up; "" */
    char version[64], root[256];
    size_t loaded;
    bool replay;           /* driver=replay is among them */
    char broken[256];      /* a module that failed to load; "" */
    char broken_text[256]; /* why */
};

void radio_modules_find(struct radio_modules *modules);

#endif
