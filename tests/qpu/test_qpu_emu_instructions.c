/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Small programs on one QPU, strictly, with what the hardware's facts say must come out in each element. */
#include "qpu_machine.h"

typedef uint32_t element(unsigned i);

static void expect(const char *source, element *want)
{
    static const uint32_t uniforms[4] = {0x11111111, 0x22222222, 0x33333333, 0x44444444};
    struct machine *m = machine_of(source, uniforms);
    enum qpu_outcome outcome = machine_run(m, 1);
    CHECK(outcome == QPU_RUN_ENDED, "outcome %d: %s at %x\n%s", outcome, machine_trap(m),
          qpu_emulator_trap(m->emulator).pc - MEMORY, source);
    for (unsigned i = 0; i < 16; i++) {
        uint32_t got = qpu_emulator_vpm(m->emulator, 0, i);
        CHECK(got == want(i), "element %u is %08x, expected %08x:\n%s", i, got, want(i), source);
    }
    machine_close(m);
}

static uint32_t constant_value;

static uint32_t constant(unsigned i)
{
    (void)i;
    return constant_value;
}

static void expect_all(const char *source, uint32_t value)
{
    constant_value = value;
    expect(source, constant);
}

static uint32_t index_of(unsigned i)
{
    return i;
}

static uint32_t quad_leader(unsigned i)
{
    return i & ~3u;
}

static uint32_t up_3(unsigned i)
{
    return (i + 16 - 3) % 16;
}

static uint32_t up_5_in_quad(unsigned i)
{
    return (i & 12) | ((i + 3) & 3); /* by 5 is by 1 there */
}

static uint32_t ldis_want(unsigned i)
{
    static const uint32_t values[4] = {0, 1, (uint32_t)-2, (uint32_t)-1};
    return values[i % 4];
}

static uint32_t ldiu_want(unsigned i)
{
    return i % 4;
}

static uint32_t odd_is_7(unsigned i)
{
    return i & 1 ? 7 : i;
}

static uint32_t below_4_is_1(unsigned i)
{
    return i < 4;
}

static void registers_and_immediates(void)
{
    expect("mov r0, elem_num\n" SHOW("r0") END, index_of);
    expect_all("mov r0, qpu_num\n" SHOW("r0") END, 0);
    expect("mov r5quad, elem_num\n" SHOW("r5") END, quad_leader);
    expect_all("add r0, elem_num, 9\nmov r5rep, r0\n" SHOW("r5") END, 9);
    expect_all("mov r0, unif\nmov r0, unif\n" SHOW("r0") END, 0x22222222);
    expect_all("add r0, unif, unif\nmov r1, unif\n" SHOW("r1") END, 0x22222222); /* one pop for both ports */
    expect_all("add r0, unif, unif\n" SHOW("r0") END, 0x22222222);
    expect_all("mov.never r0, unif\nmov r0, unif\n" SHOW("r0") END, 0x22222222); /* reads whatever the condition */
    expect_all("ldi r0, 0xdeadbeef\n" SHOW("r0") END, 0xdeadbeef);
    expect_all("ldi ra4, rb5, 0x1234\nnop\nadd r0, ra4, rb5\n" SHOW("r0") END, 0x2468);
    expect_all("mov r0, -16\n" SHOW("r0") END, (uint32_t)-16);
    expect_all("mov r0, 15\n" SHOW("r0") END, 15);
    expect_all("or r0, 128.0, 128.0\n" SHOW("r0") END, 0x43000000);
    expect_all("or r0, 0.00390625, 0.00390625\n" SHOW("r0") END, 0x3b800000);
}

/* Words that need no syntax: the two bits of element i are its index modulo 4. */
static void element_loads(void)
{
    uint32_t low = 0, high = 0;
    for (unsigned i = 0; i < 16; i++) {
        low |= (i & 1) << i;
        high |= (i >> 1 & 1) << i;
    }
    for (int is_signed = 0; is_signed < 2; is_signed++) {
        struct qpu_instruction load = {.kind = is_signed ? QPU_LOAD_SIGNED : QPU_LOAD_UNSIGNED,
                                       .signal = QPU_SIGNAL_LOAD_IMMEDIATE,
                                       .unpack = is_signed ? 1 : 3,
                                       .condition_add = QPU_ALWAYS,
                                       .waddr_add = QPU_WRITE_R0,
                                       .waddr_mul = QPU_WRITE_NOTHING,
                                       .immediate = high << 16 | low};
        struct machine *m = machine_of("nop\n" SHOW("r0") END, NULL);
        uint64_t word = qpu_encode(&load);
        machine_put(m, MEMORY, (uint32_t)word);
        machine_put(m, MEMORY + 4, (uint32_t)(word >> 32));
        CHECK_EQ(machine_run(m, 1), QPU_RUN_ENDED);
        for (unsigned i = 0; i < 16; i++)
            CHECK_EQ(qpu_emulator_vpm(m->emulator, 0, i), is_signed ? ldis_want(i) : ldiu_want(i));
        machine_close(m);
    }
}

static void rotations(void)
{
    expect("mov r0, elem_num\nnop\nmov r1, r0 >> 3\n" SHOW("r1") END, up_3);
    expect("mov r0, elem_num\nmov r5rep, 3\nnop\nmov r1, r0 >> r5\n" SHOW("r1") END, up_3);
    expect("mov r0, elem_num\nldi r5rep, 0x73\nnop\nmov r1, r0 >> r5\n" SHOW("r1") END, up_3); /* four bits count */
    expect("mov ra0, elem_num\nnop\nmov r1, ra0 >> 5\n" SHOW("r1") END, up_5_in_quad);
    expect("mov r5quad, elem_num\nmov ra0, elem_num\nmov r1, 0\nadd r1, r1, ra0\nnop\nmov r2, r1 >> 3\n" SHOW("r2") END,
           up_3);
    /* a condition looks at the element written to */
    expect("mov r0, elem_num\nsub.setf -, elem_num, 4\nmov r1, 0\nmov r2, 1\nnop\nmov.ifn r1, r2 >> 1\n" SHOW("r1") END,
           below_4_is_1);
}

static void flags(void)
{
    expect("mov r0, elem_num\nand.setf -, elem_num, 1\nmov.ifnz r0, 7\n" SHOW("r0") END, odd_is_7);
    expect("mov r0, elem_num\nand r1, elem_num, 1\nmov.setf -, r1; mov r2, r1\nmov.ifnz r0, 7\n" SHOW("r0") END,
           odd_is_7);
    /* the multiplier sets flags only when the add ALU has no operation */
    expect_all("mov r0, 1\nmov r1, 0\nadd.setf r2, r0, r0; v8min r3, r1, r1\nmov r0, 5\nmov.ifz r0, 9\n" SHOW("r0") END,
               5);
    expect_all("mov r0, 0\nmov r1, 0\nnop.setf; v8min r3, r1, r1\nmov r0, 5\nmov.ifz r0, 9\n" SHOW("r0") END, 9);
    /* both ALUs use the flags from before the instruction */
    expect_all("mov.setf r0, 0\nmov r1, 3\nmov r2, 4\nmov.setf.ifz r0, r1; mov.ifz r3, r2\n" SHOW("r3") END, 4);
    /* flags change only in elements where the condition held */
    expect("mov r0, elem_num\nmov r1, 1\nand.setf -, elem_num, 1\nmov.setf.ifnz -, r1\nmov.ifnz r0, 7\n" SHOW("r0") END,
           odd_is_7);
    expect_all("mov r0, -1\nmov.setf -, r0\nmov r1, 0\nmov.ifn r1, 2\n" SHOW("r1") END, 2);
    expect_all("ldi r0, 0xffffffff\nadd.setf -, r0, 1\nmov r1, 0\nmov.ifc r1, 2\n" SHOW("r1") END, 2);
    expect_all("mov r0, 3\nsub.setf -, r0, 5\nmov r1, 0\nmov.ifc r1, 2\n" SHOW("r1") END, 2);
    expect_all("mov r0, 5\nsub.setf -, r0, 3\nmov r1, 0\nmov.ifnc r1, 2\n" SHOW("r1") END, 2);
    /* flags are those of the result before packing */
    expect_all("ldi r0, 0x100\nnop\nmov.setf ra1.8a, r0\nmov r1, 0\nmov.ifnz r1, 2\n" SHOW("r1") END, 2);
}

static void packing(void)
{
    expect_all("ldi ra0, 0xfff68001\nnop\nmov r0, ra0.16a\n" SHOW("r0") END, 0xffff8001);
    expect_all("ldi ra0, 0xfff67001\nnop\nitof r0, ra0.16b\n" SHOW("r0") END, 0xc1200000); /* -10 */
    expect_all("ldi ra0, 0x3c00\nnop\nfadd r0, ra0.16a, 0\n" SHOW("r0") END, 0x3f800000);
    expect_all("ldi ra0, 0x80ff1234\nnop\nmov r0, ra0.8c\n" SHOW("r0") END, 0xff);
    expect_all("ldi ra0, 0x80ff1234\nnop\nmov r0, ra0.8d\n" SHOW("r0") END, 0x80);
    expect_all("ldi ra0, 0x80ff1234\nnop\nfadd r0, ra0.8d, 0\n" SHOW("r0") END, 0x3f008080);
    expect_all("ldi ra0, 0x80ff1234\nnop\nfadd r0, ra0.8c, 0\n" SHOW("r0") END, 0x3f800000);
    expect_all("ldi ra0, 0x80ff1234\nnop\nmov r0, ra0.8dr\n" SHOW("r0") END, 0x80808080);
    expect_all("ldi ra1, 0x11223344\nldi r0, 0xaabbccdd\nmov ra1.16b, r0\nnop\n" SHOW("ra1") END, 0xccdd3344);
    expect_all("ldi ra1, 0x11223344\nldi r0, 0xaabbccdd\nmov ra1.8c, r0\nnop\n" SHOW("ra1") END, 0x11dd3344);
    expect_all("ldi ra1, 0x11223344\nldi r0, 0xaabbccdd\nmov ra1.8abcd, r0\nnop\n" SHOW("ra1") END, 0xdddddddd);
    expect_all("ldi ra1, 0x11223344\nldi r0, 100000\nmov ra1.16as, r0\nnop\n" SHOW("ra1") END, 0x11227fff);
    expect_all("ldi ra1, 0x11223344\nldi r0, -100000\nmov ra1.16bs, r0\nnop\n" SHOW("ra1") END, 0x80003344);
    expect_all("ldi ra1, 0x11223344\nldi r0, 300\nmov ra1.8bs, r0\nnop\n" SHOW("ra1") END, 0x1122ff44);
    expect_all("ldi ra1, 0x11223344\nldi r0, -3\nmov ra1.8as, r0\nnop\n" SHOW("ra1") END, 0x11223300);
    expect_all("ldi r0, 0x7fffffff\nadd ra1.32s, r0, 1\nnop\n" SHOW("ra1") END, 0x7fffffff);
    expect_all("ldi r0, 0x80000000\nadd ra1.32s, r0, -1\nnop\n" SHOW("ra1") END, 0x80000000);
    expect_all("ldi r0, 0x80000000\nsub ra1.32s, r0, 1\nnop\n" SHOW("ra1") END, 0x7fffffff); /* the wrong side */
    /* floats become halves rounded away from zero, or 0 below the normal ones */
    expect_all("ldi ra1, 0\nldi r0, 0x3f800001\nfadd ra1.16a, r0, 0\nnop\n" SHOW("ra1") END, 0x3c01);
    expect_all("ldi ra1, 0\nldi r0, 0x38000000\nfadd ra1.16a, r0, 0\nnop\n" SHOW("ra1") END, 0);
    expect_all("ldi ra1, 0\nldi r0, 0x38800000\nfadd ra1.16a, r0, 0\nnop\n" SHOW("ra1") END, 0x0400);
    expect_all("ldi ra1, 0\nldi r0, 0x47800000\nfadd ra1.16a, r0, 0\nnop\n" SHOW("ra1") END, 0x7c00);
    expect_all("mov r0, 1.0\nnop\nfmul r0.8abcdsf, r0, r0\n" SHOW("r0") END, 0xffffffff);
}

static void branches(void)
{
    /* the three instructions behind a branch execute, the fourth does not */
    expect_all(
        "mov r0, 0\nbrr -, r:1f\nadd r0, r0, 1\nadd r0, r0, 2\nadd r0, r0, 4\nadd r0, r0, 8\n:1\n" SHOW("r0") END, 7);
    expect_all("brr ra3, r:1f\nnop\nnop\nnop\n:1\nmov r0, ra3\n" SHOW("r0") END, 0x40000020);
    expect_all("ldi ra4, 0x40000030\nmov r0, 1\nbra -, ra4\nnop\nnop\nnop\n" SHOW("r0") END, 1);
    expect_all("mov r0, 5\nmov r1, 0\n:1\nsub.setf r0, r0, 1\nbrr.anynz -, r:1b\nadd r1, r1, 2\nnop\nnop\n" SHOW("r1")
                   END,
               10);
    /* a branch in the third slot: one instruction of the first target, then the second's */
    expect_all("mov r0, 0\nbrr -, r:1f\nnop\nnop\nbrr -, r:2f\n:3\nadd r0, r0, 1\n:1\nadd r0, r0, 2\nadd r0, r0, 4\n"
               "add r0, r0, 8\nadd r0, r0, 15\n:2\n" SHOW("r0") END,
               14);
}

static const struct {
    const char *condition;
    bool all_set, one_set, none_set; /* taken with the flag set in all, one, no element */
} conditions[] = {
    {"allz", true, false, false},  {"allnz", false, false, true}, {"anyz", true, true, false},
    {"anynz", false, true, true},  {"alln", true, false, false},  {"allnn", false, false, true},
    {"anyn", true, true, false},   {"anynn", false, true, true},  {"allc", true, false, false},
    {"allnc", false, false, true}, {"anyc", true, true, false},   {"anync", false, true, true},
};

/* Flags of the kind that the condition asks for, by subtracting: zero of equals, negative and carry below. */
static void branch_conditions(void)
{
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        bool zero = strchr(conditions[i].condition, 'z') != NULL;
        const char *operands[3] = {zero ? "r1, r1" : "r1, 15", zero ? "elem_num, 6" : "elem_num, 1",
                                   zero ? "r1, 15" : "elem_num, 0"};
        bool want[3] = {conditions[i].all_set, conditions[i].one_set, conditions[i].none_set};
        for (int k = 0; k < 3; k++) {
            char source[512];
            snprintf(source, sizeof source,
                     "mov r1, 1\nmov r0, 1\nsub.setf -, %s\nbrr.%s -, r:1f\nnop\nnop\nnop\nmov r0, 0\n:1\n" SHOW("r0")
                         END,
                     operands[k], conditions[i].condition);
            expect_all(source, want[k]);
        }
    }
}

static void uniforms_and_interrupt(void)
{
    struct machine *m =
        machine_of("mov r0, unif\nmov unif_addr, unif\nnop\nnop\nmov r1, unif\n" SHOW("r1") "mov interrupt, r1\n" END,
                   (const uint32_t[4]){1, DATA, 0, 0});
    machine_put(m, DATA, 77);
    CHECK(machine_run(m, 1) == QPU_RUN_ENDED, "%s", machine_trap(m));
    CHECK_EQ(qpu_emulator_vpm(m->emulator, 0, 3), 77);
    CHECK_EQ(qpu_emulator_interrupts(m->emulator), 1);
    CHECK_EQ(qpu_emulator_interrupts(m->emulator), 0);
    machine_program(m, "mov interrupt, 0\n" END); /* only values other than 0 fire */
    CHECK_EQ(machine_run(m, 1), QPU_RUN_ENDED);
    CHECK_EQ(qpu_emulator_interrupts(m->emulator), 0);
    machine_close(m);
}

int main(void)
{
    registers_and_immediates();
    element_loads();
    rotations();
    flags();
    packing();
    branches();
    branch_conditions();
    uniforms_and_interrupt();
    return test_finish();
}
