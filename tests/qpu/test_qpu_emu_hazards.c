/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Each rule of the hardware: a program that strict mode stops, where and why, and a near miss that runs to its end. */
#include "qpu_machine.h"

#define READ_ROW "ldi vr_setup, 0x00101a00\n" /* one vector */
#define LOAD     "ldi vr_setup, 0x83010800\n" /* words, rows of 16, one row, vertical 0, at (0, 0) */

static const struct {
    enum qpu_hazard hazard; /* QPU_HAZARD_NONE: runs to its end */
    int index;              /* of the instruction that stops */
    const char *source;
} programs[] = {
    {QPU_HAZARD_READ_AFTER_WRITE, 1, "mov ra1, r0\nmov r1, ra1\n" END},
    {QPU_HAZARD_NONE, 0, "mov ra1, r0\nmov r1, rb1\n" END},
    {QPU_HAZARD_NONE, 0, "mov ra1, r0\nnop\nmov r1, ra1\n" END},
    {QPU_HAZARD_NONE, 0, "mov.never ra1, r0\nmov r1, ra1\n" END},
    {QPU_HAZARD_READ_AFTER_WRITE, 1, "ldi rb7, 3\nfmul r1, r2, rb7\n" END},
    {QPU_HAZARD_NONE, 0, "ldi rb7, 3\nfmul r1, r2, 7\n" END},
    {QPU_HAZARD_READ_AFTER_WRITE, 1, "mov ra2, r0\nbra -, ra2\nnop\nnop\nnop\n"},
    {QPU_HAZARD_READ_AFTER_WRITE, 4, "brr ra3, r:1f\nnop\nnop\nmov ra5, r0\n:1\nmov r0, ra5\n" END},

    {QPU_HAZARD_ROTATE_AFTER_WRITE, 1, "mov r0, r1\nmov r2, r0 << 1\n" END},
    {QPU_HAZARD_NONE, 0, "mov r0, r1\nnop\nmov r2, r0 << 1\n" END},
    {QPU_HAZARD_NONE, 0, "mov r0, r1\nmov r2, r1 << 1\n" END},
    {QPU_HAZARD_ROTATE_AFTER_WRITE, 1, "mov r5rep, r1\nmov r2, r0 >> r5\n" END},
    {QPU_HAZARD_NONE, 0, "mov r5rep, r1\nnop\nmov r2, r0 >> r5\n" END},

    {QPU_HAZARD_SFU_WINDOW, 1, "mov recip, r0\nmov r1, r4\n" END},
    {QPU_HAZARD_SFU_WINDOW, 2, "mov recip, r0\nnop\nmov r1, r4\n" END},
    {QPU_HAZARD_NONE, 0, "mov recip, r0\nnop\nnop\nmov r1, r4\n" END},
    {QPU_HAZARD_SFU_WINDOW, 2, "mov log, r0\nnop\nmov exp, r1\n" END},
    {QPU_HAZARD_SFU_WINDOW, 4, "ldi r1, 0x40008000\nmov t0s, r1\nmov recip, r0\nnop\nldtmu0\n" END},
    {QPU_HAZARD_NONE, 0, "ldi r1, 0x40008000\nmov t0s, r1\nmov recip, r0\nnop\nnop\nldtmu0\n" END},

    {QPU_HAZARD_BRANCH_DISTANCE, 2, "brr.anyc -, r:1f\nnop\nbrr.anyc -, r:1f\nnop\nnop\nnop\n:1\n" END},
    {QPU_HAZARD_NONE, 0, "brr.anyc -, r:1f\nnop\nnop\nbrr.anyc -, r:1f\n:1\nnop\nnop\nnop\n" END},

    {QPU_HAZARD_SAME_REGISTER, 0, "add r0, r1, r2; fmul r0, r1, r2\n" END},
    {QPU_HAZARD_SAME_REGISTER, 0, "add.ifz r0, r1, r2; fmul.ifn r0, r1, r2\n" END},
    {QPU_HAZARD_NONE, 0, "add.ifz r0, r1, r2; fmul.ifnz r0, r1, r2\n" END},
    {QPU_HAZARD_NONE, 0, "add ra0, r1, r2; fmul rb0, r1, r2\n" END},
    {QPU_HAZARD_SAME_REGISTER, 0, "add vpm, r1, r2; fmul vpm, r1, r2\n" END},

    {QPU_HAZARD_CONDITIONAL_PERIPHERAL, 0, "mov.ifz vpm, r0\n" END},
    {QPU_HAZARD_CONDITIONAL_PERIPHERAL, 0, "mov.never unif_addr, r0\n" END},
    {QPU_HAZARD_NONE, 0, "ldi vw_setup, 0x1a00\nmov vpm, r0; mov.ifz r1, r2\n" END},

    {QPU_HAZARD_PERIPHERALS, 2, "ldi r0, 0x40008000\nmov t0s, r0\nmov t1s, r0; ldtmu0\nldtmu1\n" END},
    {QPU_HAZARD_NONE, 0, "ldi r0, 0x40008000\nmov t0s, r0\nmov t1s, r0\nldtmu0\nldtmu1\n" END},
    {QPU_HAZARD_PERIPHERALS, 0, "mov recip, r0; fmul exp, r1, r1\n" END},
    {QPU_HAZARD_PERIPHERALS, 0, "mov recip, mutex\n" END},
    {QPU_HAZARD_SEMAPHORE_TARGET, 0, "srel recip, 3\n" END},
    {QPU_HAZARD_NONE, 0, "srel r0, 3\nsacq -, 3\n" END},

    {QPU_HAZARD_TMU_WITH_VPM, 3, "ldi vw_setup, 0x1a00\nldi r0, 0x40008000\nmov t0s, r0\nmov vpm, r1; ldtmu0\n" END},
    {QPU_HAZARD_NONE, 0, "ldi vw_setup, 0x1a00\nldi r0, 0x40008000\nmov t0s, r0\nldtmu0\nmov vpm, r1\n" END},
    {QPU_HAZARD_VPM_SETUP_WITH_ACCESS, 0, "ldi vr_setup, vw_setup, 0x101a00\n" END},
    {QPU_HAZARD_VPM_SETUP_WITH_ACCESS, 0, "mov vw_setup, r0; mov vpm, r1\n" END},
    {QPU_HAZARD_NONE, 0, "ldi vw_setup, 0x1a00\n" READ_ROW "nop\nnop\nnop\nmov vpm, vpm\n" END},

    {QPU_HAZARD_UNIFORMS_ADDRESS, 3, "ldi r0, 0x4000f000\nmov unif_addr, r0\nnop\nmov r0, unif\n" END},
    {QPU_HAZARD_NONE, 0, "ldi r0, 0x4000f000\nmov unif_addr, r0\nnop\nnop\nmov r0, unif\n" END},

    {QPU_HAZARD_END_WRITES_FILE, 0, "mov ra0, r0; thrend\nnop\nnop\n"},
    {QPU_HAZARD_NONE, 0, "mov r0, r1; thrend\nmov ra0, r0\nnop\n"},
    {QPU_HAZARD_END_PERIPHERAL, 2, "nop; thrend\nnop\nmov r0, unif\n"},
    {QPU_HAZARD_NONE, 0, "mov r0, unif\nnop; thrend\nnop\nnop\n"},
    {QPU_HAZARD_END_PERIPHERAL, 1, "nop; thrend\nmov -, vw_wait\nnop\n"},
    {QPU_HAZARD_END_ADDRESS_14, 1, "nop; thrend\nmov ra14, r0\nnop\n"},
    {QPU_HAZARD_NONE, 0, "nop; thrend\nmov ra13, r0\nnop\n"},

    {QPU_HAZARD_NOSWAP_DISTANCE, 3, "ldi r1, 0x40008000\nmov tmurs, r0\nnop\nmov t0s, r1\nldtmu0\n" END},
    {QPU_HAZARD_NONE, 0, "ldi r1, 0x40008000\nmov tmurs, r0\nnop\nnop\nmov t0s, r1\nldtmu0\n" END},

    {QPU_HAZARD_TMU_EMPTY, 0, "ldtmu0\n" END},
    {QPU_HAZARD_TMU_EMPTY, 3, "ldi r0, 0x40008000\nmov t1s, r0\nnop\nldtmu0\n" END},
    {QPU_HAZARD_TMU_FULL, 5, "ldi r0, 0x40008000\n.rep i, 5\nmov t0s, r0\n.endr\n.rep i, 5\nldtmu0\n.endr\n" END},
    {QPU_HAZARD_NONE, 0, "ldi r0, 0x40008000\n.rep i, 4\nmov t0s, r0\n.endr\n.rep i, 4\nldtmu0\n.endr\n" END},

    {QPU_HAZARD_VPM_READ_WITHOUT_SETUP, 0, "mov r0, vpm\n" END},
    {QPU_HAZARD_VPM_READ_WITHOUT_SETUP, 5, READ_ROW "nop\nnop\nnop\nmov r0, vpm\nmov r0, vpm\n" END},
    {QPU_HAZARD_NONE, 0, "ldi vr_setup, 0x201a00\nnop\nnop\nnop\nmov r0, vpm\nmov r0, vpm\n" END},
    {QPU_HAZARD_VPM_READ_TOO_SOON, 3, READ_ROW "nop\nnop\nmov r0, vpm\n" END},
    {QPU_HAZARD_VPM_SECOND_SETUP, 1, "ldi vr_setup, 0x201a00\n" READ_ROW END},
    {QPU_HAZARD_NONE, 0, READ_ROW READ_ROW "nop\nnop\nnop\nmov r0, vpm\nmov r0, vpm\n" END},
    {QPU_HAZARD_VPM_WRITE_WITHOUT_SETUP, 0, "mov vpm, r0\n" END},
    {QPU_HAZARD_VPM_SETUP, 0, "ldi vw_setup, 0x1b00\n" END},

    {QPU_HAZARD_END_SEMAPHORES, 3, "srel -, 5\n" END},
    {QPU_HAZARD_NONE, 0, "srel -, 5\nsacq -, 5\n" END},
    {QPU_HAZARD_END_TMU, 4, "ldi r0, 0x40008000\nmov t0s, r0\n" END},
    {QPU_HAZARD_END_VPM, 3, READ_ROW END},
    {QPU_HAZARD_END_DMA, 6, "ldi r0, 0x40008000\nldi vw_setup, 0x80904000\nnop\nmov vw_addr, r0\n" END},
    {QPU_HAZARD_NONE, 0, "ldi r0, 0x40008000\nldi vw_setup, 0x80904000\nnop\nmov vw_addr, r0\nmov -, vw_wait\n" END},
    {QPU_HAZARD_END_MUTEX, 3, "mov -, mutex\n" END},
    {QPU_HAZARD_NONE, 0, "mov -, mutex\nmov mutex, r0\n" END},
    {QPU_HAZARD_MUTEX_NOT_HELD, 0, "mov mutex, r0\n" END},

    {QPU_HAZARD_CODE_ADDRESS, 4, "bra -, 0x100000\nnop\nnop\nnop\n"},
    {QPU_HAZARD_UNIFORM_ADDRESS, 4, "ldi r0, 0x100000\nmov unif_addr, r0\nnop\nnop\nmov r1, unif\n" END},
    {QPU_HAZARD_TMU_ADDRESS, 1, "ldi r0, 0x100000\nmov t0s, r0\nldtmu0\n" END},
    {QPU_HAZARD_STORE_ADDRESS, 2, "ldi r0, 0x100000\nldi vw_setup, 0x80904000\nmov vw_addr, r0\nmov -, vw_wait\n" END},
    {QPU_HAZARD_LOAD_ADDRESS, 2, "ldi r0, 0x100000\n" LOAD "mov vr_addr, r0\nmov -, vr_wait\n" END},
    {QPU_HAZARD_NONE, 0, "ldi r0, 0x40008000\n" LOAD "mov vr_addr, r0\nmov -, vr_wait\n" END},
    {QPU_HAZARD_DMA_ALIGNMENT, 2,
     "ldi r0, 0x40008002\nldi vw_setup, 0x80904000\nmov vw_addr, r0\nmov -, vw_wait\n" END},
    {QPU_HAZARD_DMA_LEAVES_VPM, 2,
     "ldi r0, 0x40008000\nldi vw_setup, 0x80906008\nmov vw_addr, r0\nmov -, vw_wait\n" END},
    {QPU_HAZARD_DMA_SETUP, 2, "ldi r0, 0x40008000\nldi vw_setup, 0x80904001\nmov vw_addr, r0\nmov -, vw_wait\n" END},

    {QPU_HAZARD_BRANCH_REGISTER, 3, "ldi r0, 0x40000000\nadd ra2, r0, elem_num\nnop\nbra -, ra2\nnop\nnop\nnop\n"},
    {QPU_HAZARD_BRANCH_FLAGS, 6, "ldi ra3, 0x40000030\nnop\nbra -, ra3\nnop\nnop\nnop\nmov.ifz r0, r1\n" END},
    {QPU_HAZARD_PACK_TARGET, 0, "mov r0.16a, r1\n" END},
    {QPU_HAZARD_NONE, 0, "mov ra0.16a, r1\n" END},
    {QPU_HAZARD_NOTHING_READ, 0, "mov r0, ra39\n" END},
    {QPU_HAZARD_UNSUPPORTED, 0, "mov tlbc, r0\n" END},
    {QPU_HAZARD_UNSUPPORTED, 0, "mov t0t, r0\n" END},
    {QPU_HAZARD_UNSUPPORTED, 0, "bkpt\n" END},
};

static void every_program(void)
{
    bool stopped[QPU_HAZARD_COUNT] = {false};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct machine *m = machine_of(programs[i].source, NULL);
        enum qpu_outcome outcome = machine_run(m, 1);
        struct qpu_trap trap = qpu_emulator_trap(m->emulator);
        enum qpu_outcome want = programs[i].hazard ? QPU_RUN_TRAPPED : QPU_RUN_ENDED;
        CHECK(outcome == want && trap.hazard == programs[i].hazard, "outcome %d, %s (%x), wanted %s:\n%s", outcome,
              machine_trap(m), trap.detail, qpu_hazard_text(programs[i].hazard), programs[i].source);
        if (programs[i].hazard && programs[i].hazard != QPU_HAZARD_CODE_ADDRESS)
            CHECK(trap.pc == MEMORY + 8 * (uint32_t)programs[i].index && trap.qpu == 0, "stopped at %x, wanted %d:\n%s",
                  trap.pc - MEMORY, 8 * programs[i].index, programs[i].source);
        stopped[programs[i].hazard] = true;
        machine_close(m);
    }
    /* these are tested with words that no syntax expresses, several QPUs, or stores behind a cache */
    stopped[QPU_HAZARD_NOTHING_WRITTEN] = stopped[QPU_HAZARD_RESERVED] = stopped[QPU_HAZARD_DMA_SHARED_SETUP] = true;
    stopped[QPU_HAZARD_STALE_READ] = stopped[QPU_HAZARD_NO_MEMORY] = true;
    for (int h = 1; h < QPU_HAZARD_COUNT; h++)
        CHECK(stopped[h], "no program for: %s", qpu_hazard_text((enum qpu_hazard)h));
}

/* Lenient runs count the same hazard and go on to the end, unless the program hangs itself. */
static void lenient_goes_on(void)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct qpu_emulator_options options = {.qpus = 1, .lenient = true, .max_clocks = 100000};
        struct machine *m = machine_open(&options);
        enum qpu_outcome outcome;
        machine_program(m, programs[i].source);
        outcome = machine_run(m, 1);
        if (programs[i].hazard == QPU_HAZARD_NONE) {
            CHECK_EQ(outcome, QPU_RUN_ENDED);
            machine_close(m);
            continue;
        }
        CHECK(qpu_emulator_hazards(m->emulator, programs[i].hazard) > 0, "not counted: %s", programs[i].source);
        CHECK_EQ(qpu_emulator_trap(m->emulator).hazard, programs[i].hazard);
        if (programs[i].hazard == QPU_HAZARD_TMU_EMPTY || programs[i].hazard == QPU_HAZARD_VPM_READ_WITHOUT_SETUP)
            CHECK_EQ(outcome, QPU_RUN_DEADLOCKED);
        machine_close(m);
    }
}

static void reserved_words(void)
{
    static const struct {
        uint64_t word;
        enum qpu_hazard hazard;
    } words[] = {
        {UINT64_C(0x100209e7099e7000), QPU_HAZARD_RESERVED},        /* add operation 9 */
        {UINT64_C(0xe40009e700000000), QPU_HAZARD_RESERVED},        /* a load of type 2 */
        {UINT64_C(0xf0c009e700000000), QPU_HAZARD_RESERVED},        /* branch condition 12 */
        {UINT64_C(0x1002082715867d80), QPU_HAZARD_RESERVED},        /* reads address 33 */
        {UINT64_C(0x10020027009e7000), QPU_HAZARD_NOTHING_WRITTEN}, /* nop writes ra0 */
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct machine *m = machine_of(END, NULL);
        machine_put(m, MEMORY, (uint32_t)words[i].word);
        machine_put(m, MEMORY + 4, (uint32_t)(words[i].word >> 32));
        CHECK_EQ(machine_run(m, 1), QPU_RUN_TRAPPED);
        CHECK(qpu_emulator_trap(m->emulator).hazard == words[i].hazard, "%016" PRIx64 ": %s", words[i].word,
              machine_trap(m));
        machine_close(m);
    }
}

/* Set-ups written by one QPU and used by another after a second one wrote its own: right only if each has its own. */
static void shared_setups(void)
{
    struct qpu_emulator_options options = {.qpus = 2, .max_clocks = 1000000, .cache = QPU_CACHE_OFF};
    struct machine *m = machine_open(&options);
    machine_program(m, "ldi vw_setup, 0x80904000\nmov r1, qpu_num\nshl r1, r1, 7\nldi r0, 0x80904000\n"
                       "add vw_setup, r0, r1\nldi r0, 0x40008000\nmov vw_addr, r0\nmov -, vw_wait\n" END);
    CHECK_EQ(machine_run(m, 2), QPU_RUN_TRAPPED);
    CHECK(qpu_emulator_trap(m->emulator).hazard == QPU_HAZARD_DMA_SHARED_SETUP, "%s", machine_trap(m));
    machine_program(m, "mov -, mutex\nmov r1, qpu_num\nshl r1, r1, 7\nldi r0, 0x80904000\nadd vw_setup, r0, r1\n"
                       "ldi r0, 0x40008000\nmov vw_addr, r0\nmov -, vw_wait\nmov mutex, r0\n" END);
    CHECK(machine_run(m, 2) == QPU_RUN_ENDED, "%s", machine_trap(m));
    machine_close(m);
}

int main(void)
{
    every_program();
    lenient_goes_on();
    reserved_words();
    shared_setups();
    return test_finish();
}
