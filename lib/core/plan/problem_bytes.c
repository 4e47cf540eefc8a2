/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The struct, and behind it the arrays that it points to. The key is written from a table of the struct's fields. */
#include "core/plan/problem_bytes.h"

#include <inttypes.h>
#include <stdarg.h>
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
    if (problem->kind == PENSTOCK_PROBLEM_CODED)
        return (struct arrays){1,
                               {problem->coded.rates},
                               {(size_t)problem->coded.rate_count * problem->coded.row * sizeof *problem->coded.rates}};
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
    if (problem->kind == PENSTOCK_PROBLEM_CODED)
        problem->coded.rates = arrays->at[0];
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

/* ---------------------------------------------------------------- the key --------------------- */

/* How a field goes into the key. */
enum how {
    NUMBER, /* an integer, bool or enum */
    THERE,  /* a pointer or a double: whether it is zero */
    FACTOR  /* a float: whether it is 0, 1 or another */
};

struct field {
    const char *name;
    size_t at, bytes;
    enum how how;
};

#define FIELD(kind, member, how)                                        \
    {                                                                   \
#member, offsetof(struct penstock_problem, kind.member),        \
            sizeof(((struct penstock_problem *)NULL)->kind.member), how \
    }
#define FFT(member)      FIELD(fft, member, NUMBER)
#define OFDM(member)     FIELD(ofdm, member, NUMBER)
#define FILTER(member)   FIELD(filter, member, NUMBER)
#define VITERBI(member)  FIELD(viterbi, member, NUMBER)
#define LDPC(member)     FIELD(ldpc, member, NUMBER)
#define RESAMPLE(member) FIELD(resample, member, NUMBER)
#define CODED(member)    FIELD(coded, member, NUMBER)

static const struct field of_fft[] = {FFT(n),
                                      FFT(direction),
                                      FFT(domain),
                                      FFT(format),
                                      FIELD(fft, window, THERE),
                                      FFT(fold),
                                      FFT(hop),
                                      FFT(summed),
                                      FFT(spacing),
                                      FFT(skip),
                                      FIELD(fft, shift, THERE),
                                      FFT(output),
                                      FFT(centered),
                                      FFT(half),
                                      FIELD(fft, scale, FACTOR),
                                      FFT(average),
                                      FFT(gathered),
                                      FFT(rows),
                                      FFT(columns),
                                      FFT(transposed),
                                      FFT(options.radix),
                                      FFT(options.scratch),
                                      FFT(options.column_way),
                                      FFT(options.items),
                                      FFT(options.group),
                                      FFT(options.arithmetic),
                                      FFT(options.images),
                                      FFT(tune)};

static const struct field of_ofdm[] = {OFDM(n),
                                       OFDM(format),
                                       OFDM(bits),
                                       OFDM(carrier_count),
                                       FIELD(ofdm, bins, THERE),
                                       OFDM(mixed),
                                       OFDM(complete),
                                       OFDM(own),
                                       OFDM(pilot_count),
                                       OFDM(pilot_rows),
                                       FIELD(ofdm, pilot_bins, THERE),
                                       FIELD(ofdm, pilot_values, THERE)};

static const struct field of_filter[] = {FILTER(n),          FILTER(format),     FILTER(block),
                                         FILTER(first),      FILTER(partitions), FILTER(interpolation),
                                         FILTER(decimation), FILTER(rotated)};

/* Without the arrays of contents_of(). */
static const struct field of_viterbi[] = {VITERBI(count),  VITERBI(constraint), VITERBI(inverted),
                                          VITERBI(period), VITERBI(end),        VITERBI(depth),
                                          VITERBI(bits),   VITERBI(soft),       FIELD(viterbi, scale, FACTOR),
                                          VITERBI(result)};

static const struct field of_ldpc[] = {
    LDPC(rows),   LDPC(columns),     LDPC(lifting),    LDPC(punctured), LDPC(punctured_end),
    LDPC(filler), LDPC(iterations),  LDPC(stop_early), LDPC(soft),      FIELD(ldpc, scale, FACTOR),
    LDPC(result), LDPC(soft_result), LDPC(report)};

static const struct field of_resample[] = {RESAMPLE(format), RESAMPLE(real), RESAMPLE(complex_taps), RESAMPLE(block)};

static const struct field of_coded[] = {CODED(carriers),   CODED(pitch), CODED(generators),          CODED(constraint),
                                        CODED(rate_count), CODED(row),   FIELD(coded, rates, THERE), CODED(block_bytes),
                                        CODED(tally)};

#define KIND(kind)                                             \
    {                                                          \
#kind, of_##kind, sizeof of_##kind / sizeof *of_##kind \
    }

static const struct {
    const char *name;
    const struct field *fields;
    size_t count;
} kinds[] = {[PENSTOCK_PROBLEM_FFT] = KIND(fft),       [PENSTOCK_PROBLEM_OFDM] = KIND(ofdm),
             [PENSTOCK_PROBLEM_FILTER] = KIND(filter), [PENSTOCK_PROBLEM_VITERBI] = KIND(viterbi),
             [PENSTOCK_PROBLEM_LDPC] = KIND(ldpc),     [PENSTOCK_PROBLEM_RESAMPLE] = KIND(resample),
             [PENSTOCK_PROBLEM_CODED] = KIND(coded)};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Arrays whose content counts, as far as they are used. */
static struct arrays contents_of(const struct penstock_problem *problem)
{
    const struct penstock_viterbi_problem *viterbi = &problem->viterbi;
    const struct penstock_ldpc_problem *ldpc = &problem->ldpc;
    if (problem->kind == PENSTOCK_PROBLEM_VITERBI)
        return (struct arrays){2,
                               {viterbi->generators, viterbi->kept},
                               {sizeof viterbi->generators, least(viterbi->period, sizeof viterbi->kept)}};
    if (problem->kind == PENSTOCK_PROBLEM_LDPC) {
        size_t rows = least(ldpc->rows, PENSTOCK_MAX_LDPC_ROWS);
        return (struct arrays){
            2,
            {ldpc->first, ldpc->edges},
            {(rows + 1) * sizeof *ldpc->first, least(ldpc->first[rows] * sizeof *ldpc->edges, sizeof ldpc->edges)}};
    }
    return problem->kind == PENSTOCK_PROBLEM_OFDM || problem->kind == PENSTOCK_PROBLEM_CODED ? arrays_of(problem)
                                                                                             : (struct arrays){0};
}

struct line {
    char *text;
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
    size_t room = PENSTOCK__PROBLEM_KEY_BYTES - line->used;
    va_list arguments;
    int length;
    va_start(arguments, format);
    length = vsnprintf(line->text + line->used, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        line->used += least((size_t)length, room - 1);
}

static void add_field(struct line *line, const struct field *field, const struct penstock_problem *problem)
{
    const void *at = (const char *)problem + field->at;
    uint64_t number = 0; /* where the highest byte comes first it is another one, which tells as much */
    float factor;
    memcpy(&number, at, least(field->bytes, sizeof number));
    if (!number)
        return;
    if (field->how == NUMBER)
        add(line, " %s %" PRIu64, field->name, number);
    else if (field->how == THERE)
        add(line, " %s", field->name);
    else {
        memcpy(&factor, at, sizeof factor);
        add(line, " %s %s", field->name, factor == 1 ? "1" : "other");
    }
}

size_t penstock__problem_key(char key[PENSTOCK__PROBLEM_KEY_BYTES], const struct penstock_problem *problem)
{
    struct line line = {.text = key};
    struct arrays arrays = contents_of(problem);
    add(&line, "%s, batch %zu, bytes %zu to %zu:", kinds[problem->kind].name, problem->batch, problem->in_bytes,
        problem->out_bytes);
    for (size_t i = 0; i < kinds[problem->kind].count; i++)
        add_field(&line, &kinds[problem->kind].fields[i], problem);
    for (unsigned i = 0; i < arrays.count; i++)
        if (arrays.at[i])
            add(&line, " %016" PRIx64, penstock__hash(arrays.at[i], arrays.bytes[i]));
    add(&line, "\n");
    return line.used;
}
