/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Blocks of convolutional codes, kernels/viterbi.cl, rows.h and whole.h: which kernels a plan has, and what they are
 * given. All take (in, blocks, rows, work, decisions, out, count, windows, length, groups, bytes, mask).
 */
#ifndef PENSTOCK_GPU_VITERBI_H
#define PENSTOCK_GPU_VITERBI_H

#include "gpu/launch_config.h"
#include "gpu/text.h"

enum gpu_viterbi_kernel {
    GPU_VITERBI_LEVEL,
    GPU_VITERBI_FILL,
    GPU_VITERBI_DECODE,
    GPU_VITERBI_CHECK,
    GPU_VITERBI_WHOLE
};
#define GPU_VITERBI_KERNELS 5

/* Two programs, which can be compiled side by side, or one with both. */
enum gpu_viterbi_program {
    GPU_VITERBI_REGISTERS = 1, /* kernel `decode`: of plans that are `fast` */
    GPU_VITERBI_REST = 2,
    GPU_VITERBI_BOTH = 3
};

enum gpu_viterbi_memory { GPU_VITERBI_ROWS, GPU_VITERBI_WORK, GPU_VITERBI_DECISIONS };
#define GPU_VITERBI_MEMORIES 3

struct gpu_viterbi {
    bool fast;                                    /* metrics in registers; else one work-item a state */
    bool pairs;                                   /* OpenCL: NVIDIA's instructions for pairs of numbers of 16 bits */
    bool direct;                                  /* soft bits are read where the caller has them */
    unsigned group, resident, lag, warm, history; /* of the fast kernel: see kernels/viterbi.cl */
    unsigned full;                                /* work-items of a multiprocessor at a time */
    unsigned rows_group, check_group;             /* of the kernels around it */
    unsigned base, floor, cpu;
    unsigned stride, states;
    size_t first, row_bytes, local_bytes; /* `local_bytes`: all that a group may have */
    unsigned windows;                     /* asked for; 0: as they suit the batch */
};

/* PENSTOCK_ERR_UNSUPPORTED, with text, beyond the last variant: kernels with metrics in registers with and without the
 * device's own instructions, and the one for any code. */
int penstock__gpu_viterbi_config(struct gpu_viterbi *self, const struct penstock_problem *problem,
                                 const struct gpu_limits *limits, unsigned variant, bool pairs);
int penstock__gpu_viterbi_source(struct gpu_text *text, const penstock_context *context, const struct gpu_viterbi *self,
                                 const struct penstock_problem *problem, enum gpu_viterbi_program program);
void penstock__gpu_viterbi_describe(struct penstock_plan_state *plan, const struct gpu_viterbi *self);

/* A kernel's name, NULL where the plan has no such one, and its work-items and local memory, at least. */
const char *penstock__gpu_viterbi_name(const struct gpu_viterbi *self, const struct penstock_problem *problem,
                                       unsigned kernel);
unsigned penstock__gpu_viterbi_group(const struct gpu_viterbi *self, unsigned kernel);
size_t penstock__gpu_viterbi_local(const struct gpu_viterbi *self, unsigned kernel);

/* What one batch takes. */
struct gpu_viterbi_job {
    size_t memory[GPU_VITERBI_MEMORIES]; /* bytes */
    size_t groups[GPU_VITERBI_KERNELS];  /* work-groups; 0: the kernel is not launched */
    size_t local[GPU_VITERBI_KERNELS];   /* bytes of a group where the launch gives them */
    int32_t count;
    uint32_t windows, length, whole_groups;
    uint64_t bytes; /* that the fast kernel may read */
    uint32_t mask;  /* of the metrics' part in their registers */
};
int penstock__gpu_viterbi_job(struct gpu_viterbi_job *work, const struct penstock_plan_state *plan,
                              const struct gpu_viterbi *self, const struct penstock_job *job);

#endif
