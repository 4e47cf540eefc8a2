/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Rules about one instruction by itself. */
#include "hazards.h"

static void same_destination(struct qpu__assembler *as, const struct qpu__fact *fact)
{
    const struct qpu__write *a = &fact->writes[0], *b = &fact->writes[1];
    char text[16];
    if (fact->write_count < 2 || a->address != b->address || a->address < QPU_WRITE_R0)
        return;
    bool two_registers = a->address == QPU_WRITE_VPM_SETUP || a->address == QPU_WRITE_VPM_ADDRESS;
    bool complementary = a->condition >= QPU_IF_ZERO && (a->condition ^ 1) == b->condition;
    bool one_never = a->condition == QPU_NEVER || b->condition == QPU_NEVER;
    if (two_registers || ((complementary || one_never) && !qpu__is_peripheral(a->address)))
        return;
    qpu__report(as, fact->origin, QPU_RULE_SAME_DESTINATION,
                qpu__is_peripheral(a->address) ? "both ALUs write %s"
                                               : "both ALUs write %s, under conditions that may hold together",
                qpu__write_name(a, text));
}

static void conditional_writes(struct qpu__assembler *as, const struct qpu__fact *fact)
{
    char text[16];
    for (int w = 0; w < fact->write_count; w++)
        if (qpu__is_peripheral(fact->writes[w].address) && fact->writes[w].condition != QPU_ALWAYS)
            qpu__report(as, fact->origin, QPU_RULE_CONDITIONAL_WRITE,
                        "%s acts whatever the condition: a peripheral must be written unconditionally",
                        qpu__write_name(&fact->writes[w], text));
}

static bool is_tlb_signal(unsigned signal)
{
    return signal == QPU_SIGNAL_LOAD_COVERAGE || signal == QPU_SIGNAL_LOAD_COLOR ||
           signal == QPU_SIGNAL_LOAD_COLOR_AND_END || signal == QPU_SIGNAL_LOAD_ALPHA;
}

static bool is_tmu_load(const struct qpu__fact *fact)
{
    return fact->i.signal == QPU_SIGNAL_LOAD_TMU0 || fact->i.signal == QPU_SIGNAL_LOAD_TMU1;
}

static void one_unit(struct qpu__assembler *as, const struct qpu__fact *fact)
{
    int count = qpu__count_writes(fact, QPU_WRITE_TMU0_S, QPU_WRITE_TMU1_B) +
                qpu__count_writes(fact, QPU_WRITE_SFU_RECIP, QPU_WRITE_SFU_LOG) +
                qpu__count_writes(fact, QPU_WRITE_TLB_STENCIL, QPU_WRITE_TLB_ALPHA_MASK) +
                qpu__count_writes(fact, QPU_WRITE_MUTEX, QPU_WRITE_MUTEX) + qpu__reads(fact, QPU_READ_MUTEX) +
                (fact->i.kind == QPU_SEMAPHORE) + is_tmu_load(fact) + is_tlb_signal(fact->i.signal);
    if (count > 1)
        qpu__report(as, fact->origin, QPU_RULE_ONE_UNIT,
                    "an instruction uses at most one of TMU, SFU, mutex, semaphore and tile buffer, this one %d",
                    count);
}

static void vpm_combination(struct qpu__assembler *as, const struct qpu__fact *fact)
{
    int setups = qpu__count_writes(fact, QPU_WRITE_VPM_SETUP, QPU_WRITE_VPM_SETUP);
    bool access = qpu__reads(fact, QPU_READ_VPM) || qpu__writes(fact, QPU_WRITE_VPM, QPU_WRITE_VPM);
    if (setups > 1)
        qpu__report(as, fact->origin, QPU_RULE_VPM_COMBINATION, "vr_setup and vw_setup in one instruction");
    if (setups && access)
        qpu__report(as, fact->origin, QPU_RULE_VPM_COMBINATION, "set-up and access of the VPM in one instruction");
    if (access && is_tmu_load(fact))
        qpu__report(as, fact->origin, QPU_RULE_VPM_COMBINATION, "access of the VPM and %s in one instruction",
                    qpu_signal_name(fact->i.signal));
}

/* Packing to file A: bytes go to registers alone, nothing to accumulators. */
static void pack_target(struct qpu__assembler *as, const struct qpu__fact *fact)
{
    const struct qpu_instruction *i = &fact->i;
    char text[16];
    if (i->kind == QPU_BRANCH || !i->pack || i->pack_mode)
        return;
    bool bytes = (i->pack >= 3 && i->pack <= 7) || i->pack >= 11;
    for (int w = 0; w < fact->write_count; w++) {
        const struct qpu__write *write = &fact->writes[w];
        if (!write->file_a || write->address < QPU_WRITE_R0)
            continue;
        if (!qpu__is_peripheral(write->address))
            qpu__report(as, fact->origin, QPU_RULE_PACK_TARGET, "only registers of file A pack, %s does not",
                        qpu__write_name(write, text));
        else if (bytes)
            qpu__report(as, fact->origin, QPU_RULE_PACK_TARGET, "bytes cannot be packed into %s",
                        qpu__write_name(write, text));
    }
}

static void rotation(struct qpu__assembler *as, const struct qpu__fact *fact)
{
    const struct qpu_instruction *i = &fact->i;
    if (qpu__rotates(fact) && (i->mul_a > QPU_MUX_R3 || i->mul_b > QPU_MUX_R3))
        qpu__report(as, fact->origin, QPU_RULE_ROTATE_QUAD,
                    "this rotates within quads only: all 16 elements rotate where both sources are r0 to r3");
}

static void branch(struct qpu__assembler *as, const struct qpu__fact *fact)
{
    if (fact->i.kind == QPU_BRANCH && fact->i.branch_register && fact->i.branch_raddr & 1)
        qpu__report(as, fact->origin, QPU_RULE_BRANCH_FLAGS,
                    "a branch by ra%u also sets flags: its lowest bit is that of setf", (unsigned)fact->i.branch_raddr);
}

void qpu__check_single(struct qpu__flow *flow)
{
    for (int i = 0; i < flow->count; i++) {
        const struct qpu__fact *fact = &flow->facts[i];
        if (fact->data)
            continue;
        same_destination(flow->as, fact);
        conditional_writes(flow->as, fact);
        one_unit(flow->as, fact);
        vpm_combination(flow->as, fact);
        pack_target(flow->as, fact);
        rotation(flow->as, fact);
        branch(flow->as, fact);
    }
}
