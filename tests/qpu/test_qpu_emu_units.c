/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* TMU, special functions, semaphores, mutex and counters of the emulated QPUs. */
#include "qpu_machine.h"

static float as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t row(const struct machine *m, unsigned i)
{
    return qpu_emulator_vpm(m->emulator, 0, i);
}

/* Both TMUs gather words from addresses of their own for each element; results come in the order of requests. */
static void gathers(void)
{
    struct machine *m = machine_of(
        "mov r0, unif\nmov r1, elem_num\nmul24 r1, r1, 12\nadd r2, r0, r1\n"
        "mov t0s, r2\nadd t1s, r2, 4\nadd t0s, r2, 8\n"
        "ldtmu1\nmov r0, r4; ldtmu0\nsub r0, r4, r0; ldtmu0\nmul24 r1, r4, 3\nadd r0, r0, r1\n" SHOW("r0") END,
        (const uint32_t[4]){DATA + 3, 0, 0, 0}); /* bits 1 and 0 are ignored */
    for (uint32_t i = 0; i < 64; i++)
        machine_put(m, DATA + 4 * i, i * i + 7);
    CHECK(machine_run(m, 1) == QPU_RUN_ENDED, "%s", machine_trap(m));
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t first = 9 * i * i + 7, second = (3 * i + 1) * (3 * i + 1) + 7, third = (3 * i + 2) * (3 * i + 2) + 7;
        CHECK_EQ(row(m, i), (uint32_t)(first - second + 3 * third));
    }
    CHECK_EQ(qpu_emulator_counter(m->emulator, 24), 3 * 4);
    machine_close(m);
}

/* r4 keeps its old value in the instruction that asks for the next, also when read from the unpacker. */
static void unpacks_r4(void)
{
    struct machine *m =
        machine_of("mov t0s, unif\nldtmu0\nfadd r0, r4.8b, 0\n" SHOW("r0") END, (const uint32_t[4]){DATA, 0, 0, 0});
    machine_put(m, DATA, 0x1234ff56);
    CHECK(machine_run(m, 1) == QPU_RUN_ENDED, "%s", machine_trap(m));
    CHECK_EQ(row(m, 0), 0x3f800000);
    machine_close(m);
}

static double sfu(const char *unit, float operand)
{
    char source[256];
    struct machine *m;
    double result;
    snprintf(source, sizeof source, "mov %s, unif\nnop\nnop\nmov r0, r4\n" SHOW("r0") END, unit);
    m = machine_of(source, (const uint32_t[4]){bits_of(operand), 0, 0, 0});
    CHECK(machine_run(m, 1) == QPU_RUN_ENDED, "%s", machine_trap(m));
    result = as_float(row(m, 9));
    machine_close(m);
    return result;
}

/* Measured on hardware: about 11 to 13 good bits; not exact at 1 either. */
static void special_functions(void)
{
    const double good = 0x1p-11;
    uint64_t random = 3;
    for (int i = 0; i < 200; i++) {
        float x =
            (float)ldexp(1 + (double)(test_random(&random) >> 40) * 0x1p-24, (int)(test_random(&random) % 100) - 50);
        float y = (float)(test_uniform(&random) * 100);
        CHECK(fabs(sfu("recip", x) * x - 1) < good, "recip(%g) is %g", (double)x, sfu("recip", x));
        CHECK(fabs(sfu("recip", -x) * -x - 1) < good, "recip(%g)", (double)-x);
        CHECK(fabs(sfu("recipsqrt", x) * sqrt((double)x) - 1) < good, "recipsqrt(%g)", (double)x);
        CHECK(fabs(sfu("recipsqrt", -x) * sqrt((double)x) - 1) < good, "recipsqrt(%g)", (double)-x);
        CHECK(fabs(sfu("exp", y) / exp2((double)y) - 1) < good, "exp(%g) is %g", (double)y, sfu("exp", y));
        CHECK(fabs(sfu("log", x) - log2((double)x)) < good * (1 + fabs(log2((double)x)) / 8), "log(%g) is %g",
              (double)x, sfu("log", x));
        CHECK(fabs(sfu("log", -x) - log2((double)x)) < good * (1 + fabs(log2((double)x)) / 8), "log(%g)", (double)-x);
    }
    CHECK(fabs(sfu("exp", 0) - 1.000031) < 1e-6, "exp2(0) is %.7f", sfu("exp", 0));
    CHECK(fabs(sfu("log", 3.14159265f) - log2(3.14159265)) > 1e-5, "log2(pi) is more exact than the hardware's");
    CHECK(isinf(sfu("recip", 0)) && sfu("recip", 0) > 0, "recip(0) is infinite");
    CHECK(isinf(sfu("recipsqrt", 0)) && sfu("recipsqrt", 0) > 0, "recipsqrt(0) is infinite");
    CHECK(isinf(sfu("log", 0)) && sfu("log", 0) < 0, "log(0) is minus infinite");
}

/* What was in r4 stays until the third instruction after the write. */
static void sfu_delay(void)
{
    struct qpu_emulator_options lenient = {.qpus = 1, .lenient = true};
    struct machine *m = machine_open(&lenient);
    machine_program(m, "mov t0s, unif\nldtmu0\nmov recip, unif\nmov r0, r4\nmov r1, r4\nmov r2, r4\n" SHOW("r0")
                           SHOW_ROW(1, "r1") SHOW_ROW(2, "r2") END);
    machine_put(m, DATA, 99);
    machine_put(m, UNIFORMS, DATA);
    machine_put(m, UNIFORMS + 4, 0);
    CHECK_EQ(machine_run(m, 1), QPU_RUN_ENDED);
    CHECK_EQ(qpu_emulator_vpm(m->emulator, 0, 0), 99);
    CHECK_EQ(qpu_emulator_vpm(m->emulator, 1, 0), 99);
    CHECK_EQ(qpu_emulator_vpm(m->emulator, 2, 0), 0x7f800000);
    CHECK_EQ(qpu_emulator_hazards(m->emulator, QPU_HAZARD_SFU_WINDOW), 2);
    machine_close(m);
}

/* The register file's write is not seen by the next instruction, but by the one after it. */
static void register_delay(void)
{
    struct qpu_emulator_options lenient = {.qpus = 1, .lenient = true};
    struct machine *m = machine_open(&lenient);
    machine_program(m, "mov ra1, 3\nnop\nmov ra1, 5\nmov r0, ra1\nmov r1, ra1\n" SHOW("r0") SHOW_ROW(1, "r1") END);
    CHECK_EQ(machine_run(m, 1), QPU_RUN_ENDED);
    CHECK_EQ(qpu_emulator_vpm(m->emulator, 0, 0), 3);
    CHECK_EQ(qpu_emulator_vpm(m->emulator, 1, 0), 5);
    machine_close(m);
}

/* Twelve QPUs add their number to one word, under the mutex: load, add, store. */
static void mutex(void)
{
    struct qpu_emulator_options options = {.qpus = 12, .random_interleave = true, .max_clocks = 10000000};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct machine *m;
        options.seed = seed;
        m = machine_open(&options);
        machine_program(m, "mov r0, unif\nmov r3, qpu_num\nmov -, mutex\n"
                           "ldi vr_setup, 0x80110000\nmov vr_addr, r0\nmov -, vr_wait\n" /* one word to (0, 0) */
                           "ldi vr_setup, 0x00101a00\nnop\nnop\nnop\nadd r1, vpm, r3\nadd r1, r1, 1\n"
                           "ldi vw_setup, 0x1a00\nmov vpm, r1\nldi vw_setup, 0xc0000000\nldi vw_setup, 0x80814000\n"
                           "mov vw_addr, r0\nmov -, vw_wait\nmov mutex, r0\n" END);
        for (unsigned i = 0; i < 12; i++)
            machine_put(m, UNIFORMS + 64 * i, DATA);
        CHECK(machine_run(m, 12) == QPU_RUN_ENDED, "%s", machine_trap(m));
        CHECK_EQ(machine_word(m, DATA), 12 * 11 / 2 + 12);
        machine_close(m);
    }
}

/* A token goes round by semaphores: QPU i waits for semaphore i and then raises the next one's. */
static void semaphores(void)
{
    struct qpu_emulator_options options = {.qpus = 2, .max_clocks = 1000000};
    struct machine *m = machine_open(&options);
    machine_program(m, "mov r0, qpu_num\nmov.setf -, r0\nbrr.allz -, r:1f\nnop\nnop\nnop\n"
                       "sacq -, 3\nldi vr_setup, 0x00101a00\nnop\nnop\nnop\nadd r0, vpm, 1\n" SHOW("r0") END
                    ":1\nmov r0, elem_num\nshl r0, r0, 4\n" SHOW(
                        "r0") "ldi vr_setup, 0x00101a00\nnop\nnop\nnop\nmov -, vpm\nsrel -, 3\n" END);
    CHECK(machine_run(m, 2) == QPU_RUN_ENDED, "%s", machine_trap(m));
    for (unsigned i = 0; i < 16; i++)
        CHECK_EQ(row(m, i), 16 * i + 1);
    CHECK(qpu_emulator_activity(m->emulator, 1).stall_clocks > 0, "QPU 1 had to wait");
    CHECK_EQ(qpu_emulator_semaphore(m->emulator, 3), 0);
    machine_close(m);
}

/* A semaphore stops at 15: the sixteenth release waits for an acquire. */
static void semaphore_limits(void)
{
    struct qpu_emulator_options options = {.qpus = 1, .lenient = true};
    struct machine *m = machine_open(&options);
    machine_program(m, ".rep i, 15\nsrel -, 2\n.endr\n" END);
    CHECK_EQ(machine_run(m, 1), QPU_RUN_ENDED);
    CHECK_EQ(qpu_emulator_semaphore(m->emulator, 2), 15); /* not reset by launch */
    machine_program(m, "srel -, 2\n" END);
    CHECK_EQ(machine_run(m, 1), QPU_RUN_DEADLOCKED);
    machine_program(m, ".rep i, 15\nsacq -, 2\n.endr\n" END);
    CHECK_EQ(machine_run(m, 1), QPU_RUN_ENDED);
    machine_program(m, "sacq -, 2\n" END);
    CHECK_EQ(machine_run(m, 1), QPU_RUN_DEADLOCKED);
    CHECK_EQ(qpu_emulator_trap(m->emulator).pc, MEMORY);
    machine_close(m);
}

static void limits_and_arguments(void)
{
    struct qpu_emulator_options options = {.qpus = 1, .max_clocks = 4000, .cache = QPU_CACHE_OFF};
    struct qpu_emulator *none;
    struct machine *m = machine_open(&options);
    machine_program(m, ":1\nbrr -, r:1b\nnop\nnop\nnop\n");
    CHECK_EQ(machine_run(m, 1), QPU_RUN_LIMIT);
    CHECK(qpu_emulator_activity(m->emulator, 0).instructions <= 1001, "four clocks an instruction");
    CHECK(qpu_emulator_activity(m->emulator, 0).instructions >= 1000, "four clocks an instruction");
    CHECK_EQ(qpu_emulator_map(m->emulator, MEMORY + 64, m->memory, 64), QPU_EMULATOR_INVALID);      /* overlaps */
    CHECK_EQ(qpu_emulator_map(m->emulator, 0xc0000000u + 64, m->memory, 64), QPU_EMULATOR_INVALID); /* an alias */
    CHECK_EQ(qpu_emulator_map(m->emulator, 0x3fffffc0, m->memory, 128), QPU_EMULATOR_INVALID);
    CHECK_EQ(qpu_emulator_map(m->emulator, 0x100002, m->memory, 64), QPU_EMULATOR_INVALID);
    CHECK_EQ(qpu_emulator_launch(m->emulator, 1, MEMORY, UNIFORMS), QPU_EMULATOR_INVALID);
    CHECK_EQ(qpu_emulator_unmap(m->emulator, MEMORY), QPU_EMULATOR_OK);
    CHECK_EQ(machine_run(m, 1), QPU_RUN_TRAPPED);
    CHECK_EQ(qpu_emulator_trap(m->emulator).hazard, QPU_HAZARD_CODE_ADDRESS);
    machine_close(m);
    options.qpus = 13;
    CHECK_EQ(qpu_emulator_new(&none, &options), QPU_EMULATOR_INVALID);
    CHECK(!none, "no object");
}

int main(void)
{
    gathers();
    unpacks_r4();
    special_functions();
    sfu_delay();
    register_delay();
    mutex();
    semaphores();
    semaphore_limits();
    limits_and_arguments();
    return test_finish();
}
