/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Integer and byte operations of the QPU, and the carry flags of all operations. */
#include "alu.h"

#include <string.h>

#include "isa.h"

enum byte_operation { ADD_SATURATED, SUBTRACT_SATURATED, MULTIPLY, MINIMUM, MAXIMUM };

static uint32_t byte_result(enum byte_operation operation, uint32_t x, uint32_t y)
{
    switch (operation) {
    case ADD_SATURATED:
        return x + y > 255 ? 255 : x + y;
    case SUBTRACT_SATURATED:
        return x < y ? 0 : x - y;
    case MULTIPLY:
        return (x * y + 127) / 255;
    case MINIMUM:
        return x < y ? x : y;
    default:
        return x > y ? x : y;
    }
}

/* Bytes of a lane do not see each other, so an array of lanes is an array of bytes. */
static inline void bytewise(enum byte_operation operation, const struct qpu_lanes *a, const struct qpu_lanes *b,
                            struct qpu_lanes *out)
{
    uint8_t x[sizeof a->v], y[sizeof b->v], z[sizeof out->v];
    memcpy(x, a->v, sizeof x);
    memcpy(y, b->v, sizeof y);
    for (unsigned i = 0; i < sizeof z; i++)
        z[i] = (uint8_t)byte_result(operation, x[i], y[i]);
    memcpy(out->v, z, sizeof z);
}

static uint32_t leading_zeros(uint32_t x)
{
    return x ? (uint32_t)__builtin_clz(x) : 32;
}

#define EACH_LANE(expression)               \
    for (int i = 0; i < QPU_LANES; i++) {   \
        uint32_t x = a->v[i], y = b->v[i];  \
        (void)y;                            \
        out->v[i] = (uint32_t)(expression); \
    }                                       \
    break

static void shift(unsigned op, const struct qpu_lanes *a, const struct qpu_lanes *b, struct qpu_lanes *out)
{
    switch (op) {
    case QPU_SHR:
        EACH_LANE(x >> (y & 31));
    case QPU_ASR: /* of the complement where negative: no shift of a negative number */
        EACH_LANE((x & 0x80000000u ? ~(~x >> (y & 31)) : x >> (y & 31)));
    case QPU_ROR:
        EACH_LANE(x >> (y & 31) | x << ((32 - (y & 31)) & 31));
    default:
        EACH_LANE(x << (y & 31));
    }
}

void qpu_emu__add_alu(unsigned op, const struct qpu_lanes *a, const struct qpu_lanes *b, struct qpu_lanes *out)
{
    if (qpu_emu__float_add_alu(op, a, b, out))
        return;
    switch (op) {
    case QPU_ADD:
        EACH_LANE(x + y);
    case QPU_SUB:
        EACH_LANE(x - y);
    case QPU_SHR:
    case QPU_ASR:
    case QPU_ROR:
    case QPU_SHL:
        shift(op, a, b, out);
        break;
    case QPU_MIN:
        EACH_LANE(((int32_t)x > (int32_t)y ? y : x));
    case QPU_MAX:
        EACH_LANE(((int32_t)x > (int32_t)y ? x : y));
    case QPU_AND:
        EACH_LANE(x & y);
    case QPU_OR:
        EACH_LANE(x | y);
    case QPU_XOR:
        EACH_LANE(x ^ y);
    case QPU_NOT:
        EACH_LANE(~x);
    case QPU_CLZ:
        EACH_LANE(leading_zeros(x));
    case QPU_ADD_V8ADDS:
        bytewise(ADD_SATURATED, a, b, out);
        break;
    case QPU_ADD_V8SUBS:
        bytewise(SUBTRACT_SATURATED, a, b, out);
        break;
    default:
        memset(out, 0, sizeof *out);
    }
}

void qpu_emu__mul_alu(unsigned op, const struct qpu_lanes *a, const struct qpu_lanes *b, struct qpu_lanes *out)
{
    switch (op) {
    case QPU_FMUL:
        qpu_emu__fmul(a, b, out);
        break;
    case QPU_MUL24:
        EACH_LANE((x & 0xffffff) * (y & 0xffffff));
    case QPU_V8MULD:
        bytewise(MULTIPLY, a, b, out);
        break;
    case QPU_V8MIN:
        if (a == b)
            *out = *a; /* a move */
        else
            bytewise(MINIMUM, a, b, out);
        break;
    case QPU_V8MAX:
        bytewise(MAXIMUM, a, b, out);
        break;
    case QPU_MUL_V8ADDS:
        bytewise(ADD_SATURATED, a, b, out);
        break;
    case QPU_MUL_V8SUBS:
        bytewise(SUBTRACT_SATURATED, a, b, out);
        break;
    default:
        memset(out, 0, sizeof *out);
    }
}

static bool shift_carry(unsigned op, uint32_t x, uint32_t y)
{
    y &= 31;
    if (y == 0)
        return false;
    return op == QPU_SHL ? x >> (32 - y) & 1 : x >> (y - 1) & 1;
}

static bool add_lane_carry(unsigned op, uint32_t x, uint32_t y, uint32_t result)
{
    switch (op) {
    case QPU_FADD:
    case QPU_FSUB:
        return result != 0 && result < 0x80000000u;
    case QPU_FMIN:
    case QPU_FMAX:
        return qpu_emu__float_order(x, false) > qpu_emu__float_order(y, false);
    case QPU_FMINABS:
    case QPU_FMAXABS:
        return qpu_emu__float_order(x, true) > qpu_emu__float_order(y, true);
    case QPU_ITOF:
        return (int32_t)x > 0;
    case QPU_ADD:
        return result < x;
    case QPU_SUB:
        return x < y;
    case QPU_SHR:
    case QPU_ASR:
    case QPU_SHL:
        return shift_carry(op, x, y);
    case QPU_MIN:
    case QPU_MAX:
        return (int32_t)x > (int32_t)y;
    default:
        return false;
    }
}

uint16_t qpu_emu__add_carry(unsigned op, const struct qpu_lanes *a, const struct qpu_lanes *b,
                            const struct qpu_lanes *out)
{
    unsigned carry = 0;
    for (int i = 0; i < QPU_LANES; i++)
        carry |= (unsigned)add_lane_carry(op, a->v[i], b->v[i], out->v[i]) << i;
    return (uint16_t)carry;
}

uint16_t qpu_emu__mul_carry(unsigned op, const struct qpu_lanes *a, const struct qpu_lanes *b)
{
    unsigned carry = 0;
    if (op != QPU_MUL24)
        return 0;
    for (int i = 0; i < QPU_LANES; i++)
        carry |= (unsigned)((uint64_t)(a->v[i] & 0xffffff) * (b->v[i] & 0xffffff) >> 32 != 0) << i;
    return (uint16_t)carry;
}

bool qpu_emu__add_is_unary(unsigned op)
{
    return op == QPU_FTOI || op == QPU_ITOF || op == QPU_NOT || op == QPU_CLZ;
}
