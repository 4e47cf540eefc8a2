/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What an instruction reads and writes, and the order of the checks. */
#include "hazards.h"

#include <stdio.h>

static void add_write(struct qpu__fact *fact, unsigned address, unsigned condition, bool mul)
{
    fact->writes[fact->write_count++] = (struct qpu__write){
        .address = (uint8_t)address, .condition = (uint8_t)condition, .file_a = mul == fact->i.write_swap, .mul = mul};
}

struct qpu__fact qpu__fact_of(uint64_t word, const struct qpu__origin *origin)
{
    struct qpu__fact fact = {.i = qpu_decode(word), .origin = origin, .data = origin->data};
    const struct qpu_instruction *i = &fact.i;
    fact.small = i->kind == QPU_ALU && i->signal == QPU_SIGNAL_SMALL_IMMEDIATE;
    bool branch = i->kind == QPU_BRANCH;
    unsigned taken = i->branch_condition == QPU_BRANCH_ALWAYS ? QPU_ALWAYS : QPU_IF_ZERO;
    if (i->waddr_add != QPU_WRITE_NOTHING && (i->kind != QPU_ALU || i->op_add))
        add_write(&fact, i->waddr_add, branch ? taken : i->condition_add, false);
    if (i->waddr_mul != QPU_WRITE_NOTHING && (i->kind != QPU_ALU || i->op_mul))
        add_write(&fact, i->waddr_mul, branch ? taken : i->condition_mul, true);
    return fact;
}

bool qpu__uses(const struct qpu__fact *fact, unsigned mux)
{
    const struct qpu_instruction *i = &fact->i;
    return i->kind == QPU_ALU &&
           ((i->op_add && (i->add_a == mux || i->add_b == mux)) || (i->op_mul && (i->mul_a == mux || i->mul_b == mux)));
}

bool qpu__reads(const struct qpu__fact *fact, unsigned address)
{
    return fact->i.kind == QPU_ALU && (fact->i.raddr_a == address || (!fact->small && fact->i.raddr_b == address));
}

int qpu__count_writes(const struct qpu__fact *fact, unsigned first, unsigned last)
{
    int count = 0;
    for (int w = 0; w < fact->write_count; w++)
        count += fact->writes[w].address >= first && fact->writes[w].address <= last;
    return count;
}

bool qpu__writes(const struct qpu__fact *fact, unsigned first, unsigned last)
{
    return qpu__count_writes(fact, first, last) > 0;
}

bool qpu__rotates(const struct qpu__fact *fact)
{
    return fact->small && fact->i.op_mul && fact->i.raddr_b >= QPU_ROTATE_BASE;
}

bool qpu__is_peripheral(unsigned waddr)
{
    return waddr == QPU_WRITE_TMU_NOSWAP || waddr == QPU_WRITE_HOST_INTERRUPT || waddr >= QPU_WRITE_UNIFORMS_ADDRESS;
}

const char *qpu__write_name(const struct qpu__write *write, char text[16])
{
    unsigned file = write->file_a ? QPU__FILE_A : QPU__FILE_B;
    const char *name = qpu__register_name(write->address, file, QPU__WRITE);
    if (name)
        return name;
    snprintf(text, 16, "r%c%u", write->file_a ? 'a' : 'b', (unsigned)write->address);
    return text;
}

static uint64_t load_word(const uint8_t *bytes)
{
    uint64_t word = 0;
    for (int i = 7; i >= 0; i--)
        word = word << 8 | bytes[i];
    return word;
}

void qpu__check(struct qpu__assembler *as)
{
    struct qpu__flow flow = {.as = as, .count = (int)(as->size / 8)};
    if (!flow.count)
        return;
    flow.facts = qpu__alloc(&as->arena, (size_t)flow.count * sizeof *flow.facts);
    if (!flow.facts)
        return;
    for (int i = 0; i < flow.count; i++)
        flow.facts[i] = qpu__fact_of(load_word(as->bytes + 8 * i), &as->origins[i]);
    qpu__check_single(&flow);
    if (!qpu__build_flow(&flow))
        return;
    qpu__check_near(&flow);
    qpu__check_end(&flow);
    qpu__check_queues(&flow);
}
