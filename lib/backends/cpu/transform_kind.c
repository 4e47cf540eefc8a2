/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which kind of transform a variant is. */
#include "backends/cpu/transform.h"

const struct cpu_transform_kind *penstock__cpu_transform_kind(const struct cpu_transform *transform, unsigned variant)
{
    for (const struct cpu_transform_kind *const *kind = penstock__cpu_transforms; *kind; kind++)
        if ((!(*kind)->fits || (*kind)->fits(transform)) && !variant--)
            return *kind;
    return NULL;
}
