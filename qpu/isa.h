/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The instruction word of the VideoCore IV QPU: its fields, and the numbers and names that they hold.
 * Assembler, disassembler, hazard checker and emulator share this and nothing else.
 *
 * Source: Broadcom, "VideoCore IV 3D Architecture Reference Guide", VideoCoreIV-AG100-R, 2013, section 3; where
 * measurements on hardware contradict it, the comments say so.
 */
#ifndef PENSTOCK_QPU_ISA_H
#define PENSTOCK_QPU_ISA_H

#include <stdbool.h>
#include <stdint.h>

enum qpu_signal {
    QPU_SIGNAL_BREAKPOINT,
    QPU_SIGNAL_NONE,
    QPU_SIGNAL_THREAD_SWITCH,
    QPU_SIGNAL_END,
    QPU_SIGNAL_WAIT_SCOREBOARD,
    QPU_SIGNAL_UNLOCK_SCOREBOARD,
    QPU_SIGNAL_LAST_THREAD_SWITCH,
    QPU_SIGNAL_LOAD_COVERAGE,
    QPU_SIGNAL_LOAD_COLOR,
    QPU_SIGNAL_LOAD_COLOR_AND_END,
    QPU_SIGNAL_LOAD_TMU0,
    QPU_SIGNAL_LOAD_TMU1,
    QPU_SIGNAL_LOAD_ALPHA,
    QPU_SIGNAL_SMALL_IMMEDIATE,
    QPU_SIGNAL_LOAD_IMMEDIATE,
    QPU_SIGNAL_BRANCH
};

enum qpu_condition {
    QPU_NEVER,
    QPU_ALWAYS,
    QPU_IF_ZERO,
    QPU_IF_NOT_ZERO,
    QPU_IF_NEGATIVE,
    QPU_IF_NOT_NEGATIVE,
    QPU_IF_CARRY,
    QPU_IF_NOT_CARRY
};

enum qpu_branch_condition {
    QPU_BRANCH_ALL_ZERO,
    QPU_BRANCH_ALL_NOT_ZERO,
    QPU_BRANCH_ANY_ZERO,
    QPU_BRANCH_ANY_NOT_ZERO,
    QPU_BRANCH_ALL_NEGATIVE,
    QPU_BRANCH_ALL_NOT_NEGATIVE,
    QPU_BRANCH_ANY_NEGATIVE,
    QPU_BRANCH_ANY_NOT_NEGATIVE,
    QPU_BRANCH_ALL_CARRY,
    QPU_BRANCH_ALL_NOT_CARRY,
    QPU_BRANCH_ANY_CARRY,
    QPU_BRANCH_ANY_NOT_CARRY,
    QPU_BRANCH_ALWAYS = 15 /* 12 to 14 are reserved */
};

enum qpu_add_op {
    QPU_ADD_NOP = 0,
    QPU_FADD,
    QPU_FSUB,
    QPU_FMIN,
    QPU_FMAX,
    QPU_FMINABS,
    QPU_FMAXABS,
    QPU_FTOI,
    QPU_ITOF,
    QPU_ADD = 12,
    QPU_SUB,
    QPU_SHR,
    QPU_ASR,
    QPU_ROR,
    QPU_SHL,
    QPU_MIN,
    QPU_MAX,
    QPU_AND,
    QPU_OR,
    QPU_XOR,
    QPU_NOT,
    QPU_CLZ,
    QPU_ADD_V8ADDS = 30,
    QPU_ADD_V8SUBS
};

enum qpu_mul_op { QPU_MUL_NOP, QPU_FMUL, QPU_MUL24, QPU_V8MULD, QPU_V8MIN, QPU_V8MAX, QPU_MUL_V8ADDS, QPU_MUL_V8SUBS };

/* What an ALU input selects: an accumulator, or what was read from a register file. */
enum qpu_mux { QPU_MUX_R0, QPU_MUX_R1, QPU_MUX_R2, QPU_MUX_R3, QPU_MUX_R4, QPU_MUX_R5, QPU_MUX_A, QPU_MUX_B };

/* Register addresses 32 to 63; 0 to 31 are the files themselves. */
enum qpu_read_address {
    QPU_READ_UNIFORM = 32,
    QPU_READ_VARYING = 35,
    QPU_READ_ELEMENT_OR_QPU = 38, /* file A: element number; file B: QPU number */
    QPU_READ_NOTHING = 39,
    QPU_READ_X_OR_Y = 41,
    QPU_READ_MS_OR_REV = 42,
    QPU_READ_VPM = 48,
    QPU_READ_VPM_BUSY = 49, /* file A: load, file B: store */
    QPU_READ_VPM_WAIT = 50, /* likewise */
    QPU_READ_MUTEX = 51
};

enum qpu_write_address {
    QPU_WRITE_R0 = 32,
    QPU_WRITE_R1,
    QPU_WRITE_R2,
    QPU_WRITE_R3,
    QPU_WRITE_TMU_NOSWAP,
    QPU_WRITE_R5,
    QPU_WRITE_HOST_INTERRUPT,
    QPU_WRITE_NOTHING,
    QPU_WRITE_UNIFORMS_ADDRESS,
    QPU_WRITE_QUAD_X_OR_Y,
    QPU_WRITE_MS_OR_REV,
    QPU_WRITE_TLB_STENCIL,
    QPU_WRITE_TLB_Z,
    QPU_WRITE_TLB_COLOR_MS,
    QPU_WRITE_TLB_COLOR_ALL,
    QPU_WRITE_TLB_ALPHA_MASK,
    QPU_WRITE_VPM,
    QPU_WRITE_VPM_SETUP,   /* file A: read setup, file B: write setup */
    QPU_WRITE_VPM_ADDRESS, /* file A: starts a load (VDR), file B: a store (VDW) */
    QPU_WRITE_MUTEX,
    QPU_WRITE_SFU_RECIP,
    QPU_WRITE_SFU_RECIPSQRT,
    QPU_WRITE_SFU_EXP,
    QPU_WRITE_SFU_LOG,
    QPU_WRITE_TMU0_S,
    QPU_WRITE_TMU0_T,
    QPU_WRITE_TMU0_R,
    QPU_WRITE_TMU0_B,
    QPU_WRITE_TMU1_S,
    QPU_WRITE_TMU1_T,
    QPU_WRITE_TMU1_R,
    QPU_WRITE_TMU1_B
};

/* Small immediates 48 and up rotate the multiplier's output; below they are values. */
enum { QPU_ROTATE_BY_R5 = 48, QPU_ROTATE_BASE = 48 };

enum qpu_kind {
    QPU_ALU,           /* with signal QPU_SIGNAL_SMALL_IMMEDIATE, raddr_b holds the small immediate */
    QPU_LOAD,          /* 32-bit immediate to all elements */
    QPU_LOAD_SIGNED,   /* two bits an element, -2 .. 1 */
    QPU_LOAD_UNSIGNED, /* two bits an element, 0 .. 3 */
    QPU_SEMAPHORE,
    QPU_BRANCH,
    QPU_RESERVED /* a load with an undefined type */
};

/* Every bit of a word is in one of these: qpu_encode(qpu_decode(w)) == w for every w. */
struct qpu_instruction {
    enum qpu_kind kind;
    uint8_t signal;
    uint8_t unpack, pack; /* pack_mode set: they mean r4 and the multiplier instead of file A */
    bool pack_mode;
    uint8_t condition_add, condition_mul; /* enum qpu_condition */
    bool set_flags;
    bool write_swap; /* add ALU writes file B, mul ALU file A */
    uint8_t waddr_add, waddr_mul;
    uint8_t op_add, op_mul;
    uint8_t raddr_a, raddr_b;
    uint8_t add_a, add_b, mul_a, mul_b; /* enum qpu_mux */
    uint32_t immediate;                 /* loads, semaphores, branches */
    uint8_t branch_condition;           /* enum qpu_branch_condition */
    bool branch_relative, branch_register;
    uint8_t branch_raddr;  /* file A; only with branch_register */
    uint8_t branch_unused; /* bits 59 to 56, zero in valid words */
};

struct qpu_instruction qpu_decode(uint64_t word);
uint64_t qpu_encode(const struct qpu_instruction *instruction);

/* Names in lower case; NULL where the number is reserved. */
const char *qpu_add_op_name(unsigned op);
const char *qpu_mul_op_name(unsigned op);
const char *qpu_signal_name(unsigned signal);
const char *qpu_condition_name(unsigned condition);        /* "never", "", "ifz", "ifnz", ... */
const char *qpu_branch_condition_name(unsigned condition); /* "allz", ..., "" for always */

/* The value that small immediate `code` (0 .. 63) reads as, bit by bit (48 .. 63 read as -16 .. -1). */
uint32_t qpu_small_immediate_value(unsigned code);

/* The code 0 .. 47 for a value, or -1. */
int qpu_small_immediate_code(uint32_t value);

#endif
