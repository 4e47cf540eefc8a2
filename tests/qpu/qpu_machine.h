/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What tests of the QPU emulator share: a machine with 64 KiB of memory at MEMORY that runs assembly text.
 * The program lies at its beginning, uniforms at UNIFORMS (64 bytes a QPU), data from DATA on.
 */
#ifndef PENSTOCK_QPU_MACHINE_H
#define PENSTOCK_QPU_MACHINE_H

#include "as/assembler.h"
#include "emu/emulator.h"
#include "test.h"

enum { MEMORY_BYTES = 0x10000 };
static const uint32_t MEMORY = 0x40000000, DATA = 0x40008000, UNIFORMS = 0x4000f000;

#define END "nop; thrend\nnop\nnop\n"

/* Puts a register into row 0 (or another) of the VPM, where show() and the like find it. */
#define SHOW(reg)          "ldi vw_setup, 0x1a00\nmov vpm, " reg "\n"
#define SHOW_ROW(row, reg) "ldi vw_setup, 0x1a00 + " #row "\nmov vpm, " reg "\n"

struct machine {
    struct qpu_emulator *emulator;
    _Alignas(8) uint8_t memory[MEMORY_BYTES];
};

static inline uint32_t machine_word(const struct machine *m, uint32_t address)
{
    const uint8_t *at = m->memory + (address - MEMORY);
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline void machine_put(struct machine *m, uint32_t address, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        m->memory[address - MEMORY + (uint32_t)i] = (uint8_t)(word >> 8 * i);
}

static inline void machine_close(struct machine *m)
{
    qpu_emulator_free(m->emulator);
    free(m);
}

/* Without a program; the options say how many QPUs. */
static inline struct machine *machine_open(const struct qpu_emulator_options *options)
{
    struct machine *m = calloc(1, sizeof *m);
    if (!m || qpu_emulator_new(&m->emulator, options) ||
        qpu_emulator_map(m->emulator, MEMORY, m->memory, MEMORY_BYTES)) {
        CHECK(false, "no emulator");
        exit(1);
    }
    return m;
}

/* Assembles without the checker: the emulator is what is to notice. */
static inline void machine_program(struct machine *m, const char *source)
{
    struct qpu_assemble_options plain = {.no_check = true};
    struct qpu_program program;
    int failed = qpu_assemble(&program, "test", source, strlen(source), &plain);
    CHECK(!failed && program.size < DATA - MEMORY, "%s\n%s", failed ? program.diagnostics[0].text : "too long", source);
    if (!failed && program.size < DATA - MEMORY)
        memcpy(m->memory, program.bytes, program.size);
    qpu_program_free(&program);
}

/* As the host does it: caches are cleared, then every QPU starts. */
static inline enum qpu_outcome machine_run(struct machine *m, unsigned qpus)
{
    qpu_emulator_clear_caches(m->emulator);
    for (unsigned i = 0; i < qpus; i++)
        qpu_emulator_launch(m->emulator, i, MEMORY, UNIFORMS + 64 * i);
    return qpu_emulator_run(m->emulator);
}

static inline const char *machine_trap(const struct machine *m)
{
    return qpu_hazard_text(qpu_emulator_trap(m->emulator).hazard);
}

/* Strictly, on one QPU, with up to four uniforms. */
static inline struct machine *machine_of(const char *source, const uint32_t uniforms[4])
{
    struct qpu_emulator_options options = {.qpus = 1, .max_clocks = 1000000};
    struct machine *m = machine_open(&options);
    machine_program(m, source);
    for (unsigned i = 0; uniforms && i < 4; i++)
        machine_put(m, UNIFORMS + 4 * i, uniforms[i]);
    return m;
}

#endif
