/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The graph of a low-density parity-check code, an edge at a time. */
#include "ops/coding/ldpc.h"

bool penstock__ldpc_add_edge(struct penstock_ldpc_problem *ldpc, unsigned row, unsigned column, unsigned shift)
{
    uint16_t *end = &ldpc->first[row + 1];
    if (!*end)
        *end = ldpc->first[row];
    if (*end == PENSTOCK_MAX_LDPC_EDGES || *end - ldpc->first[row] == PENSTOCK_MAX_LDPC_DEGREE)
        return false;
    ldpc->edges[(*end)++] = (struct penstock_ldpc_edge){(uint16_t)column, (uint16_t)(shift % ldpc->lifting)};
    return true;
}
