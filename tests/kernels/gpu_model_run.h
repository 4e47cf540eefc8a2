/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* An interpreter of generated plans: what its parts share. */
#ifndef PENSTOCK_TEST_GPU_MODEL_RUN_H
#define PENSTOCK_TEST_GPU_MODEL_RUN_H

#include "gpu/table.h"
#include "gpu_model.h"

#include <complex.h>

/* What a macro's call does, by its name. */
enum call {
    CALL_UNKNOWN,
    CALL_LOAD,
    CALL_LOAD_IF_ANY,
    CALL_ZERO,
    CALL_DFT, /* of any radix */
    CALL_TWIDDLE,
    CALL_TWIDDLE_AT,
    CALL_TWIDDLE_READ,
    CALL_TWIDDLE_MAKE,
    CALL_TWIDDLE_USE,
    CALL_EXCHANGED, /* what lists of exchanges hold */
    CALL_PRODUCT_AT,
    CALL_FINISH,
    CALL_FINISH_ANYWHERE,
    CALL_FINISH_TURNED,
    CALL_LEAVE_TURNED,
    CALL_RADER_LOAD
};

/* Which points the work-items of a TAKE have. */
enum kind { KIND_NONE, KIND_SHORT, KIND_ONE, KIND_EVEN, KIND_LONG };

/* A macro's call for work-items from <= lane < to, with its arguments. */
struct operation {
    char name[16];
    enum call call;
    enum kind kind;
    unsigned from, to;
    unsigned count, number[20];
};

struct list {
    unsigned count;
    struct operation *operation;
};

/* A macro of the text, and its calls once they were asked for. */
struct macro {
    const char *name, *body;
    size_t length;
    bool parsed;
    struct list list;
};

/* The pass that runs. */
struct run {
    struct gpu_model *model;
    const struct gpu_decomposition *decomposition;
    const struct gpu_pass *pass;
    const struct gpu_table *table;
    const char *text;
    struct macro *macros;
    unsigned macro_count;
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

/* Finds the macros of run->text; false without memory. */
bool gpu_model_read(struct run *run);
void gpu_model_unread(struct run *run);

/* The calls in a macro's body; NULL where the text has no such macro. */
const struct list *gpu_model_parse(struct run *run, const char *name);

/* Where point p lies in local memory, gaps counted; out of bounds counts as an overrun. */
unsigned gpu_model_place(struct run *run, unsigned p, const unsigned gaps[2]);

/* The point that comes along with point `at` when a spectrum of real samples is unpacked. */
static inline unsigned gpu_model_mate(const struct run *run, unsigned at)
{
    return at ? run->pass->config.n - at : 0;
}

/* What a call does with local memory: of GIVE_s and TAKE_s, of the mates where a spectrum is unpacked, and of columns
 * that leave as rows. */
enum gpu_model_access { GPU_MODEL_GIVE, GPU_MODEL_TAKE, GPU_MODEL_MATE, GPU_MODEL_TURN, GPU_MODEL_LEAVE };

void gpu_model_follow_banks(struct run *run, const struct operation *op, enum gpu_model_access access);

#endif
