/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The table of GPUs. Sources: NVIDIA's CUDA C++ Programming Guide (technical specifications per compute capability);
 * LLVM's AMDGPU back end (AMDGPUBaseInfo.cpp: total registers, granules, waves of a unit); Intel's Processor Graphics
 * Gen9 and Xe-HPG architecture guides (128 registers of 32 bytes a thread, two of them for 16 work-items' values);
 * Arm's Valhall performance guide (64 registers, twice the threads with 32); Broadcom's VideoCore IV guide and Mesa's
 * v3d compiler (64 registers, 4 threads with 16). Adreno's are those of Mesa's ir3 compiler for a6xx.
 */
#include "gpu/profile.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* A work-item that holds `slots` points has about so many registers; GCN's and Intel's compilers have 60 to 107 with
 * 16 points and 40 to 56 with 8. */
#define REGISTERS(slots) (16 + 4 * (slots))
#define MOST_SLOTS       16
#define LEAST_WAVES      4

enum kind { NVIDIA, GCN, CDNA, RDNA, INTEL, INTEL_HPG, ADRENO, MALI, VIDEOCORE };

static const struct gpu_profile profiles[] = {
    [NVIDIA] = {"NVIDIA", 32, 512, 8, 255, 16},
    [GCN] = {"AMD GCN", 64, 256, 4, 256, 10},
    [CDNA] = {"AMD CDNA", 64, 512, 8, 512, 8},
    [RDNA] = {"AMD RDNA", 32, 1024, 16, 256, 16, 32 << 10, 8},
    [INTEL] = {"Intel Gen9 to Xe", 16, 448, 64, 64, 7},
    [INTEL_HPG] = {"Intel Xe-HPG", 16, 512, 64, 64, 8},
    [ADRENO] = {"Adreno 6xx", 64, 384, 4, 192, 16},
    [MALI] = {"Mali Valhall", 16, 2048, 32, 64, 64},
    [VIDEOCORE] = {"VideoCore VI, VII", 16, 64, 16, 64, 4},
};

/* The first piece that is found decides. */
static const struct {
    const char *piece;
    enum kind kind;
} pieces[] = {
    {"NVIDIA", NVIDIA},
    {"gfx90a", CDNA},
    {"gfx94", CDNA},
    {"gfx10", RDNA},
    {"gfx11", RDNA},
    {"gfx12", RDNA},
    {"navi", RDNA},
    {"gfx", GCN},
    {"radeonsi", GCN},
    {"AMD", GCN},
    {"Intel(R) Arc", INTEL_HPG},
    {"DG2", INTEL_HPG},
    {"Intel", INTEL},
    {"Adreno", ADRENO},
    {"FD6", ADRENO},
    {"Mali", MALI},
    {"V3D", VIDEOCORE},
    {"VideoCore", VIDEOCORE},
};

const struct gpu_profile *penstock__gpu_profile(const char *identity)
{
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        if (strstr(identity, pieces[i].piece))
            return &profiles[pieces[i].kind];
    return NULL;
}

unsigned penstock__gpu_profile_waves(const struct gpu_profile *profile, unsigned registers)
{
    unsigned given = (registers + profile->granule - 1) / profile->granule * profile->granule, waves;
    if (!given || registers > profile->most)
        return given ? 0 : profile->waves;
    waves = profile->registers / given;
    return waves < profile->waves ? waves : profile->waves;
}

void penstock__gpu_profile_limit(struct gpu_limits *limits, const struct gpu_profile *profile, unsigned wave)
{
    if (limits->cpu)
        return;
    wave = wave || !profile ? wave : profile->wave;
    limits->wave = wave <= limits->max_group ? wave : 0;
    if (!profile || profile == &profiles[NVIDIA])
        return;
    limits->registers = profile->most;
    limits->item_bytes = profile->wanted ? profile->local / profile->wanted / profile->wave : 0;
    limits->most_slots = MOST_SLOTS;
    limits->asked_slots = REGISTERS(GPU_MAX_SLOTS) > profile->most ? MOST_SLOTS : 0;
    limits->slots = penstock__gpu_profile_waves(profile, REGISTERS(MOST_SLOTS)) < LEAST_WAVES ? MOST_SLOTS / 2 : 0;
}

void penstock__gpu_profile_text(char *text, size_t capacity, const struct gpu_profile *profile,
                                const struct gpu_limits *limits, bool shares_memory, bool images)
{
    snprintf(text, capacity, "%s: waves of %u, %zu KiB and %u work-items a group, %s%s%s",
             profile ? profile->name : "a GPU of no known kind", limits->wave ? limits->wave : 32,
             limits->local_bytes >> 10, limits->max_group, shares_memory ? "the host's memory" : "memory of its own",
             images ? ", images" : "", limits->half_arithmetic ? ", half precision" : "");
}
