/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The codes of 3GPP TS 38.212 5.3.2: a base graph's first rows, lifted. */
#include "ops/coding/ldpc.h"

/* Liftings are these numbers times powers of two, up to 384: table 5.3.2-1. */
static const unsigned sets[] = {2, 3, 5, 7, 9, 11, 13, 15};
enum { SETS = sizeof sets / sizeof *sets, MOST_LIFTING = 384, LEAST_ROWS = 4 };

int penstock__ldpc_nr_set(unsigned lifting)
{
    for (unsigned i = 0; i < SETS; i++)
        for (unsigned z = sets[i]; z <= MOST_LIFTING; z *= 2)
            if (z == lifting)
                return (int)i;
    return -1;
}

int penstock__ldpc_nr_graph(struct penstock_ldpc_problem *ldpc, unsigned base_graph, unsigned rows, unsigned lifting)
{
    const struct penstock__ldpc_nr_edge *edge = base_graph == 1 ? penstock__ldpc_nr_bg1 : penstock__ldpc_nr_bg2;
    const unsigned all = base_graph == 1 ? 46 : 42, data = base_graph == 1 ? 22 : 10;
    int set = penstock__ldpc_nr_set(lifting);
    if (set < 0)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ldpc: NR has no lifting of %u", lifting);
    ldpc->rows = rows ? rows : all;
    if (ldpc->rows < LEAST_ROWS || ldpc->rows > all)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ldpc: %u rows of base graph %u are not in %d .. %u", rows,
                               base_graph, LEAST_ROWS, all);
    ldpc->columns = data + ldpc->rows;
    for (unsigned row = 0; row < ldpc->rows; row++)
        do
            penstock__ldpc_add_edge(ldpc, row, edge->column, edge->shift[set]);
        while (!edge++->last);
    return PENSTOCK_OK;
}
