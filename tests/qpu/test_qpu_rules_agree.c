/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The assembler's hazard checker and the emulator's strict mode, written apart from each other, on random programs
 * without branches: what the one rejects the other traps, in the same line and for the same reason, and what the one
 * accepts the other runs to the end.
 */
#include "qpu_machine.h"

enum { LONGEST = 8, LINE = 96 };

static const char *const conditions[] = {"", "", "", "", ".ifz", ".ifnz", ".ifc", ".never"};
static const char *const sources[] = {"r0",  "r1",  "r2",   "r3",       "r4",      "r5", "ra1", "rb1",
                                      "ra2", "rb2", "unif", "elem_num", "qpu_num", "3",  "1.0", "ra14"};
static const char *const targets[] = {"-",   "r0",  "r1",  "r2",  "r3",   "r5rep", "r5quad", "ra1",
                                      "rb1", "ra2", "rb2", "ra3", "rb14", "ra1",   "rb1",    "r0"};
static const char *const peripherals[] = {"t0s",   "t1s",       "recip", "exp",       "log", "recipsqrt",
                                          "tmurs", "unif_addr", "vpm",   "interrupt", "t0s", "t1s"};
static const char *const accumulators[] = {"r0", "r1", "r2", "r3"};
static const char *const rotations[] = {"<< 1", ">> 1", ">> r5", "<< 15", "<< 7", ">> 5"};
static const char *const files[] = {"r0", "ra1", "rb2", "ra2"};
static const char *const others[] = {
    "nop; ldtmu0",
    "nop; ldtmu1",
    "nop; ldtmu0",
    "nop; ldtmu1",
    "mov r1, r4; ldtmu0",
    "fadd r0, r4, r4; ldtmu1",
    "mov vpm, r0; ldtmu0",
    "mov t0s, r0; ldtmu1",
    "nop",
    "nop",
    "ldi vr_setup, vpm_setup(1, 1, h32(0))",
    "ldi vr_setup, vpm_setup(2, 1, h32(0))",
    "ldi vw_setup, vpm_setup(1, 1, h32(0))",
    "mov r0, vpm",
    "read vpm",
    "mov vpm, vpm",
    "mov vw_setup, r0; mov vpm, r1",
    "ldi ra1, 5",
    "ldi rb1, 6",
    "ldi r5rep, 7",
    "ldi r0, 0",
    "ldi t0s, 0",
    "mov r0.16a, r1",
    "mov ra1.16a, r0",
    "mov ra1.8a, r2",
    "mov r0, ra1.8a",
    "mov t0s.8a, r0",
    "srel recip, 2",
    "add.ifz r0, r1, r2; fmul.ifnz r0, r1, r3",
    "add.ifz r0, r1, r2; fmul.ifn r0, r1, r3",
    "mov recip, r0; fmul exp, r1, r1",
    "mov ra2, r4; fmul rb1, r0, r4",
};
#define PICK(list, state) (list)[(test_random(state) >> 33) % (sizeof(list) / sizeof *(list))]

static void draw(char line[LINE], uint64_t *state)
{
    unsigned kind = (unsigned)(test_random(state) >> 33) % 100;
    if (kind < 30)
        snprintf(line, LINE, "mov%s%s %s, %s", kind < 10 ? ".setf" : "", PICK(conditions, state), PICK(targets, state),
                 PICK(sources, state));
    else if (kind < 48)
        snprintf(line, LINE, "mov%s %s, %s", kind < 32 ? PICK(conditions, state) : "", PICK(peripherals, state),
                 PICK(files, state));
    else if (kind < 60)
        snprintf(line, LINE, "mov %s, %s %s", PICK(files, state), PICK(accumulators, state), PICK(rotations, state));
    else if (kind < 68)
        snprintf(line, LINE, "fadd %s, %s, r4", PICK(targets, state), PICK(accumulators, state));
    else
        snprintf(line, LINE, "%s", PICK(others, state));
}

/* By which rule the checker finds what a hazard is. */
static enum qpu_rule rule_of(enum qpu_hazard hazard)
{
    switch (hazard) {
    case QPU_HAZARD_READ_AFTER_WRITE:
        return QPU_RULE_REGISTER_LATENCY;
    case QPU_HAZARD_ROTATE_AFTER_WRITE:
        return QPU_RULE_ROTATE_LATENCY;
    case QPU_HAZARD_SFU_WINDOW:
        return QPU_RULE_SFU_LATENCY;
    case QPU_HAZARD_SAME_REGISTER:
        return QPU_RULE_SAME_DESTINATION;
    case QPU_HAZARD_CONDITIONAL_PERIPHERAL:
        return QPU_RULE_CONDITIONAL_WRITE;
    case QPU_HAZARD_PERIPHERALS:
    case QPU_HAZARD_SEMAPHORE_TARGET:
        return QPU_RULE_ONE_UNIT;
    case QPU_HAZARD_TMU_WITH_VPM:
    case QPU_HAZARD_VPM_SETUP_WITH_ACCESS:
        return QPU_RULE_VPM_COMBINATION;
    case QPU_HAZARD_UNIFORMS_ADDRESS:
        return QPU_RULE_UNIFORM_LATENCY;
    case QPU_HAZARD_NOSWAP_DISTANCE:
        return QPU_RULE_NOSWAP_DISTANCE;
    case QPU_HAZARD_TMU_FULL:
    case QPU_HAZARD_TMU_EMPTY:
        return QPU_RULE_TMU_QUEUE;
    case QPU_HAZARD_VPM_READ_WITHOUT_SETUP:
    case QPU_HAZARD_VPM_SECOND_SETUP:
        return QPU_RULE_VPM_SETUP;
    case QPU_HAZARD_VPM_READ_TOO_SOON:
        return QPU_RULE_VPM_LATENCY;
    case QPU_HAZARD_END_TMU:
    case QPU_HAZARD_END_VPM:
        return QPU_RULE_PENDING_END;
    case QPU_HAZARD_PACK_TARGET:
        return QPU_RULE_PACK_TARGET;
    default:
        return QPU_RULE_NONE;
    }
}

struct tally {
    unsigned accepted, astray, rejected[QPU_RULE_COUNT];
};

/* First line that the checker complains of, 0 for none; `found` tells its rules there. */
static int first_line(const struct qpu_program *program, bool found[QPU_RULE_COUNT])
{
    int line = 0;
    for (size_t i = 0; i < program->diagnostic_count; i++) {
        const struct qpu_diagnostic *d = &program->diagnostics[i];
        if (d->rule != QPU_RULE_ROTATE_QUAD && (!line || d->line < line))
            line = d->line;
    }
    for (size_t i = 0; i < program->diagnostic_count; i++)
        if (program->diagnostics[i].line == line)
            found[program->diagnostics[i].rule] = true;
    return line;
}

static void compare(const char *source, struct tally *tally)
{
    struct qpu_program program;
    bool found[QPU_RULE_COUNT] = {false};
    struct machine *m = machine_of(source, (const uint32_t[4]){0});
    qpu_assemble(&program, "x", source, strlen(source), NULL);
    int line = first_line(&program, found);
    enum qpu_outcome outcome = machine_run(m, 1);
    struct qpu_trap trap = qpu_emulator_trap(m->emulator);
    int trapped = outcome == QPU_RUN_TRAPPED ? (int)(trap.pc - MEMORY) / 8 + 1 : 0;
    if (trap.hazard == QPU_HAZARD_TMU_ADDRESS || trap.hazard == QPU_HAZARD_UNIFORM_ADDRESS) {
        tally->astray++; /* by what was computed: not for the checker */
        goto done;
    }
    CHECK(outcome == QPU_RUN_ENDED || outcome == QPU_RUN_TRAPPED, "outcome %d\n%s", (int)outcome, source);
    CHECK(line == trapped, "the checker complains of line %d, the emulator of %d: %s\n%s", line, trapped,
          machine_trap(m), source);
    if (line && line == trapped) {
        enum qpu_rule rule = rule_of(trap.hazard);
        CHECK(rule && found[rule], "line %d: not %s\n%s", line, machine_trap(m), source);
        tally->rejected[rule]++;
    }
    tally->accepted += !line;
done:
    qpu_program_free(&program);
    machine_close(m);
}

/* Every rule but those of branches, of the end itself, and warnings that the emulator has nothing for. */
static void check_tally(const struct tally *tally, unsigned programs)
{
    for (int rule = QPU_RULE_NONE + 1; rule < QPU_RULE_COUNT; rule++) {
        bool other = rule == QPU_RULE_ROTATE_QUAD || rule == QPU_RULE_BRANCH_DISTANCE ||
                     rule == QPU_RULE_BRANCH_FLAGS || rule == QPU_RULE_THREAD_END || rule == QPU_RULE_RUNS_OFF;
        CHECK(other || tally->rejected[rule] >= programs / 2000, "%s: %u programs", qpu_rule_name((enum qpu_rule)rule),
              tally->rejected[rule]);
    }
    CHECK(tally->astray < programs / 500, "%u programs leave memory", tally->astray);
    CHECK(tally->accepted > programs / 20, "%u of %u programs are accepted", tally->accepted, programs);
    printf("%u programs, %u accepted by both\n", programs, tally->accepted);
}

int main(void)
{
    unsigned programs = getenv("PENSTOCK_TEST_FULL") ? 300000 : 5000;
    struct tally tally = {0};
    uint64_t state = 10;
    for (unsigned i = 0; i < programs; i++) {
        char source[(LONGEST + 5) * LINE] = "ldi vw_setup, vpm_setup(1, 1, h32(0))\n", line[LINE];
        unsigned lines = 1 + (unsigned)(test_random(&state) >> 33) % LONGEST;
        for (unsigned k = 0; k < lines; k++) {
            draw(line, &state);
            strcat(source, line);
            strcat(source, "\n");
        }
        strcat(source, END);
        compare(source, &tally);
    }
    check_tally(&tally, programs);
    return test_finish();
}
