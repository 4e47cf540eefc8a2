/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Any bytes as a program: two bytes choose modes and the number of QPUs, the rest is instructions that may also write
 * over themselves. Whatever they are, the run must end within its clocks and stay inside its memory.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "emu/emulator.h"

enum { BYTES = 8192 };

static const uint32_t ADDRESS = 0x40000000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct qpu_emulator_options options = {.max_clocks = 20000};
    struct qpu_emulator *emulator;
    uint8_t *memory;
    if (size < 10)
        return 0;
    options.lenient = data[0] & 1;
    options.random_interleave = data[0] & 2;
    options.late_dma = data[0] & 4;
    options.hold_vpm = data[0] & 8;
    options.poison = data[0] & 16;
    options.cache = (enum qpu_cache_mode)((data[0] >> 5) % 3);
    options.qpus = 1 + data[1] % 12;
    options.seed = data[1];
    memory = calloc(1, BYTES); /* a block of its own: a sanitizer sees every access outside */
    if (!memory || qpu_emulator_new(&emulator, &options))
        abort();
    memcpy(memory, data + 2, size - 2 < BYTES ? size - 2 : BYTES);
    if (qpu_emulator_map(emulator, ADDRESS, memory, BYTES))
        abort();
    for (unsigned i = 0; i < options.qpus; i++)
        qpu_emulator_launch(emulator, i, ADDRESS, ADDRESS + BYTES / 2 + 64 * i);
    if (qpu_emulator_run(emulator) == QPU_RUN_TRAPPED && qpu_emulator_trap(emulator).hazard == QPU_HAZARD_NONE)
        abort();
    qpu_emulator_free(emulator);
    free(memory);
    return 0;
}
