/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The self-check of a plan that demodulates OFDM symbols: random samples, coefficients and rotations, with a list of
 * symbols, with the first and without, against a double-precision transform and the max-log ratio by its definition:
 * the nearest level with the bit 1 and the nearest with the bit 0.
 */
#include "core/check.h"
#include "core/check_samples.h"

#include <math.h>
#include <string.h>

#define SAMPLES     ((size_t)1 << 16)
#define SYMBOLS     37 /* odd: the last work-group of any size is not full */
#define FRAMES      3
#define GUARD_BYTES 64
#define GUARD       0xa5
#define FULL_SCALE  100 /* fits every format */
#define USUAL_LEVEL 10  /* of a soft bit; at most twice that */

/* How a batch tells where its symbols are; NARROW as EVEN. */
enum way { LISTED, FOLLOWED, EVEN, NARROW, WAYS };

struct check {
    struct penstock__executor *executor;
    const struct penstock_ofdm_problem *ofdm;
    size_t symbols, samples, row;
    void *in;
    struct penstock_ofdm_descriptor *descriptors;
    penstock_cf32 *coefficients;
    unsigned char *out;
    double *spectrum;
    uint64_t random;
};

/* ---------------------------------------------------------------- input ----------------------- */

static void fill_samples(struct check *check)
{
    for (size_t i = 0; i < 2 * check->samples; i++)
        penstock__check_put(check->in, check->ofdm->format, i, FULL_SCALE * penstock__check_uniform(&check->random));
}

/* Points spread over the constellation and somewhat beyond it. */
static void fill_coefficients(struct check *check)
{
    size_t n = check->ofdm->n;
    double spread = 1 << (check->ofdm->bits + 1) / 2, usual = USUAL_LEVEL * spread / (FULL_SCALE * sqrt((double)n));
    for (size_t f = 0; f < FRAMES; f++) {
        penstock_cf32 *coefficients = check->coefficients + f * (n + 2);
        for (size_t k = 0; k < n; k++)
            coefficients[k] = (penstock_cf32){(float)(usual * penstock__check_uniform(&check->random)),
                                              (float)(usual * penstock__check_uniform(&check->random))};
        coefficients[n] = (penstock_cf32){(float)(USUAL_LEVEL / (usual * usual)), 0};
        coefficients[n + 1] = (penstock_cf32){(float)check->ofdm->bits, 0};
    }
}

static void fill_descriptors(struct check *check)
{
    for (size_t i = 0; i < check->symbols; i++) {
        uint64_t random = penstock__check_random(&check->random);
        check->descriptors[i] = (struct penstock_ofdm_descriptor){
            .start = (uint32_t)(random % (check->samples - check->ofdm->n + 1)), .frame = (uint32_t)(i % FRAMES)};
        if (i % 4 == 0)
            continue; /* nothing is taken out */
        check->descriptors[i].phase = (uint32_t)(random >> 32);
        check->descriptors[i].step = (uint32_t)penstock__check_random(&check->random);
        check->descriptors[i].common = (uint32_t)penstock__check_random(&check->random);
        check->descriptors[i].slope = (uint32_t)(penstock__check_random(&check->random) >> 32);
    }
}

/* ---------------------------------------------------------------- expectation ----------------- */

static void rotate(double value[2], uint32_t turns)
{
    double c, s, re = value[0];
    penstock__unit_root(&c, &s, turns, (uint64_t)1 << 32);
    value[0] = re * c - value[1] * s;
    value[1] = re * s + value[1] * c;
}

static int transform(struct check *check, const struct penstock_ofdm_descriptor *descriptor)
{
    size_t n = check->ofdm->n;
    for (size_t j = 0; j < n; j++) {
        double *value = check->spectrum + 2 * j;
        value[0] = penstock__check_get(check->in, check->ofdm->format, 2 * (descriptor->start + j));
        value[1] = penstock__check_get(check->in, check->ofdm->format, 2 * (descriptor->start + j) + 1);
        rotate(value, descriptor->phase + (uint32_t)j * descriptor->step);
    }
    return penstock__dft(check->spectrum, n, PENSTOCK_FORWARD);
}

static int compare_symbol(struct check *check, const struct penstock_ofdm_descriptor *descriptor, size_t symbol)
{
    const struct penstock_ofdm_problem *ofdm = check->ofdm;
    const penstock_cf32 *coefficients = check->coefficients + descriptor->frame * (ofdm->n + 2);
    unsigned axis_bits = (ofdm->bits + 1) / 2;
    const int8_t *got = (const int8_t *)check->out + symbol * check->row;
    for (size_t c = 0; c < ofdm->carrier_count; c++) {
        uint32_t bin = ofdm->bins[c], number = bin < (ofdm->n + 1) / 2 ? bin : bin - (uint32_t)ofdm->n;
        double *value = check->spectrum + 2 * (size_t)bin,
               g[2] = {(double)coefficients[bin].re, (double)coefficients[bin].im};
        double level = (g[0] * g[0] + g[1] * g[1]) * (double)coefficients[ofdm->n].re;
        rotate(value, descriptor->common + descriptor->slope * number);
        double point[2] = {value[0] * g[0] - value[1] * g[1], value[0] * g[1] + value[1] * g[0]};
        for (unsigned b = 0; b < ofdm->bits; b++) {
            double want =
                fmin(fmax(penstock__check_soft_bit(point[b / axis_bits], level, axis_bits, b % axis_bits), -127), 127);
            if (fabs(want - got[c * ofdm->bits + b]) > 1)
                return penstock__error(PENSTOCK_ERR_CHECK,
                                       "self-check of OFDM: bit %u of carrier %zu of symbol %zu is %d, %.2f is right",
                                       b, c, symbol, got[c * ofdm->bits + b], want);
        }
    }
    return PENSTOCK_OK;
}

static int run(struct check *check, enum way way)
{
    struct penstock_ofdm_descriptor first[2];
    bool placed = way == LISTED || way == FOLLOWED;
    struct penstock_ofdm_tables tables = {.descriptors = way == FOLLOWED ? first
                                                         : placed        ? check->descriptors
                                                                         : NULL,
                                          .start = !placed,
                                          .spacing = way == LISTED ? 0 : (uint32_t)check->ofdm->n + 1,
                                          .narrow = way == NARROW,
                                          .coefficients = check->coefficients,
                                          .frame_count = FRAMES};
    struct penstock__batch batch = {
        .in = check->in, .ofdm = &tables, .out = check->out, .frames = check->symbols, .samples = check->samples};
    int status;
    if (way == FOLLOWED)
        penstock__check_follow(first, check->descriptors, check->symbols, tables.spacing, &check->random);
    memset(check->out, GUARD, check->symbols * check->row + GUARD_BYTES);
    if ((status = penstock__executor_submit(check->executor, 0, &batch)) ||
        (status = penstock__executor_wait(check->executor, 0)))
        return status;
    for (size_t i = 0; i < check->symbols && !status; i++) {
        struct penstock_ofdm_descriptor even = {.start = tables.start + (uint32_t)i * tables.spacing};
        const struct penstock_ofdm_descriptor *descriptor = placed ? &check->descriptors[i] : &even;
        if (!(status = transform(check, descriptor)))
            status = compare_symbol(check, descriptor, i);
    }
    for (size_t i = 0; i < GUARD_BYTES && !status; i++)
        if (check->out[check->symbols * check->row + i] != GUARD)
            status = penstock__error(PENSTOCK_ERR_CHECK, "self-check of OFDM: wrote behind its output");
    return status;
}

int penstock__check_ofdm(struct penstock__executor *executor)
{
    const struct penstock_ofdm_problem *ofdm = &executor->state.problem->ofdm;
    struct check check = {.executor = executor, .ofdm = ofdm, .random = 2, .row = ofdm->carrier_count * ofdm->bits};
    int status = PENSTOCK_ERR_MEMORY;
    if (ofdm->mixed)
        return penstock__check_symbols(executor);
    check.symbols = SAMPLES / ofdm->n < SYMBOLS ? SAMPLES / ofdm->n + 1 : SYMBOLS;
    check.samples = check.symbols * (ofdm->n + 1) + 1;
    check.in = penstock__alloc(check.samples * penstock_format_bytes(ofdm->format));
    check.descriptors = penstock__calloc(check.symbols, sizeof *check.descriptors);
    check.coefficients = penstock__calloc(FRAMES * (ofdm->n + 2), sizeof *check.coefficients);
    check.out = penstock__alloc(check.symbols * check.row + GUARD_BYTES);
    check.spectrum = penstock__alloc(2 * ofdm->n * sizeof *check.spectrum);
    if (check.in && check.descriptors && check.coefficients && check.out && check.spectrum) {
        fill_samples(&check);
        fill_coefficients(&check);
        fill_descriptors(&check);
        status = PENSTOCK_OK;
        for (int way = 0; way < WAYS && !status; way++)
            status = run(&check, (enum way)way);
    }
    penstock__free(check.in);
    penstock__free(check.descriptors);
    penstock__free(check.coefficients);
    penstock__free(check.out);
    penstock__free(check.spectrum);
    return status;
}
