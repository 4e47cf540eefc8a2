/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Assembler and disassembler for the VideoCore IV QPU, in the syntax of vc4asm; docs/qpu.md is the reference.
 *
 *     struct qpu_program program;
 *     if (qpu_assemble(&program, "fft.qasm", text, size, NULL) == 0)
 *         use(program.bytes, program.size);
 *     for (size_t i = 0; i < program.diagnostic_count; i++)
 *         print(program.diagnostics[i]);
 *     qpu_program_free(&program);
 */
#ifndef PENSTOCK_QPU_ASSEMBLER_H
#define PENSTOCK_QPU_ASSEMBLER_H

#include "isa.h"

#include <stddef.h>

/* Rules of the hazard checker; qpu_rule_name() is what -W and the messages call them. */
enum qpu_rule {
    QPU_RULE_NONE,              /* an error of the source itself: cannot be switched off */
    QPU_RULE_REGISTER_LATENCY,  /* file A or B read by the instruction after its write */
    QPU_RULE_ROTATE_LATENCY,    /* accumulator rotated, or r5 rotated by, right after its write */
    QPU_RULE_ROTATE_QUAD,       /* rotation of something else than r0 to r3 stays within quads */
    QPU_RULE_SFU_LATENCY,       /* r4 touched within two instructions of an SFU write */
    QPU_RULE_BRANCH_DISTANCE,   /* fewer than two instructions between branches */
    QPU_RULE_BRANCH_FLAGS,      /* a branch by an odd register also sets flags */
    QPU_RULE_SAME_DESTINATION,  /* both ALUs write one register */
    QPU_RULE_CONDITIONAL_WRITE, /* a peripheral register written under a condition */
    QPU_RULE_ONE_UNIT,          /* two of TMU, SFU, mutex, semaphore, TLB in an instruction */
    QPU_RULE_VPM_COMBINATION,   /* VPM set-up with access, both set-ups, or VPM with ldtmu, in an instruction */
    QPU_RULE_UNIFORM_LATENCY,   /* a uniform read within two instructions of a new address */
    QPU_RULE_THREAD_END,        /* what thrend and its two delay slots may not do */
    QPU_RULE_NOSWAP_DISTANCE,   /* TMU written within two instructions of tmurs */
    QPU_RULE_TMU_QUEUE,         /* more than four requests in flight, or a load of none */
    QPU_RULE_VPM_SETUP,         /* VPM read without set-up, or set up again before all was read */
    QPU_RULE_VPM_LATENCY,       /* VPM read within three instructions of its set-up */
    QPU_RULE_PENDING_END,       /* TMU or VPM reads outstanding at thrend */
    QPU_RULE_PACK_TARGET,       /* pack where it has no effect, or bytes packed into a peripheral */
    QPU_RULE_RUNS_OFF,          /* execution reaches data or the end of the program */
    QPU_RULE_COUNT
};

const char *qpu_rule_name(enum qpu_rule rule);
bool qpu_rule_is_warning(enum qpu_rule rule); /* by default; the others are errors */

struct qpu_diagnostic {
    const char *file;
    int line, column; /* from 1 */
    bool warning;
    enum qpu_rule rule;
    const char *text; /* one line */
};

struct qpu_define {
    const char *name;
    const char *expression;
};

struct qpu_assemble_options {
    const char *const *include_folders; /* searched after the folder of the including file */
    size_t include_folder_count;
    const struct qpu_define *defines; /* constants set before the first line */
    size_t define_count;
    bool no_check;                /* leave the hazard checker out */
    bool warnings_are_errors;     /* warnings then count as errors */
    bool ignored[QPU_RULE_COUNT]; /* rules not reported */
    bool no_files;                /* .include is an error: for sources from anywhere */
};

struct qpu_program {
    uint8_t *bytes; /* little-endian words of 64 bits, and data */
    size_t size;
    struct qpu_diagnostic *diagnostics; /* sorted by file (as first met), line and column */
    size_t diagnostic_count;
    size_t error_count;
    void *memory; /* holds all of the above */
};

/* 0, or -1 with error_count > 0 (out of memory is a diagnostic too). `options` may be NULL. */
int qpu_assemble(struct qpu_program *program, const char *file, const char *text, size_t size,
                 const struct qpu_assemble_options *options);
void qpu_program_free(struct qpu_program *program);

/* One instruction without labels, unchecked: true if `text` is one. */
bool qpu_assemble_word(uint64_t *word, const char *text);

enum { QPU_TEXT_BYTES = 256 };

/* The text of a word, at most QPU_TEXT_BYTES with its NUL. Assembles to `word` again; what is no instruction, or
 * sets bits that no syntax expresses, comes out as ".int". Returns false in that case. */
bool qpu_disassemble_word(char *text, uint64_t word);

/* A whole program, with labels for relative branches: NUL-terminated, to be freed. NULL without memory. */
char *qpu_disassemble(const uint8_t *bytes, size_t size);

#endif
