/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The end of a program: what the instruction with thrend and the two after it may not do. */
#include "hazards.h"

static void last_three(struct qpu__assembler *as, const struct qpu__fact *fact)
{
    static const struct {
        uint8_t read, write; /* QPU_READ_NOTHING: no such register */
        const char *what;
    } table[] = {
        {14, 14, "register 14"},
        {QPU_READ_UNIFORM, QPU_WRITE_NOTHING, "uniforms"},
        {QPU_READ_VARYING, QPU_WRITE_NOTHING, "varyings"},
        {QPU_READ_VPM, QPU_WRITE_VPM, "the VPM"},
        {QPU_READ_VPM_BUSY, QPU_WRITE_VPM_SETUP, "the VPM's set-up"},
        {QPU_READ_VPM_WAIT, QPU_WRITE_VPM_ADDRESS, "VPM transfers"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (qpu__reads(fact, table[i].read) || qpu__writes(fact, table[i].write, table[i].write))
            qpu__report(as, fact->origin, QPU_RULE_THREAD_END,
                        "the instruction with thrend and the two after it may not touch %s", table[i].what);
}

void qpu__check_end(struct qpu__flow *flow)
{
    for (size_t n = 0; n < flow->node_count; n++) {
        const struct qpu__node *node = &flow->nodes[n];
        const struct qpu__fact *fact = &flow->facts[node->index];
        bool ends = fact->i.kind == QPU_ALU && fact->i.signal == QPU_SIGNAL_END;
        if (ends && qpu__writes(fact, 0, 31))
            qpu__report(flow->as, fact->origin, QPU_RULE_THREAD_END,
                        "the instruction with thrend may not write register files");
        if (ends && node->branch != QPU__NO_BRANCH)
            qpu__report(flow->as, fact->origin, QPU_RULE_THREAD_END, "thrend in a delay slot");
        if (node->branch == QPU__ENDING && fact->i.kind == QPU_BRANCH)
            qpu__report(flow->as, fact->origin, QPU_RULE_THREAD_END, "a branch in the last two instructions");
        if (ends || node->branch == QPU__ENDING)
            last_three(flow->as, fact);
    }
}
