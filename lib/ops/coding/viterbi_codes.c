/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Convolutional codes of standards by their names. */
#include "core/base/description.h"
#include "ops/coding/viterbi.h"

#include <string.h>

struct code {
    const char *name, *puncture;
    unsigned generators[PENSTOCK_MAX_GENERATORS], inverted;
    penstock_trellis_end end;
};

/* The first of a name is what the name alone means. Patterns are written step by step, as they are sent. */
static const struct code codes[] = {
    {"wifi:1/2", NULL, {0133, 0171}, 0, PENSTOCK_TRELLIS_ZERO},
    {"wifi:2/3", "1110", {0133, 0171}, 0, PENSTOCK_TRELLIS_ZERO},
    {"wifi:3/4", "111001", {0133, 0171}, 0, PENSTOCK_TRELLIS_ZERO},
    {"wifi:5/6", "1110011001", {0133, 0171}, 0, PENSTOCK_TRELLIS_ZERO},
    {"dvb:1/2", NULL, {0171, 0133}, 0, PENSTOCK_TRELLIS_OPEN},
    {"dvb:2/3", "1101", {0171, 0133}, 0, PENSTOCK_TRELLIS_OPEN},
    {"dvb:3/4", "110110", {0171, 0133}, 0, PENSTOCK_TRELLIS_OPEN},
    {"dvb:5/6", "1101100110", {0171, 0133}, 0, PENSTOCK_TRELLIS_OPEN},
    {"dvb:7/8", "11010101100110", {0171, 0133}, 0, PENSTOCK_TRELLIS_OPEN},
    {"dab:1/4", NULL, {0133, 0171, 0145, 0133}, 0, PENSTOCK_TRELLIS_ZERO},
    {"lte:1/3", NULL, {0133, 0171, 0165}, 0, PENSTOCK_TRELLIS_TAIL_BITING},
    {"ccsds:1/2", NULL, {0171, 0133}, 2, PENSTOCK_TRELLIS_OPEN},
    {"ccsds:2/3", "1101", {0171, 0133}, 0, PENSTOCK_TRELLIS_OPEN},
    {"ccsds:3/4", "110110", {0171, 0133}, 0, PENSTOCK_TRELLIS_OPEN},
    {"ccsds:5/6", "1101100110", {0171, 0133}, 0, PENSTOCK_TRELLIS_OPEN},
    {"ccsds:7/8", "11010101100110", {0171, 0133}, 0, PENSTOCK_TRELLIS_OPEN},
};

static const struct code *find(const char *name)
{
    size_t bytes = strlen(name);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (bytes && !strncmp(codes[i].name, name, bytes) && (!codes[i].name[bytes] || codes[i].name[bytes] == ':'))
            return &codes[i];
    return NULL;
}

int penstock_viterbi_code(penstock_viterbi_desc *desc, const char *name)
{
    penstock_viterbi_desc filled;
    const struct code *code;
    int status;
    if (!desc || !name)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_viterbi_code: description or name is NULL");
    if ((status = penstock__description_read(&filled, sizeof filled, desc, "penstock_viterbi_desc")))
        return status;
    if (!(code = find(name)))
        return penstock__error(PENSTOCK_ERR_ARGUMENT,
                               "'%.40s' is no convolutional code; there are wifi, dvb, dab, lte and ccsds, with a rate "
                               "behind a colon or without",
                               name);
    memcpy(filled.generators, code->generators, sizeof filled.generators);
    filled.constraint = 7;
    filled.inverted = code->inverted;
    filled.puncture = code->puncture;
    filled.end = code->end;
    return penstock__description_write(desc, &filled, sizeof filled, "penstock_viterbi_desc");
}
