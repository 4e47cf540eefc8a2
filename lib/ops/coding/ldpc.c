/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* LDPC decoding of blocks: checks a description, fills in its defaults and hands it on as a problem for a backend. */
#include "ops/coding/ldpc.h"
#include "core/base/description.h"
#include "core/choice/cpu_while_compiling.h"
#include "core/plan/plan.h"
#include "ops/coding/coding_check.h"

#include <string.h>

#define USUAL_ITERATIONS 10
#define MOST_ITERATIONS  1000
#define MOST_BATCH       ((size_t)1 << 31)
#define BATCH_BITS       ((size_t)1 << 18) /* of a batch when the caller does not say */

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "ldpc: " __VA_ARGS__)

/* ---------------------------------------------------------------- the graph ------------------- */

static int read_base(struct penstock_ldpc_problem *ldpc, const penstock_ldpc_desc *desc)
{
    if (!desc->base)
        return bad("base is NULL");
    if (!desc->rows || desc->rows > PENSTOCK_MAX_LDPC_ROWS)
        return bad("%u base rows are not in 1 .. %d", desc->rows, PENSTOCK_MAX_LDPC_ROWS);
    if (desc->columns <= desc->rows || desc->columns > PENSTOCK_MAX_LDPC_COLUMNS)
        return bad("%u base columns are not in %u .. %d", desc->columns, desc->rows + 1, PENSTOCK_MAX_LDPC_COLUMNS);
    for (unsigned row = 0; row < desc->rows; row++)
        for (unsigned column = 0; column < desc->columns; column++) {
            int shift = desc->base[(size_t)row * desc->columns + column];
            if (shift < -1)
                return bad("the shift at base row %u, column %u is %d", row, column, shift);
            if (shift >= 0 && !penstock__ldpc_add_edge(ldpc, row, column, (unsigned)shift))
                return bad("more than %d blocks of base row %u, or %d of all, are not zero", PENSTOCK_MAX_LDPC_DEGREE,
                           row, PENSTOCK_MAX_LDPC_EDGES);
        }
    return PENSTOCK_OK;
}

static int read_graph(struct penstock_ldpc_problem *ldpc, const penstock_ldpc_desc *desc)
{
    if (desc->lifting < 2 || desc->lifting > PENSTOCK_MAX_LDPC_LIFTING)
        return bad("a lifting of %u is not in 2 .. %d", desc->lifting, PENSTOCK_MAX_LDPC_LIFTING);
    ldpc->rows = desc->rows;
    ldpc->columns = desc->columns;
    ldpc->lifting = desc->lifting;
    switch (desc->graph) {
    case PENSTOCK_LDPC_BASE:
        return read_base(ldpc, desc);
    case PENSTOCK_LDPC_NR_BG1:
    case PENSTOCK_LDPC_NR_BG2:
        return penstock__ldpc_nr_graph(ldpc, desc->graph == PENSTOCK_LDPC_NR_BG1 ? 1 : 2, desc->rows, desc->lifting);
    case PENSTOCK_LDPC_AR4JA:
        return penstock__ldpc_ar4ja_graph(ldpc, desc->columns, desc->lifting);
    }
    return bad("graph %d is not PENSTOCK_LDPC_BASE, _NR_BG1, _NR_BG2 or _AR4JA", (int)desc->graph);
}

/* A check of one bit says that it is always 0, and a bit without checks is not coded at all. */
static int check_graph(const struct penstock_ldpc_problem *ldpc)
{
    bool used[PENSTOCK_MAX_LDPC_COLUMNS] = {false};
    for (unsigned row = 0; row < ldpc->rows; row++) {
        unsigned first = ldpc->first[row], end = ldpc->first[row + 1];
        if (end < first + 2)
            return bad("base row %u has %u blocks that are not zero; a check needs 2", row,
                       end > first ? end - first : 0);
        for (unsigned e = first; e < end; e++)
            used[ldpc->edges[e].column] = true;
    }
    for (unsigned column = 0; column < ldpc->columns; column++)
        if (!used[column])
            return bad("base column %u has only zero blocks: nothing checks its bits", column);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- the rest -------------------- */

static int check_lengths(const struct penstock_ldpc_problem *ldpc)
{
    const size_t data = penstock__ldpc_data(ldpc), word = penstock__ldpc_word(ldpc);
    if (ldpc->filler >= data)
        return bad("%zu filler bits leave none of %zu data bits", ldpc->filler, data);
    if (ldpc->punctured > data - ldpc->filler)
        return bad("%zu punctured bits at the start are more than the %zu data bits", ldpc->punctured,
                   data - ldpc->filler);
    if (ldpc->punctured_end > word - data)
        return bad("%zu punctured bits at the end are more than the %zu parity bits", ldpc->punctured_end, word - data);
    if (penstock__ldpc_sent(ldpc) < penstock__ldpc_bits(ldpc))
        return bad("%zu bits are sent for %zu data bits: too few", penstock__ldpc_sent(ldpc),
                   penstock__ldpc_bits(ldpc));
    return PENSTOCK_OK;
}

static int check_rest(const penstock_ldpc_desc *desc)
{
    if (desc->iterations > MOST_ITERATIONS)
        return bad("%u iterations are not in 1 .. %d", desc->iterations, MOST_ITERATIONS);
    return penstock__coding_check("ldpc", desc->soft, desc->result, desc->scale, desc->slots);
}

static void fill_in(struct penstock_ldpc_problem *ldpc, const penstock_ldpc_desc *desc)
{
    ldpc->punctured = desc->punctured;
    ldpc->punctured_end = desc->punctured_end;
    ldpc->filler = desc->filler;
    ldpc->iterations = desc->iterations ? desc->iterations : USUAL_ITERATIONS;
    ldpc->stop_early = desc->stop_early;
    ldpc->soft = desc->soft;
    ldpc->scale = desc->scale;
    ldpc->result = desc->result;
    ldpc->soft_result = desc->soft_result;
    ldpc->report = desc->report;
}

int penstock__ldpc_problem(struct penstock_problem *problem, penstock_ldpc_desc *checked,
                           const penstock_ldpc_desc *desc)
{
    struct penstock_ldpc_problem *ldpc = &problem->ldpc;
    penstock_ldpc_desc known;
    int status;
    *problem = (struct penstock_problem){.kind = PENSTOCK_PROBLEM_LDPC};
    if ((status = penstock__description_read(&known, sizeof known, desc, "penstock_ldpc_desc")) ||
        (status = check_rest(&known)) || (status = read_graph(ldpc, &known)) || (status = check_graph(ldpc)))
        return status;
    fill_in(ldpc, &known);
    if ((status = check_lengths(ldpc)))
        return status;
    problem->in_bytes = penstock__ldpc_sent(ldpc) * penstock__ldpc_soft_bytes(ldpc);
    problem->out_bytes = penstock__ldpc_out_bytes(ldpc);
    problem->batch = known.batch ? known.batch : BATCH_BITS / penstock__ldpc_bits(ldpc) + 1;
    if (problem->batch > MOST_BATCH)
        problem->batch = MOST_BATCH;
    if (checked)
        *checked = known;
    return PENSTOCK_OK;
}

int penstock_ldpc_plan(penstock_plan **plan, penstock_context *context, const penstock_ldpc_desc *desc,
                       const char *device)
{
    struct penstock_problem problem;
    penstock_ldpc_desc checked;
    int status;
    if ((status = penstock__plan_begin(plan, context, "ldpc")) ||
        (status = penstock__ldpc_problem(&problem, &checked, desc)))
        return status;
    return penstock__plan_new(plan, context, &problem, device, checked.slots,
                              penstock__cpu_while_compiling(context, device));
}

int penstock_ldpc_sizes(size_t *bits, size_t *sent, const penstock_ldpc_desc *desc)
{
    struct penstock_problem problem;
    int status = penstock__ldpc_problem(&problem, NULL, desc);
    if (bits)
        *bits = status ? 0 : penstock__ldpc_bits(&problem.ldpc);
    if (sent)
        *sent = status ? 0 : penstock__ldpc_sent(&problem.ldpc);
    return status;
}
