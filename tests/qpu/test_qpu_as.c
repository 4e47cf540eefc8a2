/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Expressions, directives, labels and operands, by the words that they must give. */
#include "as/assembler.h"
#include "test.h"

static bool assemble(struct qpu_program *program, const char *source)
{
    struct qpu_assemble_options options = {.no_check = true};
    bool good = qpu_assemble(program, "x", source, strlen(source), &options) == 0;
    CHECK(good, "%s:\n%s", program->diagnostic_count ? program->diagnostics[0].text : "?", source);
    return good;
}

static uint32_t word_at(const struct qpu_program *program, size_t place)
{
    uint32_t word = 0;
    for (int i = 3; i >= 0 && place + 4 <= program->size; i--)
        word = word << 8 | program->bytes[place + (size_t)i];
    return word;
}

static struct qpu_instruction instruction_at(const struct qpu_program *program, size_t index)
{
    return qpu_decode((uint64_t)word_at(program, 8 * index + 4) << 32 | word_at(program, 8 * index));
}

/* Low words, in hexadecimal: loads and branches have their constant there. */
static void gives(const char *source, size_t count, const uint32_t *words)
{
    struct qpu_program program;
    if (assemble(&program, source)) {
        CHECK(program.size == 8 * count, "%zu bytes, expected %zu:\n%s", program.size, 8 * count, source);
        for (size_t i = 0; i < count && 8 * i < program.size; i++)
            CHECK(word_at(&program, 8 * i) == words[i], "word %zu is %08x, expected %08x:\n%s", i,
                  (unsigned)word_at(&program, 8 * i), (unsigned)words[i], source);
    }
    qpu_program_free(&program);
}

#define GIVES(source, ...)                                     \
    do {                                                       \
        static const uint32_t words_[] = {__VA_ARGS__};        \
        gives(source, sizeof words_ / sizeof *words_, words_); \
    } while (0)

static void expressions(void)
{
    static const struct {
        const char *text;
        uint32_t value;
    } table[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"10 - 2 - 3", 5},
        {"2 ** 3 ** 2", 512},
        {"-7 / 2", 0xfffffffd},
        {"-7 % 3", 0xffffffff},
        {"1 << 4 | 1", 17},
        {"0xff & ~0xf", 0xf0},
        {"6 ^ 3", 5},
        {"-16 >> 2", 0xfffffffc},
        {"-16 >>> 28", 15},
        {"0x80000001 <<< 1", 2},
        {"1 << 31", 0x80000000},
        {"1 == 1 && 2 != 2 || 3 < 4", 1},
        {"1 ^^ 1", 0},
        {"!5 + !0", 1},
        {"3 > 2 ? 10 : 20", 10},
        {"0 ? 10 : 1 ? 30 : 40", 30},
        {"0b101 + 0377 + 0x10", 5 + 255 + 16},
        {"-1", 0xffffffff},
        {"4294967295", 0xffffffff},
        {"1.0", 0x3f800000},
        {"-0.5", 0xbf000000},
        {"1.5 * 2", 0x40400000},
        {"1.0 << 3", 0x41000000},
        {"1.0 / 4", 0x3e800000},
        {"1.0e1", 0x41200000},
        {"0.1", 0x3dcccccd},
        {"1.0 < 2", 1},
        {"abs(-3)", 3},
        {"floor(-1.5)", 0xfffffffe},
        {"ceil(1.2)", 2},
        {"round(2.5)", 3},
        {"sqrt(16)", 0x40800000},
        {"cos(0)", 0x3f800000},
        {"exp2(3)", 0x41000000},
        {"log2(8)", 0x40400000},
        {"4 * atan(1)", 0x40490fdb},
        /* set-up words: the guide's tables 32 to 37, fields put together by hand */
        {"h32(5)", 0xa05},
        {"v32(16, 3)", 0x213},
        {"h16p(3, 1)", 0x907},
        {"h16l(3, 0)", 0xd06},
        {"h8p(2, 3)", 0x80b},
        {"h8l(1, 1)", 0xc05},
        {"v16p(32, 5, 1)", 0x100 | 2 << 5 | 5 << 1 | 1},
        {"v16l(0, 15, 0)", 0x51e},
        {"v8p(48, 2, 3)", 3 << 6 | 2 << 2 | 3},
        {"v8l(16, 0, 0)", 0x440},
        {"vpm_setup(1, 1, h32(0))", 0x00101a00},
        {"vpm_setup(16, 64, h32(1))", 0x00000a01},
        {"vpm_setup(4, 16, v32(0, 2))", 0x00410202},
        {"vdw_setup_0(16, 16, dma_h32(0, 0))", 0x88104000},
        {"vdw_setup_0(128, 1, dma_v32(2, 3))", 0x80010118},
        {"vdw_setup_0(1, 128, dma_h16p(1, 0, 1))", 0x80804083},
        {"vdw_setup_0(1, 2, dma_v8p(0, 1, 3))", 0x8082000f},
        {"vdw_setup_1(65535)", 0xc000ffff},
        {"vdw_setup_1_block(8)", 0xc0010008},
        {"vdr_setup_0(3, 16, 16, 1, vdr_h32(0, 0))", 0x83001000},
        {"vdr_setup_0(0, 4, 2, 16, vdr_v32(5, 6))", 0x80420856},
        {"vdr_setup_0(1, 8, 1, 2, vdr_h16p(1, 2, 1))", 0xb1812012},
        {"vdr_setup_0(1, 8, 1, 4, vdr_v8p(0, 0, 3))", 0xf1814800},
        {"vdr_setup_1(512)", 0x90000200},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char source[128];
        snprintf(source, sizeof source, "ldi r0, %s", table[i].text);
        gives(source, 1, &table[i].value);
    }
}

static void directives(void)
{
    GIVES(".set a, 5\n.set b, a * 2\nldi r0, b\n.set a, 7\nldi r0, a + b\n.unset a\n.set a, 1\nldi r0, a", 10, 17, 1);
    GIVES(".set f(x, y) x * 10 + y\nldi r0, f(2, f(0, 3))", 23);
    GIVES(".func g(x)\n.assert x > 0\n.if x == 1\n1\n.else\nx * g(x - 1)\n.endif\n.endf\nldi r0, g(5)", 120);
    GIVES(".rep i, 3\nldi r0, i * i\n.endr\n.rep j 2\n.rep k, 2\nldi r1, j * 16 + k\n.endr\n.endr", 0, 1, 4, 0, 1, 16,
          17);
    GIVES(".rep i, 0\nldi r0, i\n.endr\nldi r0, 9", 9);
    GIVES(".macro two, dest, value\nldi dest, value\nldi dest, value + 1\n.endm\ntwo ra3, 7\ntwo r1, 70", 7, 8, 70, 71);
    GIVES(".macro inner, n\nldi r0, n\n.endm\n.macro outer, n\ninner n * 2\ninner n * 3\n.endm\nouter 5", 10, 15);
    GIVES(".macro many, n\n.rep i, n\n.if i % 2\nldi r0, i\n.endif\n.endr\n.endm\nmany 5", 1, 3);
    GIVES(".macro local\n.lset x, 3\nldi r0, x\n.endm\n.set x, 1\nlocal\nldi r0, x", 3, 1);
    GIVES(".if 0\nnonsense\n.elseif 2 > 1\nldi r0, 2\n.else\nldi r0, 3\n.endif", 2);
    GIVES(".if 0\n.if 1\nldi r0, 1\n.else\nldi r0, 2\n.endif\n.else\nldi r0, 3\n.endif", 3);
    GIVES("/* a\n b */ ldi r0, 1 // c\n# d\nldi r0, 2 /* e */", 1, 2);
    GIVES(".include <vc4.qinc>\nldi r0, h32(1)", 0xa01);
    GIVES(":start .assert 1 + 1 == 2\n.assert :end - 8 == :start\nldi r0, 1\n:end", 1);
    GIVES("mov r0, 0x12345\nmov ra0, 100000; mov rb0, 100000", 0x12345, 100000);
    GIVES("ldi r0, [0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3]", 0xccccaaaa);
    GIVES("ldi r0, [-2,-1,0,1,-2,-1,0,1,-2,-1,0,1,-2,-1,0,1]", 0x3333aaaa);
}

static void data(void)
{
    struct qpu_program program;
    static const uint8_t expected[] = {1,    2,    0xff, 0x34, 0x12, 0,    0,    0, /* aligned */
                                       0x44, 0x33, 0x22, 0x11, 0x00, 0x00, 0x80, 0x3f, 0xfe, 0xff, 0xff, 0xff,
                                       0xff, 0xff, 0xff, 0xff, 0,    0,    0xc0, 0x3f, 0x18, 0,    0,    0};
    if (assemble(&program, ".byte 1, 2, -1\n.short 0x1234\n.align 8\n.int 0x11223344\n.float 1\n.long -2\n"
                           ":end\n.word 1.5, :end"))
        CHECK(program.size == sizeof expected && !memcmp(program.bytes, expected, sizeof expected), "%zu bytes",
              program.size);
    qpu_program_free(&program);
    if (assemble(&program, "nop\n.align 64\nnop")) {
        CHECK_EQ(program.size, 72);
        CHECK_EQ(word_at(&program, 60), 0x100009e7); /* filled with nops */
    }
    qpu_program_free(&program);
}

/* A branch at byte b to label l carries l - (b + 32). */
static void labels(void)
{
    struct qpu_program program;
    GIVES(":loop\nbrr -, r:loop\nbrr -, :loop\nbrr -, r:next\n:next", (uint32_t)-32, (uint32_t)-40, (uint32_t)-24);
    GIVES(":1 brr -, r:1f\n:1 brr -, r:1b\nbrr -, r:1b + 8\n:1", (uint32_t)-24, (uint32_t)-32, (uint32_t)-32);
    GIVES("bra -, ra0, :there\nldi r0, :there - :here\n:here\nldi r0, :here\n:there", 24, 8, 16);
    GIVES(".macro jump, to\nbrr -, to\n.endm\njump r:end\njump r:end\n:end", (uint32_t)-16, (uint32_t)-24);
    if (assemble(&program, "brr ra5, rb6, r:x, ra7\nbrr -, ra8, r:x\n:x\nbrr.anync r0, ra1, ra3, 16\nbra rb9, 0x100")) {
        struct qpu_instruction i = instruction_at(&program, 0);
        CHECK(i.waddr_add == 5 && i.waddr_mul == 6 && !i.write_swap && i.branch_register && i.branch_raddr == 7,
              "first");
        CHECK_EQ(i.immediate, (uint32_t)-16);
        i = instruction_at(&program, 1);
        CHECK(i.waddr_add == 39 && i.waddr_mul == 39 && i.branch_register && i.branch_raddr == 8, "second");
        CHECK_EQ(i.immediate, (uint32_t)-24);
        i = instruction_at(&program, 2);
        CHECK(i.waddr_mul == 1 && i.branch_raddr == 3 && i.immediate == 16, "third");
        CHECK_EQ(i.branch_condition, QPU_BRANCH_ANY_NOT_CARRY);
        i = instruction_at(&program, 3);
        CHECK(i.write_swap && i.waddr_add == 9 && !i.branch_relative && i.immediate == 0x100, "fourth");
    }
    qpu_program_free(&program);
}

static void packing(void)
{
    static const struct {
        const char *text;
        uint8_t pack, unpack;
        bool mode;
    } table[] = {
        {"mov ra0.16a, r0", 1, 0, false},       {"mov ra0.16b, r0", 2, 0, false},
        {"mov ra0.8abcd, r0", 3, 0, false},     {"mov ra0.8a, r0", 4, 0, false},
        {"mov ra0.8d, r0", 7, 0, false},        {"add ra0.32s, r0, r1", 8, 0, false},
        {"mov ra0.16as, r0", 9, 0, false},      {"mov ra0.16bs, r0", 10, 0, false},
        {"mov ra0.8abcds, r0", 11, 0, false},   {"mov ra0.8as, r0", 12, 0, false},
        {"mov ra0.8bsi, r0", 13, 0, false},     {"mov.pack8c ra0, r0", 6, 0, false},
        {"fmul r0.8abcds, r0, r1", 3, 0, true}, {"fmul r0.8asf, r0, r1", 4, 0, true},
        {"fmul rb3.8ds, r0, r1", 7, 0, true},   {"itof r0, ra0.16a", 0, 1, false},
        {"itof r0, ra0.16b", 0, 2, false},      {"mov r0, ra0.8dr", 0, 3, false},
        {"itof r0, ra0.8a", 0, 4, false},       {"fadd r0, ra0.8bf, r1", 0, 5, false},
        {"mov r0, unif.8c", 0, 6, false},       {"fmul r0, r4.8d, r1", 0, 7, true},
        {"mov r0, r4.16a", 0, 1, true},         {"mov.unpack16b r0, ra1", 0, 2, false},
        {"mov ra0.16a, ra1.16b", 1, 2, false},  {"fmul ra0.8asf, r4.8a, r1", 4, 4, true},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint64_t word;
        bool good = qpu_assemble_word(&word, table[i].text);
        struct qpu_instruction instruction = qpu_decode(word);
        CHECK(good && instruction.pack == table[i].pack && instruction.unpack == table[i].unpack &&
                  instruction.pack_mode == table[i].mode,
              "%s", table[i].text);
    }
}

static void conditions(void)
{
    static const char *const names[8] = {"never", "always", "ifz", "ifnz", "ifn", "ifnn", "ifc", "ifcc"};
    static const char *const branches[12] = {"allz", "allnz", "anyz", "anynz", "alln", "allnn",
                                             "anyn", "anynn", "allc", "allnc", "anyc", "anync"};
    char text[64];
    uint64_t word;
    for (unsigned i = 0; i < 8; i++) {
        snprintf(text, sizeof text, "mov.%s.setf r0, r1; fmul r1, r2, r3", names[i]);
        CHECK(qpu_assemble_word(&word, text), "%s", text);
        CHECK_EQ(qpu_decode(word).condition_add, i);
        CHECK(qpu_decode(word).set_flags, "%s", text);
    }
    for (unsigned i = 0; i < 12; i++) {
        snprintf(text, sizeof text, "brr.%s -, 0", branches[i]);
        CHECK(qpu_assemble_word(&word, text), "%s", text);
        CHECK_EQ(qpu_decode(word).branch_condition, i);
    }
    CHECK(qpu_assemble_word(&word, "mov.ifnc r0, r1") && qpu_decode(word).condition_add == QPU_IF_NOT_NEGATIVE,
          "vc4asm's ifnc is 'negative clear'");
}

/* A whole program, disassembled with labels, comes back. */
static void listing(void)
{
    const char *source = ":1 mov r0, unif\nbrr.allnz ra1, r:2f\nnop\nnop; ldtmu0\n:2\nbrr -, r:1b\nnop\n.int 1, 2\n"
                         "fmul r0, r1, r2; thrend\n.byte 1, 2, 3";
    struct qpu_program first, second;
    struct qpu_assemble_options options = {.no_check = true};
    if (assemble(&first, source)) {
        char *text = qpu_disassemble(first.bytes, first.size);
        CHECK(text && strstr(text, ":L0\n") && strstr(text, "brr.allnz ra1, r:L4") && strstr(text, "brr -, r:L0"), "%s",
              text);
        qpu_assemble(&second, "again", text, strlen(text), &options);
        CHECK(second.size == first.size && !memcmp(first.bytes, second.bytes, first.size), "%s", text);
        qpu_program_free(&second);
        free(text);
    }
    qpu_program_free(&first);
}

int main(void)
{
    expressions();
    directives();
    data();
    labels();
    packing();
    conditions();
    listing();
    return test_finish();
}
