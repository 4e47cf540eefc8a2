/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the parts of the emulator share: the state of one QPU, of the units around them, and the whole. */
#ifndef PENSTOCK_QPU_STATE_H
#define PENSTOCK_QPU_STATE_H

#include "alu.h"
#include "emulator.h"
#include "isa.h"

enum {
    SLOT_CLOCKS = 4, /* one instruction: four quads */
    SLICE_QPUS = 4,
    SLICES = QPU_EMULATOR_QPUS / SLICE_QPUS,
    VPM_ROWS = 64,
    TMU_DEPTH = 8,     /* requests that the queue takes */
    TMU_RELIABLE = 4,  /* requests that may be in flight */
    DMA_DEPTH = 128,   /* transfers of one QPU and direction that may wait */
    OPERATIONS = 2048, /* decoded instructions kept */
    CODE_LINE = 64,
    NO_CODE_LINE = 1 /* no line begins there */
};

/* How often an instruction that cannot issue is to be asked again. */
enum readiness {
    READY,
    WAIT_UNTIL_WAKE, /* at q->wake */
    WAIT_FOR_OTHERS, /* when another QPU did something */
    WAIT_FOREVER
};

/* An instruction with what is known of it before it executes. */
struct operation {
    uint64_t word;
    struct qpu_instruction in;
    struct qpu_lanes immediate; /* loads, semaphores and small immediates, a lane each */
    bool valid;                 /* this entry holds an instruction */
    bool reads_a, reads_b;      /* an ALU input selects what the port read */
    bool reads_r4;              /* an ALU input selects r4 */
    bool reads_flags;           /* a condition other than always and never */
    bool rotates;               /* by r5 or by a number */
    bool full_rotate;           /* both multiplier inputs are r0 to r3 */
    bool uniform;               /* pops a uniform */
    bool reads_vpm, writes_vpm; /* data */
    bool reads_mutex;
    bool peripheral; /* uniform, varying, VPM or DMA: not allowed at the end */
    bool address_14;
    bool writes_tmu, writes_sfu, loads_r4;
    bool writes_file;       /* a register of file A or B */
    bool may_wait;          /* something in it can stall */
    uint8_t port_a, port_b; /* read addresses; QPU_READ_NOTHING where there is none */
    uint8_t rotate_sources; /* accumulators that a rotate takes, a bit each */
    enum qpu_hazard hazard; /* that the word alone shows */
    uint32_t detail;
};

/* One generic VPM access set-up at work. */
struct vpm_access {
    bool valid, horizontal, laned;
    uint8_t size; /* 0 bytes, 1 halves, 2 words */
    uint8_t address, stride;
    unsigned left; /* vectors still to read */
};

struct dma_setup {
    uint32_t block, pitch; /* setup words 0 and 1 */
};

struct dma_transfer {
    struct dma_setup setup;
    uint32_t address;
};

struct dma_port {
    struct dma_setup setup;
    struct dma_transfer *late; /* DMA_DEPTH of them; with late_dma only */
    unsigned late_count;
    uint64_t done;   /* clock at which all started transfers are through */
    bool unfinished; /* a transfer was started and not waited for */
};

struct tmu_request {
    struct qpu_lanes lanes; /* addresses, then data */
    bool sampled;
    uint64_t ready;
};

struct tmu_queue {
    struct tmu_request request[TMU_DEPTH];
    unsigned first, count;
};

/* A VPM write that has not landed. */
struct held_write {
    struct vpm_access access;
    struct qpu_lanes lanes;
};

enum { HELD_WRITES = 256 };

struct qpu {
    unsigned number;
    bool launched, alive;
    bool hung; /* waits for what only itself could do */
    uint32_t pc;
    uint64_t wake;  /* clock of the next issue */
    uint64_t count; /* instructions since launch */
    struct qpu_activity activity;

    struct qpu_lanes file[2][32], r[6];
    struct qpu_lanes port[2]; /* what each port read last */
    struct qpu_lanes last_mul;
    uint16_t zero, negative, carry;
    bool flags_unknown; /* after a taken branch with an odd register */

    /* what the instruction before this one wrote: addresses or -1, and the value from before */
    int wrote[2];
    struct qpu_lanes before[2];
    unsigned wrote_accumulators;

    uint32_t uniforms, next_uniforms;
    uint64_t uniforms_at; /* counts at which these happened; 0: never */
    uint64_t sfu_at, branch_at, noswap_at, read_setup_at;
    uint32_t noswap;
    struct qpu_lanes sfu;

    uint32_t targets[4]; /* of branches under way: [0] is taken after this instruction */
    unsigned branches;   /* a bit for each of them */
    unsigned ending;     /* instructions left after thrend, itself included */

    struct tmu_queue tmu[2];
    struct vpm_access vpm_read, vpm_next_read, vpm_write;
    struct qpu_lanes prefetched[16];
    bool prefetch;
    unsigned prefetch_next;
    struct held_write *held; /* HELD_WRITES of them; with hold_vpm only */
    unsigned held_count;
    struct dma_port load, store;
    uint32_t code_line;  /* fetched last; NO_CODE_LINE: none */
    const uint8_t *code; /* the host's bytes of the region fetched from last */
    uint32_t code_first, code_bytes;
};

struct region {
    uint32_t address, bytes;
    uint8_t *memory;
};

struct caches;

struct qpu_emulator {
    struct qpu_emulator_options options;
    struct region regions[QPU_EMULATOR_REGIONS];
    unsigned region_count, last_region;
    struct qpu qpu[QPU_EMULATOR_QPUS];
    struct operation operations[OPERATIONS];
    struct caches *caches;
    uint32_t vpm[VPM_ROWS][QPU_LANES];
    uint8_t semaphores[16], initial_semaphores[16];
    int mutex; /* holder or -1 */
    uint32_t interrupts;
    struct dma_setup shared_load, shared_store; /* as if the set-ups were one for all QPUs */
    uint64_t load_free, store_free;             /* clocks at which the DMA units are idle */
    uint64_t clock, started, random;
    struct qpu_trap trap;
    bool stopped; /* a hazard ends the run */
    uint64_t hazards[QPU_HAZARD_COUNT];
    uint64_t counters[QPU_EMULATOR_COUNTERS];
};

/* Numbers of the hardware's counters. */
enum {
    COUNT_IDLE = 13,
    COUNT_INSTRUCTIONS = 16,
    COUNT_TMU_STALL = 17,
    COUNT_CODE_HIT = 20,
    COUNT_CODE_MISS = 21,
    COUNT_UNIFORM_HIT = 22,
    COUNT_UNIFORM_MISS = 23,
    COUNT_TMU_QUADS = 24,
    COUNT_TMU_MISS = 25,
    COUNT_STORE_STALL = 26,
    COUNT_LOAD_STALL = 27,
    COUNT_L2_HIT = 28,
    COUNT_L2_MISS = 29
};

static inline uint32_t qpu_emu__load32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* hazards.c: records a broken rule; with strict options the run ends after this instruction. */
void qpu_emu__hazard(struct qpu_emulator *e, const struct qpu *q, enum qpu_hazard hazard, uint32_t detail);
void qpu_emu__check(struct qpu_emulator *e, struct qpu *q, const struct operation *op);
void qpu_emu__check_end(struct qpu_emulator *e, struct qpu *q);

/* decode.c, rules.c */
void qpu_emu__prepare(struct operation *op, uint64_t word);
void qpu_emu__find_rules(struct operation *op);

/* memory.c: NULL unless all `bytes` lie in one region. */
uint8_t *qpu_emu__memory(struct qpu_emulator *e, uint32_t address, uint32_t bytes);
const struct region *qpu_emu__region(struct qpu_emulator *e, uint32_t address);
uint64_t qpu_emu__random(struct qpu_emulator *e);

/* cache.c: a word through the caches; `*slots` becomes its latency. Words outside memory are 0 and a hazard. */
enum cache_reader { CACHE_TMU0, CACHE_TMU1, CACHE_UNIFORM };
struct caches *qpu_emu__caches_new(enum qpu_cache_mode mode);
void qpu_emu__caches_free(struct caches *caches);
void qpu_emu__caches_clear(struct caches *caches);
uint32_t qpu_emu__cached_word(struct qpu_emulator *e, struct qpu *q, enum cache_reader reader, uint32_t address,
                              unsigned *slots);
void qpu_emu__cache_note_store(struct qpu_emulator *e, uint32_t address, uint32_t bytes);
unsigned qpu_emu__fetch_code_line(struct qpu_emulator *e, struct qpu *q, uint32_t address); /* slots to wait */

/* registers.c: what a port reads lands in q->port; `mask` says in which lanes a write's condition holds. */
void qpu_emu__read_ports(struct qpu_emulator *e, struct qpu *q, const struct operation *op);
void qpu_emu__write(struct qpu_emulator *e, struct qpu *q, int file, unsigned address, const struct qpu_lanes *value,
                    unsigned mask);

/* tmu.c */
void qpu_emu__tmu_request(struct qpu_emulator *e, struct qpu *q, unsigned tmu, const struct qpu_lanes *addresses);
void qpu_emu__tmu_pop(struct qpu_emulator *e, struct qpu *q, unsigned tmu);

/* vpm.c */
void qpu_emu__vpm_setup_read(struct qpu_emulator *e, struct qpu *q, uint32_t setup);
void qpu_emu__vpm_setup_write(struct qpu_emulator *e, struct qpu *q, uint32_t setup);
void qpu_emu__vpm_pop(struct qpu_emulator *e, struct qpu *q, struct qpu_lanes *out);
void qpu_emu__vpm_push(struct qpu_emulator *e, struct qpu *q, const struct qpu_lanes *lanes);
void qpu_emu__vpm_land(struct qpu_emulator *e, struct qpu *q);

/* dma.c, transfer.c: each transfer is made at once or, with late_dma, when qpu_emu__dma_finish() asks for it. */
void qpu_emu__dma_start(struct qpu_emulator *e, struct qpu *q, bool store, uint32_t address);
void qpu_emu__dma_finish(struct qpu_emulator *e, struct qpu *q, bool store);
uint64_t qpu_emu__dma_store(struct qpu_emulator *e, struct qpu *q, const struct dma_transfer *transfer); /* clocks */
uint64_t qpu_emu__dma_load(struct qpu_emulator *e, struct qpu *q, const struct dma_transfer *transfer);

/* stall.c: whether the instruction can issue now. */
enum readiness qpu_emu__ready(struct qpu_emulator *e, struct qpu *q, const struct operation *op);

/* execute.c: one instruction that is ready. */
void qpu_emu__execute(struct qpu_emulator *e, struct qpu *q, const struct operation *op);

#endif
