/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* An interpreter of generated plans: what its parts share. */
#ifndef PENSTOCK_TEST_GPU_MODEL_RUN_H
#define PENSTOCK_TEST_GPU_MODEL_RUN_H

#include "gpu/table.h"
#include "gpu_model.h"

#include <complex.h>

#define MOST_OPERATIONS 4096

/* A macro's call for work-items from <= lane < to; words[0] .. are its arguments, words that are no number as text. */
struct operation {
    char name[24], kind[8];
    unsigned from, to;
    unsigned count, number[20];
};

struct list {
    unsigned count;
    struct operation operation[MOST_OPERATIONS];
};

/* The node that runs. */
struct run {
    struct gpu_model *model;
    const struct gpu_scheme *scheme;
    const struct gpu_node *node;
    const struct gpu_table *table;
    const char *text;
    bool values;
    double complex *in, *out, *local, *slots;
    double complex (*twiddles)[GPU_MAX_RADIX]; /* of each work-item */
    unsigned *within;
    double complex first, sum; /* Rader's x[0] and X[0] */
    unsigned char *loaded, *stored;
    unsigned column;
    unsigned group_x, step, member_step; /* constants of the text */
};

/* The value of a constant of the text, 0 where it has none. */
unsigned gpu_model_constant(const struct run *run, const char *name);

/* The calls in a macro's body; false where the text has no such macro, or more calls than fit. */
bool gpu_model_parse(struct list *list, const struct run *run, const char *name);

/* Where point p lies in local memory, gaps counted; out of bounds counts as an overrun. */
unsigned gpu_model_place(struct run *run, unsigned p, const unsigned gaps[2]);

/* The point that comes along with point `at` when a spectrum of real samples is unpacked. */
static inline unsigned gpu_model_mate(const struct run *run, unsigned at)
{
    return at ? run->node->shape.n - at : 0;
}

/* What a call does with local memory: of GIVE_s and TAKE_s, of the mates where a spectrum is unpacked, and of columns
 * that leave as rows. */
enum gpu_model_access { GPU_MODEL_GIVE, GPU_MODEL_TAKE, GPU_MODEL_MATE, GPU_MODEL_TURN, GPU_MODEL_LEAVE };

void gpu_model_follow_banks(struct run *run, const struct operation *op, enum gpu_model_access access);

#endif
