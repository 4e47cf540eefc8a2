/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Words to text. The text is assembled again before it is given out: first the one with the names that a reader
 * expects, then one that names each file (ra39 for -), and .int for what neither expresses.
 */
#include "operation.h"

#include <stdio.h>
#include <string.h>

struct writer {
    char *text;
    size_t used;
    const struct qpu_instruction *word;
    bool exact; /* registers above 31 by number and file */
};

static void put(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(w->text + w->used, QPU_TEXT_BYTES - w->used, format, arguments);
    va_end(arguments);
    w->used += length > 0 ? (size_t)length : 0;
    if (w->used >= QPU_TEXT_BYTES)
        w->used = QPU_TEXT_BYTES - 1;
}

static void put_register(struct writer *w, unsigned address, unsigned file, unsigned direction)
{
    const char *name = w->exact ? NULL : qpu__register_name(address, file, direction);
    if (name)
        put(w, "%s", name);
    else
        put(w, "r%c%u", file == QPU__FILE_A ? 'a' : 'b', address);
}

/* The result of the add ALU goes to file A unless the word swaps them. */
static void put_destination(struct writer *w, bool mul)
{
    const struct qpu_instruction *i = w->word;
    bool file_a = mul == i->write_swap;
    bool packed = i->kind != QPU_BRANCH && i->pack && (i->pack_mode ? mul : file_a);
    put_register(w, mul ? i->waddr_mul : i->waddr_add, file_a ? QPU__FILE_A : QPU__FILE_B, QPU__WRITE);
    if (packed && qpu__pack_name(i->pack, i->pack_mode))
        put(w, ".%s", qpu__pack_name(i->pack, i->pack_mode));
}

static void put_small_value(struct writer *w, unsigned code)
{
    float number;
    uint32_t bits = qpu_small_immediate_value(code);
    memcpy(&number, &bits, sizeof number);
    if (code >= QPU_ROTATE_BASE)
        put(w, "smi(%u)", code);
    else if (code < 32)
        put(w, "%d", (int)(code < 16 ? code : code - 32));
    else
        put(w, code < 40 ? "%.1f" : "%.9g", (double)number);
}

static void put_source(struct writer *w, unsigned mux, bool rotated)
{
    const struct qpu_instruction *i = w->word;
    if (mux == QPU_MUX_B && i->signal == QPU_SIGNAL_SMALL_IMMEDIATE) {
        put_small_value(w, i->raddr_b);
        return;
    }
    if (mux == QPU_MUX_A)
        put_register(w, i->raddr_a, QPU__FILE_A, QPU__READ);
    else if (mux == QPU_MUX_B)
        put_register(w, i->raddr_b, QPU__FILE_B, QPU__READ);
    else
        put(w, "r%u", mux);
    if (i->unpack && mux == (i->pack_mode ? QPU_MUX_R4 : QPU_MUX_A))
        put(w, ".%s", qpu__unpack_name(i->unpack));
    if (rotated && i->raddr_b == QPU_ROTATE_BY_R5)
        put(w, " >> r5");
    else if (rotated)
        put(w, " >> %d", i->raddr_b - QPU_ROTATE_BASE);
}

static void put_condition(struct writer *w, unsigned condition, bool flags, unsigned waddr)
{
    unsigned expected = waddr == QPU_WRITE_NOTHING && !flags ? QPU_NEVER : QPU_ALWAYS;
    if (condition != expected)
        put(w, ".%s", condition == QPU_ALWAYS ? "always" : qpu_condition_name(condition));
    if (flags)
        put(w, ".setf");
}

static void put_add(struct writer *w)
{
    const struct qpu_instruction *i = w->word;
    bool same = i->add_a == i->add_b;
    bool unary = i->op_add == QPU_FTOI || i->op_add == QPU_ITOF || i->op_add == QPU_NOT || i->op_add == QPU_CLZ;
    bool move = i->op_add == QPU_OR && same;
    put(w, "%s", move ? "mov" : qpu_add_op_name(i->op_add));
    put_condition(w, i->condition_add, i->set_flags, i->waddr_add);
    put(w, " ");
    put_destination(w, false);
    put(w, ", ");
    put_source(w, i->add_a, false);
    if (!move && !(unary && same)) {
        put(w, ", ");
        put_source(w, i->add_b, false);
    }
}

static void put_mul(struct writer *w)
{
    const struct qpu_instruction *i = w->word;
    bool move = i->op_mul == QPU_V8MIN && i->mul_a == i->mul_b;
    bool rotated = i->signal == QPU_SIGNAL_SMALL_IMMEDIATE && i->raddr_b >= QPU_ROTATE_BASE;
    put(w, "%s", move ? "mov" : qpu_mul_op_name(i->op_mul));
    put_condition(w, i->condition_mul, i->set_flags && !i->op_add, i->waddr_mul);
    put(w, " ");
    put_destination(w, true);
    put(w, ", ");
    put_source(w, i->mul_a, rotated);
    if (!move) {
        put(w, ", ");
        put_source(w, i->mul_b, rotated);
    }
}

static bool uses(const struct qpu_instruction *i, unsigned mux)
{
    return (i->op_add && (i->add_a == mux || i->add_b == mux)) || (i->op_mul && (i->mul_a == mux || i->mul_b == mux));
}

/* What a port reads without an ALU using it: still popped, waited for or acquired. */
static void put_reads(struct writer *w)
{
    const struct qpu_instruction *i = w->word;
    bool small = i->signal == QPU_SIGNAL_SMALL_IMMEDIATE;
    if (i->raddr_a != QPU_READ_NOTHING && !uses(i, QPU_MUX_A)) {
        put(w, "; read ");
        put_register(w, i->raddr_a, QPU__FILE_A, QPU__READ);
    }
    if (uses(i, QPU_MUX_B) || (small && i->raddr_b >= QPU_ROTATE_BASE && i->op_mul))
        return;
    if (small) {
        put(w, "; read ");
        put_small_value(w, i->raddr_b);
    } else if (i->raddr_b != QPU_READ_NOTHING) {
        put(w, "; read ");
        put_register(w, i->raddr_b, QPU__FILE_B, QPU__READ);
    }
}

static bool put_alu(struct writer *w)
{
    const struct qpu_instruction *i = w->word;
    if (!qpu_add_op_name(i->op_add))
        return false;
    /* v8adds, v8subs and mov alone would go to the add ALU */
    bool shared = i->op_mul >= QPU_MUL_V8ADDS || (i->op_mul == QPU_V8MIN && i->mul_a == i->mul_b);
    if (i->op_add)
        put_add(w);
    else if (!i->op_mul || shared)
        put(w, "nop%s", i->set_flags && !i->op_mul ? ".setf" : "");
    if (i->op_mul) {
        put(w, "%s", i->op_add || shared ? "; " : "");
        put_mul(w);
    }
    put_reads(w);
    if (i->signal != QPU_SIGNAL_NONE && i->signal != QPU_SIGNAL_SMALL_IMMEDIATE)
        put(w, "; %s", qpu_signal_name(i->signal));
    return true;
}

static void put_elements(struct writer *w, uint32_t bits, bool is_signed)
{
    for (int i = 0; i < 16; i++) {
        int high = (int)(bits >> (16 + i) & 1), low = (int)(bits >> i & 1);
        put(w, "%s%d", i ? "," : "[", low + (is_signed ? -2 : 2) * high);
    }
    put(w, "]");
}

static bool put_load(struct writer *w)
{
    const struct qpu_instruction *i = w->word;
    bool semaphore = i->kind == QPU_SEMAPHORE;
    if (i->kind == QPU_RESERVED)
        return false;
    put(w, "%s", semaphore ? (i->immediate & 16 ? "sacq" : "srel") : "ldi");
    if (i->kind == QPU_LOAD_SIGNED && !(i->immediate >> 16))
        put(w, "s");
    bool two = i->waddr_mul != QPU_WRITE_NOTHING || i->condition_mul != QPU_NEVER ||
               (i->pack && (i->pack_mode || i->write_swap));
    put_condition(w, two ? QPU_ALWAYS : i->condition_add, i->set_flags, two ? 0 : i->waddr_add);
    put(w, " ");
    put_destination(w, false);
    if (two) {
        put(w, ".%s, ", i->condition_add == QPU_ALWAYS ? "always" : qpu_condition_name(i->condition_add));
        put_destination(w, true);
        put(w, ".%s", i->condition_mul == QPU_ALWAYS ? "always" : qpu_condition_name(i->condition_mul));
    }
    put(w, ", ");
    if (semaphore)
        put(w, i->immediate > 31 ? "0x%x" : "%u", (unsigned)(i->immediate & ~16u));
    else if (i->kind == QPU_LOAD)
        put(w, "0x%x", (unsigned)i->immediate);
    else
        put_elements(w, i->immediate, i->kind == QPU_LOAD_SIGNED);
    return true;
}

static bool put_branch(struct writer *w, const char *label)
{
    const struct qpu_instruction *i = w->word;
    const char *condition = qpu_branch_condition_name(i->branch_condition);
    if (!condition || i->branch_unused)
        return false;
    put(w, "br%c%s%s ", i->branch_relative ? 'r' : 'a', *condition ? "." : "", condition);
    put_destination(w, false);
    bool two = i->waddr_mul != QPU_WRITE_NOTHING;
    if (two || w->exact) {
        put(w, ", ");
        put_destination(w, true);
    }
    if (label)
        put(w, ", r:%s", label);
    else if (i->immediate || !i->branch_register)
        put(w, ", %s0x%x", i->branch_relative ? "+" : "", (unsigned)i->immediate);
    else if (two || w->exact)
        put(w, ", 0");
    if (i->branch_register)
        put(w, ", ra%u", i->branch_raddr);
    else if (two || w->exact)
        put(w, ", -");
    return true;
}

bool qpu__write(char *text, const struct qpu_instruction *word, bool exact, const char *label)
{
    struct writer w = {.text = text, .word = word, .exact = exact};
    *text = 0;
    if (word->kind == QPU_ALU)
        return put_alu(&w);
    return word->kind == QPU_BRANCH ? put_branch(&w, label) : put_load(&w);
}

bool qpu_disassemble_word(char *text, uint64_t word)
{
    struct qpu_instruction instruction = qpu_decode(word);
    uint64_t again;
    for (int exact = 0; exact < 2; exact++)
        if (qpu__write(text, &instruction, exact, NULL) && qpu_assemble_word(&again, text) && again == word)
            return true;
    snprintf(text, QPU_TEXT_BYTES, ".int 0x%08x, 0x%08x", (unsigned)word, (unsigned)(word >> 32));
    return false;
}
