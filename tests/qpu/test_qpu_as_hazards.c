/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Every rule of the hazard checker: programs that it rejects by just that rule, and near misses that it accepts. */
#include "as/assembler.h"
#include "test.h"

#define END "nop; thrend\nnop\nnop\n"

static const struct {
    enum qpu_rule rule;
    int line; /* of the report; 0: accepted */
    const char *source;
} programs[] = {
    {QPU_RULE_REGISTER_LATENCY, 2, "mov ra1, r0\nmov r1, ra1\n" END},
    {QPU_RULE_REGISTER_LATENCY, 0, "mov ra1, r0\nmov r1, rb1\n" END},
    {QPU_RULE_REGISTER_LATENCY, 0, "mov ra1, r0\nnop\nmov r1, ra1\n" END},
    {QPU_RULE_REGISTER_LATENCY, 0, "mov.never ra1, r0\nmov r1, ra1\n" END},
    {QPU_RULE_REGISTER_LATENCY, 0, "mov ra1, r0\nmov r1, r2; read ra1\n" END}, /* the port alone */
    {QPU_RULE_REGISTER_LATENCY, 2, "ldi rb7, 3\nfmul r1, r2, rb7\n" END},
    {QPU_RULE_REGISTER_LATENCY, 0, "ldi rb7, 3\nfmul r1, r2, 7\n" END}, /* small immediate 7, no register */
    {QPU_RULE_REGISTER_LATENCY, 2, "mov ra2, r0\nbra -, ra2\nnop\nnop\nnop\n"},
    {QPU_RULE_REGISTER_LATENCY, 0, "mov ra2, r0\nnop\nbra -, ra2\nnop\nnop\nnop\n"},
    {QPU_RULE_REGISTER_LATENCY, 2, ":1\nmov r0, ra3\nbrr.allz -, r:1b\nnop\nnop\nmov ra3, r1\n" END}, /* back edge */
    {QPU_RULE_REGISTER_LATENCY, 0, ":1\nmov r0, ra3\nbrr.allz -, r:1b\nnop\nmov ra3, r1\nnop\n" END},
    {QPU_RULE_REGISTER_LATENCY, 0, "brr -, r:1f\nnop\nnop\nmov ra3, r1\nmov r0, ra3\n:1\n" END}, /* jumped over */
    {QPU_RULE_REGISTER_LATENCY, 2, "brr ra3, r:1f\nmov r0, ra3\nnop\nnop\n:1\n" END},            /* link */

    {QPU_RULE_ROTATE_LATENCY, 2, "mov r0, r1\nmov r2, r0 << 1\n" END},
    {QPU_RULE_ROTATE_LATENCY, 0, "mov r0, r1\nnop\nmov r2, r0 << 1\n" END},
    {QPU_RULE_ROTATE_LATENCY, 0, "mov r0, r1\nmov r2, r1 << 1\n" END},
    {QPU_RULE_ROTATE_LATENCY, 0, "mov r0, r1\nmov r2, r0\n" END},
    {QPU_RULE_ROTATE_LATENCY, 2, "mov r5rep, r1\nmov r2, r0 >> r5\n" END},
    {QPU_RULE_ROTATE_LATENCY, 0, "mov r5rep, r1\nmov r2, r0 >> 5\n" END},
    {QPU_RULE_ROTATE_LATENCY, 0, "mov r5rep, r1\nnop\nmov r2, r0 >> r5\n" END},

    {QPU_RULE_ROTATE_QUAD, 1, "mov r2, ra0 << 1\n" END},
    {QPU_RULE_ROTATE_QUAD, 1, "fmul r2, r1 << 1, r4\n" END},
    {QPU_RULE_ROTATE_QUAD, 0, "fmul r2, r1 << 1, r3\n" END},

    {QPU_RULE_SFU_LATENCY, 2, "mov recip, r0\nmov r1, r4\n" END},
    {QPU_RULE_SFU_LATENCY, 3, "mov recip, r0\nnop\nmov r1, r4\n" END},
    {QPU_RULE_SFU_LATENCY, 0, "mov recip, r0\nnop\nnop\nmov r1, r4\n" END},
    {QPU_RULE_SFU_LATENCY, 3, "mov log, r0\nnop\nmov exp, r1\n" END},
    {QPU_RULE_SFU_LATENCY, 0, "mov log, r0\nnop\nnop\nmov exp, r1\n" END},
    {QPU_RULE_SFU_LATENCY, 4, "mov t0s, r1\nmov recip, r0\nnop\nldtmu0\n" END},
    {QPU_RULE_SFU_LATENCY, 0, "mov t0s, r1\nmov recip, r0\nnop\nnop\nldtmu0\n" END},

    {QPU_RULE_BRANCH_DISTANCE, 3, "brr.allz -, r:1f\nnop\nbrr.alln -, r:1f\nnop\nnop\nnop\n:1\n" END},
    {QPU_RULE_BRANCH_DISTANCE, 0, "brr.allz -, r:1f\nnop\nnop\nbrr.alln -, r:1f\n:1\nnop\nnop\nnop\n" END},
    {QPU_RULE_BRANCH_DISTANCE, 6, /* from the third slot to the next branch, by way of the first one's target */
     "brr.allz -, r:1f\nnop\nnop\nbrr.alln -, r:2f\n:1\nbrr.anyz -, r:2f\n:2\nnop\nnop\nnop\n" END},
    {QPU_RULE_BRANCH_DISTANCE, 0,
     "brr.allz -, r:1f\nnop\nnop\nbrr.alln -, r:2f\n:1\nnop\nnop\nbrr.anyz -, r:2f\n:2\nnop\nnop\nnop\n" END},

    {QPU_RULE_BRANCH_FLAGS, 1, "bra -, ra3\nnop\nnop\nnop\n"},
    {QPU_RULE_BRANCH_FLAGS, 0, "bra -, ra4\nnop\nnop\nnop\n"},

    {QPU_RULE_SAME_DESTINATION, 1, "add r0, r1, r2; fmul r0, r1, r2\n" END},
    {QPU_RULE_SAME_DESTINATION, 1, "add.ifz r0, r1, r2; fmul.ifn r0, r1, r2\n" END},
    {QPU_RULE_SAME_DESTINATION, 0, "add.ifz r0, r1, r2; fmul.ifnz r0, r1, r2\n" END},
    {QPU_RULE_SAME_DESTINATION, 0, "add ra0, r1, r2; fmul rb0, r1, r2\n" END},
    {QPU_RULE_SAME_DESTINATION, 1, "add vpm, r1, r2; fmul vpm, r1, r2\n" END},

    {QPU_RULE_CONDITIONAL_WRITE, 1, "mov.ifz vpm, r0\n" END},
    {QPU_RULE_CONDITIONAL_WRITE, 1, "mov.never unif_addr, r0\n" END},
    {QPU_RULE_CONDITIONAL_WRITE, 0, "mov vpm, r0; mov.ifz r1, r2\n" END},
    {QPU_RULE_CONDITIONAL_WRITE, 0, "mov.ifz r5rep, r0\n" END},

    {QPU_RULE_ONE_UNIT, 2, "mov t0s, r0\nmov t1s, r0; ldtmu0\nldtmu1\n" END},
    {QPU_RULE_ONE_UNIT, 0, "mov t0s, r0\nmov t1s, r0\nldtmu0\nldtmu1\n" END},
    {QPU_RULE_ONE_UNIT, 1, "mov recip, r0; fmul exp, r1, r1\n" END},
    {QPU_RULE_ONE_UNIT, 1, "sacq recip, 3\n" END},
    {QPU_RULE_ONE_UNIT, 0, "sacq r0, 3\n" END},
    {QPU_RULE_ONE_UNIT, 1, "mov recip, mutex\n" END},
    {QPU_RULE_ONE_UNIT, 0, "mov r0, mutex\n" END},

    {QPU_RULE_VPM_COMBINATION, 2, "mov t0s, r0\nmov vpm, r1; ldtmu0\n" END},
    {QPU_RULE_VPM_COMBINATION, 0, "mov t0s, r0\nmov r0, r1; ldtmu0\nmov vpm, r1\n" END},
    {QPU_RULE_VPM_COMBINATION, 1, "ldi vr_setup, vw_setup, vpm_setup(1, 1, h32(0))\nnop\nnop\nnop\nmov -, vpm\n" END},
    {QPU_RULE_VPM_COMBINATION, 1, "mov vw_setup, r0; mov vpm, r1\n" END},
    {QPU_RULE_VPM_COMBINATION, 0, "mov vw_setup, r0\nmov vpm, r1\n" END},
    {QPU_RULE_VPM_COMBINATION, 0, /* a read and a write are fine */
     "ldi vr_setup, vpm_setup(1, 1, h32(0))\nnop\nnop\nnop\nmov vpm, vpm\n" END},

    {QPU_RULE_UNIFORM_LATENCY, 3, "mov unif_addr, r0\nnop\nmov r0, unif\n" END},
    {QPU_RULE_UNIFORM_LATENCY, 0, "mov unif_addr, r0\nnop\nnop\nmov r0, unif\n" END},

    {QPU_RULE_THREAD_END, 1, "mov ra0, r0; thrend\nnop\nnop\n"},
    {QPU_RULE_THREAD_END, 0, "mov r0, r1; thrend\nmov ra0, r0\nnop\n"},
    {QPU_RULE_THREAD_END, 3, "nop; thrend\nnop\nmov r0, unif\n"},
    {QPU_RULE_THREAD_END, 0, "mov r0, unif\nnop; thrend\nnop\nnop\n"},
    {QPU_RULE_THREAD_END, 2, "nop; thrend\nmov -, vw_wait\nnop\n"},
    {QPU_RULE_THREAD_END, 2, "nop; thrend\nmov ra14, r0\nnop\n"},
    {QPU_RULE_THREAD_END, 0, "nop; thrend\nmov ra13, r0\nnop\n"},
    {QPU_RULE_THREAD_END, 2, "nop; thrend\nnop\n"},
    {QPU_RULE_THREAD_END, 2, "brr -, r:1f\nnop; thrend\nnop\nnop\n:1\n" END},

    {QPU_RULE_NOSWAP_DISTANCE, 3, "mov tmurs, r0\nnop\nmov t0s, r1\nldtmu0\n" END},
    {QPU_RULE_NOSWAP_DISTANCE, 0, "mov tmurs, r0\nnop\nnop\nmov t0s, r1\nldtmu0\n" END},

    {QPU_RULE_TMU_QUEUE, 1, "ldtmu0\n" END},
    {QPU_RULE_TMU_QUEUE, 2, "mov t1s, r0\nldtmu0\nldtmu1\n" END},
    {QPU_RULE_TMU_QUEUE, 3, ".rep i, 5\nmov r0, i\nmov t0s, r0\n.endr\n.rep i, 5\nnop\nldtmu0\n.endr\n" END},
    {QPU_RULE_TMU_QUEUE, 0, ".rep i, 4\nmov t0s, r0\n.endr\n.rep i, 4\nldtmu0\n.endr\n" END},
    {QPU_RULE_TMU_QUEUE, 0, /* four ahead of a loop, one in and one out in it */
     ".rep i, 4\nmov t0s, r0\n.endr\n:1\nldtmu0\nsub.setf r1, r1, 1\nbrr.allnz -, r:1b\nmov t0s, r0\nnop\nnop\n"
     ".rep i, 4\nldtmu0\n.endr\n" END},
    {QPU_RULE_TMU_QUEUE, 5, /* one too many ahead of it */
     ".rep i, 4\nmov t0s, r0\n.endr\n:1\nmov t0s, r0\nldtmu0\nsub.setf r1, r1, 1\nbrr.allnz -, r:1b\nnop\nnop\nnop\n"
     ".rep i, 4\nldtmu0\n.endr\n" END},

    {QPU_RULE_VPM_SETUP, 1, "mov r0, vpm\n" END},
    {QPU_RULE_VPM_SETUP, 6, "ldi vr_setup, vpm_setup(1, 1, h32(0))\nnop\nnop\nnop\nmov r0, vpm\nmov r0, vpm\n" END},
    {QPU_RULE_VPM_SETUP, 0, "ldi vr_setup, vpm_setup(2, 1, h32(0))\nnop\nnop\nnop\nmov r0, vpm\nmov r0, vpm\n" END},
    {QPU_RULE_VPM_SETUP, 2,
     "ldi vr_setup, vpm_setup(2, 1, h32(0))\nldi vr_setup, vpm_setup(1, 1, h32(0))\nnop\nnop\nnop\n"
     "mov r0, vpm\nmov r0, vpm\nmov r0, vpm\n" END},
    {QPU_RULE_VPM_SETUP, 0,
     "ldi vr_setup, vpm_setup(1, 1, h32(0))\nldi vr_setup, vpm_setup(1, 1, h32(0))\nnop\nnop\nnop\n"
     "mov r0, vpm\nmov r0, vpm\n" END},
    {QPU_RULE_VPM_SETUP, 0, "mov vr_setup, r0\nnop\nnop\nnop\nmov r0, vpm\n" END}, /* by a register: unknown */
    {QPU_RULE_VPM_SETUP, 1, "mov r0, vpm\n:1\nldi vr_setup, vdr_setup_0(0, 16, 1, 1, vdr_h32(0, 0))\n" END},

    {QPU_RULE_VPM_LATENCY, 4, "ldi vr_setup, vpm_setup(1, 1, h32(0))\nnop\nnop\nmov r0, vpm\n" END},
    {QPU_RULE_VPM_LATENCY, 0, "ldi vr_setup, vpm_setup(1, 1, h32(0))\nnop\nnop\nnop\nmov r0, vpm\n" END},

    {QPU_RULE_PENDING_END, 4, "mov t0s, r0\nnop; thrend\nnop\nnop\n"},
    {QPU_RULE_PENDING_END, 0, "mov t0s, r0\nldtmu0\n" END},
    {QPU_RULE_PENDING_END, 4, "ldi vr_setup, vpm_setup(1, 1, h32(0))\nnop; thrend\nnop\nnop\n"},
    {QPU_RULE_PENDING_END, 0, "ldi vr_setup, vdr_setup_1(64)\nnop\n" END},

    {QPU_RULE_PACK_TARGET, 1, "mov r0.16a, r1\n" END},
    {QPU_RULE_PACK_TARGET, 0, "mov ra0.16a, r1\n" END},
    {QPU_RULE_PACK_TARGET, 1, "mov t0s.8a, r1\nldtmu0\n" END},
    {QPU_RULE_PACK_TARGET, 0, "fmul r0.8asf, r1, r2\n" END},

    {QPU_RULE_RUNS_OFF, 1, "mov r0, r1\n"},
    {QPU_RULE_RUNS_OFF, 1, "nop\n.int 1, 2\n"},
    {QPU_RULE_RUNS_OFF, 1, "brr -, +0x1000\nnop\nnop\nnop\n"},
    {QPU_RULE_RUNS_OFF, 0, END ".int 1, 2\n"},
    {QPU_RULE_RUNS_OFF, 0, END ".align 64\n.int 1, 2\n"},
    {QPU_RULE_RUNS_OFF, 0, "bra -, ra0\nnop\nnop\nnop\n"},
};

static void every_program(void)
{
    bool rejected[QPU_RULE_COUNT] = {false}, accepted[QPU_RULE_COUNT] = {false};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const char *source = programs[i].source;
        struct qpu_program program;
        qpu_assemble(&program, "x", source, strlen(source), NULL);
        bool found = false;
        for (size_t k = 0; k < program.diagnostic_count; k++) {
            const struct qpu_diagnostic *d = &program.diagnostics[k];
            found |= d->rule == programs[i].rule && d->line == programs[i].line;
            CHECK(programs[i].line && d->rule == programs[i].rule, "program %zu, line %d: %s\n%s", i, d->line, d->text,
                  source);
            CHECK(d->warning == qpu_rule_is_warning(d->rule), "program %zu", i);
        }
        CHECK(found == (programs[i].line != 0), "program %zu: %s expected in line %d\n%s", i,
              qpu_rule_name(programs[i].rule), programs[i].line, source);
        (programs[i].line ? rejected : accepted)[programs[i].rule] = true;
        qpu_program_free(&program);
    }
    for (int rule = QPU_RULE_NONE + 1; rule < QPU_RULE_COUNT; rule++)
        CHECK(rejected[rule] && accepted[rule], "%s", qpu_rule_name((enum qpu_rule)rule));
}

/* A rule may be left out, the checker too, and warnings can be errors. */
static void options(void)
{
    const char *source = "mov ra1, r0\nmov r1, ra1\nmov r2, ra0 << 1\n" END;
    struct qpu_assemble_options options = {.ignored[QPU_RULE_REGISTER_LATENCY] = true};
    struct qpu_program program;
    CHECK_EQ(qpu_assemble(&program, "x", source, strlen(source), &options), 0);
    CHECK_EQ(program.diagnostic_count, 1);
    qpu_program_free(&program);
    options.warnings_are_errors = true;
    CHECK_EQ(qpu_assemble(&program, "x", source, strlen(source), &options), -1);
    CHECK_EQ(program.error_count, 1);
    qpu_program_free(&program);
    options.no_check = true;
    CHECK_EQ(qpu_assemble(&program, "x", source, strlen(source), &options), 0);
    CHECK_EQ(program.diagnostic_count, 0);
    qpu_program_free(&program);
}

int main(void)
{
    every_program();
    options();
    return test_finish();
}
