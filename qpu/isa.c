/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Instruction words to fields and back. */
#include "isa.h"

#include <stddef.h>

static unsigned bits(uint64_t word, unsigned first, unsigned count)
{
    return (unsigned)(word >> first & ((UINT64_C(1) << count) - 1));
}

static uint64_t at(unsigned value, unsigned first)
{
    return (uint64_t)value << first;
}

static enum qpu_kind kind_of(uint64_t word)
{
    static const enum qpu_kind loads[8] = {QPU_LOAD,      QPU_LOAD_SIGNED, QPU_RESERVED, QPU_LOAD_UNSIGNED,
                                           QPU_SEMAPHORE, QPU_RESERVED,    QPU_RESERVED, QPU_RESERVED};
    switch (bits(word, 60, 4)) {
    case QPU_SIGNAL_LOAD_IMMEDIATE:
        return loads[bits(word, 57, 3)];
    case QPU_SIGNAL_BRANCH:
        return QPU_BRANCH;
    default:
        return QPU_ALU;
    }
}

struct qpu_instruction qpu_decode(uint64_t word)
{
    struct qpu_instruction i = {.kind = kind_of(word), .signal = (uint8_t)bits(word, 60, 4)};
    i.write_swap = bits(word, 44, 1);
    i.waddr_add = (uint8_t)bits(word, 38, 6);
    i.waddr_mul = (uint8_t)bits(word, 32, 6);
    if (i.kind == QPU_BRANCH) {
        i.branch_unused = (uint8_t)bits(word, 56, 4);
        i.branch_condition = (uint8_t)bits(word, 52, 4);
        i.branch_relative = bits(word, 51, 1);
        i.branch_register = bits(word, 50, 1);
        i.branch_raddr = (uint8_t)bits(word, 45, 5);
        i.immediate = (uint32_t)word;
        return i;
    }
    i.unpack = (uint8_t)bits(word, 57, 3);
    i.pack_mode = bits(word, 56, 1);
    i.pack = (uint8_t)bits(word, 52, 4);
    i.condition_add = (uint8_t)bits(word, 49, 3);
    i.condition_mul = (uint8_t)bits(word, 46, 3);
    i.set_flags = bits(word, 45, 1);
    if (i.kind != QPU_ALU) {
        i.immediate = (uint32_t)word;
        return i;
    }
    i.op_mul = (uint8_t)bits(word, 29, 3);
    i.op_add = (uint8_t)bits(word, 24, 5);
    i.raddr_a = (uint8_t)bits(word, 18, 6);
    i.raddr_b = (uint8_t)bits(word, 12, 6);
    i.add_a = (uint8_t)bits(word, 9, 3);
    i.add_b = (uint8_t)bits(word, 6, 3);
    i.mul_a = (uint8_t)bits(word, 3, 3);
    i.mul_b = (uint8_t)bits(word, 0, 3);
    return i;
}

uint64_t qpu_encode(const struct qpu_instruction *i)
{
    uint64_t word = at(i->signal, 60) | at(i->write_swap, 44) | at(i->waddr_add, 38) | at(i->waddr_mul, 32);
    if (i->kind == QPU_BRANCH)
        return word | at(i->branch_unused, 56) | at(i->branch_condition, 52) | at(i->branch_relative, 51) |
               at(i->branch_register, 50) | at(i->branch_raddr, 45) | i->immediate;
    word |= at(i->unpack, 57) | at(i->pack_mode, 56) | at(i->pack, 52) | at(i->condition_add, 49) |
            at(i->condition_mul, 46) | at(i->set_flags, 45);
    if (i->kind != QPU_ALU)
        return word | i->immediate;
    return word | at(i->op_mul, 29) | at(i->op_add, 24) | at(i->raddr_a, 18) | at(i->raddr_b, 12) | at(i->add_a, 9) |
           at(i->add_b, 6) | at(i->mul_a, 3) | at(i->mul_b, 0);
}

const char *qpu_add_op_name(unsigned op)
{
    static const char *const names[32] = {
        [QPU_ADD_NOP] = "nop",     [QPU_FADD] = "fadd",         [QPU_FSUB] = "fsub",
        [QPU_FMIN] = "fmin",       [QPU_FMAX] = "fmax",         [QPU_FMINABS] = "fminabs",
        [QPU_FMAXABS] = "fmaxabs", [QPU_FTOI] = "ftoi",         [QPU_ITOF] = "itof",
        [QPU_ADD] = "add",         [QPU_SUB] = "sub",           [QPU_SHR] = "shr",
        [QPU_ASR] = "asr",         [QPU_ROR] = "ror",           [QPU_SHL] = "shl",
        [QPU_MIN] = "min",         [QPU_MAX] = "max",           [QPU_AND] = "and",
        [QPU_OR] = "or",           [QPU_XOR] = "xor",           [QPU_NOT] = "not",
        [QPU_CLZ] = "clz",         [QPU_ADD_V8ADDS] = "v8adds", [QPU_ADD_V8SUBS] = "v8subs",
    };
    return op < 32 ? names[op] : NULL;
}

const char *qpu_mul_op_name(unsigned op)
{
    static const char *const names[8] = {"nop", "fmul", "mul24", "v8muld", "v8min", "v8max", "v8adds", "v8subs"};
    return op < 8 ? names[op] : NULL;
}

const char *qpu_signal_name(unsigned signal)
{
    static const char *const names[16] = {"bkpt",  "",       "thrsw",  "thrend", "sbwait", "sbdone", "lthrsw", "loadcv",
                                          "loadc", "ldcend", "ldtmu0", "ldtmu1", "loadam", NULL,     NULL,     NULL};
    return signal < 16 ? names[signal] : NULL;
}

const char *qpu_condition_name(unsigned condition)
{
    static const char *const names[8] = {"never", "", "ifz", "ifnz", "ifn", "ifnn", "ifc", "ifcc"};
    return condition < 8 ? names[condition] : NULL;
}

const char *qpu_branch_condition_name(unsigned condition)
{
    static const char *const names[16] = {
        "allz",
        "allnz",
        "anyz",
        "anynz",
        "alln",
        "allnn",
        "anyn",
        "anynn",
        "allc",
        "allnc",
        "anyc",
        "anync",
        [QPU_BRANCH_ALWAYS] = "",
    };
    return condition < 16 ? names[condition] : NULL;
}

uint32_t qpu_small_immediate_value(unsigned code)
{
    if (code < 16)
        return code;
    if (code < 32)
        return (uint32_t)code - 32;
    if (code < 40)
        return 0x3f800000u + ((code - 32) << 23);
    if (code < 48)
        return 0x3b800000u + ((code - 40) << 23);
    return (uint32_t)code - 64;
}

int qpu_small_immediate_code(uint32_t value)
{
    for (unsigned code = 0; code < 48; code++)
        if (qpu_small_immediate_value(code) == value)
            return (int)code;
    return -1;
}
