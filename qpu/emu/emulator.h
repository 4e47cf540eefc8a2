/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * An instruction-exact emulator of the VideoCore IV's QPUs: up to twelve of them with their texture units, caches,
 * vertex pipe memory, DMA, semaphores and mutex. It stands for the hardware in tests, so it is strict: what the
 * hardware leaves undefined ends the run with the place and the reason.
 *
 *     struct qpu_emulator *emulator;
 *     struct qpu_emulator_options options = {.qpus = 8};
 *     if (qpu_emulator_new(&emulator, &options) == QPU_EMULATOR_OK) {
 *         qpu_emulator_map(emulator, 0x40000000, memory, sizeof memory);
 *         for (unsigned i = 0; i < 8; i++)
 *             qpu_emulator_launch(emulator, i, code_address, uniforms_address[i]);
 *         outcome = qpu_emulator_run(emulator);
 *     }
 *     qpu_emulator_free(emulator);
 *
 * Everything is in the object; objects are independent of each other, and one is used by one thread at a time.
 * Addresses are bus addresses; bits 31 and 30 choose a cache policy of the memory controller and are ignored here.
 * docs/qpu.md says what is exact, what is approximate and what is not modelled.
 */
#ifndef PENSTOCK_QPU_EMULATOR_H
#define PENSTOCK_QPU_EMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QPU_EMULATOR_QPUS = 12, QPU_EMULATOR_REGIONS = 64, QPU_EMULATOR_COUNTERS = 30 };

enum qpu_emulator_status { QPU_EMULATOR_OK, QPU_EMULATOR_INVALID = -1, QPU_EMULATOR_NO_MEMORY = -2 };

enum qpu_cache_mode {
    QPU_CACHE_REAL,       /* sizes and replacement of the hardware; a stale line gives its stale words */
    QPU_CACHE_OFF,        /* every read sees memory */
    QPU_CACHE_NEVER_EVICT /* a line once read stays; reading a word that changed since is a hazard */
};

/* What breaks a rule of the hardware. Strict runs stop at the first; lenient runs count them and go on. */
enum qpu_hazard {
    QPU_HAZARD_NONE,
    QPU_HAZARD_READ_AFTER_WRITE,
    QPU_HAZARD_ROTATE_AFTER_WRITE,
    QPU_HAZARD_SFU_WINDOW,
    QPU_HAZARD_BRANCH_DISTANCE,
    QPU_HAZARD_SAME_REGISTER,
    QPU_HAZARD_CONDITIONAL_PERIPHERAL,
    QPU_HAZARD_PERIPHERALS,
    QPU_HAZARD_SEMAPHORE_TARGET,
    QPU_HAZARD_TMU_WITH_VPM,
    QPU_HAZARD_VPM_SETUP_WITH_ACCESS,
    QPU_HAZARD_UNIFORMS_ADDRESS,
    QPU_HAZARD_END_WRITES_FILE,
    QPU_HAZARD_END_ADDRESS_14,
    QPU_HAZARD_END_PERIPHERAL,
    QPU_HAZARD_NOSWAP_DISTANCE,
    QPU_HAZARD_TMU_FULL,
    QPU_HAZARD_TMU_EMPTY,
    QPU_HAZARD_VPM_READ_WITHOUT_SETUP,
    QPU_HAZARD_VPM_READ_TOO_SOON,
    QPU_HAZARD_VPM_SECOND_SETUP,
    QPU_HAZARD_VPM_WRITE_WITHOUT_SETUP,
    QPU_HAZARD_END_SEMAPHORES,
    QPU_HAZARD_END_TMU,
    QPU_HAZARD_END_VPM,
    QPU_HAZARD_END_DMA,
    QPU_HAZARD_END_MUTEX,
    QPU_HAZARD_MUTEX_NOT_HELD,
    QPU_HAZARD_STALE_READ,
    QPU_HAZARD_CODE_ADDRESS,
    QPU_HAZARD_UNIFORM_ADDRESS,
    QPU_HAZARD_TMU_ADDRESS,
    QPU_HAZARD_LOAD_ADDRESS,
    QPU_HAZARD_STORE_ADDRESS,
    QPU_HAZARD_DMA_ALIGNMENT,
    QPU_HAZARD_DMA_LEAVES_VPM,
    QPU_HAZARD_DMA_SETUP,
    QPU_HAZARD_DMA_SHARED_SETUP,
    QPU_HAZARD_VPM_SETUP,
    QPU_HAZARD_BRANCH_REGISTER,
    QPU_HAZARD_BRANCH_FLAGS,
    QPU_HAZARD_PACK_TARGET,
    QPU_HAZARD_NOTHING_READ,
    QPU_HAZARD_NOTHING_WRITTEN,
    QPU_HAZARD_RESERVED,
    QPU_HAZARD_UNSUPPORTED,
    QPU_HAZARD_NO_MEMORY, /* the host's memory ran out: always the end */
    QPU_HAZARD_COUNT
};

enum qpu_outcome {
    QPU_RUN_ENDED,      /* every launched QPU reached its end */
    QPU_RUN_TRAPPED,    /* qpu_emulator_trap() tells */
    QPU_RUN_DEADLOCKED, /* every living QPU waits for what no other will do */
    QPU_RUN_LIMIT       /* max_clocks went by */
};

struct qpu_trap {
    enum qpu_hazard hazard; /* QPU_HAZARD_NONE: nothing happened */
    unsigned qpu;
    uint32_t pc;
    uint64_t word, clock;
    uint32_t detail; /* a register's or memory's address, or a number, as the hazard has it */
};

struct qpu_step {
    unsigned qpu;
    uint32_t pc;
    uint64_t word, clock;
};

/* Zeroed options, but for the number of QPUs, are a strict run of the plain hardware. */
struct qpu_emulator_options {
    unsigned qpus; /* 1 .. 12 */
    bool lenient;
    uint64_t seed;          /* of everything random below */
    bool random_interleave; /* QPUs pause at random; queued reads sample at random moments */
    bool late_dma;          /* loads and stores happen when waited for, no sooner */
    bool hold_vpm;          /* a QPU's VPM writes land when it reads back or starts a store */
    bool poison;            /* registers, flags and VPM start with rubbish instead of zeros */
    enum qpu_cache_mode cache;
    uint64_t max_clocks;                                       /* of one run; 0: 2^32 */
    void (*trace)(void *context, const struct qpu_step *step); /* called for each instruction, before it executes */
    void *trace_context;
};

/* Per QPU, since qpu_emulator_new(). One instruction takes 4 clocks. */
struct qpu_activity {
    uint64_t instructions;
    uint64_t stall_clocks;
};

struct qpu_emulator;

int qpu_emulator_new(struct qpu_emulator **emulator, const struct qpu_emulator_options *options);
void qpu_emulator_free(struct qpu_emulator *emulator); /* accepts NULL */

/*
 * `memory`, which stays the caller's, is seen at `address`. Both numbers are multiples of 4, regions are at most 64
 * and do not overlap. The host may change the memory between runs; qpu_emulator_clear_caches() makes that visible.
 */
int qpu_emulator_map(struct qpu_emulator *emulator, uint32_t address, void *memory, uint32_t bytes);
int qpu_emulator_unmap(struct qpu_emulator *emulator, uint32_t address);

/* L2C and the slices' caches for TMU, uniforms and instructions, as the host's L2CACTL and SLCACTL do. */
void qpu_emulator_clear_caches(struct qpu_emulator *emulator);

/* Makes QPU `qpu` start at `pc` in the next run. Semaphores, VPM and caches are as the last run left them. */
int qpu_emulator_launch(struct qpu_emulator *emulator, unsigned qpu, uint32_t pc, uint32_t uniforms);

/* Runs every launched QPU to its end. No input makes it crash; max_clocks bounds it. */
enum qpu_outcome qpu_emulator_run(struct qpu_emulator *emulator);

/* The first hazard of the last run. After a deadlock or the limit: a QPU that had not ended, hazard none. */
struct qpu_trap qpu_emulator_trap(const struct qpu_emulator *emulator);
const char *qpu_hazard_text(enum qpu_hazard hazard);
uint64_t qpu_emulator_hazards(const struct qpu_emulator *emulator, enum qpu_hazard hazard);

uint64_t qpu_emulator_clocks(const struct qpu_emulator *emulator);
struct qpu_activity qpu_emulator_activity(const struct qpu_emulator *emulator, unsigned qpu);

/* A counter by the hardware's number (13 idle .. 29 L2C misses); 0 for numbers not modelled. */
uint64_t qpu_emulator_counter(const struct qpu_emulator *emulator, unsigned number);
const char *qpu_counter_name(unsigned number); /* NULL for numbers not modelled */

/* Interrupts latched as in V3D_DBQITC, a bit a QPU; reading clears them. */
uint32_t qpu_emulator_interrupts(struct qpu_emulator *emulator);

/* For tests: word `x` of row `y` of the VPM, and semaphore `number`. Out of range reads 0. */
uint32_t qpu_emulator_vpm(const struct qpu_emulator *emulator, unsigned y, unsigned x);
unsigned qpu_emulator_semaphore(const struct qpu_emulator *emulator, unsigned number);

#endif
