/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Normalised min-sum by layers, written to be read: values in double precision, nothing rounded or limited. J. Chen,
 * A. Dholakia, E. Eleftheriou, M. Fossorier, X.-Y. Hu, "Reduced-complexity decoding of LDPC codes", IEEE Trans. Comm.
 * 53(8), 2005.
 */
#include "backends/ldpc_rule.h"
#include "backends/reference/reference.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CERTAIN ((double)FLT_MAX) /* of filler, and the most of floats */

struct work {
    const struct penstock_ldpc_problem *problem;
    double *values;   /* one a bit of the word */
    double *messages; /* one an edge: those of edge e of the base graph from e times lifting on, by check */
};

int penstock__reference_ldpc_init(struct penstock_plan_state *plan, unsigned variant)
{
    if (variant)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "reference has no variant %u", variant);
    snprintf(plan->variant, sizeof plan->variant, "ldpc, layers in double precision");
    plan->passes = 1;
    plan->best_batch = 1;
    return PENSTOCK_OK;
}

static double soft_value(penstock_soft soft, const void *in, size_t i)
{
    double value;
    if (soft == PENSTOCK_SOFT_S8)
        return ((const int8_t *)in)[i];
    if (soft == PENSTOCK_SOFT_HARD)
        return ((const uint8_t *)in)[i] ? -1 : 1;
    value = (double)((const float *)in)[i];
    return isnan(value) ? 0 : fmax(-CERTAIN, fmin(CERTAIN, value));
}

static void read_word(const struct work *work, const void *in)
{
    const struct penstock_ldpc_problem *problem = work->problem;
    struct penstock_ldpc_part parts[2];
    penstock__ldpc_parts(parts, problem);
    memset(work->values, 0, penstock__ldpc_word(problem) * sizeof *work->values);
    memset(work->messages, 0, (size_t)problem->first[problem->rows] * problem->lifting * sizeof *work->messages);
    for (size_t i = 0; i < problem->filler; i++)
        work->values[penstock__ldpc_bits(problem) + i] = CERTAIN;
    for (unsigned part = 0; part < 2; part++)
        for (size_t i = parts[part].at; i < parts[part].end; i++)
            work->values[i] = soft_value(problem->soft, in, parts[part].first + i - parts[part].at);
}

static double *value_at(const struct work *work, unsigned e, size_t check)
{
    const struct penstock_ldpc_edge *edge = &work->problem->edges[e];
    const size_t lifting = work->problem->lifting;
    return &work->values[edge->column * lifting + (check + edge->shift) % lifting];
}

static void update(const struct work *work, unsigned row, size_t check)
{
    const unsigned first = work->problem->first[row], end = work->problem->first[row + 1];
    double *messages = work->messages + check;
    const size_t pitch = work->problem->lifting;
    const double factor = penstock__ldpc_factor(work->problem);
    double sent[PENSTOCK_MAX_LDPC_DEGREE];
    for (unsigned e = first; e < end; e++)
        sent[e - first] = *value_at(work, e, check) - messages[e * pitch];
    for (unsigned e = first; e < end; e++) {
        double least = INFINITY;
        bool negative = false;
        for (unsigned other = first; other < end; other++)
            if (other != e) {
                least = fmin(least, fabs(sent[other - first]));
                negative ^= sent[other - first] < 0;
            }
        messages[e * pitch] = factor * (negative ? -least : least);
    }
    for (unsigned e = first; e < end; e++)
        *value_at(work, e, check) = sent[e - first] + messages[e * pitch];
}

static bool holds(const struct work *work)
{
    for (unsigned row = 0; row < work->problem->rows; row++)
        for (size_t check = 0; check < work->problem->lifting; check++) {
            bool odd = false;
            for (unsigned e = work->problem->first[row]; e < work->problem->first[row + 1]; e++)
                odd ^= *value_at(work, e, check) < 0;
            if (odd)
                return false;
        }
    return true;
}

static penstock_ldpc_report decode(const struct work *work)
{
    const struct penstock_ldpc_problem *problem = work->problem;
    unsigned done = 0;
    bool parity = false;
    while (done < problem->iterations && !(problem->stop_early && parity)) {
        for (unsigned row = 0; row < problem->rows; row++)
            for (size_t check = 0; check < problem->lifting; check++)
                update(work, row, check);
        done++;
        parity = holds(work);
    }
    return (penstock_ldpc_report){(uint16_t)done, parity};
}

static void write_bits(const struct work *work, uint8_t *out, penstock_ldpc_report report)
{
    const struct penstock_ldpc_problem *problem = work->problem;
    const size_t bits = penstock__ldpc_bits(problem), bytes = penstock__ldpc_bits_bytes(problem);
    memset(out, 0, penstock__ldpc_out_bytes(problem));
    for (size_t i = 0; i < bits; i++) {
        double value = work->values[i];
        uint8_t one = value < 0;
        if (problem->soft_result)
            ((int8_t *)out)[i] = (int8_t)rint(fmax(-PENSTOCK_LDPC_LEVEL, fmin(PENSTOCK_LDPC_LEVEL, value)));
        else if (problem->result == PENSTOCK_BITS_UNPACKED)
            out[i] = one;
        else
            out[i / 8] |= (uint8_t)(one << (problem->result == PENSTOCK_BITS_LSB_FIRST ? i % 8 : 7 - i % 8));
    }
    if (problem->report)
        memcpy(out + (bytes + 3) / 4 * 4, &report, sizeof report);
}

int penstock__reference_ldpc_enqueue(struct penstock_plan_state *plan, const struct penstock_job *job)
{
    const struct penstock_ldpc_problem *problem = &plan->problem->ldpc;
    const size_t edges = (size_t)problem->first[problem->rows] * problem->lifting;
    struct work work = {.problem = problem,
                        .values = penstock__calloc(penstock__ldpc_word(problem), sizeof *work.values),
                        .messages = penstock__calloc(edges, sizeof *work.messages)};
    int status = work.values && work.messages ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
    for (size_t i = 0; !status && i < job->frames; i++) {
        read_word(&work, (const char *)job->in->host + i * plan->problem->in_bytes);
        write_bits(&work, (uint8_t *)job->out->host + i * plan->problem->out_bytes, decode(&work));
    }
    penstock__free(work.messages);
    penstock__free(work.values);
    return status;
}
