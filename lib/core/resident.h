/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Work with its samples on the device, for operators that have a binding of their own. */
#ifndef PENSTOCK_CORE_RESIDENT_H
#define PENSTOCK_CORE_RESIDENT_H

#include "core/binding.h"

#include <penstock/resident.h>

struct penstock__resident_work {
    const void *in; /* `in_bytes`, a multiple of 16, repeated until there are `samples` */
    size_t in_bytes;
    struct penstock__batch batch; /* all but its in and out */
};

/* As penstock_resident_new(); `on_host`: also on a device that shares the host's memory. */
int penstock__resident_new(penstock_resident **resident, struct penstock__binding *binding,
                           const struct penstock__resident_work *work, bool on_host);

/* The same samples for another binding of the same problem and device. */
void penstock__resident_use(penstock_resident *resident, struct penstock__binding *binding);

#endif
