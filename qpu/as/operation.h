/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* One part of an instruction, between semicolons, as it was read; and what makes a word of the parts. */
#ifndef PENSTOCK_QPU_AS_OPERATION_H
#define PENSTOCK_QPU_AS_OPERATION_H

#include "internal.h"

enum qpu__source_kind { QPU__FROM_REGISTER, QPU__FROM_IMMEDIATE, QPU__FROM_CODE };

struct qpu__operand {
    const struct qpu__token *at;
    enum qpu__source_kind kind;
    struct qpu__register reg;
    uint32_t word; /* the immediate, or the code of smi() */
    uint8_t unpack;
};

struct qpu__destination {
    const struct qpu__token *at; /* NULL: none, address 39, never written */
    uint8_t address, files;      /* which files it may be in */
    int condition;               /* -1: by default */
    uint8_t pack;
    bool pack_mul; /* float to colour in the multiplier, not file A */
};

struct qpu__operation {
    const struct qpu__token *at;
    int add_op, mul_op; /* -1: not on that ALU */
    bool move, read;    /* read: only the ports */
    bool set_flags;
    struct qpu__destination to;
    struct qpu__operand from[2];
    int operands;
    bool rotated;
    uint8_t rotation;
    uint8_t unpack; /* of the whole instruction, .unpack16a */
};

/* operand.c */
bool qpu__read_suffixes(struct qpu__assembler *as, const struct qpu__token **at, struct qpu__operation *op);
bool qpu__read_destination(struct qpu__assembler *as, const struct qpu__token **at, struct qpu__operation *op,
                           struct qpu__destination *to);
bool qpu__read_operand(struct qpu__assembler *as, const struct qpu__token **at, struct qpu__operation *op);
bool qpu__comma(struct qpu__assembler *as, const struct qpu__token **at);

/* The bit ws, and pack; of two destinations the second is the multiplier's. */
bool qpu__place_destinations(struct qpu__assembler *as, struct qpu_instruction *word,
                             const struct qpu__destination *add, const struct qpu__destination *mul);

/* encode.c: an instruction for the ALUs of up to two operations and reads. */
bool qpu__encode(struct qpu__assembler *as, const struct qpu__token *at, const struct qpu__operation *operations,
                 size_t count, unsigned signal, uint64_t *word);

/* special.c: ldi, sacq, srel, bra, brr, which stand alone. */
bool qpu__is_special(const struct qpu__token *name);
bool qpu__special(struct qpu__assembler *as, const struct qpu__token **at, uint64_t *word);
bool qpu__load(struct qpu__assembler *as, const struct qpu__operation *op, const struct qpu__destination *second,
               uint32_t immediate, unsigned type, uint64_t *word);

/* disassemble.c: what may be the text of the word; `label` stands for the target of a relative branch. */
bool qpu__write(char *text, const struct qpu_instruction *word, bool exact, const char *label);

/* packing.c: codes of the names after a dot */
bool qpu__pack_code(const struct qpu__token *suffix, bool of_fmul, uint8_t *code, bool *mul);
bool qpu__unpack_code(const struct qpu__token *suffix, uint8_t *code);
bool qpu__condition_code(const struct qpu__token *suffix, int *code);
const char *qpu__pack_name(unsigned code, bool mul);
const char *qpu__unpack_name(unsigned code);

#endif
