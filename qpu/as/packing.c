/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What follows a dot: pack and unpack modes, conditions. */
#include "operation.h"

#include <string.h>

/* vc4asm's names: bits, place, s for saturation, i or f for the kind. The first one of a code is printed. */
static const struct {
    const char *name;
    uint8_t code;
    bool mul;
} packs[] = {
    {"32", 0, false},       {"16a", 1, false},     {"16ai", 1, false},  {"16af", 1, false},   {"16b", 2, false},
    {"16bi", 2, false},     {"16bf", 2, false},    {"8abcd", 3, false}, {"8abcdi", 3, false}, {"8888", 3, false},
    {"8888i", 3, false},    {"8a", 4, false},      {"8ai", 4, false},   {"8b", 5, false},     {"8bi", 5, false},
    {"8c", 6, false},       {"8ci", 6, false},     {"8d", 7, false},    {"8di", 7, false},    {"32s", 8, false},
    {"32si", 8, false},     {"16as", 9, false},    {"16asi", 9, false}, {"16bs", 10, false},  {"16bsi", 10, false},
    {"8abcdsi", 11, false}, {"8888si", 11, false}, {"8asi", 12, false}, {"8bsi", 13, false},  {"8csi", 14, false},
    {"8dsi", 15, false},    {"8abcdsf", 3, true},  {"8888sf", 3, true}, {"8asf", 4, true},    {"8bsf", 5, true},
    {"8csf", 6, true},      {"8dsf", 7, true},
};

/* Those that mean ...sf with fmul and ...si elsewhere. */
static const struct {
    const char *name;
    uint8_t integer, colour;
} saturating[] = {{"8abcds", 11, 3}, {"8888s", 11, 3}, {"8as", 12, 4}, {"8bs", 13, 5}, {"8cs", 14, 6}, {"8ds", 15, 7}};

bool qpu__pack_code(const struct qpu__token *suffix, bool of_fmul, uint8_t *code, bool *mul)
{
    for (size_t i = 0; i < sizeof packs / sizeof *packs; i++) {
        if (qpu__is(suffix, packs[i].name)) {
            *code = packs[i].code;
            *mul = packs[i].mul;
            return true;
        }
    }
    for (size_t i = 0; i < sizeof saturating / sizeof *saturating; i++) {
        if (qpu__is(suffix, saturating[i].name)) {
            *code = of_fmul ? saturating[i].colour : saturating[i].integer;
            *mul = of_fmul;
            return true;
        }
    }
    return false;
}

static const char *const unpacks[8] = {"32", "16a", "16b", "8dr", "8a", "8b", "8c", "8d"};

bool qpu__unpack_code(const struct qpu__token *suffix, uint8_t *code)
{
    struct qpu__token name = *suffix;
    if (suffix->kind != QPU__SUFFIX)
        return false;
    if (qpu__is(suffix, "8ddup")) {
        *code = 3;
        return true;
    }
    /* i, f and s change nothing: the operation decides */
    while (name.length > 2 && strchr("ifs", name.text[name.length - 1]))
        name.length--;
    for (uint8_t i = 0; i < 8; i++) {
        if (qpu__is(&name, unpacks[i])) {
            *code = i;
            return true;
        }
    }
    return false;
}

bool qpu__condition_code(const struct qpu__token *suffix, int *code)
{
    static const struct {
        const char *name;
        int code;
    } others[] = {{"always", QPU_ALWAYS},     {"ifzs", QPU_IF_ZERO},         {"ifzc", QPU_IF_NOT_ZERO},
                  {"ifns", QPU_IF_NEGATIVE},  {"ifnc", QPU_IF_NOT_NEGATIVE}, {"ifcs", QPU_IF_CARRY},
                  {"ifcc", QPU_IF_NOT_CARRY}, {"ifnn", QPU_IF_NOT_NEGATIVE}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (qpu__is(suffix, others[i].name)) {
            *code = others[i].code;
            return true;
        }
    }
    for (unsigned i = 0; i < 8; i++) {
        if (i != QPU_ALWAYS && qpu__is(suffix, qpu_condition_name(i))) {
            *code = (int)i;
            return true;
        }
    }
    return false;
}

const char *qpu__pack_name(unsigned code, bool mul)
{
    for (size_t i = 0; i < sizeof packs / sizeof *packs; i++)
        if (packs[i].code == code && packs[i].mul == mul)
            return packs[i].name;
    return NULL;
}

const char *qpu__unpack_name(unsigned code)
{
    return unpacks[code & 7];
}
