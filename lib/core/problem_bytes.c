/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The struct, and behind it the arrays that it points to. */
#include "core/problem_bytes.h"

#include <stdio.h>
#include <string.h>

#define MAX_ARRAYS 3

struct head {
    char version[24];
    size_t head_bytes;
    struct penstock_problem problem;
};

struct arrays {
    unsigned count;
    const void *at[MAX_ARRAYS];
    size_t bytes[MAX_ARRAYS];
};

/* Those of a problem, all of which hold numbers of 32 bits. */
static struct arrays arrays_of(const struct penstock_problem *problem)
{
    const struct penstock_fft_problem *fft = &problem->fft;
    const struct penstock_ofdm_problem *ofdm = &problem->ofdm;
    if (problem->kind == PENSTOCK_PROBLEM_FFT)
        return (struct arrays){1, {fft->window}, {penstock__fft_window_count(fft) * sizeof *fft->window}};
    if (problem->kind == PENSTOCK_PROBLEM_OFDM)
        return (struct arrays){3,
                               {ofdm->bins, ofdm->pilot_bins, ofdm->pilot_values},
                               {ofdm->carrier_count * sizeof *ofdm->bins, ofdm->pilot_count * sizeof *ofdm->pilot_bins,
                                ofdm->pilot_rows * ofdm->pilot_count * sizeof *ofdm->pilot_values}};
    return (struct arrays){0};
}

void *penstock__problem_pack(size_t *bytes, const struct penstock_problem *problem)
{
    struct arrays arrays = arrays_of(problem);
    struct head head = {.head_bytes = sizeof head, .problem = *problem};
    char *packed;
    *bytes = sizeof head;
    for (unsigned i = 0; i < arrays.count; i++)
        *bytes += arrays.bytes[i];
    if (!(packed = penstock__alloc(*bytes)))
        return NULL;
    snprintf(head.version, sizeof head.version, "%s", penstock_version());
    memcpy(packed, &head, sizeof head);
    for (size_t i = 0, at = sizeof head; i < arrays.count; at += arrays.bytes[i++])
        if (arrays.bytes[i])
            memcpy(packed + at, arrays.at[i], arrays.bytes[i]);
    return packed;
}

/* Gives the problem the arrays that it has now. */
static void point_to(struct penstock_problem *problem, const struct arrays *arrays)
{
    if (problem->kind == PENSTOCK_PROBLEM_FFT)
        problem->fft.window = arrays->at[0];
    if (problem->kind == PENSTOCK_PROBLEM_OFDM) {
        problem->ofdm.bins = arrays->at[0];
        problem->ofdm.pilot_bins = arrays->at[1];
        problem->ofdm.pilot_values = arrays->at[2];
    }
}

bool penstock__problem_unpack(struct penstock_problem *problem, const void *packed, size_t bytes)
{
    char version[24];
    struct arrays arrays;
    struct head head;
    size_t at = sizeof head;
    snprintf(version, sizeof version, "%s", penstock_version());
    if (bytes < sizeof head)
        return false;
    memcpy(&head, packed, sizeof head);
    if (memcmp(head.version, version, strlen(version) + 1) || head.head_bytes != sizeof head)
        return false;
    arrays = arrays_of(&head.problem);
    for (unsigned i = 0; i < arrays.count; at += arrays.bytes[i++]) {
        if (arrays.bytes[i] > bytes - at)
            return false;
        arrays.at[i] = arrays.bytes[i] ? (const char *)packed + at : NULL;
    }
    *problem = head.problem;
    point_to(problem, &arrays);
    return at == bytes;
}
