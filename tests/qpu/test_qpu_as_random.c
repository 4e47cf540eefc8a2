/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A million valid words (a tenth under a sanitizer) come back from their own disassembly, as instructions, not as
 * data; and so does every other word, in whatever form.
 */
#include "as/assembler.h"
#include "test.h"

static unsigned below(uint64_t *state, unsigned limit)
{
    return (unsigned)(test_random(state) >> 33) % limit;
}

/* What no active ALU uses is as the assembler leaves it. */
static struct qpu_instruction alu(uint64_t *state)
{
    static const uint8_t signals[] = {QPU_SIGNAL_NONE, QPU_SIGNAL_NONE, QPU_SIGNAL_SMALL_IMMEDIATE};
    struct qpu_instruction i = qpu_decode(test_random(state));
    i.kind = QPU_ALU;
    i.signal = signals[below(state, 3)];
    if (below(state, 4) == 0)
        i.signal = (uint8_t)below(state, QPU_SIGNAL_SMALL_IMMEDIATE);
    i.unpack = i.pack = 0;
    i.pack_mode = false;
    do
        i.op_add = (uint8_t)below(state, 32);
    while (!qpu_add_op_name(i.op_add));
    if (!i.op_add) {
        i.condition_add = QPU_NEVER;
        i.waddr_add = QPU_WRITE_NOTHING;
        i.add_a = i.add_b = 0;
    }
    if (!i.op_mul) {
        i.condition_mul = QPU_NEVER;
        i.waddr_mul = QPU_WRITE_NOTHING;
        i.mul_a = i.mul_b = 0;
    }
    if (!i.op_add && !i.op_mul)
        i.write_swap = false;
    return i;
}

static bool uses(const struct qpu_instruction *i, unsigned mux)
{
    return (i->op_add && (i->add_a == mux || i->add_b == mux)) || (i->op_mul && (i->mul_a == mux || i->mul_b == mux));
}

static void add_packing(struct qpu_instruction *i, uint64_t *state)
{
    bool a_is_written = i->write_swap ? i->op_mul != 0 : i->op_add != 0;
    if (below(state, 2)) {
        i->pack = a_is_written ? (uint8_t)below(state, 16) : 0;
        i->unpack = uses(i, QPU_MUX_A) ? (uint8_t)below(state, 8) : 0;
    } else {
        i->pack = i->op_mul && below(state, 2) ? (uint8_t)(3 + below(state, 5)) : 0;
        i->unpack = uses(i, QPU_MUX_R4) ? (uint8_t)below(state, 8) : 0;
        i->pack_mode = i->pack || i->unpack;
    }
}

static uint64_t valid_word(uint64_t *state)
{
    struct qpu_instruction i;
    switch (below(state, 8)) {
    case 0:
        i = qpu_decode(test_random(state) >> 4 | UINT64_C(15) << 60);
        i.branch_unused = 0;
        i.branch_condition = (uint8_t)below(state, 12);
        if (below(state, 3) == 0)
            i.branch_condition = QPU_BRANCH_ALWAYS;
        if (!i.branch_register)
            i.branch_raddr = 0;
        break;
    case 1: {
        static const uint8_t types[] = {0, 1, 3, 4};
        uint8_t type = types[below(state, 4)];
        i = qpu_decode(test_random(state) >> 4 | UINT64_C(14) << 60);
        i.unpack = type;
        i.pack_mode = i.pack && i.pack_mode;
        if (i.pack_mode)
            i.pack = (uint8_t)(3 + below(state, 5));
        i = qpu_decode(qpu_encode(&i));
        break;
    }
    default:
        i = alu(state);
        add_packing(&i, state);
    }
    return qpu_encode(&i);
}

static bool assemble_data(uint64_t *word, const char *text)
{
    struct qpu_program program;
    bool good = qpu_assemble(&program, "data", text, strlen(text), NULL) == 0 && program.size == 8;
    *word = 0;
    for (int i = 7; good && i >= 0; i--)
        *word = *word << 8 | program.bytes[i];
    qpu_program_free(&program);
    return good;
}

int main(void)
{
    uint64_t state = 2013;
    int count = getenv("PENSTOCK_TEST_FULL") ? 20000000 : SANITIZED ? 100000 : 1000000;
    char text[QPU_TEXT_BYTES];
    for (int n = 0; n < count; n++) {
        uint64_t word = valid_word(&state), again = 0;
        bool known = qpu_disassemble_word(text, word);
        CHECK(known, "%016llx: %s", (unsigned long long)word, text);
        if (known) {
            bool good = qpu_assemble_word(&again, text);
            CHECK(good && again == word, "%016llx: %s is %016llx", (unsigned long long)word, text,
                  (unsigned long long)again);
        }
    }
    for (int n = 0; n < count / 10; n++) {
        uint64_t word = test_random(&state), again = 0;
        bool good = qpu_disassemble_word(text, word) ? qpu_assemble_word(&again, text) : assemble_data(&again, text);
        CHECK(good && again == word, "%016llx: %s is %016llx", (unsigned long long)word, text,
              (unsigned long long)again);
    }
    return test_finish();
}
