/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The adversarial modes: a program that waits where it must gives the same bits under all of them, one that does not
 * is found out. And the caches: stale lines where DMA went around them.
 */
#include "qpu_machine.h"

/*
 * QPUs 1 to 7 square 16 numbers each and put them into their row of the VPM, read the row back so that it has landed,
 * and raise semaphore 0; QPU 0 waits for all, stores the 8 rows and waits for the store.
 */
#define WORK                                                                                           \
    "mov r0, unif\nmov r1, elem_num\nshl r1, r1, 2\nadd r0, r0, r1\nmov t0s, r0\nldtmu0\nmov r0, r4\n" \
    "mul24 r0, r0, r4\nmov r1, qpu_num\nldi r2, 0x1a00\nadd vw_setup, r2, r1\nmov vpm, r0\n"
#define READ_BACK "ldi r2, 0x00101a00\nadd vr_setup, r2, r1\nnop\nnop\nnop\nmov -, vpm\n"
#define SLAVES    "mov.setf -, r1\nbrr.allz -, r:1f\nnop\nnop\nnop\n"
#define MASTER(acquires)                                                                               \
    ":1\n.rep i, " acquires "\nsacq -, 0\n.endr\nldi vw_setup, 0xc0000000\nldi vw_setup, 0x84104000\n" \
    "mov vw_addr, unif\n"

static const char right[] = WORK READ_BACK SLAVES "srel -, 0\n" END MASTER("7") "mov -, vw_wait\n" END;

/* No read-back, so that rows may not have landed when QPU 0 stores them. */
static const char no_read_back[] = WORK SLAVES "srel -, 0\n" END MASTER("7") "mov -, vw_wait\n" END;

/* QPU 0 does not wait for the others at all, but takes their tokens afterwards. */
static const char no_wait[] = WORK READ_BACK SLAVES "srel -, 0\n" END ":1\nldi vw_setup, 0xc0000000\n"
                                                    "ldi vw_setup, 0x84104000\nmov vw_addr, unif\nmov -, vw_wait\n"
                                                    ".rep i, 7\nsacq -, 0\n.endr\n" END;

/* Row 0 is written again before the store of it was waited for. */
static const char overwrites[] =
    WORK READ_BACK SLAVES "srel -, 0\n" END MASTER("7") "ldi vw_setup, 0x1a00\nmov vpm, 0\nmov -, vw_wait\n" END;

/* Adds up a register that nobody wrote. */
static const char uninitialised[] = WORK "nop\nadd r0, r0, rb9\nadd vw_setup, r2, r1\nmov vpm, r0\n" READ_BACK SLAVES
                                         "srel -, 0\n" END MASTER("7") "mov -, vw_wait\n" END;

static uint32_t input(unsigned qpu, unsigned i)
{
    return qpu * 100 + i * 3 + 1;
}

/* Whether the program ends without a hazard and all 128 squares are in memory. */
static bool succeeds(const char *source, struct qpu_emulator_options options)
{
    struct machine *m;
    bool good;
    options.qpus = 8;
    options.max_clocks = 10000000;
    m = machine_open(&options);
    machine_program(m, source);
    for (unsigned q = 0; q < 8; q++) {
        machine_put(m, UNIFORMS + 64 * q, DATA + 64 * q);
        machine_put(m, UNIFORMS + 64 * q + 4, DATA + 0x1000);
        for (unsigned i = 0; i < 16; i++)
            machine_put(m, DATA + 64 * q + 4 * i, input(q, i));
    }
    good = machine_run(m, 8) == QPU_RUN_ENDED;
    for (unsigned q = 0; q < 8; q++)
        for (unsigned i = 0; i < 16; i++)
            good &= machine_word(m, DATA + 0x1000 + 64 * q + 4 * i) == input(q, i) * input(q, i);
    machine_close(m);
    return good;
}

static void right_program(void)
{
    unsigned seeds = getenv("PENSTOCK_TEST_FULL") ? 1000 : 50;
    for (unsigned seed = 0; seed < seeds; seed++)
        for (unsigned modes = 0; modes < 16; modes++)
            for (int cache = 0; cache < 3; cache++) {
                struct qpu_emulator_options options = {.seed = seed,
                                                       .random_interleave = modes & 1,
                                                       .late_dma = modes & 2,
                                                       .hold_vpm = modes & 4,
                                                       .poison = modes & 8,
                                                       .cache = (enum qpu_cache_mode)cache};
                CHECK(succeeds(right, options), "seed %u, modes %u, cache %d", seed, modes, cache);
            }
}

static void wrong_programs(void)
{
    const struct qpu_emulator_options plain = {0}, late = {.late_dma = true}, hold = {.hold_vpm = true};
    const struct qpu_emulator_options poison = {.poison = true};
    unsigned found = 0;
    CHECK(succeeds(no_read_back, plain) && !succeeds(no_read_back, hold), "held VPM writes show the missing read-back");
    CHECK(succeeds(overwrites, plain) && !succeeds(overwrites, late), "late DMA shows the missing wait");
    CHECK(succeeds(uninitialised, plain) && !succeeds(uninitialised, poison), "poison shows the missing value");
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct qpu_emulator_options random = {.random_interleave = true, .seed = seed};
        found += !succeeds(no_wait, random);
    }
    CHECK(found > 10, "random interleave shows the missing semaphore in %u of 20 seeds", found);
}

/* The same seed gives the same run. */
static void repeatable(void)
{
    uint64_t clocks[2];
    for (int k = 0; k < 2; k++) {
        struct qpu_emulator_options options = {.qpus = 12, .random_interleave = true, .seed = 77, .poison = true};
        struct machine *m = machine_open(&options);
        machine_program(m, ".rep i, 100\nnop\n.endr\n" END);
        CHECK_EQ(machine_run(m, 12), QPU_RUN_ENDED);
        clocks[k] = qpu_emulator_clocks(m->emulator);
        machine_close(m);
    }
    CHECK_EQ(clocks[0], clocks[1]);
}

/* Reads a word by TMU, stores 5 over it by DMA, reads `count` words elsewhere and that word again. */
static enum qpu_outcome reread(enum qpu_cache_mode cache, bool lenient, uint32_t start, uint32_t step, unsigned count,
                               uint32_t *second)
{
    struct qpu_emulator_options options = {.qpus = 1, .cache = cache, .lenient = lenient, .max_clocks = 10000000};
    struct machine *m = machine_open(&options);
    enum qpu_outcome outcome;
    char source[1024];
    snprintf(source, sizeof source,
             "mov r0, unif\nmov r1, unif\nmov t0s, r0\nldtmu0\nldi vw_setup, 0x1a00\nmov vpm, 5\n"
             "ldi vw_setup, 0xc0000000\nldi vw_setup, 0x80904000\nmov vw_addr, r0\nmov -, vw_wait\n"
             "ldi r2, %u\nldi r3, %u\n:1\nmov t0s, r1\nadd r1, r1, r3; ldtmu0\nsub.setf r2, r2, 1\nbrr.anynz -, r:1b\n"
             "nop\nnop\nnop\nmov t0s, r0\nldtmu0\n" SHOW("r4") END,
             count, step);
    machine_program(m, source);
    machine_put(m, UNIFORMS, DATA);
    machine_put(m, UNIFORMS + 4, start);
    machine_put(m, DATA, 111);
    outcome = machine_run(m, 1);
    *second = qpu_emulator_vpm(m->emulator, 0, 0);
    if (outcome == QPU_RUN_TRAPPED)
        CHECK(qpu_emulator_trap(m->emulator).hazard == QPU_HAZARD_STALE_READ, "%s", machine_trap(m));
    machine_close(m);
    return outcome;
}

static void caches(void)
{
    const uint32_t way = 128 * 64; /* lines that far apart share a set of the second level, and a line of the first */
    uint32_t second;
    CHECK_EQ(reread(QPU_CACHE_OFF, false, MEMORY, 64, 1, &second), QPU_RUN_ENDED);
    CHECK_EQ(second, 5);
    CHECK_EQ(reread(QPU_CACHE_REAL, false, MEMORY + 64, 64, 1, &second), QPU_RUN_ENDED);
    CHECK_EQ(second, 111);
    CHECK_EQ(reread(QPU_CACHE_REAL, false, MEMORY + 0x2000, 64, 64, &second),
             QPU_RUN_ENDED); /* all of the first level */
    CHECK_EQ(second, 111);
    CHECK_EQ(reread(QPU_CACHE_REAL, false, MEMORY + way, way, 3, &second),
             QPU_RUN_ENDED); /* the other ways of the set */
    CHECK_EQ(second, 111);
    CHECK_EQ(reread(QPU_CACHE_REAL, false, MEMORY, way, 4, &second), QPU_RUN_ENDED); /* all four */
    CHECK_EQ(second, 5);
    CHECK_EQ(reread(QPU_CACHE_NEVER_EVICT, false, MEMORY, way, 4, &second), QPU_RUN_TRAPPED);
    CHECK_EQ(reread(QPU_CACHE_NEVER_EVICT, true, MEMORY, way, 4, &second), QPU_RUN_ENDED);
    CHECK_EQ(second, 111);
}

/* The two TMUs have a first level each; which one a number means is swapped on QPUs 2 and 3 of a slice. */
static void tmu_levels(void)
{
    static const struct {
        unsigned qpu;
        const char *before, *after;
        uint64_t misses;
    } cases[] = {{0, "t0s, r0\nldtmu0\n", "t0s, r0\nldtmu0\n", 1},
                 {0, "t0s, r0\nldtmu0\n", "t1s, r0\nldtmu1\n", 2},
                 {2, "t0s, r0\nldtmu0\n", "t0s, r0\nldtmu0\n", 1},
                 {2, "t0s, r0\nldtmu0\n", "t1s, r0\nldtmu1\n", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qpu_emulator_options options = {.qpus = 12};
        struct machine *m = machine_open(&options);
        char source[256];
        snprintf(source, sizeof source, "mov r0, unif\nmov %smov %s" END, cases[i].before, cases[i].after);
        machine_program(m, source);
        machine_put(m, UNIFORMS + 64 * cases[i].qpu, DATA);
        qpu_emulator_launch(m->emulator, cases[i].qpu, MEMORY, UNIFORMS + 64 * cases[i].qpu);
        CHECK_EQ(qpu_emulator_run(m->emulator), QPU_RUN_ENDED);
        CHECK_EQ(qpu_emulator_counter(m->emulator, 25), cases[i].misses);
        machine_close(m);
    }
}

int main(void)
{
    right_program();
    wrong_programs();
    repeatable();
    caches();
    tmu_levels();
    return test_finish();
}
