/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The list of backends, in the order of `penstock devices`. A new one adds its line here. */
#include "core/device/backends.h"

#include <string.h>

extern const struct penstock_backend penstock__cpu_backend;
extern const struct penstock_backend penstock__cuda_backend;
extern const struct penstock_backend penstock__opencl_backend;
extern const struct penstock_backend penstock__reference_backend;
extern const struct penstock_backend penstock__qpu_backend;
extern const struct penstock_backend penstock__qpu_emulator_backend;
extern const struct penstock_backend penstock__trace_backend;
extern const struct penstock_backend penstock__null_backend;

const struct penstock__backend_entry penstock__backends[] = {
    {.name = "cpu", .backend = &penstock__cpu_backend},
#ifdef PENSTOCK_HAVE_LIQUID
    {.name = "reference", .backend = &penstock__reference_backend},
#else
    {.name = "reference", .why_not = PENSTOCK_WHY_NO_LIQUID},
#endif
#ifdef PENSTOCK_HAVE_OPENCL
    {.name = "opencl", .backend = &penstock__opencl_backend},
#else
    {.name = "opencl", .why_not = PENSTOCK_WHY_NO_OPENCL},
#endif
    {.name = "cuda", .backend = &penstock__cuda_backend},
    {.name = "qpu", .backend = &penstock__qpu_backend},
    {.name = "qpu:emulator", .backend = &penstock__qpu_emulator_backend},
    {.name = "trace", .backend = &penstock__trace_backend},
    {.name = "null", .backend = &penstock__null_backend},
};

const size_t penstock__backend_count = sizeof penstock__backends / sizeof penstock__backends[0];

const struct penstock_backend *penstock__backend_find(const char *name)
{
    for (size_t i = 0; i < penstock__backend_count; i++)
        if (!strcmp(penstock__backends[i].name, name))
            return penstock__backends[i].backend;
    return NULL;
}
