/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Words that shaders known to run on the hardware contain, and every word against its fields. */
#include "as/assembler.h"
#include "test.h"

static const struct {
    uint64_t word;
    const char *text;
    bool exact; /* the disassembler writes just this */
} golden[] = {
    {0x100009e7009e7000, "nop", true},
    {0x300009e7009e7000, "nop; thrend", true},
    {0x300009e7009e7000, "thrend", false},
    {0xa00009e7009e7000, "nop; ldtmu0", true},
    {0xa00009e7009e7000, "ldtmu0", false},
    {0xe00217a700000040, "ldi rb30, 0x40", true},
    {0x1002022715827d80, "mov ra8, unif", true},
    {0x10020c27159e7000, "mov vpm, r0", true},
    {0x10021c67156e7d80, "mov vw_setup, ra27", true},
    {0x10020c67156e7d80, "mov vr_setup, ra27", true},
    {0x100009e7159f2fc0, "mov -, vw_wait", true},
    {0x100009e7159f2fc0, "mov.never -, vw_wait", false},
    {0x100049e2409c5017, "mul24 r2, r2, rb5", true},
    {0x100246e0cc9e7081, "add ra27, r0, r2; v8adds r0, r0, r1", true},
    {0x100246e0cc9e7081, "v8adds r0, r0, r1; add ra27, r0, r2", false},
    {0xd00229e714981dc0, "and.setf -, elem_num, 1", true},
    {0x1000d9c2202a7030, "fmul.ifnz ra2, ra10, r0", true},
    {0xd0064862819ff2c0, "fadd.ifnz r1, r1, r3; mov r2, r0 >> 15", true},
    {0xd0064862819ff2c0, "fadd.ifnz r1, r1, r3; mov r2, r0 << 1", false},
    {0xd0044823819f1400, "fadd.ifz r0, r2, r0; mov r3, r0 >> 1", true},
    {0xd0044823819f1400, "fadd r0.z, r2, r0; mov r3, r0 << 15", false},
    {0x100240728c05edf6, "add ra1, ra1, rb30; mov vw_addr, ra1", true},
    {0x10020e270c227c00, "add t0s, ra8, r0", true},
    {0x100209a7159c3fc0, "mov interrupt, rb3", true},
    {0xe80009e700000019, "sacq -, 9", true},
    {0xe80009e700000019, "sacq 9", false},
    {0xe80009e700000019, "mov -, sacq9", false},
    {0xe80009e700000001, "srel 1", false},
    {0xf0f80127000000b0, "brr ra4, +0xb0", true},
    {0xf0f409e700000000, "bra -, ra0", true},
    {0xf00809e700000600, "brr.allz -, +0x600", true},
};

static void golden_words(void)
{
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        uint64_t word = 0;
        char text[QPU_TEXT_BYTES];
        CHECK(qpu_assemble_word(&word, golden[i].text) && word == golden[i].word, "%s is %016llx, expected %016llx",
              golden[i].text, (unsigned long long)word, (unsigned long long)golden[i].word);
        CHECK(qpu_disassemble_word(text, golden[i].word), "%016llx", (unsigned long long)golden[i].word);
        CHECK(!golden[i].exact || !strcmp(text, golden[i].text), "'%s', expected '%s'", text, golden[i].text);
    }
}

/* Fields of one golden word by hand, and no bit lost in any word. */
static void fields(void)
{
    uint64_t state = 6;
    struct qpu_instruction i = qpu_decode(0xd0064862819ff2c0);
    CHECK_EQ(i.signal, QPU_SIGNAL_SMALL_IMMEDIATE);
    CHECK_EQ(i.condition_add, QPU_IF_NOT_ZERO);
    CHECK_EQ(i.condition_mul, QPU_ALWAYS);
    CHECK_EQ(i.waddr_add, QPU_WRITE_R1);
    CHECK_EQ(i.waddr_mul, QPU_WRITE_R2);
    CHECK_EQ(i.op_add, QPU_FADD);
    CHECK_EQ(i.op_mul, QPU_V8MIN);
    CHECK_EQ(i.raddr_b, QPU_ROTATE_BASE + 15);
    i = qpu_decode(0xf0f8012700000080);
    CHECK_EQ(i.kind, QPU_BRANCH);
    CHECK_EQ(i.branch_condition, QPU_BRANCH_ALWAYS);
    CHECK(i.branch_relative && !i.branch_register, "brr");
    CHECK_EQ(i.waddr_add, 4);
    for (int n = 0; n < 1000000; n++) {
        uint64_t word = test_random(&state);
        struct qpu_instruction instruction = qpu_decode(word);
        CHECK(qpu_encode(&instruction) == word, "%016llx", (unsigned long long)word);
    }
}

static void small_immediates(void)
{
    static const struct {
        unsigned code;
        uint32_t value;
    } table[] = {{0, 0},           {15, 15},         {16, 0xfffffff0}, {31, 0xffffffff},
                 {32, 0x3f800000}, {39, 0x43000000}, {40, 0x3b800000}, {47, 0x3f000000}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        CHECK_EQ(qpu_small_immediate_value(table[i].code), table[i].value);
        CHECK_EQ(qpu_small_immediate_code(table[i].value), table[i].code);
    }
    CHECK_EQ(qpu_small_immediate_code(16), -1);
    CHECK_EQ(qpu_small_immediate_value(48), 0xfffffff0u);
    CHECK_EQ(qpu_small_immediate_value(63), 0xffffffffu);
}

int main(void)
{
    golden_words();
    fields();
    small_immediates();
    return test_finish();
}
