/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What can be chosen differently about a transform on a chip, for measurements and for tuning. */
#ifndef PENSTOCK_GPU_TUNING_PARAMETERS_H
#define PENSTOCK_GPU_TUNING_PARAMETERS_H

#include <stdbool.h>

#define TUNING_MAX_STAGES 24
#define TUNING_NONE       0xffffffffu /* "none" */

/* 0: as it is by default. */
struct gpu_tuning {
    unsigned radix[TUNING_MAX_STAGES], stages;
    unsigned lanes;     /* work-items of a transform */
    unsigned per_group; /* transforms of a work-group */
    unsigned resident;  /* work-groups that shall fit on a multiprocessor */
    unsigned ahead;     /* work-groups ahead whose samples are fetched into the cache; TUNING_NONE: none */
    unsigned total;     /* points of a convolution */
    unsigned parts[3];  /* points of the passes of a long transform */
    unsigned chunk;     /* log2 of the points that go through scratch memory at once */
    unsigned halves;    /* 1: exchange through half the memory */
    unsigned pad;       /* gaps in local memory: 1 + log2 of the points between them */
    unsigned fused;     /* 1: a kernel that does more than a transform, where there is one; TUNING_NONE: that of
                           transforms */
};

/*
 * Of transforms of n points, from "n=8192,radix=16x16x8x4,lanes=512,group=1,resident=2,ahead=264;n=4099,total=9216";
 * NULL: none. What is not understood is passed over.
 */
void penstock__gpu_tuning_parameters(struct gpu_tuning *tuning, unsigned n, const char *text);

#endif
