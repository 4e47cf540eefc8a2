/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Functions of expressions: mathematics, and the set-up words of VPM, VDW and VDR.
 *
 * Source: VideoCoreIV-AG100-R, tables 32 to 37; stride 0 .. 65535 of vdw_setup_1 as hardware takes it, where the
 * guide says 13 bits. h32 and its like are the address part of vpm_setup(), dma_h32 that of vdw_setup_0(), vdr_h32
 * that of vdr_setup_0().
 */
#include "internal.h"

#include <math.h>
#include <string.h>

enum { MOST_FIELDS = 5 };

/* An argument `least` .. `most`, shifted left; where `most` is beyond the mask, it is written as 0. */
struct field {
    int64_t least, most;
    int shift;
    int64_t mask, step; /* bits kept; a multiple of step */
};

struct qpu__builtin {
    const char *name;
    double (*of_float)(double);
    int64_t (*of_integer)(int64_t);
    int64_t (*to_integer)(double);
    uint32_t base;
    int field_count;
    struct field fields[MOST_FIELDS];
};

static double round_half_up(double x)
{
    return floor(x + 0.5);
}

static int64_t saturated(double x)
{
    return x >= 9e18 ? INT64_MAX : x <= -9e18 ? INT64_MIN : x != x ? 0 : (int64_t)x;
}

static int64_t to_floor(double x)
{
    return saturated(floor(x));
}

static int64_t to_ceil(double x)
{
    return saturated(ceil(x));
}

static int64_t to_round(double x)
{
    return saturated(round_half_up(x));
}

static int64_t absolute(int64_t x)
{
    return x < 0 ? (int64_t)(0 - (uint64_t)x) : x;
}

#define Y6              \
    {                   \
        0, 63, 0, 63, 1 \
    }
#define HALF          \
    {                 \
        0, 1, 0, 1, 1 \
    }
#define BYTE          \
    {                 \
        0, 3, 0, 3, 1 \
    }
#define COLUMN          \
    {                   \
        0, 15, 0, 15, 1 \
    }
#define ROW16(s)         \
    {                    \
        0, 48, s, 63, 16 \
    }

static const struct qpu__builtin builtins[] = {
    {"abs", .of_float = fabs, .of_integer = absolute},
    {"ceil", .to_integer = to_ceil},
    {"floor", .to_integer = to_floor},
    {"round", .to_integer = to_round},
    {"sqrt", .of_float = sqrt},
    {"exp", .of_float = exp},
    {"exp2", .of_float = exp2},
    {"log", .of_float = log},
    {"log2", .of_float = log2},
    {"log10", .of_float = log10},
    {"sin", .of_float = sin},
    {"cos", .of_float = cos},
    {"tan", .of_float = tan},
    {"asin", .of_float = asin},
    {"acos", .of_float = acos},
    {"atan", .of_float = atan},
    {"sinh", .of_float = sinh},
    {"cosh", .of_float = cosh},
    {"tanh", .of_float = tanh},

    /* generic access: vpm_setup(vectors, stride, address); the address bits tell orientation, size and place */
    {"vpm_setup", .base = 0, 3, {{1, 16, 20, 15, 1}, {1, 64, 12, 63, 1}, {0, 0xfff, 0, 0xfff, 1}}},
    {"h32", .base = 0xa00, 1, {Y6}},
    {"h16p", .base = 0x900, 2, {{0, 63, 1, 63, 1}, HALF}},
    {"h16l", .base = 0xd00, 2, {{0, 63, 1, 63, 1}, HALF}},
    {"h8p", .base = 0x800, 2, {{0, 63, 2, 63, 1}, BYTE}},
    {"h8l", .base = 0xc00, 2, {{0, 63, 2, 63, 1}, BYTE}},
    {"v32", .base = 0x200, 2, {ROW16(0), COLUMN}},
    {"v16p", .base = 0x100, 3, {ROW16(1), {0, 15, 1, 15, 1}, HALF}},
    {"v16l", .base = 0x500, 3, {ROW16(1), {0, 15, 1, 15, 1}, HALF}},
    {"v8p", .base = 0x000, 3, {ROW16(2), {0, 15, 2, 15, 1}, BYTE}},
    {"v8l", .base = 0x400, 3, {ROW16(2), {0, 15, 2, 15, 1}, BYTE}},

    /* store: vdw_setup_0(rows, row length, address), vdw_setup_1(bytes from the end of a row to the next start) */
    {"vdw_setup_0", .base = 0x80000000, 3, {{1, 128, 23, 127, 1}, {1, 128, 16, 127, 1}, {0, 0x7fff, 0, 0x7fff, 1}}},
    {"vdw_setup_1", .base = 0xc0000000, 1, {{0, 0xffff, 0, 0xffff, 1}}},
    {"vdw_setup_1_block", .base = 0xc0010000, 1, {{0, 0xffff, 0, 0xffff, 1}}},
    {"dma_h32", .base = 0x4000, 2, {{0, 127, 7, 127, 1}, {0, 15, 3, 15, 1}}},
    {"dma_v32", .base = 0x0000, 2, {{0, 127, 7, 127, 1}, {0, 15, 3, 15, 1}}},
    {"dma_h16p", .base = 0x4002, 3, {{0, 127, 7, 127, 1}, {0, 15, 3, 15, 1}, HALF}},
    {"dma_v16p", .base = 0x0002, 3, {{0, 127, 7, 127, 1}, {0, 15, 3, 15, 1}, HALF}},
    {"dma_h8p", .base = 0x4004, 3, {{0, 127, 7, 127, 1}, {0, 15, 3, 15, 1}, BYTE}},
    {"dma_v8p", .base = 0x0004, 3, {{0, 127, 7, 127, 1}, {0, 15, 3, 15, 1}, BYTE}},

    /* load: vdr_setup_0(row pitch as 8 << n bytes or 0, row length, rows, vpitch, address), vdr_setup_1(pitch) */
    {"vdr_setup_0",
     .base = 0x80000000,
     5,
     {{0, 15, 24, 15, 1},
      {1, 16, 20, 15, 1},
      {1, 16, 16, 15, 1},
      {1, 16, 12, 15, 1},
      {0, 0x70000fff, 0, 0x70000fff, 1}}},
    {"vdr_setup_1", .base = 0x90000000, 1, {{0, 0x1fff, 0, 0x1fff, 1}}},
    {"vdr_h32", .base = 0x00000000, 2, {{0, 127, 4, 127, 1}, COLUMN}},
    {"vdr_v32", .base = 0x00000800, 2, {{0, 127, 4, 127, 1}, COLUMN}},
    {"vdr_h16p", .base = 0x20000000, 3, {{0, 127, 4, 127, 1}, COLUMN, {0, 1, 28, 1, 1}}},
    {"vdr_v16p", .base = 0x20000800, 3, {{0, 127, 4, 127, 1}, COLUMN, {0, 1, 28, 1, 1}}},
    {"vdr_h8p", .base = 0x40000000, 3, {{0, 127, 4, 127, 1}, COLUMN, {0, 3, 28, 3, 1}}},
    {"vdr_v8p", .base = 0x40000800, 3, {{0, 127, 4, 127, 1}, COLUMN, {0, 3, 28, 3, 1}}},

    /* the code of a small immediate itself, where it is an operand and a rotation at once */
    {"smi", .base = 0, 1, {{0, 63, 0, 63, 1}}},
};

const struct qpu__builtin *qpu__find_builtin(const char *name, int length)
{
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (strlen(builtins[i].name) == (size_t)length && !memcmp(builtins[i].name, name, (size_t)length))
            return &builtins[i];
    return NULL;
}

static bool fields(struct qpu__assembler *as, const struct qpu__builtin *builtin, const struct qpu__token *at,
                   const struct qpu__value *arguments, struct qpu__value *value)
{
    int64_t word = builtin->base;
    bool unknown = false;
    for (int i = 0; i < builtin->field_count; i++) {
        const struct field *field = &builtin->fields[i];
        int64_t number = arguments[i].integer;
        if (arguments[i].kind != QPU__INT)
            return qpu__error(as, at, "argument %d of %s must be an integer, not %s", i + 1, builtin->name,
                              qpu__kind_name(&arguments[i]));
        unknown |= arguments[i].unknown;
        if ((as->pass == 2 || !arguments[i].unknown) &&
            (number < field->least || number > field->most || number % field->step ||
             ((number & ~field->mask) && number != field->most)))
            return qpu__error(as, at, "argument %d of %s is %lld, not within %lld .. %lld%s", i + 1, builtin->name,
                              (long long)number, (long long)field->least, (long long)field->most,
                              field->step > 1 ? " in steps of 16" : "");
        word |= (number & field->mask) << field->shift;
    }
    bool small = !strcmp(builtin->name, "smi");
    *value = (struct qpu__value){.kind = small ? QPU__SMALL : QPU__INT, .integer = word, .unknown = unknown && !small};
    return true;
}

bool qpu__call_builtin(struct qpu__assembler *as, const struct qpu__builtin *builtin, const struct qpu__token *at,
                       const struct qpu__value *arguments, size_t count, struct qpu__value *value)
{
    size_t wanted = builtin->field_count ? (size_t)builtin->field_count : 1;
    if (count != wanted)
        return qpu__error(as, at, "%s takes %zu argument%s, not %zu", builtin->name, wanted, wanted > 1 ? "s" : "",
                          count);
    if (builtin->field_count)
        return fields(as, builtin, at, arguments, value);
    if (arguments->kind != QPU__INT && arguments->kind != QPU__FLOAT)
        return qpu__error(as, at, "%s takes a number, not %s", builtin->name, qpu__kind_name(arguments));
    double real = arguments->kind == QPU__INT ? (double)arguments->integer : arguments->real;
    *value = (struct qpu__value){.kind = QPU__FLOAT, .unknown = arguments->unknown};
    if (builtin->of_integer && arguments->kind == QPU__INT) {
        value->kind = QPU__INT;
        value->integer = builtin->of_integer(arguments->integer);
    } else if (builtin->to_integer) {
        value->kind = QPU__INT;
        value->integer = builtin->to_integer(real);
    } else {
        value->real = builtin->of_float(real);
    }
    return true;
}
