/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What is wrong is told at its line and column, in words, several errors at a time, in the order of the source. */
#include "as/assembler.h"
#include "test.h"

static const struct {
    const char *source;
    int line, column;
    const char *text; /* part of the message */
} table[] = {
    {"frobnicate r0, r1", 1, 1, "'frobnicate' is no instruction"},
    {"nop\n  add r0, r1", 2, 13, "expected ','"},
    {"add r0, r1, r2, r3", 1, 15, "',' is too much"},
    {"mov r0, nowhere", 1, 9, "'nowhere' is not known"},
    {"mov 5, r0", 1, 5, "destination must be a register"},
    {"mov r5, r0", 1, 5, "r5rep"},
    {"mov unif, r0", 1, 5, "'unif' cannot be written"},
    {"mov r0, vr_setup", 1, 9, "'vr_setup' cannot be read"},
    {"add r0, ra1, ra2", 1, 14, "only one register of file A"},
    {"add r0, rb1, rb2", 1, 14, "only one register of file B"},
    {"add r0, rb1, 3", 1, 14, "small immediate or rotation takes the place"},
    {"add r0, r1, 3; mul24 r1, r2, 4", 1, 30, "only one small immediate"},
    {"add r0, r1, 100", 1, 13, "0x64 is no small immediate"},
    {"add r0, r1, 3; ldtmu0", 1, 13, "excludes the signal ldtmu0"},
    {"mov r0, r1; ldtmu0; thrend", 1, 21, "one signal"},
    {"add r0, r1, r2; sub r1, r2, r3", 1, 17, "both operations are for the add ALU"},
    {"mov r0, r1; mov r1, r2; mov r2, r3", 1, 25, "not three"},
    {"add ra0, r1, r2; fmul ra1, r1, r2", 1, 23, "both ALUs write register file A"},
    {"mov rb0.16a, r1", 1, 5, "only register file A packs"},
    {"mov r0, rb1.16a", 1, 9, "only register file A and r4 unpack"},
    {"mov r0, ra1.64x", 1, 12, "'.64x' is no unpack mode"},
    {"mov.ifq r0, r1", 1, 4, "'.ifq' is no condition"},
    {"add r0, r1 << 1, r2", 1, 1, "cannot rotate"},
    {"mov r0, r1 << 16", 1, 12, "rotation is by"},
    {"fmul.setf r0, r1, r2; add r1, r2, r3", 1, 1, "flags come from the add ALU"},
    {"ldi r0", 1, 1, "expected ldi destination"},
    {"ldi r0, 0x100000000", 1, 9, "no number of at most 32 bits"},
    {"ldi r0, 1 << 33", 1, 9, "does not fit 32 bits"},
    {"ldi r0, 1; nop", 1, 10, "';' is too much"},
    {"nop; ldi r0, 1", 1, 6, "stands alone"},
    {"ldi r0, [1,2]", 1, 9, "16 elements"},
    {"ldi r0, 1 / 0", 1, 11, "division by zero"},
    {"ldi r0, (1 + 2", 1, 15, "expected ')'"},
    {"ldi r0, 1 +", 1, 12, "operand is missing"},
    {"ldi r0, r1 * 2", 1, 12, "'*' cannot be applied to a register and an integer"},
    {"ldi r0, 09", 1, 9, "no number"},
    {"sacq 16", 1, 6, "0 .. 15"},
    {"brr -, r:nowhere", 1, 10, "there is no label 'nowhere'"},
    {"brr -, r:1b", 1, 10, "there is no label '1b'"},
    {"brr.ifz -, 0", 1, 4, "no condition of a branch"},
    {"bra -, rb0", 1, 8, "ra0 .. ra31"},
    {"bra -, r:x\n:x", 1, 8, "absolute"},
    {":x\nnop\n:x", 3, 2, "already at f.qasm:1"},
    {".nonsense 3", 1, 1, "no directive .nonsense"},
    {".rep i, 3\nnop", 1, 1, ".rep has no .endr"},
    {".if 1\n.endr", 1, 1, ".if has no .endif"},
    {".endm", 1, 1, "nothing that it could end"},
    {".rep i, -1\n.endr", 1, 6, "-1 is not within"},
    {".rep i, 1000000\n.rep j, 1000\n.endr\n.endr", 2, 6, "repeated without end"},
    {".set x", 1, 7, "operand is missing"},
    {".const x, 1\n.set x, 2", 2, 6, "constant"},
    {".unset x", 1, 8, "not set"},
    {".assert 1 > 2", 1, 9, "does not hold"},
    {".assert 0, \"row too long\"", 1, 9, "row too long"},
    {".assert 0 \"row too long\"", 1, 9, "row too long"},
    {".include \"no_such_file.qinc\"", 1, 11, "cannot be read"},
    {".include nothing", 1, 10, "expected .include"},
    {".macro m, a\nldi r0, a\n.endm\nm 1, 2", 4, 1, "takes 1 arguments, not 2"},
    {".macro m\nadd r0\n.endm\nm", 2, 7, "(in macro m, used at f.qasm:4)"},
    {".macro m\nm\n.endm\nm", 2, 1, "nested too deeply"},
    {".set f(x) f(x)\nldi r0, f(1)", 1, 11, "nested too deeply"},
    {".set f(x) x\n.set g(x) f(f(f(f(f(f(f(f(x))))))))\n.rep j, 99999\nldi r0, g(g(g(1)))\n.endr", 2, 11,
     "too many uses"},
    {".func f(x)\n.endf\nldi r0, f(1)", 3, 9, "ends without a value"},
    {".byte 256", 1, 7, "does not fit 8 bits"},
    {".byte 1\nnop", 2, 1, "needs .align 8"},
    {".align 3", 1, 8, "power of two"},
    {"ldi r0, h32(64)", 1, 9, "argument 1 of h32 is 64, not within 0 .. 63"},
    {"ldi r0, v32(8, 0)", 1, 9, "steps of 16"},
    {"ldi r0, vpm_setup(1)", 1, 9, "takes 3 arguments, not 1"},
    {"mov r0, r1 @", 1, 12, "no meaning"},
    {".include \"abc", 1, 10, "string does not end"},
    {"nop /* no end", 1, 5, "comment does not end"},
    {"nop\nmov r0, r1 /* no\nend\n", 2, 12, "comment does not end"},
    {"mov ra0, 1e400", 1, 10, "number is too large"},
    {"mov ra0, 1e39", 1, 10, "does not fit 32 bits"},
    {".rep i, 20000\n.rep j, 10\nnop\n.endr\n.endr", 3, 1, "larger than"},
    {".if :later > 3\nnop\n.endif\n:later", 1, 12, "cannot be applied"},
    {".if :later - :start > 3\nnop\n.endif\n:later\n:start", 1, 5, "label further on"},
};

static void each_error(void)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct qpu_program program;
        int status = qpu_assemble(&program, "f.qasm", table[i].source, strlen(table[i].source), NULL);
        CHECK(status == -1 && program.error_count > 0 && program.size == 0, "%s", table[i].source);
        const struct qpu_diagnostic *d = program.diagnostics;
        if (program.diagnostic_count)
            CHECK(d->line == table[i].line && d->column == table[i].column && strstr(d->text, table[i].text) &&
                      !strcmp(d->file, "f.qasm") && !d->warning && !strchr(d->text, '\n'),
                  "%s\n-> %d:%d: %s, expected %d:%d: %s", table[i].source, d->line, d->column, d->text, table[i].line,
                  table[i].column, table[i].text);
        qpu_program_free(&program);
    }
}

static void several(void)
{
    const char *source = "mov r0, x1\nnop\nadd r0, ra1, ra2\n.set y, 1\nmov r0, x2\n";
    struct qpu_program program;
    CHECK_EQ(qpu_assemble(&program, "f", source, strlen(source), NULL), -1);
    CHECK_EQ(program.error_count, 3);
    for (size_t i = 0; i < program.diagnostic_count && program.diagnostic_count == 3; i++)
        CHECK_EQ(program.diagnostics[i].line, 1 + 2 * (int)i);
    qpu_program_free(&program);
}

static void bounds(void)
{
    static char deep[20000];
    struct qpu_program program;
    memset(deep, '(', sizeof deep - 1);
    memcpy(deep, "ldi r0, ", 8);
    CHECK_EQ(qpu_assemble(&program, "f", deep, sizeof deep - 1, NULL), -1);
    CHECK(strstr(program.diagnostics[0].text, "nested too deeply"), "%s", program.diagnostics[0].text);
    qpu_program_free(&program);
    for (size_t i = 0; i + 2 < sizeof deep; i += 2)
        memcpy(deep + i, "x\n", 2);
    CHECK_EQ(qpu_assemble(&program, "f", deep, sizeof deep - 1, NULL), -1);
    CHECK_EQ(program.error_count, 50); /* and no more */
    qpu_program_free(&program);
    CHECK_EQ(qpu_assemble(&program, "f", "", 0, NULL), 0);
    CHECK_EQ(program.size, 0);
    qpu_program_free(&program);
}

int main(void)
{
    each_error();
    several();
    bounds();
    return test_finish();
}
