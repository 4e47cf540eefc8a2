/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The two ALUs on all 16 lanes. Values follow vectors captured on hardware; where those say nothing, docs/qpu.md
 * tells what was assumed.
 */
#ifndef PENSTOCK_QPU_ALU_H
#define PENSTOCK_QPU_ALU_H

#include <stdbool.h>
#include <stdint.h>

enum { QPU_LANES = 16 };

struct qpu_lanes {
    uint32_t v[QPU_LANES];
};

/* The results of one operation; reserved operations give 0. `out` may be neither `a` nor `b`. */
void qpu_emu__add_alu(unsigned op, const struct qpu_lanes *a, const struct qpu_lanes *b, struct qpu_lanes *out);
void qpu_emu__mul_alu(unsigned op, const struct qpu_lanes *a, const struct qpu_lanes *b, struct qpu_lanes *out);

/* The carry flags that go with them, a bit a lane. */
uint16_t qpu_emu__add_carry(unsigned op, const struct qpu_lanes *a, const struct qpu_lanes *b,
                            const struct qpu_lanes *out);
uint16_t qpu_emu__mul_carry(unsigned op, const struct qpu_lanes *a, const struct qpu_lanes *b);

/* Shared by the two above: float operations return false for an operation that is not theirs. */
bool qpu_emu__float_add_alu(unsigned op, const struct qpu_lanes *a, const struct qpu_lanes *b, struct qpu_lanes *out);
void qpu_emu__fmul(const struct qpu_lanes *a, const struct qpu_lanes *b, struct qpu_lanes *out);
int32_t qpu_emu__float_order(uint32_t bits, bool absolute);

/* Whether an operation reads its second input, takes floats, gives a float; false where reserved. */
bool qpu_emu__add_is_unary(unsigned op);
bool qpu_emu__add_takes_float(unsigned op);
bool qpu_emu__add_gives_float(unsigned op);

/* What unpack mode `mode` makes of a register: for float operations or for integer ones. */
void qpu_emu__unpack(unsigned mode, bool as_float, const struct qpu_lanes *in, struct qpu_lanes *out);

/* A result on its way to a register: what pack needs to know besides its value. */
struct qpu_packing {
    unsigned mode;
    bool colour;       /* the multiplier's packing of floats to 8-bit colours */
    bool is_float;     /* the result is a float */
    uint16_t overflow; /* lanes in which add or sub overflowed as signed numbers */
    uint16_t carry;    /* their carry flags */
};

/* `old` is what the register holds: partial modes keep its other bits. */
void qpu_emu__pack(const struct qpu_packing *packing, const struct qpu_lanes *result, const struct qpu_lanes *old,
                   struct qpu_lanes *out);
bool qpu_emu__pack_is_partial(unsigned mode, bool colour);

/* Special functions: 0 reciprocal, 1 reciprocal square root, 2 exponential, 3 logarithm (base 2). */
uint32_t qpu_emu__sfu(unsigned function, uint32_t operand);

#endif
